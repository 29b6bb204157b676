"""The change does this only in CI, on a developer's machine, at a later date, or when an endpoint fails.

The same probe was run as it is and under other conditions; what it does appeared only there. Code that
waits for a date or a place before it reaches for the network, a program or a secret does not want to be
seen in a review.

Ask why the condition exists; a feature flag has a name and a switch, a time bomb has a date.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.model.run import OUTAGE
from gate.signals.interface import SignalContext
from gate.signals.random_names import is_random_variant
from gate.signals.rule_kit import HIGH, MEDIUM, behaviour_finding, new, rule

_GRAVE: Final = (
    BehaviourKind.CONNECT,
    BehaviourKind.DNS,
    BehaviourKind.HTTP,
    BehaviourKind.SEND,
    BehaviourKind.CANARY,
    BehaviourKind.LISTEN,
    BehaviourKind.DENIED,
)
_NOTABLE: Final = (BehaviourKind.EXEC, BehaviourKind.DELETE, BehaviourKind.WRITE, BehaviourKind.CHMOD)
_COMPARED: Final = 500
_ELSEWHERE: Final = "Does this only elsewhere or later, not in a plain run."
_DURING: Final = "Does this only when requests have failed, not while they succeed."


@rule(
    "acts-only-when",
    "Acts only under a condition",
    severity="high",
    confidence="medium",
    topic="evasion",
    cwe=(511, 506),
    attack=("T1480", "T1497.003"),
    why="Code that waits for a date or a place before it acts does not want to be seen in a review.",
    fix="Ask why the condition exists; make it a named setting, or remove it.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each condition, with everything that appeared only under it."""
    conditions = {run.probe.id: run.probe.condition for run in context.runs}
    by_condition: dict[str, list[Behaviour]] = {}
    plain: dict[tuple[BehaviourKind, str], list[str]] = {}
    only: list[tuple[Behaviour, set[str]]] = []
    for behaviour in new(context, *_GRAVE, *_NOTABLE):
        under = {conditions.get(probe, "") for probe in behaviour.probes}
        if "" in under:
            plain.setdefault((behaviour.kind, behaviour.actor), []).append(behaviour.subject)
        elif (
            under
            and behaviour.detail.get("place") != "scratch"
            and not (under == {OUTAGE} and _is_handling(behaviour, context))
        ):
            only.append((behaviour, under))
    for behaviour, under in only:
        drawn = behaviour.kind in _NOTABLE and any(
            is_random_variant(behaviour.subject, subject)
            for subject in plain.get((behaviour.kind, behaviour.actor), ())[:_COMPARED]
        )
        if not drawn:
            by_condition.setdefault(", ".join(sorted(under)), []).append(behaviour)
    for behaviours in by_condition.values():
        grave = [b for b in behaviours if b.kind in _GRAVE]
        first, *rest = [*grave, *(b for b in behaviours if b not in grave)]
        severity = HIGH if grave else MEDIUM
        only_when = {conditions.get(probe, "") for behaviour in behaviours for probe in behaviour.probes}
        message = _DURING if only_when == {OUTAGE} else _ELSEWHERE
        yield behaviour_finding(check.meta, context, first, message, severity=severity, more=rest)


def _is_handling(behaviour: Behaviour, context: SignalContext) -> bool:
    """An ordinary answer to a failure: what could not be sent is kept in a file, another host that base
    names is asked.
    """
    host = behaviour.subject if behaviour.kind is BehaviourKind.DNS else behaviour.detail.get("host", "")
    return behaviour.kind in _NOTABLE or host.lower() in context.hosts_at_base
