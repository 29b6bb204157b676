"""Answers one sandbox's notifications and writes its trace (format: gate/tracing/events.py).

Bounded: each kind of event has a budget of lines; past it calls are still answered and counted, and
the summary says how many were dropped. One kind's flood never costs another kind's lines.
Fails closed: when this process ends, the kernel answers every observed call with ENOSYS.
Standard library only.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import socket
import time
from collections import Counter
from collections.abc import Collection
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

from . import flags, network, paths, process, quick, table
from .handover import StoppedError
from .known import Known
from .links import Links
from .listener import Listener
from .numbers import AUDIT_ARCH, NAMES
from .paths import Args, Fields, signed
from .target import Memory, Process, UnreadableError, who
from .text import text_of
from .writer import Writer

VERSION = 1
_FAMILIES_ALLOWED = frozenset((1, 2, 10, 16))  # unix, inet, inet6, netlink (name look-ups use it)
_NEW_LISTENER = 8
_NAMES = 1000


class Supervisor:
    """The loop around one listener. ``link`` is the launcher's connection: its end ends the run."""

    def __init__(
        self,
        listener: int,
        out: int,
        *,
        link: socket.socket | None = None,
        events: int = 1_000_000,
        canaries: Collection[str] = (),
    ) -> None:
        self.listener = Listener(listener)
        self.link = link
        self.arch = os.uname().machine
        self.names = NAMES[self.arch]
        self.native = AUDIT_ARCH[self.arch]
        self.memory = Memory()
        reshaping = frozenset(n for n, name in self.names.items() if name in paths.RESHAPING)
        self.links = Links(lambda inner: getattr(self.known.by_inner(inner), "pid", None), reshaping)
        self.writer = Writer(out, events)
        self.epoll = select.epoll()
        self.known = Known(self.writer, self.links, self.epoll)
        self.calls: Counter[str] = Counter()
        self.unparsed = 0
        self.canaries = frozenset(canaries)
        self.quick = (
            quick.nobody(self.links)
            if canaries
            else quick.taker(
                self.listener,
                self.links,
                self.writer,
                self.names,
                arch=self.native,
                tids=self.known.tids,
                calls=self.calls,
            )
        )

    def run(self, deadline: float | None = None) -> str:
        """Serve until nobody uses the filter any more; returns how it ended (``summary.end``)."""
        self.writer.line(
            "start", {"version": VERSION, "tracer": "unotify", "arch": self.arch, "wall": time.time()}
        )
        self.epoll.register(self.listener.fd, select.EPOLLIN)
        if self.link is not None:
            self.epoll.register(self.link.fileno(), select.EPOLLIN)
        end, error = "error", ""
        try:
            end = self._serve(None if deadline is None else self.writer.t0 + deadline)
        except StoppedError:
            end = "killed"
        except Exception as bug:
            error = f"{type(bug).__name__}: {bug}"[:500]
        finally:
            os.close(self.listener.fd)  # from here on the target's calls fail
            counts = {"events": self.writer.events, "dropped": self.writer.dropped}
            fields: Fields = {**counts, "unparsed": self.unparsed, "calls": dict(self.calls), "end": end}
            if error:
                fields["error"] = error
            self.writer.line("summary", fields)
            self.writer.flush()
            if end == "exited" and self.link is not None:
                with contextlib.suppress(OSError):  # so that our leaving is not taken for our death
                    self.link.send(b"E")
        return end

    def _serve(self, until: float | None) -> str:
        poll, listener = self.epoll.poll, self.listener
        link = -1 if self.link is None else self.link.fileno()
        while True:
            ready = poll(0 if listener.busy else 0.05 if self.writer.waiting else 1.0)
            calling = listener.busy
            if not ready and not calling:
                self.writer.flush()
            if until is not None and time.monotonic() > until:
                return "deadline"
            for fd, event in ready:
                if fd == listener.fd:
                    if event & select.EPOLLIN:
                        calling = True
                    elif event & (select.EPOLLHUP | select.EPOLLERR):
                        self.known.all_gone()
                        return "exited"
                elif fd == link:
                    if self._link_closed():
                        self.known.all_gone()
                        return "exited"
                else:
                    self.known.gone(fd)
            if calling:
                for found in listener.row(self.quick):
                    if self.step(found) == "exit_group":  # likely the last call, and the rest tells at once
                        break

    def _link_closed(self) -> bool:
        assert self.link is not None
        try:
            return not self.link.recv(64, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    # -- one notification -------------------------------------------------------------------

    def step(self, found: tuple[int, ...]) -> str:
        """Look, answer, write; returns the call's name. For what ``quick`` left to it."""
        ident, tid, _, number, arch, _, *args = found
        if self.links.under_way:
            self.links.under_way.pop(tid, None)  # what it asked for before has ended
        if arch != self.native or number & table.X32_BIT:
            self._foreign(ident, tid, number & 0xFFFFFFFF, arch, tuple(args))
            return "foreign"
        name = self.names.get(number)
        if name is None:
            name = f"syscall_{number & 0xFFFFFFFF}"
        self._count(name)
        handler = _HANDLERS.get(name)
        if handler is None:
            errno_ = errno.EPERM if name in table.REFUSED else errno.ENOSYS
            self._refuse(ident, tid, name, tuple(args), errno_, number)
        else:
            handler(self, ident, tid, name, tuple(args))
        return name

    def _count(self, name: str) -> None:
        """By name; made-up numbers cannot fill the memory."""
        self.calls[name if name in self.calls or len(self.calls) < _NAMES else "other"] += 1

    def _answer(self, ident: int, *, error: int = 0, value: int | None = None) -> bool:
        """Let it through, refuse it (``error``), or pretend (``value``). False: the caller is gone."""
        return self.listener.answer(ident, value or 0, error, go_on=not error and value is None)

    def _foreign(self, ident: int, tid: int, number: int, arch: int, args: Args) -> None:
        """i386, x32 or an unknown architecture: refused, reported, never decoded."""
        abi = {0x40000003: "i386", self.native: "x32"}.get(arch, "other")
        plain = number & ~table.X32_BIT if abi == "x32" else number
        name = self.names.get(plain, f"syscall_{plain}") if abi == "x32" else f"syscall_{plain}"
        self._count(f"{abi}:{name}")
        me = self.known.by_thread(tid)
        fields = {"number": plain, "detail": ", ".join(hex(a) for a in args), "abi": abi}
        if self._answer(ident, error=errno.EPERM):
            self._event("attempt", me, tid, name, fields | {"denied": True, "errno": "EPERM"})

    def _refuse(self, ident: int, tid: int, name: str, args: Args, error: int, number: int = -1) -> None:
        fields: Fields = {"detail": process.attempt_detail(self.memory, tid, name, args)}
        if number >= 0:
            fields["number"] = number
        me = self.known.by_thread(tid)
        if self._answer(ident, error=error):
            named = errno.errorcode.get(error, str(error))
            self._event("attempt", me, tid, name, fields | {"denied": True, "errno": named})

    # -- kinds of calls ---------------------------------------------------------------------

    def _observe(self, kind: str, ident: int, tid: int, name: str, found: Any) -> None:
        """Decode with ``found()``, write, let through."""
        if self.writer.spent(kind):
            self.writer.dropped += 1
            self._answer(ident)
            return
        me = self.known.by_thread(tid)
        lost = False
        try:
            many = found(me)
        except UnreadableError:
            lost = True
            many = [dict(_EMPTY.get(kind, {}))]
        if kind == "file" and any(fields.get("other") in self.canaries for fields in many):
            for fields in many:  # a canary under another name
                self._hold(kind, me, tid, name, fields)
        elif self._answer(ident):  # else: the caller died, the call never happened
            self.unparsed += lost
            for fields in many:
                self._event(kind, me, tid, name, fields)

    def _open(self, ident: int, tid: int, name: str, args: Args) -> None:
        if self.writer.spent("open"):
            self.writer.dropped += 1
            self._answer(ident)
            return
        me = self.known.by_thread(tid)
        lost = False
        try:
            fields = paths.open_fields(self.memory, self.links, tid, name, args)
        except UnreadableError:
            lost, fields = True, {"path": "", "access": "rw"}
        kind = "open" if fields["access"] == "r" and "mode" not in fields else "file"
        if self.canaries and _reads(fields) and fields["path"] in self.canaries:
            self._hold("open", me, tid, name, fields, budget=kind)
        elif self._answer(ident):
            self.unparsed += lost
            self._event("open", me, tid, name, fields, budget=kind)

    def _hold(self, kind: str, me: Process, tid: int, name: str, fields: Fields, *, budget: str = "") -> None:
        """A canary is touched: the caller never gets its answer, and the launcher ends everything."""
        fields = fields | {"denied": True, "errno": "KILLED"}
        self._event(kind, me, tid, name, fields, budget=budget)
        self.writer.flush()
        if self.link is not None:
            with contextlib.suppress(OSError):
                self.link.send(b"C")

    def _look(self, ident: int, tid: int, name: str, args: Args) -> None:
        self._observe("look", ident, tid, name, lambda _: [paths.look_fields(self.memory, tid, name, args)])

    def _file(self, ident: int, tid: int, name: str, args: Args) -> None:
        if name in paths.RESHAPING:
            self.links.changes(tid, self.known.by_thread(tid).pid)
        self._observe(
            "file", ident, tid, name, lambda _: [paths.file_fields(self.memory, self.links, tid, name, args)]
        )

    def _exec(self, ident: int, tid: int, name: str, args: Args) -> None:
        me = self.known.by_thread(tid)
        self._observe(
            "exec",
            ident,
            tid,
            name,
            lambda _: [process.exec_fields(self.memory, self.links, tid, name, args)],
        )
        me.recheck.add(tid)
        me.close_memory()
        self.known.forget_threads(me)  # when it works, only one thread is left, under the group's own number

    def _fork(self, ident: int, tid: int, name: str, args: Args) -> None:
        if name == "clone" and args[0] & flags.NEW_NAMESPACES:
            self._refuse(ident, tid, name, args, errno.EPERM)
        else:
            self._observe("fork", ident, tid, name, lambda _: [process.fork_fields(name, args)])

    def _end(self, ident: int, tid: int, name: str, args: Args) -> None:
        me = self.known.by_thread(tid)
        if name == "exit_group" and not me.exiting:
            me.exiting = True
            me.close_memory()
            self.writer.bare("exit", {"pid": me.pid, "code": args[0] & 0xFF})
        self._answer(ident)
        if name == "exit":
            self.known.tids.pop(tid, None)
            me.tids.discard(tid)
        elif me.pidfd < 0:
            self.known.drop(me)

    def _socket(self, ident: int, tid: int, name: str, args: Args) -> None:
        if signed(args[0]) in _FAMILIES_ALLOWED:
            self._observe("socket", ident, tid, name, lambda _: [network.socket_fields(args)])
        else:
            self._refuse(ident, tid, name, args, errno.EAFNOSUPPORT)

    def _net(self, ident: int, tid: int, name: str, args: Args) -> None:
        self._observe(
            "net", ident, tid, name, lambda me: network.net_fields(self.memory, me.pid, tid, name, args)
        )

    def _signal(self, ident: int, tid: int, name: str, args: Args) -> None:
        self._observe(
            "signal",
            ident,
            tid,
            name,
            lambda me: [process.signal_fields(tid, name, args, me, self.known.by_inner)],
        )

    def _memfd(self, ident: int, tid: int, name: str, args: Args) -> None:
        self._observe("memfd", ident, tid, name, lambda _: [self._memfd_fields(tid, args)])

    def _memfd_fields(self, tid: int, args: Args) -> Fields:
        title = text_of(self.memory.string(tid, args[0], 256)) if args[0] else ""
        return {"name": title, "flags": flags.names(args[1] & 0xFFFFFFFF, flags.MEMFD)}

    def _control(self, ident: int, tid: int, name: str, args: Args) -> None:
        if name == "seccomp" and args[0] == 1 and args[1] & _NEW_LISTENER:
            self._refuse(ident, tid, name, args, errno.EBUSY)
        elif name == "prctl" and args[0] & 0xFFFFFFFF == 4 and args[1] != 1:
            # Hiding from /proc would blind a supervisor without privileges: we say yes and do not do it.
            me = self.known.by_thread(tid)
            fields = process.control_fields(self.memory, tid, name, args)
            if self._answer(ident, value=0):
                self._event("control", me, tid, name, fields | {"denied": True, "errno": "0"})
        else:
            self._observe(
                "control", ident, tid, name, lambda _: [process.control_fields(self.memory, tid, name, args)]
            )

    # -- writing ----------------------------------------------------------------------------

    def _event(
        self, kind: str, me: Process, tid: int, name: str, fields: Fields, *, budget: str = ""
    ) -> None:
        body = (
            json.dumps(fields, separators=(",", ":"))[1:]
            if len(fields) != 2 or kind != "open"
            else (f'"path":{quoted(fields["path"])},"access":"{fields["access"]}"}}')
        )  # the commonest line by hand: a plain open for reading
        comma = "," if len(body) > 1 else ""
        self.writer.put(budget or kind, f'"ev":"{kind}",{who(me.pid, tid)},"call":"{name}"{comma}{body}')


def _reads(fields: Fields) -> bool:
    """An open through which what the file holds can be read."""
    return fields["access"] != "w" and "O_TRUNC" not in fields.get("flags", "")


_EMPTY: dict[str, Fields] = {
    "look": {"path": ""},
    "file": {"path": ""},
    "exec": {"path": ""},
    "signal": {"sig": "?", "target": 0, "scope": "other"},
}
_GROUPS = (
    (table.OPEN, Supervisor._open),
    (table.LOOK, Supervisor._look),
    (table.FILE, Supervisor._file),
    (table.EXEC, Supervisor._exec),
    (table.FORK, Supervisor._fork),
    (table.END, Supervisor._end),
    (table.SOCKET, Supervisor._socket),
    (table.NET, Supervisor._net),
    (table.SIGNAL, Supervisor._signal),
    (table.MEMFD, Supervisor._memfd),
    (table.CONTROL, Supervisor._control),
)
_HANDLERS = {name: handler for group, handler in _GROUPS for name in group}
