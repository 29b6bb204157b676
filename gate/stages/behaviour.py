"""Two looks at running code: first as it is, then, where there is a reason, elsewhere and later.

The second look repeats probes as in CI, as on a developer's machine and with the clock moved. It costs,
so it happens only where there is a reason (a finding of ours, an AI author, a setting) and the first look
has not settled the matter. What connected runs once more while the network fails. Base follows only for
those variants in which head did something new.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gate.dataclass import dataclass
from gate.model.behaviour import BehaviourDiff
from gate.model.canary import Canary
from gate.model.change import Change
from gate.model.finding import Finding
from gate.model.rule import Severity
from gate.model.run import ExecutionPlan, NotExercised, Outcome, RunRecord
from gate.plan.build import deepen, unreached
from gate.plan.conditions import outage_look
from gate.sandbox.contract import Session
from gate.sandbox.execution import execute
from gate.sandbox.patience import Patience
from gate.signals.interface import SignalContext
from gate.signals.run import signals
from gate.stages.connected import connected
from gate.stages.known_hosts import hosts_of
from gate.tracing.diff import compare
from gate.tracing.request_fields import field_changes

SECOND_LOOKS: Final = 4
"""How many probes get a second look at most; each is run in five variants."""
OUTAGES: Final = 4
"""How many probes that connected are run once more at most while the network fails."""
_LEAST: Final = 10.0
"""Seconds of budget below which a second look is not begun."""
_FOR_COMPARISON: Final = 1.5


@dataclass(frozen=True, kw_only=True, slots=True)
class BehaviourComparison:
    """Head compared with base: the runs, their difference, and the findings from it."""

    runs: tuple[RunRecord, ...]
    diff: BehaviourDiff
    findings: tuple[Finding, ...]
    not_exercised: tuple[NotExercised, ...]
    hosts_at_base: frozenset[str] = frozenset()
    """Of the hosts of new behaviour, those that the program code of base names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LookRequest:
    """How to look. ``budget`` is seconds for everything, ``endless`` those for what only head does not end;
    ``deep`` is a reason for every probe; ``suspects`` waits for the static look and names the files that it
    gives a reason for; ``settled`` says that these findings block already; ``note`` takes signs of life;
    ``again`` allows a second look; without it base is run only where head alone shows anything;
    ``named_at_base`` tells which of some hosts the program code of base names.
    """

    budget: float
    endless: float
    deep: bool
    suspects: Callable[[], set[str]]
    settled: Callable[[tuple[Finding, ...]], bool]
    note: Callable[[str], None]
    again: bool = True
    named_at_base: Callable[[frozenset[str]], frozenset[str]] = lambda _: frozenset()


def compare_behaviour(
    session: Session,
    plan: ExecutionPlan,
    change: Change,
    planted: tuple[Canary, ...],
    *,
    request: LookRequest,
    before: tuple[RunRecord, ...] = (),
) -> BehaviourComparison:
    """Run the plan, compare head with base, and look again where that gave a reason.

    ``before``: runs that count, made already. Traces must exist until this returns.
    """
    patience = Patience(request.budget, request.endless)
    compared: list[tuple[tuple[RunRecord, ...], BehaviourDiff]] = []

    if not request.again:
        quiet = _head_alone(session, plan, change, planted, patience, request.note, before)
        if quiet is not None:
            return quiet

    def differs(runs: tuple[RunRecord, ...]) -> set[str]:
        seen = compare(before + runs, planted, tentative=True)
        if not any(behaviour.shape for behaviour in seen.new):  # nothing that only base's repeat decides
            compared.append((before + runs, seen))
        fields = field_changes(before + runs, planted, tentative=True)
        showed = {probe for behaviour in (*seen.new, *seen.gone) for probe in behaviour.probes}
        return showed | {one.probe for one in fields if one.names_whom}

    runs = before + execute(session, plan, patience=patience, progress=request.note, differs=differs)
    diff = next((seen for of, seen in compared if _same(of, runs)), None) or compare(runs, planted)
    known = request.named_at_base(hosts_of(diff.new))
    findings = _findings(change, diff, runs, planted, known)
    left = plan.not_exercised
    if request.again and not request.settled(findings):
        reasons = _reasons(plan, patience, diff, findings, request.suspects(), deep=request.deep)
        second = _second_plan(plan, reasons, runs)
        if second.probes and patience.left >= _LEAST:
            showed = {b.key for b in diff.new}
            again = _once_more(session, second, runs, planted, showed, patience, request.note)
            if again.runs:
                runs += again.runs
                diff = compare(runs, planted)
                known = request.named_at_base(hosts_of(diff.new))
                findings = _findings(change, diff, runs, planted, known)
            left += again.not_exercised
    return BehaviourComparison(
        runs=runs,
        diff=diff,
        findings=findings,
        not_exercised=left + unreached(runs, plan),
        hosts_at_base=known,
    )


def _findings(
    change: Change,
    diff: BehaviourDiff,
    runs: tuple[RunRecord, ...],
    planted: tuple[Canary, ...],
    known: frozenset[str],
) -> tuple[Finding, ...]:
    fields = field_changes(runs, planted)
    return signals(SignalContext(change=change, diff=diff, runs=runs, fields=fields, hosts_at_base=known))


