"""Who is who: the watched processes, their threads, how their ends are heard of. Standard library only."""

from __future__ import annotations

import contextlib
import os
import select

from .links import Links
from .target import Process, process_of
from .writer import Writer


class Known:
    """The processes met so far. Each gets its ``process`` line when it is new or another program now, and
    its ``exit`` line when it ends; ``poll`` then has the descriptor that ``gone`` wants.
    """

    def __init__(self, writer: Writer, links: Links, poll: select.epoll) -> None:
        self.tids: dict[int, Process] = {}
        self.processes: dict[int, Process] = {}
        self._pidfds: dict[int, Process] = {}
        self._writer = writer
        self._links = links
        self._poll = poll

    def by_thread(self, tid: int) -> Process:
        """The process of a thread."""
        me = self.tids.get(tid)
        if me is None:
            pid = process_of(tid)
            me = self.processes.get(pid)
            if me is None:
                me = self._meet(pid)
            me.tids.add(tid)
            self.tids[tid] = me
        if me.recheck:
            if me.program_changed():
                me.recheck.clear()
                self._links.ended(me.pid)
                self._introduce(me, "exec")
            else:
                me.recheck.discard(tid)  # a thread that asked goes on: its exec failed
        return me

    def _meet(self, pid: int) -> Process:
        me = Process(pid)
        me.program_changed()
        self.processes[pid] = me
        with contextlib.suppress(OSError):
            me.pidfd = os.pidfd_open(pid)
            self._pidfds[me.pidfd] = me
            self._poll.register(me.pidfd, select.EPOLLIN)
        self._introduce(me, "first")
        return me

    def _introduce(self, me: Process, why: str) -> None:
        self._writer.bare("process", {**me.standing(), "why": why})

    def by_inner(self, inner: int) -> Process | None:
        """The process that has this number inside the sandbox."""
        return next((p for p in self.processes.values() if p.inner == inner), None)

    def forget_threads(self, me: Process) -> None:
        """They are met again when they are heard of."""
        for tid in me.tids:
            self.tids.pop(tid, None)
        me.tids.clear()

    def gone(self, pidfd: int) -> None:
        """The process behind this descriptor of ``poll`` ended."""
        me = self._pidfds.get(pidfd)
        if me is None:
            return
        if not me.exiting:
            self._writer.bare("exit", {"pid": me.pid})
        self.drop(me)

    def drop(self, me: Process) -> None:
        """It is not watched any more."""
        self.forget_threads(me)
        me.close_memory()
        self._links.ended(me.pid)
        self.processes.pop(me.pid, None)
        if me.pidfd >= 0:
            self._pidfds.pop(me.pidfd, None)
            self._poll.unregister(me.pidfd)
            os.close(me.pidfd)
            me.pidfd = -1

    def all_gone(self) -> None:
        """Nobody is left: the ends not heard of yet are written too."""
        for me in list(self.processes.values()):
            if not me.exiting:
                self._writer.bare("exit", {"pid": me.pid})
            self.drop(me)
