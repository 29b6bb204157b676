"""How long the runs of one check may take that do not end where main does: a time for all of them together.

A change with twenty endless scripts is told by the first of them. Each of the others would cost its whole
deadline and show the same, and a check must end.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Final

from gate.model.change import Side
from gate.model.run import Phase, Probe, RunRecord
from gate.plan.probes import runtime_of
from gate.plan.retries import only_head_ran_out

_FLOOR: Final = 0.4
"""Share of its deadline that a run gets however little time there is: enough for what ordinary code needs."""
_LAST: Final = 0.1
"""The same at head, once what never ends has had its time _TWICE: no slow machine explains that."""
_TWICE: Final = 2.0
_OF_BASE: Final = 3.0
"""How many times what base took a run of head gets at least."""


class Patience:
    """The time of one check, for its first look and the second. Safe from any thread.

    ``budget``: seconds of wall time for all runs, from now on. ``endless``: seconds of runs for those of head
    that run out of time where base does not.
    """

    def __init__(
        self, budget: float, endless: float = math.inf, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.budget = budget
        self._clock = clock
        self._until = clock() + budget
        self._endless = endless
        self._lock = threading.Lock()
        self._ended: dict[tuple[str, Side], RunRecord] = {}
        self._chances = True

    @property
    def left(self) -> float:
        """Seconds of the budget that are left; negative where it is overspent."""
        return self._until - self._clock()

    def extend(self, seconds: float) -> None:
        """Let there be at least so many seconds from now on."""
        self._until = max(self._until, self._clock() + seconds)

    def ended(self, record: RunRecord) -> None:
        """Take note of a run."""
        if not record.repeat and record.fault is None:
            with self._lock:
                self._ended[record.probe.id, record.side] = record

    def endless(self, probe: Probe) -> bool:
        """True when that probe ran out of time at head, and not at base."""
        with self._lock:
            return self._endless_at_head(probe.id) is not None

    @property
    def worn_out(self) -> bool:
        """True when what never ends has had its time."""
        return self._lost() >= self._endless

    def _lost(self, *phases: Phase, runtime: str = "") -> float:
        """Seconds of runs that never ended, of these phases and this runtime (none: of all)."""
        with self._lock:
            heads = [self._endless_at_head(probe) for probe, side in self._ended if side == "head"]
        lost = [r for r in heads if r is not None and (not phases or r.probe.phase in phases)]
        return sum(r.seconds for r in lost if not runtime or runtime_of(r.probe) == runtime)

    def _endless_at_head(self, probe: str) -> RunRecord | None:
        head, base = self._ended.get((probe, "head")), self._ended.get((probe, "base"))
        return head if head is not None and only_head_ran_out(head, base) else None

    def deadline(self, probe: Probe, side: Side) -> float:
        """Seconds that a run gets which begins now: its own, or less where little is left."""
        wanted = probe.deadline
        floor = _FLOOR * wanted
        if probe.phase in ("install", "idle"):
            return wanted
        longest = max(floor, self.left)
        # An import that never ends weighs more than a test or a call: those may not cost it its time. Nor may
        # code of another runtime: a page's bundle that never ends says nothing of the server's tests.
        lost = self._lost("import") if probe.phase == "import" else self._lost()
        if lost >= self._endless:
            phases: tuple[Phase, ...] = ("import",) if probe.phase == "import" else ()
            lost = self._lost(*phases, runtime=runtime_of(probe))
        if side == "head" and lost >= self._endless:
            with self._lock:
                base = self._ended.get((probe.id, "base"))
            floor = (_LAST if lost >= _TWICE * self._endless else _FLOOR) * wanted
            longest = min(longest, max(floor, _OF_BASE * base.seconds if base else 0.0))
        return min(wanted, longest)

    def chance(self, probe: Probe, seconds: float) -> bool:
        """May a run of that probe be begun once more, for so many seconds?"""
        return self._chances and seconds <= self.left and not (self.worn_out and self.endless(probe))

    def in_vain(self) -> None:
        """A second chance ran out of time, too: nothing else gets one."""
        self._chances = False