def _head_alone(
    session: Session,
    plan: ExecutionPlan,
    change: Change,
    planted: tuple[Canary, ...],
    patience: Patience,
    note: Callable[[str], None],
    before: tuple[RunRecord, ...],
) -> BehaviourComparison | None:
    """Head's runs without base's, where they show nothing that an idle interpreter does not and came to their
    end: base could only take away from that. None: base has to be run, too.
    """
    heads = tuple(
        replace(probe, sides=("head",)) if probe.phase != "idle" else probe
        for probe in plan.probes
        if probe.phase == "idle" or "head" in probe.sides
    )
    runs = before + execute(session, replace(plan, probes=heads), patience=patience, progress=note)
    diff = compare(runs, planted)
    findings = _findings(change, diff, runs, planted, frozenset())
    whole = all(run.outcome is Outcome.COMPLETED and run.fault is None and run.completed for run in runs)
    if diff.new or findings or not whole:
        return None
    left = plan.not_exercised + unreached(runs, plan)
    return BehaviourComparison(runs=runs, diff=diff, findings=findings, not_exercised=left)


def _same(some: tuple[RunRecord, ...], others: tuple[RunRecord, ...]) -> bool:
    """The very same runs: where no probe was repeated, there is nothing to compare anew."""
    return len(some) == len(others) and all(a is b for a, b in zip(some, others, strict=True))


def _reasons(
    plan: ExecutionPlan,
    patience: Patience,
    diff: BehaviourDiff,
    findings: tuple[Finding, ...],
    suspects: set[str],
    *,
    deep: bool,
) -> list[str]:
    """Ids of the probes worth a second look, most suspicious first.

    An import that only head does not end has its finding, which warns by itself; five more times would cost
    minutes and show the same. A slow call or test does not warn, so it is looked at again, unless what never
    ends has had its time.
    """
    suspicious = suspects | {f.primary.path for f in findings if f.severity.rank >= Severity.MEDIUM.rank}
    showed = {probe for behaviour in diff.new for probe in behaviour.probes}
    told = ("call", "test") if not patience.worn_out else ()
    probes = [p for p in plan.probes if p.driver and p.phase != "idle" and "head" in p.sides]
    probes = [p for p in probes if p.phase in told or not patience.endless(p)]
    probes.sort(key=lambda p: (p.path not in suspicious, p.id not in showed))
    chosen = [p.id for p in probes if deep or p.path in suspicious]
    return chosen[:SECOND_LOOKS]


def _second_plan(plan: ExecutionPlan, reasons: list[str], runs: tuple[RunRecord, ...]) -> ExecutionPlan:
    """Variants of the probes that ``reasons`` names, and those that connected once more while that fails."""
    second = deepen(plan, reasons) if reasons else ExecutionPlan(probes=())
    outage = outage_look(plan, connected(runs)[:OUTAGES])
    return replace(second, probes=second.probes + outage.probes)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Again:
    runs: tuple[RunRecord, ...]
    not_exercised: tuple[NotExercised, ...]


def _once_more(
    session: Session,
    second: ExecutionPlan,
    runs: tuple[RunRecord, ...],
    planted: tuple[Canary, ...],
    known: set[tuple[str, str, str]],
    patience: Patience,
    note: Callable[[str], None],
) -> _Again:
    """The variants of ``second`` at head, then at base those in which head did what it had not done before.

    ``known`` are the keys of what it did then, in ``runs``.
    """
    head = _only(second, "head", {p.id for p in second.probes})
    start = time.monotonic()
    more = execute(session, head, patience=patience, progress=note)
    took = time.monotonic() - start
    fresh = [b for b in compare(runs + more, planted, tentative=True).new if b.key not in known]
    wanted = {probe for behaviour in fresh for probe in behaviour.probes}
    base = _only(second, "base", wanted)
    if base.probes:
        # What head did and base was not asked about would be told as new: the comparison is made even when
        # head used up the budget, for about as long as head took.
        patience.extend(_FOR_COMPARISON * took + _LEAST)
        more += execute(session, base, patience=patience, progress=note)
    # No time for an extra look is no hole in the look itself.
    unlooked = tuple(
        NotExercised(path=run.probe.path or "", target=run.probe.target, reason="no time for a second look")
        for run in more
        if run.outcome is Outcome.NEVER_STARTED and run.side == "head"
    )
    kept = tuple(
        run for run in more if run.outcome is not Outcome.NEVER_STARTED and run.probe.phase != "idle"
    )
    return _Again(runs=kept, not_exercised=second.not_exercised + unlooked)


def _only(plan: ExecutionPlan, side: str, ids: set[str]) -> ExecutionPlan:
    """The plan's probes with these ids, on one side."""
    return ExecutionPlan(
        probes=tuple(
            replace(p, sides=tuple(s for s in p.sides if s == side))
            for p in plan.probes
            if p.id in ids and side in p.sides and p.phase != "idle"
        )
    )
