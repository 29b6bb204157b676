"""Findings joined to one sentence: what is told, in which order, and that nobody's words lead."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.model.behaviour import Behaviour, BehaviourDiff, BehaviourKind
from gate.model.finding import Finding, fingerprinted
from gate.model.location import Location
from gate.model.report import Report
from gate.model.rule import Confidence, FindingStage, Severity
from gate.model.run import PHASES, Outcome, Phase
from gate.model.score import Verdict
from gate.report.html import HtmlReporter
from gate.report.incidents import fact, incidents, last_line, plain
from gate.report.json_v1 import document
from gate.report.markdown import MarkdownReporter
from tests.golden import sample

KIND = BehaviourKind


def seen(kind: BehaviourKind, subject: str, phase: str = "import", **detail: str) -> Behaviour:
    return Behaviour(
        kind=kind, subject=subject, actor="python", detail=detail, probes=(f"{phase}:shop.rates",)
    )


def finding(of: Behaviour, severity: Severity = Severity.HIGH, line: int | None = 7) -> Finding:
    return Finding(
        rule_id=f"behaviour.{of.kind.value}",
        stage=FindingStage.BEHAVIOUR,
        severity=severity,
        confidence=Confidence.HIGH,
        message="Does something.",
        locations=(Location(path="shop/rates.py", line=line),),
        shape=f"{of.kind.value} {of.subject} python",
        evidence={"subject": of.subject},
    )


def report(*items: Behaviour, findings: tuple[Finding, ...] = (), phase: Phase = "import") -> Report:
    whole = sample.hostile()
    run = sample._run(phase, "shop.rates", "head", Outcome.COMPLETED, 1.0, 1, path="shop/rates.py")
    return replace(
        whole,
        behaviour=BehaviourDiff(new=items),
        findings=fingerprinted(findings or map(finding, items)),
        sandbox=replace(whole.sandbox, runs=(run,)),
    )


def test_a_secret_read_and_sent_is_one_sentence() -> None:
    read = seen(KIND.CANARY, "aws-credentials", canary="aws-credentials", channel="read")
    sent = seen(
        KIND.CANARY, "aws-credentials in net 203.0.113.7:4444", canary="aws-credentials", channel="net"
    )
    reached = seen(KIND.CONNECT, "203.0.113.7:4444")
    (only,) = incidents(report(read, sent, reached))
    told = "On import, shop/rates.py reads ~/.aws/credentials (planted) and sends it to 203.0.113.7:4444"
    assert plain(only.sentence) == told
    assert len(only.findings) == 3


@pytest.mark.parametrize(
    ("item", "told"),
    [
        (seen(KIND.CONNECT, "203.0.113.7:443"), "connects to 203.0.113.7:443"),
        (seen(KIND.DNS, "a.example", name="a.example"), "looks up a.example"),
        (seen(KIND.HTTP, "POST a.example /x", method="POST", host="a.example"), "sends data to a.example"),
        (seen(KIND.HTTP, "GET a.example /x", method="GET", host="a.example"), "requests a.example"),
        (seen(KIND.EXEC, "sh -c <text>", argv="sh -c id"), "starts sh -c id"),
        (seen(KIND.WRITE, "~/.bashrc"), "writes ~/.bashrc"),
        (seen(KIND.DELETE, "~/work"), "deletes ~/work"),
        (seen(KIND.CANARY, "netrc in stdout", canary="netrc", channel="stdout"), "prints it"),
        (replace(seen(KIND.DENIED, "mount"), denied=True), "tries mount (refused by the sandbox)"),
    ],
)
def test_each_kind_has_its_words(item: Behaviour, told: str) -> None:
    (only,) = incidents(report(item))
    assert plain(only.sentence).endswith(told)


def test_many_acts_are_three_clauses() -> None:
    items = [seen(kind, f"/x/{kind.value}") for kind in (KIND.EXEC, KIND.WRITE, KIND.DELETE, KIND.CHMOD)]
    (only,) = incidents(report(*items))
    assert plain(only.sentence).count(" /x/") == 3
    assert " and deletes " in plain(only.sentence)


def test_small_findings_alone_are_no_incident() -> None:
    item = seen(KIND.READ, "/etc/hosts")
    assert incidents(report(item, findings=(finding(item, Severity.LOW),))) == ()


def test_what_no_finding_rests_on_is_left_out() -> None:
    exec_, read = seen(KIND.EXEC, "id", argv="id"), seen(KIND.READ, "/etc/ld.so.cache")
    (only,) = incidents(report(exec_, read, findings=(finding(exec_),)))
    assert "ld.so" not in plain(only.sentence)


@pytest.mark.parametrize("phase", PHASES)
def test_when_it_happens_is_said(phase: Phase) -> None:
    item = seen(KIND.EXEC, "id", phase, argv="id")
    (only,) = incidents(report(item, phase=phase))
    assert plain(only.sentence).split(",")[0] in {
        "On install", "On import", "When run", "When called", "In tests", "When left alone",
    }  # fmt: skip


def test_two_probes_are_two_incidents_and_the_worst_leads() -> None:
    quiet = seen(KIND.EXEC, "id", argv="id")
    loud = replace(seen(KIND.WRITE, "~/.bashrc"), probes=("call:shop.rates",))
    found = (finding(quiet, Severity.MEDIUM), finding(loud, Severity.CRITICAL))
    joined = incidents(report(quiet, loud, findings=found))
    assert [one.severity for one in joined] == [Severity.CRITICAL, Severity.MEDIUM]


def test_what_reading_found_on_the_same_line_belongs_to_it() -> None:
    item = seen(KIND.EXEC, "id", argv="id")
    static = replace(
        finding(item), stage=FindingStage.PRESCREEN, rule_id="py.exec", evidence={}, shape="os.system('id')"
    )
    other = replace(static, locations=(Location(path="shop/rates.py", line=70),), rule_id="py.other")
    (only,) = incidents(report(item, findings=(finding(item), static, other)))
    assert {f.rule_id for f in only.findings} == {"behaviour.exec", "py.exec"}


def test_an_incident_has_the_line_of_the_worst_of_its_findings_that_has_one() -> None:
    sent = seen(KIND.CANARY, "netrc in net 203.0.113.7:4444", canary="netrc", channel="net")
    reached = seen(KIND.CONNECT, "203.0.113.7:4444")
    found = (finding(sent, Severity.CRITICAL, None), finding(reached, Severity.HIGH, 13))
    (only,) = incidents(report(sent, reached, findings=found))
    assert (only.severity, only.primary.line) == (Severity.CRITICAL, 13)


def test_a_worse_finding_of_reading_leads() -> None:
    item = seen(KIND.EXEC, "id", argv="id")
    static = replace(
        finding(item, Severity.CRITICAL, 40),
        stage=FindingStage.PRESCREEN,
        message="A key stands in the text.",
    )
    judged = report(item, findings=(finding(item), static))
    assert plain(fact(judged)) == "A key stands in the text, in shop/rates.py:40"
    assert "a key stands in the text" in last_line(judged)


def test_the_comments_heading_is_the_fact() -> None:
    judged = report(seen(KIND.CONNECT, "203.0.113.7:443"))
    first = MarkdownReporter().render(judged).splitlines()[0]
    assert first.startswith("### ⛔ Blocked: on import, `shop/rates.py` connects to `203.0.113.7:443`")
    blind = replace(judged, verdict=Verdict.INCONCLUSIVE)
    assert "prescreen:semgrep could not look" in MarkdownReporter().render(blind).splitlines()[0]
    passed = replace(judged, verdict=Verdict.PASS)
    assert "connects" not in MarkdownReporter().render(passed).splitlines()[0]


def test_the_file_holds_them_with_their_findings() -> None:
    (told,) = document(report(seen(KIND.CONNECT, "203.0.113.7:443"))).incidents
    assert told.sentence == "On import, shop/rates.py connects to 203.0.113.7:443"
    assert len(told.findings) == 1


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.sampled_from(BehaviourKind), st.text(max_size=40))
def test_no_words_of_the_change_act_in_a_heading(subject: str, kind: BehaviourKind, channel: str) -> None:
    item = seen(kind, subject, channel=channel, host=subject, argv=subject)
    judged = report(item, findings=(finding(item, Severity.CRITICAL),))
    text = MarkdownReporter().render(judged)
    assert text.startswith("### ⛔ Blocked")
    assert "@everyone" not in text.split("`")[0::2]
    assert HtmlReporter().render(judged).count("<script") == 1
    incidents(judged)


def test_a_proof_is_told_by_its_request() -> None:
    whole = sample.hostile()
    proof = replace(
        finding(seen(KIND.EXEC, "x")),
        severity=Severity.CRITICAL,
        message="A request changes the structure of the SQL that is sent.",
        evidence={"proven by": "GET /search?q=" + "%27" * 60},
    )
    told = fact(replace(whole, findings=fingerprinted((proof,)), behaviour=BehaviourDiff()))
    assert [phrase.quoted for phrase in told] == [False, True, False, True]
    assert plain(told).startswith("Proven: GET /search?q=%27")
    assert plain(told).endswith("… changes the structure of the SQL that is sent, in shop/rates.py:7")
