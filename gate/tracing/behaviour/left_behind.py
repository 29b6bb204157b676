"""Processes that outlive the program that was looked at: who was still there when it had ended.

Told from the calls alone, which the code cannot forge: whoever was seen to begin and not to end when the
first program (the driver, else the probe's own) left by itself, and did not end in the moment before
the launcher ended it. The driver gives helpers a second to end with their caller; where there is no driver
nobody does, and only who got loose is told. A copy that made no call of its own since it was forked is not
among them: the driver says that something is left, and who forked it says whether that had left its session,
or was itself a copy that ended at once, so that the other belongs to nobody (``orphan``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.dataclass import dataclass
from gate.model.behaviour import BehaviourKind as Kind
from gate.tracing.behaviour.accumulator import Cells
from gate.tracing.behaviour.addresses import endpoint_text
from gate.tracing.behaviour.normalise import command_shape, program_name
from gate.tracing.behaviour.paths import classify_path
from gate.tracing.behaviour.program_chains import Actors
from gate.tracing.events import Control, Exit, Fork, Net, Process

ORPHAN: Final = "orphan"
"""``detail["detached"]`` of a copy whose parent, a copy, too, ended while what had forked that went on."""
LEAVES: Final = "leaves"
"""``detail["how"]`` of what is told here."""
_COPY: Final = "a copy of itself"
_ENDED: Final = 1_000
_SHOWN: Final = 20
_DEEP: Final = 1_000


@dataclass(slots=True)
class _Proc:
    parent: int
    item: bool
    """The driver's own child, or the probe's first program: nobody's leftover."""
    argv: tuple[str, ...] = ()
    exe: str = ""
    begun: tuple[str, ...] = ()
    """The command of the code's by which all this began."""
    detached: str = ""
    listens: str = ""
    unseen: int = 0
    """Children that it asked for and that made no call yet."""
    orphans: bool = False
    """A copy that ended before who forked it: its children are nobody's."""


@dataclass(slots=True)
class _Left:
    chain: str
    it: _Proc


