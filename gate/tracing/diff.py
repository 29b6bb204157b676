"""Head against base: what the change does that main does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from gate.model.behaviour import Behaviour, BehaviourDiff, BehaviourKind
from gate.model.canary import Canary
from gate.model.run import Phase, RunRecord
from gate.tracing.behaviour.canary_match import Matcher
from gate.tracing.behaviour.processes import FLOOD
from gate.tracing.behaviour.reduction import behaviours

Key = tuple[str, str, str]

_UNASKED: Final[dict[Phase, int]] = {"idle": 0, "install": 1, "import": 1, "call": 2, "script": 2, "test": 3}
"""How much somebody has to do before code of this phase runs: an import happens to everybody."""


def compare(
    runs: Sequence[RunRecord], canaries: Iterable[Canary] = (), *, tentative: bool = False
) -> BehaviourDiff:
    """Reduce every run's trace and compare.

    New is what a head run did that no base run of an equally or less asked-for phase did, under any
    name: moved and renamed code with the same behaviour is not new, while something that main does only in
    its tests and the change does at import is. Base's repeat adds to what is known (its noise); what the
    idle probe does belongs to nobody. Equal behaviours of several probes are merged. Runs whose trace is
    missing contribute what is known of them; saying that the look was not whole is the stages' business.

    A destination that has only base's shape (another tenant's number, another bucket) is new where base
    named the same ones each time that it ran, and folded where base's own varied. ``tentative``: it is new,
    too, where base ran once, which says neither: for whoever is about to run base again.
    """
    planted = tuple(canaries)
    matcher = Matcher(planted)
    seen = [(run, behaviours(run, planted, matcher)) for run in runs]
    idle = {b.key for run, found in seen if run.probe.phase == "idle" for b in found}
    base: dict[Key, list[_Shown]] = {}
    head: dict[Key, list[_Shown]] = {}
    for run, found in seen:
        if run.probe.phase == "idle":
            continue
        side = base if run.side == "base" else head
        for behaviour in found:
            if behaviour.key not in idle and (side is base or not _is_small(behaviour)):
                shown = _Shown(_UNASKED[run.probe.phase], behaviour, (run.probe.id, run.repeat))
                side.setdefault(behaviour.key, []).append(shown)
    new, unchanged = [], 0
    for key, shows in head.items():
        before = base.get(key, [])
        known = min((show.rank for show in before), default=None)
        if fresh := [show.behaviour for show in shows if known is None or show.rank < known]:
            new.append(_merged(fresh))
        elif others := _elsewhere(shows, before, tentative=tentative):
            new.append(_merged(others, exactly=True))
        else:
            unchanged += 1
    missed = {
        key: [show.behaviour for show in shows if not _is_small(show.behaviour)]
        for key, shows in base.items()
        if key not in head
    }
    gone = [_merged(same) for same in missed.values() if same]
    return BehaviourDiff(new=_sorted(new), gone=_sorted(gone), unchanged_count=unchanged)


def _is_small(behaviour: Behaviour) -> bool:
    """Processes that are only nearly a flood: kept so that a flood beside them is nothing new."""
    flood = behaviour.kind is BehaviourKind.LIMIT and behaviour.subject == "processes"
    return flood and behaviour.count < FLOOD


class _Shown(NamedTuple):
    """One behaviour in one run: how little that run was asked for, and which it was (probe, repeat)."""

    rank: int
    behaviour: Behaviour
    run: tuple[str, int]


def _elsewhere(head: Sequence[_Shown], base: Sequence[_Shown], *, tentative: bool) -> list[Behaviour]:
    """What has base's shape and another subject, where that is no chance."""
    known = {show.behaviour.subject for show in base}
    others = [show.behaviour for show in head if show.behaviour.shape and show.behaviour.subject not in known]
    if not others or any(show.behaviour.subject == others[0].shape for show in base):
        return []
    named: dict[tuple[str, int], set[str]] = {}
    for show in base:
        named.setdefault(show.run, set()).add(show.behaviour.subject)
    probes: dict[str, list[set[str]]] = {}
    for (probe, _), subjects in named.items():
        probes.setdefault(probe, []).append(subjects)
    repeated = [each for each in probes.values() if len(each) > 1]
    if any(subjects != each[0] for each in repeated for subjects in each):
        return []
    runs = list(named.values())
    steady = bool(repeated) or (len(runs) > 1 and all(subjects == runs[0] for subjects in runs))
    return others if steady or tentative else []


def _merged(same: Sequence[Behaviour], *, exactly: bool = False) -> Behaviour:
    """One behaviour of several probes: counts added, the first line hint kept, denied if it ever was.

    Named by its shape, which is the same in the next run; ``exactly``: by its subject where all have one.
    """
    first = same[0]
    detail: Mapping[str, str] = first.detail
    exactly = exactly and all(b.subject == first.subject for b in same)
    return replace(
        first,
        subject=first.subject if exactly else first.shape or first.subject,
        shape=first.shape if exactly else "",
        detail=detail,
        probes=tuple(dict.fromkeys(probe for b in same for probe in b.probes)),
        count=sum(b.count for b in same),
        denied=any(b.denied for b in same),
        at=next((b.at for b in same if b.at is not None), None),
    )


def _sorted(found: Iterable[Behaviour]) -> tuple[Behaviour, ...]:
    return tuple(sorted(found, key=lambda b: (*b.key, b.actor)))
