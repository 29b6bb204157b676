"""Which files changed while the code ran: the file system's own word, for comparison with the calls seen.

Taken by the launcher when the code and all it left behind are dead, so that nothing of theirs can interfere.
A file's change time (ctime) is set by the kernel at every write, rename and change of mode; no call sets it
to another time. Standard library only.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from typing import Callable, Dict, Iterable, List

SECONDS = 4.0
MOST_BYTES = 8 << 20
PIECE = 192 << 10
_CLOCK = getattr(time, "CLOCK_REALTIME_COARSE", 5)
_WAIT_SECONDS = 0.05


def mark() -> int:
    """A moment, ns: what changes from here on has a later change time than what changed before."""
    now = time.time_ns()
    until = time.monotonic() + _WAIT_SECONDS
    while (
        time.clock_gettime_ns(_CLOCK) <= now and time.monotonic() < until
    ):  # file systems use the coarse clock
        time.sleep(0.0005)
    return now


def report(since: int, roots: Iterable[str], say: Callable[[Dict[str, object]], None]) -> None:
    """Tell of every regular file below the roots that changed since: path (hex), device, inode. In pieces;
    the last has ``whole``: False when something could not be looked at, or there was too much of it.
    """
    walk = Walk(since, say)
    for root in roots:
        walk.below(os.fsencode(root))
    walk.flush()
    say({"files": [], "whole": walk.whole})


class Walk:
    """One walk over the writable places. Follows no link, crosses into no other place."""

    def __init__(self, since: int, say: Callable[[Dict[str, object]], None]) -> None:
        self.since = since
        self.say = say
        self.whole = True
        self.until = time.monotonic() + SECONDS
        self.files: List[List[object]] = []
        self.size = self.total = 0

    def below(self, root: bytes) -> None:
        """Everything under one folder."""
        todo = [root]
        while todo:
            folder = todo.pop()
            if time.monotonic() > self.until or self.total > MOST_BYTES:
                self.whole = False
                return
            try:
                todo += self._folder(folder)
            except FileNotFoundError:
                continue
            except OSError:
                self.whole = False

    def _folder(self, folder: bytes) -> List[bytes]:
        try:
            entries = os.scandir(folder)
        except PermissionError:  # it is the code's own folder: ours too
            os.chmod(folder, 0o700)
            entries = os.scandir(folder)
        inside = []
        with entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    inside.append(entry.path)
                    continue
                found = None
                with contextlib.suppress(FileNotFoundError):
                    found = entry.stat(follow_symlinks=False)
                if found is not None and stat.S_ISREG(found.st_mode) and found.st_ctime_ns >= self.since:
                    self._tell([entry.path.hex(), found.st_dev, found.st_ino])
        return inside

    def _tell(self, file: List[object]) -> None:
        self.files.append(file)
        size = len(str(file[0])) + 50
        self.size += size
        self.total += size
        if self.size > PIECE:
            self.flush()

    def flush(self) -> None:
        """Say what was gathered."""
        if self.files:
            self.say({"files": self.files, "whole": False})
            self.files, self.size = [], 0
