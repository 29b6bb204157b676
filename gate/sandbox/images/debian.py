"""Root file systems of Debian and Ubuntu packages, made with mmdebstrap: no registry and no engine is needed.

The sandbox's usual one is of this machine's own release. Others exist for their Python: a project that asks
for a newer one than the usual sandbox has gets the release that ships it.
"""

from __future__ import annotations

import contextlib
import hashlib
import shlex
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from gate import process
from gate.dataclass import dataclass
from gate.errors import InconclusiveError

PACKAGES: Final = (
    "python3,python3-pytest,python3-requests,ca-certificates,curl,wget,netcat-openbsd,git,make,procps,libfaketime,"
    "python3-h11,python3-cryptography"
)
"""The Dockerfile's tools, by their Debian names: what payloads reach for, and what the observer needs."""
SERVICES: Final = "postgresql,redis-server"
_CLUSTER: Final = """set -eu
cd /
bin=$(ls -d /usr/lib/postgresql/*/bin)
runuser -u postgres -- "$bin/initdb" -D /var/lib/postgresql/gate -U postgres -A trust --no-sync -E UTF8 \\
    --locale=C.UTF-8 >/dev/null
tar -C /var/lib/postgresql/gate -cf /usr/share/gate-postgresql.tar .
rm -rf /var/lib/postgresql/* /usr/lib/*/libLLVM* "$bin/../lib/bitcode"
"""
"""Makes an empty cluster, which each run unpacks (driver/services.py), and removes what compiles queries."""
_SECONDS: Final = 600
_DAY: Final = 24 * 3600
INSTALL_HINT: Final = "It needs mmdebstrap (apt-get install mmdebstrap) and Debian's archive."


@dataclass(frozen=True, kw_only=True)
class Release:
    """A release by its code name. ``extra``: the package of its Python, where that is not its usual one."""

    name: str
    extra: str = ""


PYTHONS: Final[Mapping[str, Release]] = MappingProxyType(
    {
        "3.11": Release(name="bookworm"),
        "3.13": Release(name="trixie"),
        "3.14": Release(name="testing"),
        "3.15": Release(name="testing", extra="python3.15"),
    }
)
"""Pythons that Debian ships, oldest first."""


def can_make() -> bool:
    """Is the program there?"""
    return shutil.which("mmdebstrap") is not None


def os_release() -> dict[str, str]:
    """What this machine says of its system."""
    with contextlib.suppress(OSError):
        lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
        return {key: value.strip('"') for key, _, value in (line.partition("=") for line in lines)}
    return {}


def codename() -> str:
    """The Debian or Ubuntu release to take packages from: this machine's own where it is one."""
    system = os_release()
    if system.get("ID") in ("debian", "ubuntu"):
        return system.get("VERSION_CODENAME", "bookworm")
    return "bookworm"


def base_name(python: str = "", *, services: bool = False) -> str:
    """The name of the base with that Python (``3.13``), or of the usual one; ``services``: with servers, too.
    It changes with the packages.
    """
    if not python and not services:
        return f"gate-base:{codename()}-{hashlib.sha256(PACKAGES.encode()).hexdigest()[:8]}"
    release = PYTHONS[python] if python else Release(name=codename())
    parts = f"{release.name}\0{release.extra}\0{PACKAGES}"
    parts += f"\0{SERVICES}\0{_CLUSTER}" if services else ""
    kind = f"{f'python{python}' if python else release.name}{'-services' * services}"
    return f"gate-base:{kind}-{hashlib.sha256(parts.encode()).hexdigest()[:8]}"


def _of_this_machine() -> tuple[str, ...]:
    """Whether an archive's list may be older than it says of itself, as this machine's own apt is told: a
    mirror that stands still has such lists of ``testing``.
    """
    with contextlib.suppress(InconclusiveError):
        told = process.run(["apt-config", "dump", "Acquire::Check-Valid-Until"], deadline=5)
        if told.ok and b'"false"' in told.stdout:
            return ('Acquire::Check-Valid-Until "false"',)
    return ()


def own_mounts() -> tuple[str, ...]:
    """What a command is given whose mounts are to end with it, however it ends; empty where that cannot be.

    mmdebstrap mounts /proc and /sys below its folder. Those of one that was killed would stay there, and
    whoever removes the folder by hand reaches into them.
    """
    words = ("unshare", "--mount", "--propagation", "private", "--")
    with contextlib.suppress(InconclusiveError):
        if process.run([*words, "true"], deadline=5).ok:
            return words
    return ()


def make(archive: Path, packages: str, release: Release | None = None, *, services: bool = False) -> None:
    """Write a small root file system with these packages (comma-separated) as a tar; ``release`` None: this
    machine's own; ``services``: with PostgreSQL and Redis.

    Raises InconclusiveError when mmdebstrap cannot.
    """
    ours = release is None
    chosen = release or Release(name=codename())
    components = "main,universe" if ours and os_release().get("ID") == "ubuntu" else "main"
    words: list[str | Path] = [*own_mounts(), "mmdebstrap", "--quiet", "--variant=minbase"]
    wanted = ",".join(part for part in (packages, chosen.extra, SERVICES * services) if part)
    words += [f"--include={wanted}", f"--components={components}"]
    words += [f"--dpkgopt=path-exclude=/usr/share/{part}/*" for part in ("man", "doc", "locale", "info")]
    words += [f"--aptopt={line}" for line in _of_this_machine()]
    if chosen.extra:  # it is the one that is called python3
        words.append(f'--customize-hook=ln -s /usr/bin/{chosen.extra} "$1/usr/local/bin/python3"')
    if services:
        words.append(f'--customize-hook=chroot "$1" sh -c {shlex.quote(_CLUSTER)}')
    made = process.run(
        [*words, chosen.name, archive],
        deadline=_SECONDS,
        # What is made while it is built gets this one time: the same packages, the same bytes (all day).
        env={"SOURCE_DATE_EPOCH": str(int(time.time()) // _DAY * _DAY)},
    )
    if not made.ok:
        tail = made.stderr.decode(errors="replace").strip().splitlines()[-3:]
        raise InconclusiveError(
            f"cannot make a base image: mmdebstrap ended with {made.code}: {' / '.join(tail)}",
            advice="Load python:3.12-slim by hand (`docker load`) and set GATE_IMAGE_BASE to its id.",
        )
