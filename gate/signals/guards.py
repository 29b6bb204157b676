"""Guards that accept what they refused, as findings of the rule refused-then-accepted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gate.model.finding import Finding
from gate.model.guard_calls import OpenedGuard
from gate.model.location import Location
from gate.signals.rule_kit import HIGH, MEDIUM
from gate.signals.rules.refused_then_accepted import check

_MOST: Final = 5


def guard_findings(opened: Iterable[OpenedGuard], told: Iterable[Finding]) -> tuple[Finding, ...]:
    """One for each guard, at most a few; none for a function that another look told already."""
    known = {
        (one.primary.path, one.shape.partition(" ")[0].partition("(")[0])
        for one in told
        if one.rule_id == check.meta.id
    }
    found: list[Finding] = []
    for one in opened:
        target = one.target
        if (target.path, target.name) in known or len(found) == _MOST:
            continue
        found.append(
            Finding.of(
                check.meta,
                "Asked the same, it accepts what base refuses.",
                Location(path=target.path, line=target.line),
                shape=target.name,
                severity=MEDIUM if one.plain else HIGH,
                evidence={
                    "function": target.name,
                    "asked": " | ".join(one.asked)[:300],
                    "base": one.base,
                    "head": one.head,
                    "own text": "changed" if target.changed else "as it was",
                },
            )
        )
    return tuple(found)
