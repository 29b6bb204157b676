"""Findings of proofs: one a place, by who reaches it, nothing of what base was open to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.model.change import Change
from gate.model.exploit import NO_SIGNATURE, WEAKNESSES, AttackRequest, Proof, Weakness
from gate.model.finding import Finding
from gate.policy.policy_file import load_policy
from gate.policy.score import score
from gate.signals.proof_kit import ProofContext, curl
from gate.signals.run import proof_findings, proof_rules

CHANGE = Change(repo="", base=None, head=None, merge_base=None, commits=(), files=())
BLOCKING = {
    *(
        "command",
        "code",
        "sql",
        "template",
        "deserialisation",
        "request-forgery",
        "xml",
        "path-write",
        "archive",
        "token",
        "query",
    ),
}


def proof(weakness: Weakness, **more: object) -> Proof:
    made = Proof(
        weakness=weakness,
        kind="http",
        entry="GET /x",
        function="x",
        path="a.py",
        line=4,
        field=("query", "q"),
        payload="'",
        mark="gab12x1",
        witness="it was seen",
        request=AttackRequest(method="GET", url="/x?q=%27"),
        before="closed",
    )
    return replace(made, **more)  # type: ignore[arg-type]


def told(*proofs: Proof) -> tuple[Finding, ...]:
    return proof_findings(ProofContext(change=CHANGE, proofs=proofs))


@pytest.mark.parametrize("weakness", WEAKNESSES)
def test_each_weakness_has_one_rule_and_blocks_or_warns_by_the_policy(weakness: Weakness) -> None:
    (finding,) = told(proof(weakness))
    policy = load_policy()
    assert finding.confidence.value == "high"
    assert policy.least_verdict[finding.rule_id] == "warn"
    assert (score((finding,), policy).value >= policy.bands.fail) is (weakness in BLOCKING)


def test_every_rule_on_entry_points_warns_at_least() -> None:
    ids = {rule.meta.id for rule in proof_rules()} - {"exploit.internal-function"}
    assert ids <= load_policy().least_verdict.keys()


def test_what_was_so_before_is_no_finding() -> None:
    assert not told(proof("sql", before="open"))
    assert len(told(proof("sql", before="unknown"), proof("html", before="absent"))) == 2


def test_a_function_is_told_where_no_entry_point_is_proven_at_its_place() -> None:
    call = proof("sql", kind="call", entry="find", request=None, call='find(name="\'")')
    (finding,) = told(call)
    assert (finding.rule_id, finding.severity.value, finding.cwe) == (
        "exploit.internal-function",
        "medium",
        (89,),
    )
    assert [f.rule_id for f in told(call, proof("sql"))] == ["exploit.sql-injection"]


def test_what_only_a_file_s_author_can_reach_is_low() -> None:
    call = proof("sql", kind="call", entry="find", request=None, field=("parameter-file", "path"))
    (finding,) = told(call)
    assert (finding.rule_id, finding.severity.value) == ("exploit.internal-function", "low")


def test_one_place_is_told_once() -> None:
    assert len(told(proof("sql"), proof("sql", entry="POST /x"), proof("sql", line=9))) == 2


def test_a_request_is_one_quoted_command() -> None:
    plain = AttackRequest(method="GET", url="/x?q='$(id)'")
    assert curl(plain) == "curl -i --path-as-is 'http://localhost:5000/x?q='\"'\"'$(id)'\"'\"''"
    raw = AttackRequest(method="POST", url="/", headers=(("A", "b"),), body=b"\x80\x02")
    assert curl(raw).startswith("echo gAI= | base64 -d | curl -i -X POST -H 'A: b' --data-binary @- ")
    typed = AttackRequest(method="POST", url="/", body=b"q=1")
    assert "--data-binary q=1" in curl(typed)
    message = AttackRequest(method="WS", url="/live", body=b"it's")
    assert curl(message) == "echo 'it'\"'\"'s' | websocat ws://localhost:5000/live"


def test_a_call_is_told_for_the_weaknesses_that_a_function_can_have() -> None:
    assert told(proof("open-redirect", kind="call", request=None)) == ()


@pytest.mark.parametrize(("weakness", "severity"), [("command", "high"), ("request-forgery", "medium")])
def test_what_a_language_model_says_has_a_rule_of_its_own(weakness: Weakness, severity: str) -> None:
    call = proof(weakness, kind="call", entry="look", request=None, field=("model", "url"))
    (finding,) = told(call)
    assert (finding.rule_id, finding.severity.value) == ("exploit.tool-argument", severity)


def test_a_signature_that_is_left_out_is_told_as_that() -> None:
    (finding,) = told(proof("token", payload=NO_SIGNATURE))
    assert finding.message.startswith("A request without a signature is let in")


def test_the_request_that_planted_the_payload_comes_first() -> None:
    first = AttackRequest(method="PUT", url="/text", body=b"a")
    (finding,) = told(proof("template", planted=first, let_in_by="customer"))
    assert finding.evidence["proven by"] == "PUT /text, then GET /x?q=%27"
    assert finding.evidence["let in by"] == "customer"
    assert finding.evidence["repeat"].count("curl -i") == 2
