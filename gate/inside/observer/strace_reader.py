"""Reads strace's output as it comes and writes the trace (format: gate/tracing/events.py).

Runs outside the sandbox, as whoever runs gate. What bubblewrap and the launcher do before the launcher puts
its own filter on the code is left out: from that call on, every thread not known before is the code's.

Bounded as the supervisor is. What is not understood is counted (``unparsed``) and never guessed: such a
trace is not whole. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Collection
from typing import Optional

from . import flags, paths, process, strace_calls, strace_line, table
from .links import Links
from .numbers import AUDIT_ARCH, NAMES
from .paths import Fields
from .strace_calls import Printed
from .strace_known import MOST, Known
from .strace_line import Begun, Call, Ended, Lost, Trapped, UnknownLineError
from .target import AT_FDCWD, Process, UnreadableError, who
from .text import bytes_of, text_of
from .writer import Writer

VERSION = 1
_CHUNK = 1 << 16
_NAMES = 1000
_HARMLESS_PRCTL = frozenset(
    (2, 3, 7, 9, 11, 13, 16, 19, 21, 23, 25, 27, 29, 30, 34, 37, 39, 40, 42, 52, 0x53564D41)
)
"""As PR_HARMLESS in gate/tracing/bpf/user_notification.py; a test holds the two together."""
_FIXED = (
    b"/usr/",
    b"/lib",
    b"/etc/",
    b"/bin/",
    b"/sbin/",
    b"/sys/",
    b"/opt/",
    b"/proc/",
    b"/dev/",
    b"/memfd",
)
"""Where a link changes nothing (gate/inside/observer/links.py), or what has another name inside."""
_EMPTY: dict[str, Fields] = {
    "open": {"path": "", "access": "rw"},
    "look": {"path": ""},
    "file": {"path": ""},
    "exec": {"path": ""},
    "signal": {"sig": "?", "target": 0, "scope": "other"},
}
_KIND = {
    name: kind
    for kind, group in (
        ("open", table.OPEN),
        ("look", table.LOOK),
        ("file", table.FILE),
        ("exec", table.EXEC),
        ("fork", table.FORK),
        ("end", table.END),
        ("socket", table.SOCKET),
        ("net", table.NET),
        ("signal", table.SIGNAL),
        ("memfd", table.MEMFD),
        ("control", table.CONTROL),
        ("attempt", table.REFUSED),
    )
    for name in group
}


class Reader:
    """The state of one reading. ``link`` is the launcher's connection."""

    def __init__(
        self,
        out: int,
        *,
        link: Optional[socket.socket] = None,
        token: bytes = b"",
        events: int = 1_000_000,
        canaries: Collection[str] = (),
        live: bool = True,
    ) -> None:
        self.writer = Writer(out, events)
        self.link = link
        self.token = token
        self.canaries = frozenset(canaries)
        self.unparsed = 0
        self.calls: Counter[str] = Counter()
        self.links = Links(
            lambda inner: getattr(self.known.by_inner(inner), "pid", None), remembered=self._remembered
        )
        self.sockets = strace_calls.Sockets()
        self.unnamed = strace_calls.MemoryFiles()
        self.begun = False
        self.outside: set[int] = set()
        """Threads of the sandbox and the launcher: known before the code was there."""
        self.halves: dict[int, Begun] = {}
        self.lost: set[int] = set()
        """Threads whose last call could not be read."""
        self.known = Known(self.writer, self.halves, live=live)

    # -- the stream -------------------------------------------------------------------------

    def run(self, source: int) -> str:
        """Read to the end; returns how it ended (``summary.end``)."""
        self.writer.line(
            "start", {"version": VERSION, "tracer": "strace", "arch": os.uname().machine, "wall": time.time()}
        )
        end, error = "error", ""
        try:
            for line in strace_line.lines(source):
                if line is None:
                    self.unparsed += self.begun
                else:
                    self.line(line)
            end = "exited" if self.begun and not self.known.processes else "killed"
            if not self.begun:
                error = "strace ended before the code began"
        except Exception as bug:
            error = f"{type(bug).__name__}: {bug}"[:500]
        self.finish(end, error)
        return end

    def finish(self, end: str, error: str = "") -> None:
        """The last line, and the good-bye to the launcher."""
        self.unparsed += len(self.lost)
        counts = {"events": self.writer.events, "dropped": self.writer.dropped}
        fields: Fields = {**counts, "unparsed": self.unparsed, "calls": dict(self.calls), "end": end}
        if error:
            fields["error"] = error
        self.writer.line("summary", fields)
        self.writer.flush()
        if end == "exited":
            self._tell(b"E")

    def line(self, line: str) -> None:
        """One line of strace's; never raises for what it holds."""
        try:
            tid, rest = strace_line.head(line)
        except UnknownLineError:
            self.unparsed += self.begun
            return
        if not self.begun:
            self._before(tid, rest)
            return
        if tid in self.outside:
            return
        try:
            found = strace_line.parse_rest(rest, self.halves.get(tid))
        except UnknownLineError:
            self.halves.pop(tid, None)
            self.unparsed += 1
            return
        if isinstance(found, Lost):
            self.lost.add(tid)
            return
        if tid in self.lost:  # in the end it is killed, and nothing else
            self.lost.discard(tid)
            self.unparsed += not isinstance(found, Ended) or found.code is not None
        if isinstance(found, Begun):
            if len(self.halves) >= MOST:
                self.unparsed += 1
            else:
                self.halves[tid] = found
            self.known.by_thread(tid)
        elif isinstance(found, Ended):
            self._ended(tid, found)
        elif isinstance(found, Trapped):
            self._trapped(tid, found)
        elif found is not None:
            self.halves.pop(tid, None)
            self._call(tid, found)

    def _remembered(self, tid: int, what: bytes) -> bytes:
        """What the process's magic links led to, by the lines so far: it may be gone by now."""
        me = self.known.by_thread(tid)
        kept = {b"cwd": self.known.cwd.get(me.pid, b""), b"exe": bytes_of(me.exe)}
        return kept.get(what, b"")

    def _before(self, tid: int, rest: str) -> None:
        """The launcher's own filter marks the beginning: nothing of the code ran before."""
        if rest.startswith("seccomp(0x1, 0, {") and rest.endswith(" = 0"):
            self.begun = True
            self.outside.discard(tid)
            self._greet()
        elif rest.startswith("+++ "):
            self.outside.discard(tid)
        else:
            self.outside.add(tid)

    def _greet(self) -> None:
        """The launcher said who it is before it forked; now the code may start. Raises ConnectionError."""
        if self.link is not None:
            self.link.settimeout(10)
            if self.link.recv(len(self.token), socket.MSG_WAITALL) != self.token:
                raise ConnectionError("wrong token")
            self._tell(b"K")

    # -- one call ---------------------------------------------------------------------------

    def _call(self, tid: int, call: Call) -> None:
        name = call.name
        kind = _KIND.get(name)
        self.calls[name if name in self.calls or len(self.calls) < _NAMES else "other"] += 1
        if kind is None:
            self.unparsed += 1
            return
        if self.writer.spent(kind) and kind not in ("exec", "fork", "end", "open", "socket"):
            self.writer.dropped += 1
            return
        me = self.known.by_thread(tid)
        try:
            printed = Printed(call, self.known.cwd.get(me.pid))
            where = printed.path_of(AT_FDCWD)
            if where is not None:
                self.known.cwd[me.pid] = where
            _HANDLERS[kind](self, tid, me, call, printed)
        except (UnknownLineError, UnreadableError, KeyError, IndexError, ValueError):
            self.unparsed += 1
            if kind in _EMPTY:
                self._event(kind, me, tid, name, dict(_EMPTY[kind]))

    def _open(self, tid: int, me: Process, call: Call, printed: Printed) -> None:
        fields = paths.open_fields(printed, self.links, tid, call.name, printed.args)
        self.unnamed.opened(me.pid, call)
        where = call.where or b""
        if where.startswith(b"/") and not where.startswith(_FIXED) and fields["path"] != text_of(where):
            fields.setdefault("asked", fields["path"])  # what strace found open afterwards knows better
            fields["path"] = text_of(where)
        kind = "open" if fields["access"] == "r" and "mode" not in fields else "file"
        if self.writer.spent(kind):
            self.writer.dropped += 1
            return
        self._event("open", me, tid, call.name, fields, budget=kind)
        if fields["path"] in self.canaries and not call.error:
            reads = fields["access"] != "w" and "O_TRUNC" not in fields.get("flags", "")
            self._canary(reads)

    def _look(self, tid: int, me: Process, call: Call, printed: Printed) -> None:
        at = {"newfstatat": 3, "statx": 2}.get(call.name)
        if at is not None and printed.args[at] & 0x1000:
            return  # what libc makes of fstat
        fields = paths.look_fields(printed, tid, call.name, printed.args)
        self._event("look", me, tid, call.name, fields)
        if call.name in ("chdir", "fchdir") and call.value == 0:
            self.known.cwd[me.pid] = bytes_of(fields["path"])

    def _file(self, tid: int, me: Process, call: Call, printed: Printed) -> None:
        if call.name in paths.RESHAPING:
            self.links.forget()
        fields = paths.file_fields(printed, self.links, tid, call.name, printed.args)
        self._event("file", me, tid, call.name, fields)
        self._canary(fields.get("other") in self.canaries and not call.error)

    def _exec(self, tid: int, me: Process, call: Call, printed: Printed) -> None:
        fields = process.exec_fields(printed, self.links, tid, call.name, printed.args)
        self.unnamed.executed(fields, me.pid, me.ppid)
        self._event("exec", me, tid, call.name, fields)
        if call.value == 0:
            old = me.ppid, me.inner, me.uid
            me.refresh()  # it may be gone by now, or another program already
            me.ppid, me.inner, me.uid = me.ppid or old[0], me.inner or old[1], me.uid or old[2]
            asked = str(fields.get("asked") or fields["path"])
            named = asked.rpartition("/")[2][:15]  # what the kernel calls a process after exec
            later = me.comm != named and not asked.startswith(("/proc/", "/dev/"))
            me.exe = fields["path"] if later or not me.exe else me.exe
            me.comm = named if later or not me.comm else me.comm
            self.known.introduce(me, "exec")

    def _fork(self, tid: int, me: Process, call: Call, printed: Printed) -> None:  # noqa: ARG002  # as all
        bits = 0
        for word in call.args:
            if call.name == "clone" and word.startswith("flags="):
                bits = strace_line.number(word[6:])
        if bits & flags.NEW_NAMESPACES:
            detail = {"detail": flags.names(bits & 0xFFFFFF80, flags.CLONE)}
            self._attempt(me, tid, call, detail)
        else:
            self._event("fork", me, tid, call.name, process.fork_fields(call.name, (bits,)))
        if not call.value or call.value < 0:
            return
        self.known.announced(me, call.value, call.outside, thread=bool(bits & 0x10000))

    def _end(self, tid: int, me: Process, call: Call, printed: Printed) -> None:  # noqa: ARG002  # as all
        if call.name == "exit_group" and not me.exiting:
            me.exiting = True
            self.writer.bare("exit", {"pid": me.pid, "code": printed.args[0] & 0xFF})

    def _socket(self, tid: int, me: Process, call: Call, printed: Printed) -> None:
        args = printed.args
        fields: Fields = {
            "family": flags.FAMILIES.get(paths.signed(args[0]), str(paths.signed(args[0]))),
            "kind": flags.KINDS.get(args[1] & 0xF, str(args[1] & 0xF)),
            "proto": paths.signed(args[2]),
        }
        self.sockets.created(call, printed)
        self._event("socket", me, tid, call.name, fields)

    def _net(self, tid: int, me: Process, call: Call, printed: Printed) -> None:
        for fields in self.sockets.fields(call, printed):
            self._event("net", me, tid, call.name, fields)

    def _signal(self, tid: int, me: Process, call: Call, printed: Printed) -> None:
        fields = process.signal_fields(tid, call.name, printed.args, me, self.known.by_inner)
        self._event("signal", me, tid, call.name, fields)

    def _memfd(self, tid: int, me: Process, call: Call, printed: Printed) -> None:
        title = text_of(printed.string(tid, printed.args[0], 256)) if printed.args[0] else ""
        self.unnamed.created(me.pid, call, title)
        fields = {"name": title, "flags": flags.names(printed.args[1] & 0xFFFFFFFF, flags.MEMFD)}
        self._event("memfd", me, tid, call.name, fields)

    def _control(self, tid: int, me: Process, call: Call, printed: Printed) -> None:
        args = printed.args
        if call.name == "prctl" and args[0] & 0xFFFFFFFF in _HARMLESS_PRCTL:
            return
        if call.name == "prlimit64" and args[2] == 0:
            return
        self._event("control", me, tid, call.name, process.control_fields(printed, tid, call.name, args))

    def _refused(self, tid: int, me: Process, call: Call, printed: Printed) -> None:
        if call.name == "personality" and printed.args[0] & 0xFFFFFFFF == 0xFFFFFFFF:
            return  # only asks
        detail = process.attempt_detail(printed, tid, call.name, printed.args)
        self._attempt(me, tid, call, {"detail": detail})

    def _attempt(self, me: Process, tid: int, call: Call, fields: Fields) -> None:
        if call.error:
            fields = fields | {"denied": True, "errno": call.error}
        self._event("attempt", me, tid, call.name, fields)

    def _trapped(self, tid: int, trap: Trapped) -> None:
        """The filter ended it by SIGSYS: foreign calls, unknown numbers, what may not be had."""
        me = self.known.by_thread(tid)
        machine = os.uname().machine
        number = trap.number & 0xFFFFFFFF
        fields: Fields = {"number": number, "detail": "", "denied": True, "errno": "SIGSYS"}
        if trap.arch != AUDIT_ARCH[machine]:
            fields["abi"] = "i386" if trap.arch == 0x40000003 else "other"
            name = f"syscall_{number}"
        elif number & table.X32_BIT:
            fields["abi"], fields["number"] = "x32", number & ~table.X32_BIT
            name = NAMES[machine].get(fields["number"], f"syscall_{fields['number']}")
        else:
            name = NAMES[machine].get(number, f"syscall_{number}")
            if name == "socket":
                fields["detail"] = flags.FAMILIES.get(trap.told, str(trap.told))
        self.calls[name if name in self.calls or len(self.calls) < _NAMES else "other"] += 1
        self._event("attempt", me, tid, name, fields)

    def _ended(self, tid: int, ended: Ended) -> None:
        half = self.halves.pop(tid, None)
        if half is not None and half.name not in ("exit_group", "exit"):
            try:
                self._call(tid, strace_line.unfinished_call(half))
            except UnknownLineError:
                self.unparsed += 1
        me = self.known.ended(tid, ended.heir)
        if me is not None and not me.exiting:
            code = {} if ended.code is None else {"code": ended.code}
            self.writer.bare("exit", {"pid": me.pid, **code})

    # -- writing ----------------------------------------------------------------------------

    def _canary(self, touched: bool) -> None:
        if touched:
            self.writer.flush()
            self._tell(b"C")

    def _tell(self, word: bytes) -> None:
        if self.link is not None:
            with contextlib.suppress(OSError):
                self.link.send(word)

    def _event(
        self, kind: str, me: Process, tid: int, name: str, fields: Fields, *, budget: str = ""
    ) -> None:
        body = json.dumps(fields, separators=(",", ":"))[1:]
        comma = "," if len(body) > 1 else ""
        self.writer.put(budget or kind, f'"ev":"{kind}",{who(me.pid, tid)},"call":"{name}"{comma}{body}')


_HANDLERS: dict[str, Callable[[Reader, int, Process, Call, Printed], None]] = {
    "open": Reader._open,
    "look": Reader._look,
    "file": Reader._file,
    "exec": Reader._exec,
    "fork": Reader._fork,
    "end": Reader._end,
    "socket": Reader._socket,
    "net": Reader._net,
    "signal": Reader._signal,
    "memfd": Reader._memfd,
    "control": Reader._control,
    "attempt": Reader._refused,
}
