"""What behaviour rules share: stating a rule, asking about a behaviour, making a finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, FindingStage, RuleMeta, Severity
from gate.model.run import PHASES, Phase
from gate.rules_api import RuleKind
from gate.signals.interface import SignalContext

LOW, MEDIUM, HIGH, CRITICAL = Severity
UNSURE, LIKELY, SURE = Confidence
UNASKED: Final = ("install", "import")
"""Phases whose code runs although nobody called it: installing or importing is enough."""
SENDING: Final = frozenset(("POST", "PUT", "PATCH"))
"""Methods of requests that carry data."""
_FETCHERS: Final = frozenset(
    (
        "curl",
        "wget",
        "git",
        "git-remote-https",
        "pip",
        "pip3",
        "uv",
        "npm",
        "pnpm",
        "yarn",
        "apt",
        "apt-get",
        "apk",
    )
)
_TEXT: Final = 300
_SHOWN: Final = 8

rule: Final = RuleKind[SignalContext, Finding](FindingStage.BEHAVIOUR)
"""A check yields findings; the primary location is the changed file whose probe showed it."""


def new(context: SignalContext, *kinds: BehaviourKind) -> Iterator[Behaviour]:
    """The change's new behaviours of these kinds."""
    return (b for b in context.diff.new if b.kind in kinds)


def phase_of(context: SignalContext, behaviour: Behaviour) -> Phase:
    """The least asked-for phase that showed it: import before call before test."""
    phases = {run.probe.phase for run in context.runs if run.probe.id in behaviour.probes}
    return min(phases or {"call"}, key=PHASES.index)


def fetched_openly(context: SignalContext, behaviour: Behaviour) -> bool:
    """A script that somebody has to start fetches from a named host over TLS with a tool for that: set-up
    scripts do it in plain sight. An import, an install, a bare address or plain HTTP is something else.
    """
    named = behaviour.kind is BehaviourKind.DNS or bool(behaviour.detail.get("host"))
    plain = behaviour.detail.get("port", "443") != "443" or behaviour.detail.get("scheme", "https") != "https"
    tool = programs(behaviour)[-1] in _FETCHERS
    return phase_of(context, behaviour) == "script" and named and tool and not plain


def called_openly(context: SignalContext, behaviour: Behaviour) -> bool:
    """A function that was called by its name talks to a named host in HTTP that TLS protects, and to that
    host in no other way: what every client of a service does. A bare address, plain HTTP, bytes of its own,
    another name than that of the connection, or a look-up that no request follows is something else.
    """
    if phase_of(context, behaviour) != "call":
        return False
    dns = behaviour.kind is BehaviourKind.DNS
    host = behaviour.subject if dns else behaviour.detail.get("host", "")
    asked = [b for b in context.diff.new if b.detail.get("host") == host and b.kind is BehaviourKind.HTTP]
    ports = {b.detail.get("port") for b in context.diff.new if b.detail.get("host") == host}
    plain = [b for b in asked if b.detail.get("scheme") != "https" or b.detail.get("fronted")]
    return bool(host) and bool(asked) and not plain and ports == {"443"}


def known_at_base(context: SignalContext, behaviour: Behaviour) -> bool:
    """A function that was called by its name talks to a host that the program code of base names: a client
    that was there and that nothing called.
    """
    dns = behaviour.kind is BehaviourKind.DNS
    host = behaviour.subject if dns else behaviour.detail.get("host", "")
    return phase_of(context, behaviour) == "call" and host.lower() in context.hosts_at_base


def replaced(context: SignalContext, behaviour: Behaviour) -> Iterator[Behaviour]:
    """What base did of the same kind, by the same program and in the same probe, and head does nowhere:
    another one stands in its place.
    """
    program = programs(behaviour)[-1]
    for gone in context.diff.gone:
        alike = gone.kind is behaviour.kind and programs(gone)[-1] == program
        if alike and set(gone.probes) & set(behaviour.probes):
            yield gone


def left_behind(behaviour: Behaviour) -> bool:
    """True for a process that the trace saw outlive what started it (kind *exit*)."""
    return behaviour.detail.get("how") == "leaves"


def programs(behaviour: Behaviour) -> list[str]:
    """The actor's chain as names."""
    return behaviour.actor.split(">")


def location_of(context: SignalContext, behaviour: Behaviour) -> Location:
    """The changed file and line that did it, as far as known.

    In this order: the line that the driver saw, when the change touched it (a hint that the code can
    forge, never trusted for more); the changed file whose probe showed it; the first changed file.
    """
    changed = {f.path: f for f in context.change.files if f.status != "deleted"}
    at = behaviour.at
    if at is not None and at.path in changed and at.line is not None and changed[at.path].touches(at.line):
        return Location(path=at.path, line=at.line)
    for run in context.runs:
        if run.probe.id in behaviour.probes and run.probe.path in changed:
            return Location(path=run.probe.path)
    paths = list(changed) or [f.path for f in context.change.files] or ["."]
    return Location(path=paths[0])


def behaviour_finding(
    meta: RuleMeta,
    context: SignalContext,
    behaviour: Behaviour,
    message: str,
    *,
    severity: Severity | None = None,
    confidence: Confidence | None = None,
    more: Sequence[Behaviour] = (),
) -> Finding:
    """One finding. ``message`` holds no text from the change; all of that goes into evidence.

    ``more``: further behaviours told by the same finding (shown by subject, the first few).
    """
    names = list(dict.fromkeys(b.subject for b in (behaviour, *more)))
    evidence = {
        "behaviour": behaviour.kind.value,
        "subject": ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if names[_SHOWN:] else ""),
        "program": behaviour.actor,
        "phase": phase_of(context, behaviour),
        "probe": _target(context, behaviour),
        "times": str(sum(b.count for b in (behaviour, *more))),
        "denied": "yes" if behaviour.denied else "",
    }
    package = _dependency(context, behaviour)
    if package:
        evidence["dependency"] = package
        message = f"{message.removesuffix('.')}: a dependency that the change brings does it."
    evidence |= {name: text for name, text in behaviour.detail.items() if name not in evidence}
    return Finding.of(
        meta,
        message,
        location_of(context, behaviour),
        shape=f"{behaviour.kind.value} {names[0]} {behaviour.key[2]}",
        severity=severity,
        confidence=confidence,
        evidence={name: text[:_TEXT] for name, text in evidence.items() if text},
    )


def grouped_findings(
    meta: RuleMeta,
    context: SignalContext,
    behaviours: Iterable[Behaviour],
    message: str,
    *,
    severity: Severity | None = None,
    confidence: Confidence | None = None,
) -> Iterator[Finding]:
    """One finding for each place and program, however many subjects: small things stay short."""
    groups: dict[tuple[Location, str], list[Behaviour]] = {}
    for behaviour in behaviours:
        key = (location_of(context, behaviour), behaviour.key[2])
        groups.setdefault(key, []).append(behaviour)
    for first, *rest in groups.values():
        yield behaviour_finding(
            meta, context, first, message, severity=severity, confidence=confidence, more=rest
        )


def _target(context: SignalContext, behaviour: Behaviour) -> str:
    runs = [run for run in context.runs if run.probe.id in behaviour.probes]
    runs.sort(key=lambda run: not run.probe.dependency)  # stable: a package's own probe tells most
    return next((run.probe.target for run in runs), "")


def _dependency(context: SignalContext, behaviour: Behaviour) -> str:
    """Name and version of the installed package that does this when imported alone; empty: none does."""
    named = (run.probe.dependency for run in context.runs if run.probe.id in behaviour.probes)
    return next(filter(None, named), "")
