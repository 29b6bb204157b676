"""report.json: what is published, and how strictly it is read back."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.errors import UsageError
from gate.model.report import Report
from gate.report import v1
from gate.report.from_json import as_report
from gate.report.json_v1 import REPORTER, decode, schema
from gate.report.published import rule_id
from gate.report.schema import schema_text
from tests.golden import sample
from tests.golden.nasty import NASTY, nasty
from tests.paths import REPOSITORY

SCHEMA = jsonschema.Draft202012Validator(schema())
REPORTS = [sample.hostile(), sample.harmless(), sample.blind()]


def published(report: Report) -> dict[str, Any]:
    found = json.loads(REPORTER.render(report))
    assert isinstance(found, dict)
    return found


def test_every_field_the_format_promises_is_there() -> None:
    found = published(sample.hostile())
    assert {
        "schema_version", "gate_version", "repo", "base", "head", "verdict", "score", "thresholds",
        "contributions", "commits", "files", "findings", "behaviour", "sandbox", "stages", "timings",
    } <= set(found)  # fmt: skip
    assert found["schema_version"] == "1"
    assert {"rule_id", "points", "why"} == set(found["contributions"][0])
    assert {"sha", "attribution"} <= set(found["commits"][0])
    assert {"is_ai", "tool", "confidence", "evidence"} <= set(found["commits"][0]["attribution"])
    assert {
        "rule_id", "stage", "severity", "confidence", "message", "path", "line", "fingerprint", "cwe",
        "evidence", "suppressed_by",
    } <= set(found["findings"][0])  # fmt: skip
    assert {"new", "gone", "unchanged_count"} == set(found["behaviour"])
    assert {"backend", "isolation", "tracer", "completeness", "runs"} <= set(found["sandbox"])
    assert {"dropped", "unparsed", "truncated"} == set(found["sandbox"]["completeness"])
    assert {
        "phase", "target", "side", "outcome", "exit_code", "seconds", "peak_memory_bytes",
    } <= set(found["sandbox"]["runs"][0])  # fmt: skip
    assert {"name", "outcome", "reason", "seconds"} == set(found["stages"][0])


def test_when_a_run_that_is_told_again_ran_is_told() -> None:
    report = sample.hostile()
    assert report.sandbox is not None
    runs = tuple(replace(run, kept_at=1_764_000_000.5) for run in report.sandbox.runs)
    report = replace(report, sandbox=replace(report.sandbox, runs=runs))
    told = published(report)["sandbox"]["runs"]
    assert {run["kept_at"] for run in told} == {1_764_000_000.5}


def test_unknown_is_null_and_never_made_up() -> None:
    timed_out = next(r for r in published(sample.hostile())["sandbox"]["runs"] if r["outcome"] == "timed-out")
    assert timed_out["exit_code"] is None
    assert timed_out["peak_memory_bytes"] is None
    blind = published(sample.blind())
    assert blind["sandbox"]["backend"] is None
    loose = replace(sample.CHANGE, base=None, head=None, merge_base=None, branch=None)
    assert published(replace(sample.hostile(), change=loose))["base"] is None


def test_worst_comes_first() -> None:
    severities = [f["severity"] for f in published(sample.buried(50))["findings"]]
    assert severities[0] == "critical"
    assert set(severities[1:]) == {"low"}


@pytest.mark.parametrize("report", [*REPORTS, *map(nasty, NASTY)])
@pytest.mark.slow
def test_reads_back_to_the_same_bytes_and_only_shows_ascii(report: Report) -> None:
    text = REPORTER.render(report)
    assert text == REPORTER.render(report)
    assert all(c == "\n" or " " <= c <= "~" for c in text)
    SCHEMA.validate(json.loads(text))
    assert REPORTER.render(as_report(decode(text.encode()))) == text


def test_mapping_order_does_not_change_a_byte() -> None:
    report = sample.hostile()
    turned = replace(
        report,
        rules=dict(reversed(list(report.rules.items()))),
        timings=dict(reversed(list(report.timings.items()))),
        findings=tuple(
            replace(f, evidence=dict(reversed(list(f.evidence.items())))) for f in reversed(report.findings)
        ),
    )
    assert REPORTER.render(turned) == REPORTER.render(report)


def mutated(change: Any) -> bytes:
    found = published(sample.hostile())
    change(found)
    return json.dumps(found).encode()


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(extra=1),
        lambda d: d["findings"][0].update(extra=1),
        lambda d: d["sandbox"]["runs"][0].update(stdout="x"),
        lambda d: d.pop("score"),
        lambda d: d.update(score=101),
        lambda d: d.update(score="94"),
        lambda d: d.update(verdict="ok"),
        lambda d: d.update(schema_version="2"),
        lambda d: d.update(head="HEAD"),
        lambda d: d.update(head="ab12\n"),
        lambda d: d["findings"][0].update(rule_id="x-->"),
        lambda d: d["findings"][0].update(rule_id="x\n"),
        lambda d: d["findings"][0].update(fingerprint="../../x"),
        lambda d: d["findings"][0].update(line=0),
        lambda d: d["findings"][0].update(path="x" * 5_000),
        lambda d: d["findings"][0].update(message="x" * 30_000),
        lambda d: d["findings"][0].update(evidence={str(i): "x" for i in range(60)}),
        lambda d: d["findings"].extend(d["findings"] * 12_000),
        lambda d: d["stages"][0].update(outcome="fine"),
        lambda d: d["stages"][3].update(reason=None),
        lambda d: d["findings"][0].update(line=9, end_line=3),
        lambda d: d["behaviour"]["new"][0].update(kind="magic"),
        lambda d: d.update(thresholds={"warn": 80, "fail": 10}),
    ],
)
@pytest.mark.slow
def test_anything_but_version_1_is_refused_with_advice(change: Any) -> None:
    with pytest.raises(UsageError) as caught:
        as_report(decode(mutated(change)))
    assert caught.value.advice
    assert len(caught.value.message) < 500


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"null", b"{", b"\xff\xfe", b'{"a":' * 100_000, b"[" * 1_000_000]
)
def test_what_is_not_a_report_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match="not a version 1 report"):
        decode(data)


def test_too_many_bytes_are_refused_before_they_are_parsed() -> None:
    started = time.process_time()
    with pytest.raises(UsageError, match="larger than"):
        decode(b" " * (v1.MAX_BYTES + 1))
    assert time.process_time() - started < 10


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=200), st.integers(0, 20_000), st.integers(0, 40))
@pytest.mark.slow
def test_a_damaged_report_is_refused_or_whole(noise: bytes, at: int, cut: int) -> None:
    whole = REPORTER.render(sample.hostile()).encode()
    at %= len(whole)
    damaged = whole[:at] + noise + whole[at + cut :]
    try:
        report = as_report(decode(damaged))
    except UsageError:
        return
    assert decode(REPORTER.render(report).encode()) is not None


@pytest.mark.slow
def test_what_does_not_fit_is_counted_and_the_worst_is_kept() -> None:
    report = sample.buried(v1.MAX_FINDINGS + 10)
    found = decode(REPORTER.render(report).encode())
    assert len(found.findings) == v1.MAX_FINDINGS
    assert found.omitted.findings == 11
    assert found.findings[0].severity == "critical"


@pytest.mark.parametrize(
    ("text", "safe"),
    [("a.b-c_1", "a.b-c_1"), ("x-->y", "x---y"), ("--", "unnamed"), ("é\n", "unnamed"), ("a b", "a-b")],
)
def test_rule_ids_hold_nothing_that_closes_anything(text: str, safe: str) -> None:
    assert rule_id(text) == safe
    assert msgspec.convert(safe, v1.RuleId) == safe


def test_schema_in_docs_is_the_current_one() -> None:
    path = REPOSITORY / "docs" / "report.schema.json"
    assert path.read_text(encoding="utf-8") == schema_text(), "run: python -m gate.report.schema"
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text()))
