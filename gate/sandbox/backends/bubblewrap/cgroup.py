"""A control group of our own around one sandbox, where this user may make one: memory, processes, CPU.

Version 1 hierarchies (Documentation/admin-guide/cgroup-v1) and the unified one (cgroup-v2.rst).
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.model.run import Limits
from gate.sandbox.reaper import left_behind, owned_name

_ROOT: Final = Path("/sys/fs/cgroup")
NAME: Final = "gate-"
_PERIOD_US: Final = 100_000
_REMOVE_SECONDS: Final = 2.0


@dataclass(frozen=True, kw_only=True)
class Cgroup:
    """``folders`` maps a controller to its directory; the unified hierarchy has one for all."""

    version: Literal[1, 2]
    folders: dict[str, Path]

    def add(self, pid: int) -> None:
        """Move one process in; what it starts later is in as well. Raises OSError."""
        for folder in set(self.folders.values()):
            (folder / "cgroup.procs").write_text(str(pid), encoding="ascii")

    @property
    def exists(self) -> bool:
        """False once it was removed: then its counts say nothing any more."""
        return self.folders["memory"].is_dir()

    @property
    def peak_memory(self) -> int | None:
        """Bytes; None where this kernel does not count it."""
        name = "memory.max_usage_in_bytes" if self.version == 1 else "memory.peak"
        with contextlib.suppress(OSError, ValueError):
            return int((self.folders["memory"] / name).read_text(encoding="ascii"))
        return None

    @property
    def out_of_memory(self) -> bool:
        """True when the kernel killed something in here for its memory."""
        name = "memory.oom_control" if self.version == 1 else "memory.events"
        with contextlib.suppress(OSError, ValueError):
            text = (self.folders["memory"] / name).read_text(encoding="ascii")
            counts = dict(line.split() for line in text.splitlines())
            return int(counts.get("oom_kill", 0)) > 0
        return False

    def kill(self) -> None:
        """SIGKILL to every process inside."""
        for folder in set(self.folders.values()):
            with contextlib.suppress(OSError):
                (folder / "cgroup.kill").write_text("1", encoding="ascii")
                return
        for pid in self._members():
            with contextlib.suppress(OSError):
                os.kill(pid, 9)

    def remove(self) -> None:
        """Kill what is inside and remove the directories; never raises."""
        until = time.monotonic() + _REMOVE_SECONDS
        while self._members() and time.monotonic() < until:
            self.kill()
            time.sleep(0.005)
        for folder in set(self.folders.values()):
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _members(self) -> list[int]:
        with contextlib.suppress(OSError, ValueError):
            text = (self.folders["pids"] / "cgroup.procs").read_text(encoding="ascii")
            return [int(pid) for pid in text.split()]
        return []


def make(limits: Limits) -> Cgroup | None:
    """A new, limited group; None where this user may not make one."""
    name = NAME + owned_name()
    where = _own()
    try:
        return _version_1(where, name, limits) if "memory" in where else _version_2(where, name, limits)
    except OSError:
        return None


def _own() -> dict[str, str]:
    """Controller -> path of the group this process is in; the unified hierarchy's key is empty."""
    found = {}
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            found[controller] = path
    return found


def _version_1(where: dict[str, str], name: str, limits: Limits) -> Cgroup | None:
    settings = {
        "memory": {
            "memory.limit_in_bytes": str(limits.memory),
            "memory.memsw.limit_in_bytes": str(limits.memory),
            "memory.swappiness": "0",
        },
        "pids": {"pids.max": str(limits.pids)},
        "cpu": {"cpu.cfs_quota_us": str(int(limits.cpus * _PERIOD_US))},
    }
    folders: dict[str, Path] = {}
    for controller in ("memory", "pids", "cpu"):
        if controller in where:
            folders[controller] = _ROOT / controller / where[controller].lstrip("/") / name
    return _fill(Cgroup(version=1, folders=folders), settings)


def _version_2(where: dict[str, str], name: str, limits: Limits) -> Cgroup | None:
    """Below the nearest ancestor that hands memory and pids to its children and that we may write."""
    settings = {
        "memory": {
            "memory.max": str(limits.memory),
            "memory.swap.max": "0",
            "memory.oom.group": "0",
            "pids.max": str(limits.pids),
            "cpu.max": f"{int(limits.cpus * _PERIOD_US)} {_PERIOD_US}",
        }
    }
    own = _ROOT / where.get("", "/").lstrip("/")
    for ancestor in (own, *own.parents):
        if not ancestor.is_relative_to(_ROOT):
            break
        with contextlib.suppress(OSError):
            handed = (ancestor / "cgroup.subtree_control").read_text(encoding="ascii").split()
            if {"memory", "pids"} <= set(handed) and os.access(ancestor / "cgroup.procs", os.W_OK):
                folder = ancestor / name
                made = _fill(Cgroup(version=2, folders={"memory": folder, "pids": folder}), settings)
                if made is not None:
                    return made
    return None


def _fill(group: Cgroup, settings: dict[str, dict[str, str]]) -> Cgroup | None:
    """Make the directories and set what there is to set; memory and pids must take."""
    try:
        for folder in dict.fromkeys(group.folders.values()):
            folder.mkdir()
        for controller, values in settings.items():
            for name, value in values.items():
                path = group.folders.get(controller, Path("/nonexistent")) / name
                if path.exists():
                    path.write_text(value, encoding="ascii")
        needed = {"memory", "pids"} <= set(group.folders)
    except OSError:
        needed = False
    if not needed:
        group.remove()
        return None
    return group


def sweep() -> None:
    """Remove empty groups that a crashed gate left."""
    where = _own()
    parents = {_ROOT / c / where[c].lstrip("/") for c in ("memory", "pids", "cpu") if c in where}
    own = _ROOT / where.get("", "/").lstrip("/")
    parents |= {own, *(parent for parent in own.parents if parent.is_relative_to(_ROOT))}
    for parent in parents:
        for folder in parent.glob(f"{NAME}*"):
            if left_behind(folder.name.removeprefix(NAME)):
                with contextlib.suppress(OSError):
                    folder.rmdir()
