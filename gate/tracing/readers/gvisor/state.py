"""What gVisor's two sources are put together from: processes, links and descriptors, and what both tell."""

from __future__ import annotations

import platform
from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from typing import Final

from gate.inside.observer import flags
from gate.inside.observer.numbers import NAMES
from gate.inside.observer.target import UnreadableError
from gate.regex import regex
from gate.tracing.readers.gvisor import log
from gate.tracing.readers.gvisor.descriptors import OPENS
from gate.tracing.readers.gvisor.lines import Lines, head_of
from gate.tracing.readers.gvisor.links import Links, Standing, own, through_fd
from gate.tracing.readers.gvisor.lost_calls import Lost
from gate.tracing.readers.gvisor.plain_calls import LAUNCHER as _LAUNCHER
from gate.tracing.readers.gvisor.plain_calls import Args, Fields
from gate.tracing.readers.gvisor.process import Process as _Process
from gate.tracing.readers.gvisor.program import absolute_path, logged_exec, logged_text

_PYTHON: Final = "/usr/bin/python3"
_OWN_FOLDER: Final = regex(r"/proc/(?:self|thread-self)/")


class TranslatorState(Lines):
    """The state that packets and log lines share. It writes no line by itself."""

    def __init__(self, *, events: int) -> None:
        super().__init__(events=events)
        self.names = NAMES[platform.machine()]
        self.calls: Counter[str] = Counter()
        self.unparsed = self._by_fd = 0
        self._raw: Counter[str] = Counter()
        self._logged: Counter[str] = Counter()
        self._processes: dict[int, _Process] = {_LAUNCHER: _Process(0, _PYTHON)}
        self._links = Links()
        self._waiting: dict[int, tuple[str, int, Args]] = {}
        self._lost = Lost()
        self._through: deque[tuple[int, int, Fields, Fields, _Process]] = deque()
        """Opens through another process's folder, which the log tells later: turn, time, head, fields, by."""
        self._opened: dict[int, str] = {}
        """By thread: the path of an open that has not ended."""
        self._forking: dict[int, int] = {}
        self._threads: dict[int, int] = {}
        self._passed = False
        self._ends: list[tuple[int, Fields, _Process]] = []
        self._rounds = self._sentry_dropped = self._when = 0
        self._rest = b""

    def _tried(self, read: Callable[..., None], *what: object) -> None:
        try:
            read(*what)
        except (ValueError, UnreadableError):
            self.unparsed += 1

    def _process(self, pid: int, it: _Process, why: str) -> None:
        name = it.exe.rsplit("/", 1)[-1][:15]
        fields = {"pid": pid, "ppid": it.parent, "exe": it.exe, "comm": name, "inner": pid}
        self._emit("process", {**fields, "why": why}, bare=True)

    def _without_text(self, name: str, thread: int, group: int, args: Args) -> None:
        """Neither packet nor log: the call is told without it."""
        self.unparsed += 1
        me = self._processes[group]
        if name in ("execve", "execveat"):
            self._exec({"path": ""}, thread, group, me, name)
        elif name in OPENS:
            bits = args[2] if name == "openat" else args[1] if name == "open" else 0o1101
            access, shown = flags.opened(bits & 0xFFFFFFFF)
            self._said("open", name, thread, group, {"path": "", "access": access, "flags": shown})
        elif name in ("connect", "bind"):
            self._said("net", name, thread, group, {})

    def _found(self, said: log.Logged, args: Args) -> None:
        """A call whose packet did not come, from the log. Text that is no UTF-8 has U+FFFD in it there."""
        me, at = self._processes[said.group], (said.thread, said.group)
        if said.call in OPENS:
            where = log.named(said)
            path = absolute_path(self._folder(where, me, said), logged_text(where["path"]))
            bits = 0o1101 if said.call == "creat" else args[2] if said.call == "openat" else args[1]
            self._open(path, bits & 0xFFFFFFFF, args[3], said.call, *at, me)
        else:
            unknown = me.exe == "?"
            self._exec(logged_exec(said, me.folder.at(log.moment(said))), *at, me, said.call)
            if unknown:  # it has become that program already
                me.exe, me.asked = me.asked, ""
                self._process(said.group, me, "exec")

    def _open(
        self, path: str, bits: int, mode: int, name: str, thread: int, group: int, me: _Process
    ) -> None:
        access, shown = flags.opened(bits)
        said: Fields = {"path": path, "access": access, "flags": shown}
        if bits & 0o100:
            said["mode"] = mode & 0o7777
        said |= self._real(path, me, self._when)
        self._opened[thread] = said["path"]
        self._said("open", name, thread, group, said)
        head = head_of(name, thread, group)
        self._links.opened(self._rounds, self._when, head, said)
        if "asked" in said:
            self._through.append((self._rounds, self._when, head, said, me))

    def _real(self, path: str, me: _Process, when: int, *, late: bool = False) -> Fields:
        """``path`` and ``asked`` of a path through the kernel's own links; nothing for any other.
        ``late``: the log of that time has been read.
        """

        def standing(which: str) -> Standing | None:
            number = 0 if which.endswith("self") else int(which[:9])
            other = self._processes.get(self._threads.get(number, number)) if number else me
            if other is None:
                return None
            cwd = other.folder.at(when) if late else other.cwd
            return Standing(cwd, other.exe, lambda fd: other.files.at(fd, when))

        real = own(path, standing)
        self._by_fd += through_fd(path)
        return {} if real == path else {"path": real, "asked": path}

    def _followed(self, turn: int) -> None:
        """Opens through links, whose makers are all known by now, and through others' folders."""
        while self._through and self._through[0][0] < turn:
            _, when, head, told, me = self._through.popleft()
            led = self._real(told["asked"], me, when, late=True)
            if led and led["path"] != told["path"] and not _OWN_FOLDER.match(told["asked"]):
                self._emit("open", head | told | led)
                self._links.opened(turn - 1, when, head, told | led)
        for kind, head, fields in self._links.due(turn, self._kernels):
            self._emit(kind, head | fields)

    def _kernels(self, group: int, when: int, path: str) -> str:
        me = self._processes.get(group)
        led = None if me is None else self._real(path, me, when, late=True).get("path")
        return led or path

    def _linked(self, said: log.Logged) -> None:
        """A link was made, moved or removed, by anybody."""
        it, where, at = self._processes.get(said.group), log.named(said), log.moment(said)

        def entry(key: str) -> str:
            path = absolute_path(self._folder(where, it, said, key), logged_text(where[key]))
            return self._links.entry(path, at, partial(self._kernels, said.group, at))

        path = entry("path")
        if "text" in where:
            self._links.add(path, logged_text(where["text"]), at)
        elif "other" not in where:
            self._links.gone(path, at)
        elif said.call.startswith("link"):
            self._links.shared(path, entry("other"), at)
        else:
            swapped = bool(log.integer(where.get("rename", "0x0")) & 2)  # RENAME_EXCHANGE
            self._links.moved(entry("other"), path, at, swapped=swapped)

    def _folder(self, where: dict[str, str], it: _Process | None, said: log.Logged, key: str = "path") -> str:
        """Where the path of that name begins. Raises AmbiguousLineError."""
        if told := where.get("other_dir" if key == "other" else "dir"):
            return logged_text(told)
        me, numbered = it or _Process(0, ""), where.get("fd_dir", "") if key == "path" else ""
        return log.folder(
            where.get(key, "/"),
            numbered,
            lambda: me.folder.at(log.moment(said)),
            lambda fd: me.files.at(fd, log.moment(said)),
        )

    def _exec(self, fields: Fields, thread: int, group: int, me: _Process, name: str) -> None:
        if not me.live and not self.seq:
            self._process(group, me, "first")
        fields |= self._real(fields["path"], me, self._when)
        me.asked = fields["path"] or "?"
        self._said("exec", name, thread, group, fields)
