"""Who is who in strace's output, which names threads only: whose child each is, and where it stands.

Standard library only.
"""

from __future__ import annotations

import contextlib
import os
from typing import NamedTuple, Optional

from . import table
from .strace_line import Begun
from .target import Process, process_of
from .writer import Writer

MOST = 100_000
"""Announced threads, and calls that are not back, at once: beyond that they are not understood."""


class _Child(NamedTuple):
    """Who made it (0: nobody knows), its pid as the code sees it, and whether it is only a thread."""

    parent: int
    inner: int
    thread: bool


class Known:
    """The processes met so far. ``halves``: by thread, the calls that are not back. ``live``: they can be
    looked at through /proc, too.
    """

    def __init__(self, writer: Writer, halves: dict[int, Begun], *, live: bool) -> None:
        self.processes: dict[int, Process] = {}
        self.cwd: dict[int, bytes] = {}
        self._writer = writer
        self._halves = halves
        self._live = live
        self._threads: dict[int, Process] = {}
        self._parents: dict[int, _Child] = {}
        self._nameless = _Child(0, 0, thread=False)

    def by_thread(self, tid: int) -> Process:
        """The process of a thread."""
        me = self._threads.get(tid)
        if me is None:
            born = self._parents.pop(tid, None) or self._being_born()
            pid = process_of(tid) if self._live else tid
            if born.thread and pid == tid:
                pid = born.parent
            me = self.processes.get(pid) or self._meet(pid, born)
            self._threads[tid] = me
        return me

    def _being_born(self) -> _Child:
        """Whose child a new thread is that nobody announced: the fork is not back yet, or its result
        could not be translated, because the child had ended by then.
        """
        for tid, begun in reversed(self._halves.items()):
            if begun.name in table.FORK and tid in self._threads:
                return _Child(self._threads[tid].pid, 0, thread=False)
        born, self._nameless = self._nameless, _Child(0, 0, thread=False)
        return born

    def _meet(self, pid: int, born: _Child) -> Process:
        me = Process(pid) if self._live else Process(0)
        me.pid = pid
        me.ppid = born.parent or me.ppid
        me.inner = me.inner or born.inner
        above = self.processes.get(me.ppid)
        if above is not None:
            self.cwd.setdefault(pid, self.cwd.get(above.pid, b""))
            if not self.cwd[pid]:
                del self.cwd[pid]
            me.exe, me.comm = me.exe or above.exe, me.comm or above.comm
        if pid not in self.cwd and self._live:
            with contextlib.suppress(OSError):
                self.cwd[pid] = os.readlink(b"/proc/%d/cwd" % pid)
        self.processes[pid] = me
        self.introduce(me, "first")
        return me

    def introduce(self, me: Process, why: str) -> None:
        """Its ``process`` line."""
        self._writer.bare("process", {**me.standing(), "why": why})

    def by_inner(self, inner: int) -> Optional[Process]:
        """The process that has this number inside the sandbox."""
        return next((p for p in self.processes.values() if p.inner == inner), None)

    def announced(self, me: Process, inner: Optional[int], outside: int, *, thread: bool) -> None:
        """A fork of this process is back: its result inside, and (0: not told) outside the sandbox."""
        if not inner or inner < 0:
            return
        child = _Child(me.pid, inner, thread)
        if not outside:
            self._nameless = child
        elif outside in self._threads:
            self._threads[outside].inner = self._threads[outside].inner or inner
        elif len(self._parents) < MOST:
            self._parents[outside] = child

    def ended(self, tid: int, heir: int) -> Optional[Process]:
        """The process that ended with this thread, if it did. ``heir``: the thread that goes on instead,
        because it executed a program, under the group's number.
        """
        me = self._threads.pop(tid, None)
        if me is None:
            return None
        if heir:
            self._threads[tid] = me
            self._threads.pop(heir, None)
            held = self._halves.pop(heir, None)
            if held is not None:
                self._halves[tid] = held
            return None
        if me in self._threads.values():
            return None
        self.processes.pop(me.pid, None)
        self.cwd.pop(me.pid, None)
        return me
