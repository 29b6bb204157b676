"""Head against base: what the change does that main does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourDiff
from gate.model.canary import Canary
from gate.model.run import Phase, RunRecord
from gate.tracing.behaviour.canary_match import Matcher
from gate.tracing.behaviour.reduction import behaviours

Key = tuple[str, str, str]

_UNASKED: Final[dict[Phase, int]] = {"idle": 0, "install": 1, "import": 1, "call": 2, "script": 2, "test": 3}
"""How much somebody has to do before code of this phase runs: an import happens to everybody."""


def compare(runs: Sequence[RunRecord], canaries: Iterable[Canary] = ()) -> BehaviourDiff:
    """Reduce every run's trace and compare.

    New is what a head run did that no base run of an equally or less asked-for phase did, under any
    name: moved and renamed code with the same behaviour is not new, while something that main does only in
    its tests and the change does at import is. Base's repeat adds to what is known (its noise); what the
    idle probe does belongs to nobody. Equal behaviours of several probes are merged. Runs whose trace is
    missing contribute what is known of them; saying that the look was not whole is the stages' business.
    """
    planted = tuple(canaries)
    matcher = Matcher(planted)
    seen = [(run, behaviours(run, planted, matcher)) for run in runs]
    idle = {b.key for run, found in seen if run.probe.phase == "idle" for b in found}
    base: dict[Key, list[tuple[int, Behaviour]]] = {}
    head: dict[Key, list[tuple[int, Behaviour]]] = {}
    for run, found in seen:
        if run.probe.phase == "idle":
            continue
        side = base if run.side == "base" else head
        for behaviour in found:
            if behaviour.key not in idle:
                side.setdefault(behaviour.key, []).append((_UNASKED[run.probe.phase], behaviour))
    new, unchanged = [], 0
    for key, shown in head.items():
        known = min((rank for rank, _ in base.get(key, ())), default=None)
        fresh = [b for rank, b in shown if known is None or rank < known]
        if fresh:
            new.append(_merged(fresh))
        else:
            unchanged += 1
    gone = [_merged([b for _, b in shown]) for key, shown in base.items() if key not in head]
    return BehaviourDiff(new=_sorted(new), gone=_sorted(gone), unchanged_count=unchanged)


def _merged(same: Sequence[Behaviour]) -> Behaviour:
    """One behaviour of several probes: counts added, the first line hint kept, denied if it ever was."""
    first = same[0]
    detail: Mapping[str, str] = first.detail
    return replace(
        first,
        detail=detail,
        probes=tuple(dict.fromkeys(probe for b in same for probe in b.probes)),
        count=sum(b.count for b in same),
        denied=any(b.denied for b in same),
        at=next((b.at for b in same if b.at is not None), None),
    )


def _sorted(found: Iterable[Behaviour]) -> tuple[Behaviour, ...]:
    return tuple(sorted(found, key=lambda b: (*b.key, b.actor)))
