"""What was read in the text, and an attack did not get through.

Flows (rules ``flow.*``): an ordinary value reached the call, and none of the payloads of its weakness did, in
every field of the route: a check in front of it held. No proof of the contrary, and told from inside the
process, so the finding stays and weighs one step less.

A log-in that a function asked for and asks for no more, while the application goes on refusing whoever has
none on every route to it: something in front of it asks. It stays, too, and is medium at most, with what
accepts in that function what it refused. Where the function lost any other protection nothing weighs less.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from gate.model.exploit import HeldSink, Proof
from gate.model.finding import Finding
from gate.model.rule import Severity

_OF: Final[dict[str, frozenset[str]]] = {
    "flow.path-from-request": frozenset({"path-read", "path-write"}),
    "flow.request-forgery": frozenset({"request-forgery"}),
    "flow.shell-command": frozenset({"command"}),
}
_LESS: Final = {
    Severity.CRITICAL: Severity.HIGH,
    Severity.HIGH: Severity.MEDIUM,
    Severity.MEDIUM: Severity.LOW,
}
_LOG_IN: Final = "authentication"
_SHUT: Final = "every route to it goes on refusing whoever has none"
_TOLD: Final = "an ordinary value reached this call, every payload was stopped before it"


def attacked_and_held(
    findings: Iterable[Finding], held: Collection[HeldSink], proofs: Collection[Proof]
) -> tuple[Finding, ...]:
    """The findings; flows into calls that held weigh less, where nothing was proven in the file."""
    findings = tuple(findings)
    places = {(one.weakness, one.path, one.line) for one in held}
    broken = {(proof.weakness, proof.path) for proof in proofs}
    shut = {(one.path, one.function) for one in held if one.weakness == "access"}
    shut = {place for place in shut if ("access", place[0]) not in broken}
    gone = {(place, one.evidence["protects"]) for one in findings if (place := _unprotected(one))}
    log_ins = {place for place, what in gone if what == _LOG_IN}
    rights = {place for place, what in gone if what != _LOG_IN}
    shut &= log_ins - rights  # what else is gone, an answer to nobody says nothing of
    return tuple(_still_shut(_weighed(one, places, broken), shut) for one in findings)


def _unprotected(finding: Finding) -> tuple[str, str] | None:
    """File and function that lost a protection."""
    told = finding.evidence
    return (finding.primary.path, told["in"]) if {"in", "protects"} <= told.keys() else None


def _still_shut(finding: Finding, shut: Collection[tuple[str, str]]) -> Finding:
    told = finding.evidence
    place = _unprotected(finding)
    if finding.rule_id == "refused-then-accepted":
        place = (finding.primary.path, told.get("function", "").partition("(")[0])
    if place not in shut or finding.severity not in (Severity.CRITICAL, Severity.HIGH):
        return finding
    return replace(finding, severity=Severity.MEDIUM, evidence={**told, "without a log-in": _SHUT})


def _weighed(
    finding: Finding, places: Collection[tuple[str, str, int]], broken: Collection[tuple[str, str]]
) -> Finding:
    path, line = finding.primary.path, finding.primary.line
    for weakness in _OF.get(finding.rule_id, ()):
        if (weakness, path, line) in places and (weakness, path) not in broken:
            less = _LESS.get(finding.severity, finding.severity)
            return replace(finding, severity=less, evidence={**finding.evidence, "attacked and held": _TOLD})
    return finding