class LeftView:
    """Fed with a trace in its order: ``exit`` before the actors take it in, everything else after."""

    def __init__(self, cells: Cells, actors: Actors) -> None:
        self._cells, self._actors = cells, actors
        self._alive: dict[int, _Proc] = {}
        self._ended: list[_Proc] = []
        self._left: dict[int, _Left] = {}

    def process(self, event: Process) -> None:
        """A process is met, or became another program."""
        it = self._alive.get(event.pid)
        if it is None:
            it = self._alive[event.pid] = self._met(event)
        if event.why == "exec":
            it.argv, it.exe = self._actors.words(event.pid), event.exe
            if not it.item:
                it.begun = it.begun or it.argv
                if it.detached == ORPHAN:  # a program is told by its name, however it was begun
                    it.detached = ""
                if program_name(event.exe) == "nohup":
                    it.detached = it.detached or "nohup"

    def forget(self, pid: int) -> None:
        """It has become a server of ours, which ends with the sandbox."""
        self._alive.pop(pid, None)

    def _met(self, event: Process) -> _Proc:
        item = event.pid == self._actors.root or self._actors.is_driver_child(event.pid)
        it = _Proc(parent=event.ppid, item=item)
        above = self._alive.get(event.ppid)
        if above is None or (not item and self._actors.is_driver(event.ppid)):
            # Its parent ended before it made its first call: one that has a child nobody met.
            above = next((one for one in reversed(self._ended) if one.unseen), None)
        if above is not None and not item:
            above.unseen -= 1
            it.begun, it.detached = above.begun, _way(above)
            if not above.item:
                it.argv, it.exe = above.argv, above.exe
        return it

    def fork(self, event: Fork) -> None:
        """A child is asked for."""
        it = self._alive.get(event.pid)
        if it is not None and not event.thread and not event.denied and "CLONE_THREAD" not in event.flags:
            it.unseen += 1

    def control(self, event: Control) -> None:
        """A session of its own: no terminal, hang-up or job control reaches it any more."""
        it = self._alive.get(event.pid)
        if it is not None and not it.item and event.call == "setsid":
            it.detached = "session"

    def net(self, event: Net) -> None:
        """It waits for others to come."""
        it = self._alive.get(event.pid)
        if it is not None and event.call == "listen":
            inet = event.family in ("AF_INET", "AF_INET6")
            it.listens = (
                endpoint_text(event.addr, event.port or 0) if inet else classify_path(event.addr).shown
            )

    def exit(self, event: Exit) -> None:
        """An end. That of the first program, by itself, is when the others are counted."""
        if event.pid == self._actors.root and event.code is not None:
            self._count()
        it = self._alive.pop(event.pid, None)
        if it is not None and not it.item and not it.exe and it.parent in self._alive:
            it.orphans = True
            for child in self._alive.values():
                if child.parent == event.pid and not child.exe:
                    child.detached = child.detached or ORPHAN
        if it is not None and it.unseen > 0 and len(self._ended) < _ENDED:
            self._ended.append(it)
        if event.code is not None:
            self._left.pop(event.pid, None)

    def _count(self) -> None:
        for pid, it in self._alive.items():
            if not it.item and not any(above.item for above in self._above(it)):
                self._left[pid] = _Left(self._actors.chain(pid), it)

    def _above(self, it: _Proc) -> Iterator[_Proc]:
        """Living ancestors up to the driver (whose end this is)."""
        for _ in range(_DEEP):
            above = self._alive.get(it.parent)
            if above is None or it.parent == self._actors.root:
                return
            yield above
            it = above

    def finish(self, *, left_running: bool) -> None:
        """One fact for each process left behind, ``exit leaves python watch.py``; what is below one is told
        with it. ``left_running``: the driver's word that there was something.
        """
        families: dict[int, list[_Proc]] = {}
        for pid, left in self._left.items():
            top = self._top(pid)
            families.setdefault(top, []).extend([] if top == pid else [left.it])
        told = [(self._left[top], below) for top, below in families.items()]
        told.sort(key=lambda one: not _loose(one[0].it, one[1]))
        for left, below in told[:_SHOWN]:
            if self._actors.driven or _loose(left.it, below):
                self._tell(left, below)
        silent = next((it for it in self._ended if it.unseen > 0 and _way(it)), None)
        if left_running and not self._left and silent is not None:
            silent.detached = _way(silent)
            self._tell(_Left("", silent), [])

    def _top(self, pid: int) -> int:
        for _ in range(_DEEP):
            above = self._left[pid].it.parent
            if above not in self._left:
                break
            pid = above
        return pid

    def _tell(self, left: _Left, below: list[_Proc]) -> None:
        it, name = left.it, _name(left.it)
        program = program_name(it.exe) if it.exe else ""
        others = sorted({_name(one) for one in below} - {name})
        detail = {
            "how": LEAVES,
            "program": program,
            "path": classify_path(it.exe).shown if program else "",
            "argv": " ".join(it.argv) if program else "",
            "begun": " ".join(it.begun),
            "detached": _loose(it, below),
            "listens": " ".join(sorted({one.listens for one in (it, *below) if one.listens})),
            "below": "; ".join(others[:_SHOWN]),
            "programs": " ".join(sorted({other.split(" ", 1)[0] for other in others})),
        }
        self._cells.add(Kind.EXIT, f"{LEAVES} {name}", left.chain, detail)


def _way(it: _Proc) -> str:
    """How a child of this one got loose, when it has ended."""
    return it.detached or (ORPHAN if it.orphans else "")


def _loose(it: _Proc, below: list[_Proc]) -> str:
    return next((one.detached for one in (it, *below) if one.detached), "")


def _name(it: _Proc) -> str:
    return command_shape(program_name(it.exe), it.argv) if it.exe else _COPY
