"""gVisor's own report of a sandbox (packets and log lines) to a trace: the seccheck tracer.

The trace begins where the launcher's child becomes the code under test; what the launcher itself does is
left out, as with the other tracer. Limits of this tracer: calls that gVisor does not know are answered in it
and not seen; the first bytes of a ``sendto`` are not seen; ``denied`` is set for what the launcher's filter
refused (then the arguments are not known), not for what the sentry refuses.
"""

from __future__ import annotations

import platform
import re
from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from typing import Final

from gate.sandbox.observer import flags, network, process, table
from gate.sandbox.observer.numbers import NAMES
from gate.sandbox.observer.paths import signed
from gate.sandbox.observer.target import Unreadable
from gate.trace import seccheck_guard
from gate.trace import seccheck_log as log
from gate.trace import seccheck_plain as plain
from gate.trace import seccheck_wire as wire
from gate.trace.events import text_of
from gate.trace.seccheck_fds import DESCRIPTORS, INET, ONLY_ENDS, OPENS, THREADS_SHARE, Descriptors
from gate.trace.seccheck_lines import Lines, head_of
from gate.trace.seccheck_links import Links, Standing, own, through_fd
from gate.trace.seccheck_lost import Lost
from gate.trace.seccheck_plain import LAUNCHER as _LAUNCHER
from gate.trace.seccheck_plain import Args, Fields
from gate.trace.seccheck_process import Process as _Process
from gate.trace.seccheck_process import Socket as _Socket
from gate.trace.seccheck_program import address_fields, exec_fields, joined, logged_exec, logged_text
from gate.trace.seccheck_session import FOLDERS, LOGGED, LOOKS, RICH

_PYTHON: Final = "/usr/bin/python3"
_MOST_LINE: Final = 1 << 20
_RICH_KINDS: Final = frozenset((wire.OPEN, wire.CONNECT, wire.EXECVE, wire.PRLIMIT, wire.BIND))
_OWN_FOLDER: Final = re.compile(r"/proc/(?:self|thread-self)/")
_LINKING: Final = frozenset(
    ("symlink", "symlinkat", "link", "linkat", "unlink", "unlinkat", "rename", "renameat", "renameat2")
)


