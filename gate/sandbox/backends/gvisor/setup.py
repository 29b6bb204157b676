"""Registers gVisor with the container engine: runtimes, one for each slot, with their trace sessions.

Every slot has a runtime of its own (``gate-gvisor-0`` ...), because runsc takes the place where it reports to
from its arguments. Needs root, once for a machine; gate itself then runs as any user the engine listens to.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import time
from pathlib import Path
from typing import Final

from gate import process
from gate.errors import InconclusiveError
from gate.regex import regex
from gate.sandbox.backends.container import engine
from gate.sandbox.backends.container.options import JsonObject
from gate.tracing.readers.gvisor import session as seccheck_session

PREFIX: Final = "gate-gvisor-"
SLOTS: Final = 16
"""Traced sandboxes at once on one engine."""
REPORTS: Final = "/run/gate/gvisor"
"""On the engine's host: a folder for each slot, made when first used."""
_CONFIGS: Final = Path("/etc/gate/gvisor")
_DAEMON: Final = Path("/etc/docker/daemon.json")
_RELOAD_SECONDS: Final = 10.0
_BARE: Final = ["--platform=systrap", "--network=none"]
_POINT: Final = regex(rb"^Name: ([^,]+),", re.MULTILINE)
INSTALL_HINT: Final = (
    "Install gVisor's runsc (Debian 13 and later: apt-get install runsc) and register it with Docker: "
    "sudo gate doctor --fix"
)
REGISTER_HINT: Final = "Register it again: sudo gate doctor --fix"


def runtime(slot: int) -> str:
    """The engine's name for a slot's runtime."""
    return f"{PREFIX}{slot}"


def registered(runtimes: JsonObject) -> int:
    """How many slots an engine has, from its ``info()["Runtimes"]``. One that another version of gate
    registered does not count: it would report less than we take for granted.
    """
    count = 0
    while runtime(count) in runtimes and _of_today(count, runtimes[runtime(count)]):
        count += 1
    return count


def usable(runtimes: JsonObject) -> int:
    """The same. Raises InconclusiveError where there is none."""
    count = registered(runtimes)
    if not count and runtime(0) in runtimes:
        raise InconclusiveError("gVisor was registered by another version of gate", advice=REGISTER_HINT)
    if not count:
        raise InconclusiveError("the engine knows no gVisor runtime", advice=INSTALL_HINT)
    return count


def _of_today(slot: int, known: JsonObject) -> bool:
    words = known.get("runtimeArgs")
    return words is None or words == arguments(slot)  # not every engine tells


def arguments(slot: int, configs: Path | None = None) -> list[str]:
    """What a slot's runtime is started with."""
    return seccheck_session.arguments(str(_config(slot, configs or _CONFIGS)), f"{REPORTS}/{slot}/log")


def _config(slot: int, configs: Path) -> Path:
    return configs / f"{slot}-{seccheck_session.digest()}.json"


def register(*, daemon: Path = _DAEMON, configs: Path = _CONFIGS) -> str:
    """Write what the engine needs and make it read that again; running containers are left alone.

    Returns a line saying what was done. Idempotent. Raises InconclusiveError when it cannot be done.
    """
    program = shutil.which("runsc")
    if program is None:
        raise InconclusiveError("runsc is not installed", advice=INSTALL_HINT)
    if os.geteuid() != 0:
        raise InconclusiveError("registering a runtime needs root", advice="sudo gate doctor --fix")
    points = _points(program)
    configs.mkdir(mode=0o755, parents=True, exist_ok=True)
    wanted: JsonObject = {}
    for slot in range(SLOTS):
        session = seccheck_session.session(f"{REPORTS}/{slot}/sink.sock", points)
        _write(_config(slot, configs), session)
        wanted[runtime(slot)] = {"path": program, "runtimeArgs": arguments(slot, configs)}
    if not _merge(daemon, {"runsc": {"path": program, "runtimeArgs": _BARE}}, wanted):
        return f"runsc was registered already, with {SLOTS} slots"
    _reload()
    return f"runsc registered with {SLOTS} slots in {daemon}"


def _points(program: str) -> frozenset[str]:
    """The trace points of this runsc."""
    told = process.run([program, "trace", "metadata"], deadline=20)
    if not told.ok:
        raise InconclusiveError(f"runsc cannot trace (exit {told.code})", advice=INSTALL_HINT)
    return frozenset(name.decode("ascii", "replace") for name in _POINT.findall(told.stdout))


def _merge(daemon: Path, unless_there: JsonObject, ours: JsonObject) -> bool:
    """Add runtimes to the engine's settings, keeping everything else; False when nothing changed."""
    try:
        settings = json.loads(daemon.read_text(encoding="utf-8")) if daemon.exists() else {}
    except ValueError as error:
        raise InconclusiveError(
            f"{daemon} is not JSON: {error}", advice="Repair it, then try again."
        ) from error
    before = settings.get("runtimes", {})
    kept = {name: value for name, value in before.items() if not name.startswith(PREFIX)}
    after = unless_there | kept | ours
    if after == before:
        return False
    daemon.parent.mkdir(parents=True, exist_ok=True)
    _write(daemon, settings | {"runtimes": after})
    return True


def _write(path: Path, value: object) -> None:
    """Whole or not at all: a daemon may read it at any time."""
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    new.replace(path)


def _reload() -> None:
    """SIGHUP to the daemon, which reads its runtimes again (dockerd(8)), and wait until it knows them."""
    for stat in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            if stat.read_text(encoding="utf-8").strip() == "dockerd":
                os.kill(int(stat.parent.name), signal.SIGHUP)
    until = time.monotonic() + _RELOAD_SECONDS
    with contextlib.closing(engine.connect()) as client:
        while registered(client.info().get("Runtimes") or {}) < SLOTS:
            if time.monotonic() > until:
                raise InconclusiveError(
                    "the engine did not take the new runtimes", advice="Restart it: systemctl restart docker"
                )
            time.sleep(0.1)
