"""The look at guards: those that a change reaches are called alike at base and at head.

First each side is explored by itself, with values that its guards compare; then both are asked what base
refused and what head accepted. Nothing here makes code seen, and nothing here can end a check.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import Any, Final

from gate.dataclass import dataclass
from gate.errors import InconclusiveError
from gate.model.change import Change, Side, Tree
from gate.model.guard_calls import GuardTarget, OpenedGuard
from gate.model.run import RunRecord
from gate.plan.guards import Worlds, find_guards, guard_probe
from gate.sandbox.contract import Session
from gate.sandbox.execution import side_by_side
from gate.signals.guard_calls import opened, rows_of, worth_asking
from gate.signals.guard_words import Row

BUDGET: Final = 40.0
"""Seconds of wall time after which no further run is begun."""
_SIDES: Final[tuple[Side, ...]] = ("base", "head")
_MOST_BYTES: Final = 90_000
"""Of the questions of one run: they are an argument of a program."""


def guards_of(change: Change, base: Tree, head: Tree) -> tuple[GuardTarget, ...]:
    """Guards that the change reaches, in files that base has, too; none where nothing can be read."""
    here = {entry.path for entry in base.entries()}
    with suppress(InconclusiveError):  # what cannot be read was said by the plan
        return tuple(one for one in find_guards(change.files, base, head) if one.path in here)
    return ()


@dataclass(frozen=True, kw_only=True)
class GuardLook:
    """One look at ``targets``. ``note`` takes signs of life."""

    session: Session
    targets: tuple[GuardTarget, ...]
    change: Change
    base: Tree
    head: Tree
    pace: float
    note: Callable[[str], None]
    started: float = field(default_factory=lambda: float(int(time.time())))

    def look(self) -> tuple[OpenedGuard, ...]:
        """Guards that accept what they refused. A change that reaches none costs no run."""
        targets = self.targets
        if not targets:
            return ()
        until = time.monotonic() + BUDGET * self.pace
        learned = self._both(targets, None)
        questions: Worlds = {
            target: worth_asking(target, learned["base"][target], learned["head"][target])
            for target in targets
            if target in learned["base"] and target in learned["head"]
        }
        found: list[OpenedGuard] = []
        for some in _batches({one: asked for one, asked in questions.items() if len(asked) > 1}):
            if time.monotonic() > until:
                break
            answered = self._both(tuple(some), some)
            found += opened(
                (learned["base"], learned["head"]), answered["base"], answered["head"], self._written()
            )
        return tuple(found)

    def _both(
        self, targets: Sequence[GuardTarget], worlds: Worlds | None
    ) -> Mapping[Side, Mapping[GuardTarget, Sequence[Row]]]:
        paths = {
            "head": frozenset(e.path for e in self.head.entries()),
            "base": frozenset(e.path for e in self.base.entries()),
        }

        def one(side: Side) -> RunRecord:
            probe = guard_probe(targets, self.change.files[0], paths[side], side, self.started, worlds)
            record = self.session.run(probe, side)
            self.note(f"{probe.target} at {side}: {record.outcome.value} in {record.seconds:.1f} s")
            return record

        records = side_by_side(self.session, one, _SIDES, name="guards")
        return {side: rows_of(record, targets) for side, record in zip(_SIDES, records, strict=True)}

    def _written(self) -> str:
        """The new lines of the change."""
        texts = dict(self.head.read_many(tuple(f.path for f in self.change.files if f.new_blob)))
        lines = []
        for file in self.change.files:
            text = texts.get(file.path, b"").decode("utf-8", "replace").split("\n")
            for hunk in file.hunks:
                lines += text[hunk.new_start - 1 : hunk.new_start - 1 + hunk.new_count]
        return "\n".join(lines)


def _batches(questions: Worlds) -> list[dict[GuardTarget, Sequence[Mapping[str, Any]]]]:
    """As many of them together as one run can be given."""
    found: list[dict[GuardTarget, Sequence[Mapping[str, Any]]]] = [{}]
    size = 0
    for target, asked in questions.items():
        more = len(json.dumps(asked))
        if found[-1] and size + more > _MOST_BYTES:
            found.append({})
            size = 0
        size += more
        found[-1][target] = asked
    return [one for one in found if one]