class Translator(Lines):
    """Feed packets and log bytes as they come; take trace lines out. Never raises for their content.

    ``packets`` and ``lines`` return encoded trace lines; ``round`` says that both sources were emptied
    once more: ends of processes wait for that, so that nothing of theirs comes after them.
    """

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

    @property
    def begun(self) -> bool:
        """The sandbox's kernel has reported something."""
        return self._t0 is not None

    def packets(self, packets: list[bytes]) -> list[bytes]:
        """Trace lines for these packets."""
        for packet in packets:
            self._tried(self._packet, packet)
        return self._taken()

    def lines(self, data: bytes) -> list[bytes]:
        """Trace lines for these bytes of the sentry's log (cut anywhere)."""
        *whole, self._rest = log.apart(self._rest + data).split(b"\n")
        if len(self._rest) > _MOST_LINE:
            self._rest = b""
            self.unparsed += 1
        for line in whole:
            self._tried(self._line, line)
        return self._taken()

    def _tried(self, read: Callable[..., None], *what: object) -> None:
        try:
            read(*what)
        except (ValueError, Unreadable):
            self.unparsed += 1

    def round(self) -> list[bytes]:
        """Both sources were emptied."""
        self._rounds += 1
        self._followed(self._rounds - 1)
        while self._ends and self._ends[0][0] < self._rounds - 1:
            _, fields, it = self._ends.pop(0)
            self._emit("exit", fields, bare=True)
            it.files, it.sockets = Descriptors(), {}  # there may be very many, one after another
        return self._taken()

    def finish(self, *, whole: bool) -> list[bytes]:
        """The last lines. ``whole``: the sentry itself closed the stream, and the observer lived."""
        for thread in list(self._waiting):
            self._tried(self._missed, thread)
        for name, thread, group, args in self._lost.rest():
            self._without_text(name, thread, group, args)
        self._followed(self._rounds + 1)
        self.unparsed += self._links.missed
        if self._passed:  # a descriptor was sent to somebody: nobody knows under which number it came
            self.unparsed += self._by_fd
        while self._ends:
            self._emit("exit", self._ends.pop(0)[1], bare=True)
        self.unparsed += sum(abs(self._raw[name] - self._logged[name]) for name in LOGGED)
        counts = {"events": self.events, "dropped": self.dropped + self._sentry_dropped}
        end = "exited" if whole else "error"
        fields = {**counts, "unparsed": self.unparsed, "calls": dict(self.calls), "end": end}
        self._start()
        self._emit("summary", fields, bare=True)
        return self._taken()

    # -- packets ----------------------------------------------------------------------------

    def _packet(self, packet: bytes) -> None:
        kind, dropped, body = wire.split(packet)
        self._sentry_dropped = max(self._sentry_dropped, dropped)
        fields = wire.parse(body)
        context = wire.context(fields)
        time, thread, group = (wire.number(context, k) for k in (wire.TIME, wire.THREAD, wire.GROUP))
        if self._t0 is None:
            self._t0 = time
        self._now, self._when = max(self._now, time), time
        if thread in self._waiting and kind not in _RICH_KINDS:
            self._missed(thread)
        me = self._processes.get(group)
        if kind == wire.CLONE:
            self._cloned(fields, thread, group, me)
        elif group != _LAUNCHER:
            if me is None:
                raise ValueError("a process nobody told of")
            self._by(me, kind, fields, context, thread, group)

    def _by(
        self, me: _Process, kind: int, fields: wire.Fields, context: wire.Fields, thread: int, group: int
    ) -> None:
        """A packet that tells of the code."""
        if kind == wire.RAW:
            self._call(fields, thread, group, me)
        elif kind in _RICH_KINDS:
            self._lost.came(thread)
            self._rich(fields, context, thread, group, me)
        elif kind in wire.PAIRS and 2 in fields:
            for key in wire.PAIRS[kind]:
                me.files.is_now(wire.number(fields, key), "", self._when)
        elif kind == wire.EXECVE_INFO:
            me.became = text_of(wire.text(fields, 2))
        elif kind == wire.EXIT_NOTIFY and me.live:
            status = wire.number(fields, 2)
            ended: Fields = {"pid": group}
            if not status & 0x7F:
                ended["code"] = status >> 8 & 0xFF
            self._ends.append((self._rounds, ended, me))

    def _cloned(self, fields: wire.Fields, thread: int, group: int, me: _Process | None) -> None:
        child = wire.number(fields, 4)
        if me is None or child == group:
            self._threads[wire.number(fields, 3)] = group
            shares = self._forking.get(thread, 0) & THREADS_SHARE == THREADS_SHARE
            self.unparsed += me is not None and me.live and not shares
            return
        how = self._forking.get(thread, 0)
        born = _Process(group, me.exe, me.cwd, me.live, sockets=dict(me.sockets), files=me.files.child(how))
        born.folder = me.folder.child(how, self._when)
        self._processes[child] = born
        self._threads.pop(child, None)
        if born.live:
            self._process(child, born, "first")

    def _process(self, pid: int, it: _Process, why: str) -> None:
        name = it.exe.rsplit("/", 1)[-1][:15]
        fields = {"pid": pid, "ppid": it.parent, "exe": it.exe, "comm": name, "inner": pid}
        self._emit("process", {**fields, "why": why}, bare=True)

    def _call(self, fields: wire.Fields, thread: int, group: int, me: _Process) -> None:
        number = wire.number(fields, 4)
        name = self.names.get(number, f"syscall_{number}")
        args = tuple(wire.number(fields, key) for key in range(5, 11))
        if 2 in fields:
            ended = wire.parse(wire.text(fields, 2))
            if name in DESCRIPTORS:
                self._given(name, args, ended, thread, me)
            else:
                self._executed(ended, group, me)
            return
        self._lost.begun(thread, name)
        if name in ONLY_ENDS or (not me.live and name not in ("execve", "execveat")):
            return
        self.calls[name] += 1
        if name in RICH:
            self._waiting[thread] = (name, group, args)
        elif name in LOGGED:
            if name != "sendto" or args[4]:
                self._raw[name] += 1
        else:
            self._plain(name, number, args, thread, group, me)

    def _given(self, name: str, args: Args, ended: wire.Fields, thread: int, me: _Process) -> None:
        """A call that makes a descriptor has ended."""
        path = self._opened.pop(thread, "")
        if wire.number(ended, 2):
            return
        made = wire.number(ended, 1)
        if name == "socket" and me.live:
            me.sockets[made] = _Socket(args[1] & 0xF)
        me.files.ended(name, args, made, path, self._when)

    def _executed(self, exit_: wire.Fields, group: int, me: _Process) -> None:
        """The end of an execve: now it is another program, or not."""
        if wire.number(exit_, 2) == 0 and wire.number(exit_, 1) == 0 and me.asked:
            if not me.live:
                me.folder.is_now(me.cwd, self._when)
            me.exe, me.live = me.became or me.asked, True
            self._process(group, me, "exec")
        me.asked = me.became = ""

    def _missed(self, thread: int) -> None:
        """The packet with the text did not come; the log may have it."""
        name, group, args = self._waiting.pop(thread)
        if name in ("execve", "execveat"):
            self._processes[group].asked = "?"
        early = self._lost.missed(name, thread, group, args)
        if early is not None:
            self._found(early, args)

    def _found(self, said: log.Logged, args: Args) -> None:
        """A call whose packet did not come, from the log. Text that is no UTF-8 has U+FFFD in it there."""
        me, at = self._processes[said.group], (said.thread, said.group)
        if said.call in OPENS:
            where = log.named(said)
            path = joined(self._folder(where, me, said), logged_text(where["path"]))
            bits = 0o1101 if said.call == "creat" else args[2] if said.call == "openat" else args[1]
            self._open(path, bits & 0xFFFFFFFF, args[3], said.call, *at, me)
        else:
            unknown = me.exe == "?"
            self._exec(logged_exec(said, me.folder.at(log.moment(said))), *at, me, said.call)
            if unknown:  # it has become that program already
                me.exe, me.asked = me.asked, ""
                self._process(said.group, me, "exec")

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

    def _plain(self, name: str, number: int, args: Args, thread: int, group: int, me: _Process) -> None:
        """Calls whose registers say everything."""
        if name in table.END or name in table.LOOK:
            return
        if name in table.FORK:
            self._forking[thread] = args[0] if name == "clone" else 0
            self._said("fork", name, thread, group, process.fork_fields(name, args))
        elif name in table.SOCKET:
            self._said("socket", name, thread, group, network.socket_fields(args))
        elif name in table.SIGNAL:
            self._said("signal", name, thread, group, plain.signal_fields(name, args, group, self._parent))
        elif name == "listen":
            known = me.sockets.get(signed(args[0]))
            self._said("net", name, thread, group, dict(known.bound) if known else {})
        elif name in table.CONTROL:
            fields = plain.control_fields(name, args)
            if fields is not None:
                self._said("control", name, thread, group, fields)
        elif name != "personality" or args[0] & 0xFFFFFFFF != 0xFFFFFFFF:  # that only asks
            detail = plain.attempt_detail(name, args)
            self._said("attempt", name, thread, group, {"number": number, "detail": detail})

    def _parent(self, group: int) -> int | None:
        known = self._processes.get(group)
        return None if known is None else known.parent

    # -- packets that name something ---------------------------------------------------------

    def _rich(self, fields: wire.Fields, context: wire.Fields, thread: int, group: int, me: _Process) -> None:
        waiting = self._waiting.pop(thread, None)
        if waiting is None:
            return  # the launcher's own, or its child's before it became the code
        name, _, args = waiting
        me.cwd = text_of(wire.text(context, wire.CWD)) or me.cwd
        if name in ("execve", "execveat"):
            self._exec(exec_fields(fields, me.cwd), thread, group, me, name)
        elif name in OPENS:
            bits = 0o1101 if name == "creat" else wire.number(fields, 7)
            path = joined(text_of(wire.text(fields, 5)) or me.cwd, text_of(wire.text(fields, 6)))
            self._open(path, bits, wire.number(fields, 8), name, thread, group, me)
        elif name in ("connect", "bind"):
            told = address_fields(wire.text(fields, 6), me.cwd)
            known = me.sockets.get(signed(args[0]))
            if known is not None:
                proto = flags.PROTOS.get((flags.KINDS.get(known.kind, ""), told["family"]), "")
                told |= {"proto": proto} if proto else {}
                known.bound = told if name == "bind" else known.bound
            self._said("net", name, thread, group, told)
        elif args[2]:  # prlimit64 that sets
            limit = wire.parse(wire.text(fields, 6))
            pair = wire.number(limit, 1), wire.number(limit, 2)
            self._said("control", name, thread, group, plain.limit_fields(args[1], *pair))

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
            path = joined(self._folder(where, it, said, key), logged_text(where[key]))
            return self._links.entry(path, at, partial(self._kernels, said.group, at))

        path = entry("path")
        if "text" in where:
            self._links.made(path, logged_text(where["text"]), at)
        elif "other" not in where:
            self._links.gone(path, at)
        elif said.call.startswith("link"):
            self._links.shared(path, entry("other"), at)
        else:
            swapped = bool(log.integer(where.get("rename", "0x0")) & 2)  # RENAME_EXCHANGE
            self._links.moved(entry("other"), path, at, swapped=swapped)

    def _folder(self, where: dict[str, str], it: _Process | None, said: log.Logged, key: str = "path") -> str:
        """Where the path of that name begins. Raises Ambiguous."""
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

    # -- the log ----------------------------------------------------------------------------

    def _line(self, line: bytes) -> None:
        if b"task_syscall.go" in line[:26]:
            self._refused(line)
        if b"strace.go" not in line[:20] or log.idle(line):
            return
        said = log.read(line)
        if said is None:
            return
        if said.result == 0 and said.call in _LINKING:
            self._linked(said)
        if said.group == _LAUNCHER and said.call not in FOLDERS:
            return
        me = self._processes.get(said.group)
        if me is None:
            raise log.Ambiguous("a process nobody told of")
        if said.call in FOLDERS:
            if said.result == 0:
                where, at = log.named(said), log.moment(said)
                to = logged_text(where.get("path") or where.get("fd", ""))
                me.cwd = joined(me.folder.at(at), to)
                me.folder.is_now(me.cwd, at)
        elif said.result is None and said.call in log.DOUBLED:
            lost = self._lost.shown(said)
            if lost is not None:
                self._found(said, lost)
        elif said.result is None and me.live:
            self._from_log(said, me)

    def _refused(self, line: bytes) -> None:
        """A call that the launcher's filter answered (seccheck_guard.py): no packet tells of it."""
        found = log.denied(line)
        if found is None:
            return
        group, thread, number = found
        if group == _LAUNCHER:
            return
        me = self._processes.get(group)
        if me is None:
            raise log.Ambiguous("a process nobody told of")
        if not me.live:
            return
        told = seccheck_guard.told(number, self.names)
        if told is not None:
            name, said = told
            self.calls[f"x32:{name}" if "abi" in said else name] += 1
            self._said("attempt", name, thread, group, said)

    def _from_log(self, said: log.Logged, me: _Process) -> None:
        call, at = said.call, (said.thread, said.group)
        if call.startswith("send"):
            self._sent(said)
            return
        if call in LOGGED:
            self._logged[call] += 1
        where = log.named(said)
        path = logged_text(where.get("path", where.get("fd", "")))
        if call == "memfd_create":
            self._said("memfd", call, *at, {"name": path, "flags": log.memfd_flags(where["memfd"])})
            return
        fields = {"path": joined(self._folder(where, me, said), path)}
        if fields["path"].startswith(("/proc/", "/dev/fd/")):
            fields["path"] = self._real(fields["path"], me, log.moment(said), late=True).get(
                "path", fields["path"]
            )
        if call in LOOKS:
            if path:
                self._said("look", call, *at, fields)
            return
        if "other" in where:
            fields["other"] = joined(self._folder(where, me, said, "other"), logged_text(where["other"]))
        elif "text" in where:
            fields["other"] = logged_text(where["text"])
        fields |= log.numbers(where)
        self._said("file", call, *at, fields)
        self._links.changed(self._rounds, log.moment(said), head_of(call, *at), fields)

    def _sent(self, said: log.Logged) -> None:
        fields = log.sent(said)
        known = self._processes[said.group].files.at(log.descriptor(said), log.moment(said))
        self._passed |= log.passes_descriptors(said, inet=known == INET)
        if said.call == "sendto" and not log.addressed(said):
            return
        self._logged[said.call] += 1
        if "addr" in fields:
            fields["addr"] = logged_text(fields["addr"])
        self._said("net", said.call, said.thread, said.group, fields)
