"""Flows into calls that no payload got to weigh one step less."""

from __future__ import annotations

import pytest

from gate.model.exploit import HeldSink, Proof
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Severity
from gate.policy.attacked_and_held import attacked_and_held
from gate.prescreen.scanners.injection_rules import BY_SINK
from gate.prescreen.scanners.protections import REMOVED
from gate.signals.rules.refused_then_accepted import check

HELD = HeldSink(weakness="path-read", path="a.ts", line=4)


def flow(rule: str = "flow.path-from-request", line: int = 4) -> Finding:
    meta = next(meta for meta in BY_SINK.values() if meta.id == rule)
    place = Location(path="a.ts", line=line)
    return Finding.of(meta, "", place, shape="x", severity=Severity.HIGH, evidence={"code": "x"})


def proof(weakness: str = "path-read") -> Proof:
    return Proof(
        weakness=weakness, kind="http", entry="GET /", function="routes", path="a.ts", line=4,  # type: ignore[arg-type]
        field=("query", "a"), payload="", mark="", witness="",
    )  # fmt: skip


def removed(protects: str = "authentication", path: str = "a.ts") -> Finding:
    evidence = {"protects": protects, "in": "show"}
    place = Location(path=path, line=9)
    return Finding.of(REMOVED, "", place, shape="x", severity=Severity.CRITICAL, evidence=evidence)


def accepted(function: str = "show(number)") -> Finding:
    place = Location(path="a.ts", line=None)
    evidence = {"function": function}
    return Finding.of(check.meta, "", place, shape="x", severity=Severity.HIGH, evidence=evidence)


SHUT = HeldSink(weakness="access", path="a.ts", line=1, function="show")


@pytest.mark.parametrize(
    ("finding", "held", "proofs", "wanted"),
    [
        (removed(), (SHUT,), (), Severity.MEDIUM),
        (accepted(), (SHUT,), (), Severity.HIGH),
        (removed(), (), (), Severity.CRITICAL),
        (removed("authorization"), (SHUT,), (), Severity.CRITICAL),
        (removed(path="b.ts"), (SHUT,), (), Severity.CRITICAL),
        (removed(), (SHUT,), (proof("access"),), Severity.CRITICAL),
        (accepted("shown(number)"), (SHUT,), (), Severity.HIGH),
        (accepted(), (HELD,), (), Severity.HIGH),
    ],
)
def test_a_log_in_that_something_in_front_still_asks_for(
    finding: Finding, held: tuple[HeldSink, ...], proofs: tuple[Proof, ...], wanted: Severity
) -> None:
    (weighed,) = attacked_and_held([finding], held, proofs)
    assert weighed.severity is wanted


def test_what_accepts_weighs_less_beside_a_log_in_that_goes_and_no_other_right() -> None:
    def severities(*findings: Finding) -> list[Severity]:
        return [one.severity for one in attacked_and_held(findings, [SHUT], ())]

    assert severities(accepted(), removed()) == [Severity.MEDIUM, Severity.MEDIUM]
    whole = [Severity.HIGH, Severity.CRITICAL, Severity.CRITICAL]
    assert severities(accepted(), removed(), removed("authorization")) == whole
    assert severities(accepted(), removed("authorization")) == whole[:2]


@pytest.mark.parametrize(
    ("finding", "proofs", "wanted"),
    [
        (flow(), (), Severity.MEDIUM),
        (flow(line=5), (), Severity.HIGH),
        (flow("flow.request-forgery"), (), Severity.HIGH),
        (flow(), (proof(),), Severity.HIGH),
    ],
)
def test_only_the_call_that_held(finding: Finding, proofs: tuple[Proof, ...], wanted: Severity) -> None:
    (weighed,) = attacked_and_held([finding], [HELD], proofs)
    assert weighed.severity is wanted
    assert ("attacked and held" in weighed.evidence) is (wanted is Severity.MEDIUM)
