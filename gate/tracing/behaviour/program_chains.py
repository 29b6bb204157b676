"""Who did it: chains of program names from the probe down, kept while a trace is read."""

from __future__ import annotations

from collections import Counter
from typing import Final

from gate.regex import regex
from gate.tracing.behaviour.normalise import program_name
from gate.tracing.events import Exec, Fork, Process

_DEEP: Final = 6
_CHAINS: Final = 2_000
_ENVIRONMENT: Final = regex(r"(?:-[IEsSBu]+ )*-m (?:venv|ensurepip)(?: |\Z)")
_DRIVERS: Final = frozenset({"/opt/gate/driver/main.py", "/opt/gate/driver.py"})
"""The driver inside a sandbox; the second is its place in evidence bundles of earlier versions."""


class Actors:
    """Chains by process. ``chain`` is ``python>sh>curl``; a fork without exec adds nothing to it.

    Chains longer than six names keep their ends (``python>…>sh>curl``); after 2,000 different
    chains new ones are told by their last name alone. ``servers``: the numbers that the driver's fork servers
    have inside the sandbox (gate/inside/driver/fork_server.py): what they fork are items, too.
    """

    def __init__(self, servers: frozenset[int] = frozenset()) -> None:
        self._of: dict[int, str] = {}
        self._parents: dict[int, int] = {}
        self._inner: dict[int, int] = {}
        self._asked: dict[int, Exec] = {}
        self._words: dict[int, tuple[str, ...]] = {}
        self._known: set[str] = set()
        self._driver: int | None = None
        self._servers = servers
        self._drivers: set[int] = set()
        """The driver, and its fork servers that are there."""
        self._items: set[int] = set()
        self._unmet: Counter[int] = Counter()
        """Children asked for that made no call yet, by process; what may be below zero is only late."""
        self._strays = 0
        """Such children of processes that have ended."""
        self.root: int | None = None

    def process(self, event: Process) -> str:
        """Take in a process line; return the chain of that process."""
        if self.root is None:
            self.root = event.pid
        if event.pid not in self._parents:
            self._parents[event.pid] = event.ppid
            self._met(event)
            if event.pid in self._items and (event.inner or event.pid) in self._servers:
                self._drivers.add(event.pid)
        if event.inner:
            self._inner[event.pid] = event.inner
        asked = self._asked.pop(event.pid, None)
        starts_driver = asked is not None and not _DRIVERS.isdisjoint(asked.argv[:3])
        if event.pid == self.root and starts_driver and self._driver is None:
            self._driver = event.pid
            self._drivers.add(event.pid)
        if asked is not None:
            self._words[event.pid] = asked.argv
        above = self._of.get(event.pid) if event.why == "exec" else None
        if above is None:
            above = self._of.get(event.ppid, "")
        self._of[event.pid] = chain = self._add(above, program_name(event.exe))
        return chain

    def _met(self, event: Process) -> None:
        """The driver adopts what the code leaves behind. Its own children are those that it asked for; where
        nobody has lost a child, there is nothing to adopt (strace tells some children before their fork).
        """
        if event.ppid not in self._drivers:
            self._unmet[event.ppid] -= 1
        elif self._strays <= 0 or self._unmet[event.ppid] > 0:
            self._items.add(event.pid)
            self._unmet[event.ppid] -= 1
        else:
            self._strays -= 1

    def forked(self, event: Fork) -> None:
        """A process is asked for."""
        if not event.thread and not event.denied:
            self._unmet[event.pid] += 1

    def remember_request(self, event: Exec) -> None:
        """Remember what a process wants to become, until it is that."""
        self._asked[event.pid] = event

    def asking(self, pid: int) -> Exec | None:
        """What a process wanted to become and, so far, did not."""
        return self._asked.get(pid)

    def chain(self, pid: int) -> str:
        """The chain of a process; empty when no line told of it."""
        return self._of.get(pid, "")

    def words(self, pid: int) -> tuple[str, ...]:
        """The command line of this process, as far as an exec of its own told it."""
        return self._words.get(pid, ())

    def was_asked_for(self, pid: int, path: str) -> bool:
        """True when the command line of this process names the path."""
        return any(path in word for word in self._words.get(pid, ()))

    def lays_environment(self, pid: int) -> bool:
        """True for what works for ``python -m venv``: it, and what it starts to put pip there."""
        for _ in range(_DEEP):
            words = " ".join(self._words.get(pid, ())[1:6])
            program = self._of.get(pid, "").rsplit(">", 1)[-1]
            if program.startswith("python") and _ENVIRONMENT.match(words):
                return True
            above = self._parents.get(pid)
            if above is None:
                break
            pid = above
        return False

    def names_itself(self, pid: int) -> frozenset[int]:
        """The numbers by which /proc means this process."""
        return frozenset({pid, self._inner.get(pid, pid)})

    def is_driver_child(self, pid: int) -> bool:
        """True for a process that our driver forked: its parent is ours, not the code's."""
        return pid in self._items

    @property
    def driven(self) -> bool:
        """True when the first program is our driver."""
        return self._driver is not None

    def is_driver(self, pid: int) -> bool:
        """True for the driver itself, and for a fork server of its."""
        return pid in self._drivers

    def inner_is_driver(self, inner: int) -> bool:
        """True when a pid as the code writes it means the driver."""
        return any(self._inner.get(driver, -1) == inner for driver in self._drivers)

    def forget(self, pid: int) -> None:
        """A process ended; its number may come back as another program's."""
        self._items.discard(pid)
        self._strays += max(0, self._unmet.pop(pid, 0))
        if pid != self._driver:
            self._drivers.discard(pid)
            for table in (self._of, self._asked, self._words, self._inner, self._parents):
                table.pop(pid, None)

    def _add(self, above: str, name: str) -> str:
        names = above.split(">") if above else []
        if not names or names[-1] != name:
            names.append(name)
        if len(names) > _DEEP:
            names = [names[0], "…", *names[-(_DEEP - 2) :]]
        chain = ">".join(names)
        if chain not in self._known and len(self._known) >= _CHAINS:
            return name
        self._known.add(chain)
        return chain
