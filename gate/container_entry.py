"""The entry point of the container action (`uses: docker://...`, Dockerfile's target gate-action).

GitHub starts it as root, hands inputs over as ``INPUT_<NAME>`` and mounts files of the runner's user. Nothing
of a change is read as root: it becomes the work space's owner first, with the engine's group and no other.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_SOCKET: Final = Path("/var/run/docker.sock")
_INPUT: Final = "INPUT_"


def renamed(environ: Mapping[str, str]) -> dict[str, str]:
    """``INPUT_FAIL-ON`` as ``GATE_INPUT_FAIL_ON``, ``INPUT_TOKEN`` as ``GATE_TOKEN``."""
    found = {}
    for name, value in environ.items():
        if name.startswith(_INPUT):
            plain = name.removeprefix(_INPUT).replace("-", "_").upper()
            found["GATE_TOKEN" if plain == "TOKEN" else f"GATE_INPUT_{plain}"] = value
    return found


def become_owner(place: Path, socket: Path = _SOCKET) -> None:
    """Give root up for good, for the owner of ``place``; where root owns it there is nobody else to be."""
    found = place.stat()
    if os.geteuid() != 0 or found.st_uid == 0:
        return
    groups = [socket.stat().st_gid] if socket.exists() else []
    os.setgroups([group for group in groups if group != 0])
    os.setresgid(found.st_gid, found.st_gid, found.st_gid)
    os.setresuid(found.st_uid, found.st_uid, found.st_uid)


def main() -> int:
    """`gate action` with the inputs of a container action; with arguments, `gate` with those."""
    from gate.cli import main as gate
    from gate.github.publishing.runner_context import CONTAINED

    become_owner(Path(os.environ.get("GITHUB_WORKSPACE") or "."))
    os.environ.update(renamed(os.environ) | {CONTAINED: "1"})
    return gate(sys.argv[1:] or ["action"])


if __name__ == "__main__":
    sys.exit(main())
