"""GitLab's report artifacts and JUnit: what their readers require, and that nothing blind looks clean."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from gate.model.report import Report
from gate.model.score import Verdict
from gate.report import gitlab, junit
from tests.golden import sample
from tests.golden.nasty import NASTY, nasty

REPORTS = [sample.hostile(), sample.harmless(), sample.blind(), *map(nasty, NASTY)]
_TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$"}
_NAME = {"type": "string", "minLength": 1}
_TOOL = {
    "required": ["id", "name", "version", "vendor"],
    "properties": {"id": _NAME, "name": _NAME, "version": _NAME, "vendor": {"required": ["name"]}},
}
SAST = {
    "required": ["version", "vulnerabilities", "scan"],
    "properties": {
        "version": {"pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
        "scan": {
            "required": ["analyzer", "scanner", "type", "start_time", "end_time", "status"],
            "properties": {
                "analyzer": _TOOL,
                "scanner": _TOOL,
                "type": {"const": "sast"},
                "start_time": _TIME,
                "end_time": _TIME,
                "status": {"enum": ["success", "failure"]},
                "messages": {
                    "items": {
                        "required": ["level", "value"],
                        "properties": {"level": {"enum": ["info", "warn", "fatal"]}, "value": _NAME},
                    }
                },
            },
        },
        "vulnerabilities": {
            "items": {
                "required": ["id", "identifiers", "location"],
                "properties": {
                    "id": _NAME,
                    "name": {"type": "string", "maxLength": 255},
                    "description": {"type": "string", "maxLength": 1048576},
                    "severity": {"enum": ["Info", "Unknown", "Low", "Medium", "High", "Critical"]},
                    "solution": {"type": "string", "maxLength": 7000},
                    "identifiers": {
                        "minItems": 1,
                        "items": {
                            "required": ["type", "name", "value"],
                            "properties": {
                                "type": _NAME,
                                "name": _NAME,
                                "value": _NAME,
                                "url": {"pattern": "^(https?|ftp)://.+"},
                            },
                        },
                    },
                    "location": {
                        "required": ["file"],
                        "properties": {"start_line": {"type": "number"}, "end_line": {"type": "number"}},
                    },
                },
            }
        },
    },
}
"""What sast-report-format 15.0.6 requires of the members that we write."""
QUALITY = {
    "type": "array",
    "items": {
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": _NAME,
            "check_name": _NAME,
            "fingerprint": {"pattern": "^[0-9a-f]{64}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "required": ["path", "lines"],
                "properties": {
                    "path": {"pattern": r"^[^/].*"},
                    "lines": {"required": ["begin"], "properties": {"begin": {"minimum": 1}}},
                },
            },
        },
    },
}


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize(
    ("reporter", "schema"), [(gitlab.SAST, SAST), (gitlab.CODE_QUALITY, QUALITY)], ids=["sast", "quality"]
)
def test_gitlab_takes_it(report: Report, reporter: Any, schema: Any) -> None:
    text = reporter.render(report)
    jsonschema.Draft7Validator(schema).validate(json.loads(text))
    assert all(c == "\n" or " " <= c <= "~" for c in text)


@pytest.mark.parametrize("report", REPORTS)
def test_junit_is_one_document_that_counts_itself(report: Report) -> None:
    text = junit.REPORTER.render(report)
    suite = ElementTree.fromstring(text).find("testsuite")
    assert suite is not None
    cases = suite.findall("testcase")
    assert int(suite.attrib["tests"]) == len(cases)
    for kind, told in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(suite.attrib[told]) == sum(case.find(kind) is not None for case in cases)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f]", text)


def test_what_could_not_look_is_never_clean() -> None:
    blind = sample.blind()
    first = json.loads(gitlab.CODE_QUALITY.render(blind))[0]
    assert (first["check_name"], first["severity"]) == ("gate.could-not-look", "blocker")
    scan = json.loads(gitlab.SAST.render(blind))["scan"]
    assert scan["status"] == "failure"
    assert scan["messages"][0]["level"] == "fatal"
    cases = {
        c.attrib["name"]: c for c in ElementTree.fromstring(junit.REPORTER.render(blind)).iter("testcase")
    }
    assert cases["verdict"].find("error") is not None
    assert cases["sandbox"].find("error") is not None


def test_junit_fails_what_gate_fails_and_nothing_else() -> None:
    hostile = sample.hostile()
    blocked = ElementTree.fromstring(junit.REPORTER.render(hostile))
    assert blocked.attrib["failures"] != "0"
    whole = tuple(replace(s, outcome=sample.harmless().stages[0].outcome) for s in hostile.stages)
    warned = replace(hostile, verdict=Verdict.WARN, stages=whole)
    told = ElementTree.fromstring(junit.REPORTER.render(warned))
    assert (told.attrib["failures"], told.attrib["errors"]) == ("0", "0")
    assert told.attrib["tests"] == blocked.attrib["tests"]


@pytest.mark.parametrize("reporter", [gitlab.SAST, gitlab.CODE_QUALITY, junit.REPORTER])
def test_too_many_are_counted(reporter: Any) -> None:
    one = sample.hostile().findings[0]
    many = tuple(replace(one, fingerprint=f"{n:032x}") for n in range(5_100))
    text = reporter.render(replace(sample.hostile(), findings=many))
    assert re.search(r"(100|4100) more findings", text)


def test_the_same_finding_is_the_same_issue_and_two_are_two() -> None:
    entries = json.loads(gitlab.CODE_QUALITY.render(sample.hostile()))
    assert entries == json.loads(gitlab.CODE_QUALITY.render(sample.hostile()))
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)


def test_paths_are_gits_own_and_never_lead_out() -> None:
    report = sample.hostile()
    one = report.findings[0]
    for path, told in [
        ("src/a b.py", "src/a b.py"),
        ("../../etc/passwd", "gate.toml"),
        ("/etc/x", "gate.toml"),
    ]:
        place = replace(one.primary, path=path)
        found = replace(report, findings=(replace(one, locations=(place,)),), stages=())
        assert json.loads(gitlab.CODE_QUALITY.render(found))[0]["location"]["path"] == told
        assert json.loads(gitlab.SAST.render(found))["vulnerabilities"][0]["location"]["file"] == told
