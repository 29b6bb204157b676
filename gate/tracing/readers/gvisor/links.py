"""Where opens and changes led that went through a link, behind gVisor: its kernel tells paths as written.

Links are known from the calls that made them (the launcher's too: those of the tree), by time. Calls that
make links and calls that open come by two ways, so an open is looked at again when both have been emptied
twice; it has been told as written already, and what it led to is told then.
"""

from __future__ import annotations

import posixpath
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from gate.dataclass import dataclass
from gate.regex import regex

_MOST: Final = 10_000
_EARLIER: Final = 1000
"""Links of one name, one after another, for calls that are told a little later."""
_DEEP: Final = 40
_FOR_EVER: Final = 1 << 80
_SLACK: Final = 2_000_000
"""Nanoseconds by which two clocks of one kernel may differ."""
_OWN: Final = regex(r"/proc/(self|thread-self|\d+)/(?:task/\d+/)?(root|cwd|exe|fd/(\d+))(?=/|\Z)")
_REPLACED: Final = "\ufffd"
"""In the log, each byte of a name that is no UTF-8."""
_ENTRIES: Final = regex(r"unlink|rmdir|rename|link|symlink|mkdir|mknod|lchown|lsetxattr|lremovexattr")
_DEV_FD: Final = regex(r"/dev/fd(?=/\d)")
Fields = dict[str, Any]
Own = Callable[[str], str]
Kernels = Callable[[int, int, str], str]


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

    def add(self, path: str, target: str, at: int) -> None:
        """``path`` (an ``entry``) is now another name of ``target`` (relative to the folder of ``path``)."""
        self.gone(path, at)
        if len(self._known) >= _MOST and path not in self._known:
            self.missed += 1
            return
        links = self._known.setdefault(path, [])
        links.append(_Link(target, at))
        if len(links) > 2 * _EARLIER:
            del links[:_EARLIER]

    def shared(self, path: str, old: str, at: int) -> None:
        """``path`` is another name of what is at ``old``, be that a link."""
        link = self._at(old, at)
        self.add(path, link.target if link else old, at)

    def gone(self, path: str, at: int) -> None:
        """Nothing, or something else, is there now."""
        for link in self._known.get(path, [])[-1:]:
            link.until = min(link.until, at)
            if _REPLACED in path:  # this one, or another whose name looks the same
                self._unclear.add(path)

    def moved(self, old: str, new: str, at: int, *, swapped: bool = False) -> None:
        """What was at ``old`` is now at ``new``, with all that lies below; ``swapped``: and the other way."""
        came = self._below(old, new)
        went = self._below(new, old) if swapped else []
        for was, _, _ in (*self._below(old, ""), *self._below(new, "")):
            self.gone(was, at)
        for _, now, target in (*came, *went):
            self.add(now, target, at)

    def _below(self, old: str, new: str) -> list[tuple[str, str, str]]:
        """Links at and below a place that are there now: path, path below ``new``, target."""
        return [
            (path, new + path[len(old) :], links[-1].target)
            for path, links in self._known.items()
            if (path == old or path.startswith(old + "/")) and links[-1].until == _FOR_EVER
        ]

    def entry(self, path: str, at: int, own: Own) -> str:
        """The path with its folder's links followed; the last part is what it is."""
        folder, name = posixpath.split(path.rstrip("/"))
        if name in ("", ".", ".."):
            return self._real(path, at, own)
        return posixpath.join(self._real(folder, at, own), name)

    def opened(self, turn: int, at: int, head: Fields, fields: Fields) -> None:
        """An open that was told as written, in that turn."""
        self._recent.append((turn, at, "open", head, fields))

    def changed(self, turn: int, at: int, head: Fields, fields: Fields) -> None:
        """The same of a call that changes the tree."""
        self._recent.append((turn, at, "file", head, fields))

    def due(
        self, turn: int, kernels: Kernels = lambda _pid, _at, path: path
    ) -> Iterator[tuple[str, Fields, Fields]]:
        """Calls of before that turn which went through a link: kind, head, and fields of where they led.
        ``kernels``: where a path leads through the kernel's own links, for a process at a moment.
        """
        while self._recent and self._recent[0][0] < turn:
            _, at, kind, head, fields = self._recent.popleft()
            if not self._known:
                continue
            if kind == "open":
                real = self._real(fields["path"], at, partial(kernels, head.get("pid", 0), at))
                if real != posixpath.normpath(fields["path"]):
                    yield kind, head, {**fields, "path": real, "asked": fields.get("asked") or fields["path"]}
            elif (led := self._file(head, fields, at, kernels)) != fields:
                yield kind, head, led

    def _file(self, head: Fields, fields: Fields, at: int, kernels: Kernels) -> Fields:
        """Where a change led. What names an entry of a folder acts on the entry, be it a link itself."""
        call, own = head["call"], partial(kernels, head.get("pid", 0), at)
        entry = _ENTRIES.match(call) is not None or "NOFOLLOW" in fields.get("flags", "")
        keys = ("path", "other") if call.startswith(("rename", "link")) else ("path",)
        return fields | {key: self._led(fields[key], at, own, entry=entry) for key in keys if fields.get(key)}

    def _led(self, path: str, at: int, own: Own, *, entry: bool) -> str:
        real = self.entry(path, at, own) if entry else self._real(path, at, own)
        return path if real == posixpath.normpath(path) else real

    def _at(self, path: str, at: int) -> _Link | None:
        self.missed += path in self._unclear
        for link in reversed(self._known.get(path, ())):
            if at > link.until + _SLACK:
                break  # the earlier ones ended earlier
            if link.since - _SLACK <= at:
                return link
        return None

    def _real(self, path: str, at: int, own: Own) -> str:
        """As the kernel walks: a ``..`` behind a link leads out of where that leads."""
        done, hops = "", 0
        left = path.split("/")[::-1]
        while left:
            part = left.pop()
            if part in ("", "."):
                continue
            here = done + "/" + part
            if part == "..":
                done = done.rpartition("/")[0]
                continue
            link = self._at(here, at)
            kernels = not link and here.startswith(("/proc/", "/dev/fd/"))  # a link may lead to those, too
            target = link.target if link else own(here) if kernels else here
            if target == here or hops == _DEEP:
                done = here
                continue
            hops += 1
            left += target.split("/")[::-1]
            done = "" if target.startswith("/") else done
        return done or "/"


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
