"""Which files changed while the code ran: the file system's own word, for comparison with the calls seen.

Taken by the launcher when the code and all it left behind are dead, so that nothing of theirs can interfere.
A file's change time (ctime) is set by the kernel at every write, rename and change of mode; no call sets it
to another time. What the changed files begin with is told too: a planted secret may have been written down.
Standard library only.
"""

from __future__ import annotations

import binascii
import contextlib
import os
import stat
import time

TYPE_CHECKING = False  # typing alone takes a tenth of the start
if TYPE_CHECKING:
    from typing import Callable, Dict, Iterable, List

SECONDS = 10.0
"""Of walking, at most; and never past the run's own deadline by more than LATE: the host kills soon after."""
LATE = 1.0
MOST_BYTES = 40 << 20
"""Of the list: some 150,000 files, as a large installation writes them."""
PIECE = 192 << 10
HEADS = 64
HEAD = 32 << 10
HEADS_BYTES = 1 << 20
NO_ROOM = 64 << 10
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


def report(since: int, roots: Iterable[str], until: float, say: Callable[[Dict[str, object]], None]) -> None:
    """Tell of every regular file below the roots that changed since: path (hex), device, inode, size. In
    pieces; the last has ``whole``: False when ``until`` (time.monotonic()) passed, something could not be
    looked at, or there was too much of it, and ``full``: roots without room for more. Between them ``heads``:
    path (hex) and beginning (base64) of some of the files.
    """
    full = [root for root in roots if no_room(root)]
    walk = Walk(since, min(time.monotonic() + SECONDS, until + LATE), say)
    for root in roots:
        walk.below(os.fsencode(root))
    walk.flush()
    walk.heads()
    say({"files": [], "whole": walk.whole, "full": full})


def no_room(root: str) -> bool:
    """True when not even a small file could be written there any more."""
    try:
        room = os.statvfs(root)
    except OSError:
        return False
    return room.f_bavail * room.f_frsize < NO_ROOM or (room.f_files > 0 and room.f_favail == 0)


class Walk:
    """One walk over the writable places. Follows no link, crosses into no other place."""

    def __init__(self, since: int, until: float, say: Callable[[Dict[str, object]], None]) -> None:
        self.since = since
        self.say = say
        self.whole = True
        self.until = until
        self.files: List[List[object]] = []
        self.size = self.total = 0
        self.readable: List[bytes] = []

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
                    self._tell([entry.path.hex(), found.st_dev, found.st_ino, found.st_size])
                    if found.st_size and len(self.readable) < HEADS and not entry.name.endswith(b".pyc"):
                        self.readable.append(entry.path)
        return inside

    def _tell(self, file: List[object]) -> None:
        self.files.append(file)
        size = len(str(file[0])) + 70
        self.size += size
        self.total += size
        if self.size > PIECE:
            self.flush()

    def flush(self) -> None:
        """Say what was gathered."""
        if self.files:
            self.say({"files": self.files, "whole": False})
            self.files, self.size = [], 0

    def heads(self) -> None:
        """Say what the first of the changed files begin with."""
        told = 0
        for path in self.readable:
            data = head(path)
            told += len(data)
            if told > HEADS_BYTES or time.monotonic() > self.until:
                return
            if data:
                text = binascii.b2a_base64(data, newline=False).decode("ascii")
                self.say({"files": [], "whole": False, "heads": [[path.hex(), text]]})


def head(path: bytes) -> bytes:
    """The beginning of a regular file; nothing for what is none, or cannot be read. Follows no link."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, HEAD) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(fd)
