"""What a sandbox could leave on the machine, as a value that can be compared before and after."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from gate.errors import InconclusiveError
from gate.sandbox.backends.container import engine
from gate.sandbox.reaper import labels


def snapshot() -> dict[str, set[str]]:
    """Containers, volumes, mounts, child processes, control groups, folders, descriptors of this process."""
    return {
        "containers": _containers(),
        "volumes": _volumes(),
        "mounts": _mounts(),
        "children": _children(),
        "groups": _groups(),
        "folders": {p.name for p in Path(tempfile.gettempdir()).glob(f"gate-runs-*-{os.getpid()}-*")},
        "descriptors": {str(len(list(Path("/proc/self/fd").iterdir())))},
    }


def _groups() -> set[str]:
    """os.walk: other gates make and remove theirs meanwhile, which a recursive glob cannot bear."""
    mine = f"-{os.getpid()}-"
    found = (Path(top, name) for top, names, _ in os.walk("/sys/fs/cgroup") for name in names)
    return {str(path) for path in found if path.name.startswith("gate-") and mine in path.name}


def _mounts() -> set[str]:
    """Other gates may be at work on this machine: only what carries this process's number counts."""
    places = {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    return {place for place in places if f"-{os.getpid()}-" in place}


def _containers() -> set[str]:
    with contextlib.suppress(InconclusiveError), contextlib.closing(engine.connect(deadline=3)) as client:
        mine = {"label": [f"{key}={value}" for key, value in labels().items()]}
        return {str(c["Id"]) for c in client.api.containers(all=True, filters=mine)}
    return set()


def _volumes() -> set[str]:
    with contextlib.suppress(InconclusiveError), contextlib.closing(engine.connect(deadline=3)) as client:
        mine = {"label": [f"{key}={value}" for key, value in labels().items()]}
        return {str(v["Name"]) for v in client.api.volumes(filters=mine).get("Volumes") or []}
    return set()


def _children() -> set[str]:
    found = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            found |= set((task / "children").read_text().split())
    return found
