"""Hears of a kill for memory in a control group that may be gone before anybody can ask it.

gVisor's runtime removes its group as soon as its kernel was killed. On a busy machine the engine, which
learns of a kill by an event and then looks at the group, finds none and never tells (containerd issue 8180).
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import Final

from gate.process import readable
from gate.sandbox.backends.bubblewrap.cgroup import Cgroup

_REMOVED_SECONDS: Final = 0.5
"""How long the kernel may take to say that a group was removed."""


class MemoryEvents:
    """From the start of a sandbox to its end. Deaf where nothing can be heard: without a group, on the
    unified hierarchy, without the right to ask.

    Version 1 (Documentation/admin-guide/cgroup-v1/memory.rst, 9 and 10): an event for each time that the
    group is out of memory, and one when the group is removed.
    """

    def __init__(self, group: Cgroup | None) -> None:
        self._group = group
        self._fd = -1
        self._count = 0
        if group is not None and group.version == 1:
            with contextlib.suppress(OSError):
                self._listen(group)

    def _listen(self, group: Cgroup) -> None:
        folder = group.folders["memory"]
        fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        try:
            asked = os.open(folder / "memory.oom_control", os.O_RDONLY | os.O_CLOEXEC)
            try:
                (folder / "cgroup.event_control").write_text(f"{fd} {asked}", encoding="ascii")
            finally:
                os.close(asked)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd

    def out_of_memory(self) -> bool:
        """Whether the group was out of memory, also when it is gone; False where nothing was to be heard."""
        if self._fd < 0 or self._group is None:
            return False
        until = time.monotonic() + _REMOVED_SECONDS
        while True:
            self._hear()
            if self._count > 1 or (self._count and self._group.exists):
                return True
            left = until - time.monotonic()
            if self._group.exists or left <= 0:
                return False
            readable(self._fd, left)

    def _hear(self) -> None:
        with contextlib.suppress(OSError):  # nothing yet; or closed meanwhile, by whoever removes the sandbox
            self._count += os.eventfd_read(self._fd)

    def close(self) -> None:
        """Hear no more."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
