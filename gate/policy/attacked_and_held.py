"""Flows that were read in the text (rules ``flow.*``), at a call that an attack did not get to.

An ordinary value reached the call, and none of the payloads of its weakness did, in every field of the
route: a check in front of it held. No proof of the contrary, and told from inside the process, so the finding
stays and weighs one step less.
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
_TOLD: Final = "an ordinary value reached this call, every payload was stopped before it"


def attacked_and_held(
    findings: Iterable[Finding], held: Collection[HeldSink], proofs: Collection[Proof]
) -> tuple[Finding, ...]:
    """The findings; flows into calls that held weigh less, where nothing was proven in the file."""
    places = {(one.weakness, one.path, one.line) for one in held}
    broken = {(proof.weakness, proof.path) for proof in proofs}
    return tuple(_weighed(one, places, broken) for one in findings)


def _weighed(
    finding: Finding, places: Collection[tuple[str, str, int]], broken: Collection[tuple[str, str]]
) -> Finding:
    path, line = finding.primary.path, finding.primary.line
    for weakness in _OF.get(finding.rule_id, ()):
        if (weakness, path, line) in places and (weakness, path) not in broken:
            less = _LESS.get(finding.severity, finding.severity)
            return replace(finding, severity=less, evidence={**finding.evidence, "attacked and held": _TOLD})
    return finding
