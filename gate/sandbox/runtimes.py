"""Language runtimes of the host that a wall shows inside, read-only: where they are, copies to read."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from functools import cache as once
from pathlib import Path
from typing import Final

from gate import proc
from gate.errors import CouldNotLook

INSIDE: Final = "/opt/runtime"
"""The folder inside. The driver (launcher/driver_javascript.py) looks for ``deno`` there."""
HOW_TO_GET: Final = "Install it with: pip install 'gate-ci[walls]' (or deno from https://deno.com)"


def cache(name: str) -> Path:
    """A folder for a runtime's files, readable to the unprivileged user that bubblewrap becomes.

    Root's own cache is closed to that user, so root's lies under /var/cache.
    """
    if os.geteuid() == 0:
        top = Path("/var/cache/gate")
    else:
        top = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gate"
    folder = top / name
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.geteuid():
        raise CouldNotLook(f"{folder} belongs to somebody else", advice="Remove it and try again.")
    return folder


def put(source: Path, target: Path) -> None:
    """A readable copy, whole or not at all."""
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        part = Path(folder, "part")
        if source.is_dir():
            shutil.copytree(source, part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, part)
            part.chmod(0o755)
        if not target.exists():
            part.rename(target)


def find() -> Path:
    """Deno's program: beside this Python (the ``deno`` wheel) or on PATH. Raises CouldNotLook."""
    for found in (Path(sys.executable).with_name("deno"), Path(shutil.which("deno") or "/nowhere")):
        if found.is_file():
            return found
    raise CouldNotLook("deno is not installed", advice=HOW_TO_GET)


@once
def version() -> str:
    """As ``2.9.8``."""
    said = proc.run([find(), "--version"], deadline=10, env={"DENO_NO_UPDATE_CHECK": "1"}).stdout
    words = said.decode(errors="replace").split()
    return words[1] if len(words) > 1 else "?"


def program() -> Path:
    """A copy that the sandbox's user can read, one for each version. Raises CouldNotLook."""
    target = cache("deno") / version()
    if not target.exists():
        put(find(), target)
    return target


def shown(runtimes: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """What a wall shows for these runtimes, as (host path, path inside). Nothing where the host lacks one:
    the driver then says what it needs.
    """
    if "javascript" not in runtimes:
        return ()
    try:
        deno = str(program())
    except CouldNotLook:
        return ()
    # Called node, Deno reads Node's command line: for scripts that name it, where there is no Node.
    return ((deno, f"{INSIDE}/deno"), (deno, f"{INSIDE}/bin/node"))
