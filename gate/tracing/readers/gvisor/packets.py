"""gVisor's packets: calls with their registers, some of them once more with what they name."""

from __future__ import annotations

from typing import Final

from gate.inside.observer import flags, network, process, table
from gate.inside.observer.paths import signed
from gate.inside.observer.text import text_of
from gate.tracing.readers.gvisor import plain_calls as plain
from gate.tracing.readers.gvisor import wire
from gate.tracing.readers.gvisor.descriptors import (
    DESCRIPTORS,
    ONLY_ENDS,
    OPENS,
    THREADS_SHARE,
)
from gate.tracing.readers.gvisor.plain_calls import LAUNCHER as _LAUNCHER
from gate.tracing.readers.gvisor.plain_calls import Args, Fields
from gate.tracing.readers.gvisor.process import Process as _Process
from gate.tracing.readers.gvisor.process import Socket as _Socket
from gate.tracing.readers.gvisor.program import absolute_path, address_fields, exec_fields
from gate.tracing.readers.gvisor.session import LOGGED, RICH
from gate.tracing.readers.gvisor.state import TranslatorState

_RICH_KINDS: Final = frozenset((wire.OPEN, wire.CONNECT, wire.EXECVE, wire.PRLIMIT, wire.BIND))


class FromPackets(TranslatorState):
    """Packets to trace lines."""

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
            path = absolute_path(text_of(wire.text(fields, 5)) or me.cwd, text_of(wire.text(fields, 6)))
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
