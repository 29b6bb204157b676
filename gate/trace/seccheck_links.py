"""Where opens and changes led that went through a link, behind gVisor: its kernel tells paths as written.

Links are known from the calls that made them (the launcher's too: those of the tree), by time. Calls that
make links and calls that open come by two ways, so an open is looked at again when both have been emptied
twice; it has been told as written already, and what it led to is told then.
"""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

_MOST: Final = 10_000
_DEEP: Final = 40
_FOR_EVER: Final = 1 << 80
_SLACK: Final = 2_000_000
"""Nanoseconds by which two clocks of one kernel may differ."""
_OWN: Final = re.compile(r"/proc/(self|thread-self|\d+)/(?:task/\d+/)?(root|cwd|exe|fd/(\d+))(?=/|\Z)")
_REPLACED: Final = "\ufffd"
"""In the log, each byte of a name that is no UTF-8."""
_ENTRIES: Final = re.compile(r"unlink|rmdir|rename|link|symlink|mkdir|mknod|lchown|lsetxattr|lremovexattr")
_DEV_FD: Final = re.compile(r"/dev/fd(?=/\d)")
Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Standing:
    """What /proc shows of a process: folder, program, and the file of a descriptor ("": not known)."""

    cwd: str
    exe: str
    fd: Callable[[int], str]


@dataclass(slots=True)
class _Link:
    target: str
    since: int
    until: int = _FOR_EVER


class Links:
    """Made and removed links of one sandbox; times in nanoseconds."""

    def __init__(self) -> None:
        self._known: dict[str, list[_Link]] = {}
        self._recent: deque[tuple[int, int, str, Fields, Fields]] = deque()
        self._unclear: set[str] = set()
        self.missed = 0
        """Links that were too many to be kept, and uses of names that may mean several."""

    def made(self, path: str, target: str, at: int) -> None:
        """``path`` is now another name of ``target`` (relative to the folder of ``path``)."""
        path = posixpath.normpath(path)
        self.gone(path, at)
        if len(self._known) >= _MOST and path not in self._known:
            self.missed += 1
            return
        where = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        self._known.setdefault(path, []).append(_Link(where, at))

    def gone(self, path: str, at: int) -> None:
        """Nothing, or something else, is there now."""
        path = posixpath.normpath(path)
        for link in self._known.get(path, [])[-1:]:
            link.until = min(link.until, at)
            if _REPLACED in path:  # this one, or another whose name looks the same
                self._unclear.add(path)

    def moved(self, old: str, new: str, at: int) -> None:
        """What was at ``old`` is now at ``new``."""
        old = posixpath.normpath(old)
        link = self._at(old, at)
        self.gone(old, at)
        self.gone(new, at)
        if link is not None:
            self.made(new, link.target, at)

    def opened(self, turn: int, at: int, head: Fields, fields: Fields) -> None:
        """An open that was told as written, in that turn."""
        self._recent.append((turn, at, "open", head, fields))

    def changed(self, turn: int, at: int, head: Fields, fields: Fields) -> None:
        """The same of a call that changes the tree."""
        self._recent.append((turn, at, "file", head, fields))

    def due(self, turn: int) -> Iterator[tuple[str, Fields, Fields]]:
        """Calls of before that turn which went through a link: kind, head, and fields of where they led."""
        while self._recent and self._recent[0][0] < turn:
            _, at, kind, head, fields = self._recent.popleft()
            if not self._known:
                continue
            if kind == "open":
                real = self._real(fields["path"], at)
                if real != posixpath.normpath(fields["path"]):
                    yield kind, head, {**fields, "path": real, "asked": fields.get("asked") or fields["path"]}
            elif (led := self._file(head["call"], fields, at)) != fields:
                yield kind, head, led

    def _file(self, call: str, fields: Fields, at: int) -> Fields:
        """Where a change led. What names an entry of a folder acts on the entry, be it a link itself."""
        entry = _ENTRIES.match(call) is not None or "NOFOLLOW" in fields.get("flags", "")
        keys = ("path", "other") if call.startswith(("rename", "link")) else ("path",)
        return fields | {key: self._led(fields[key], at, entry=entry) for key in keys if fields.get(key)}

    def _led(self, path: str, at: int, *, entry: bool) -> str:
        if not entry:
            real = self._real(path, at)
        else:
            folder, name = posixpath.split(posixpath.normpath(path))
            real = posixpath.join(self._real(folder, at), name)
        return path if real == posixpath.normpath(path) else real

    def _at(self, path: str, at: int) -> _Link | None:
        self.missed += path in self._unclear
        for link in reversed(self._known.get(path, ())):
            if link.since - _SLACK <= at <= link.until + _SLACK:
                return link
        return None

    def _real(self, path: str, at: int) -> str:
        path = posixpath.normpath(path)
        for _ in range(_DEEP):
            end = 0
            while end >= 0:
                end = path.find("/", end + 1)
                link = self._at(path if end < 0 else path[:end], at)
                if link is not None:
                    rest = "" if end < 0 else path[end:]
                    path = posixpath.normpath(link.target + rest)
                    break
            else:
                return path
        return path


def own(path: str, process: Callable[[str], Standing | None]) -> str:
    """The path without the kernel's own links (/proc/PID/root, cwd, exe, fd/N). ``process`` tells of a number
    or ``self``; None where it is not known.
    """
    if not path.startswith(("/proc/", "/dev/fd/")):
        return path
    path = _DEV_FD.sub("/proc/self/fd", path, count=1)
    for _ in range(_DEEP):
        match = _OWN.match(path)
        known = process(match[1]) if match else None
        if match is None or known is None:
            return path
        if match[3]:
            found = known.fd(int(match[3][:9]))
            start = found.rstrip("/") if found.startswith("/") else None
        else:
            start = {"root": "", "cwd": known.cwd.rstrip("/"), "exe": known.exe}[match[2]]
        if start is None:
            return path
        path = start + path[match.end() :] or "/"
    return path


def through_fd(path: str) -> bool:
    """Whether it names a descriptor."""
    match = _OWN.match(_DEV_FD.sub("/proc/self/fd", path, count=1))
    return match is not None and bool(match[3])
