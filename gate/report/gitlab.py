"""GitLab's two report artifacts: Code Quality (the merge request's widget) and SAST (the security dashboard).

Sources: docs.gitlab.com "Code Quality report format"; security-report-schemas 15.0.6, sast-report-format.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from gate.escape import display_path, json_text, visible
from gate.model.finding import Finding, worst_first
from gate.model.location import Location
from gate.model.report import Report
from gate.model.rule import Severity
from gate.model.score import Verdict
from gate.model.stage import Stage, incomplete_stages
from gate.report.incidents import incidents, plain
from gate.report.json_v1 import ascii_json
from gate.report.published import rule_id
from gate.report.rule_pages import page_url
from gate.report.summary import stays_inside

JsonObject = dict[str, Any]
MOST: Final = 5_000
_SCHEMA_VERSION: Final = "15.0.6"
_QUALITY: Final = {
    Severity.CRITICAL: "blocker",
    Severity.HIGH: "critical",
    Severity.MEDIUM: "major",
    Severity.LOW: "minor",
}
_SECURITY: Final = {
    Severity.CRITICAL: "Critical",
    Severity.HIGH: "High",
    Severity.MEDIUM: "Medium",
    Severity.LOW: "Low",
}
_NOWHERE: Final = "gate.toml"
"""The file of what is about no file: GitLab shows nothing without one."""


def _text(text: str, limit: int = 1_000) -> str:
    return visible(json_text(text, limit)) or "-"


def _path(path: str) -> str:
    """The path as git has it, so that GitLab finds the file; never one that leaves the repository."""
    if not stays_inside(path):
        return _NOWHERE
    try:
        os.fsencode(path).decode()
    except UnicodeError:
        return display_path(path)
    return visible(path)


def _stories(report: Report) -> dict[str, str]:
    """The sentence of the incident that each finding is evidence of, by fingerprint."""
    told = ((f.fingerprint, plain(one.sentence)) for one in incidents(report) for f in one.findings)
    return {fingerprint: _text(sentence, 500) for fingerprint, sentence in told}


def _words(finding: Finding, stories: Mapping[str, str]) -> str:
    story = f" {stories[finding.fingerprint]}." if finding.fingerprint in stories else ""
    return f"{_alone(finding)}{story}"


def _alone(finding: Finding) -> str:
    evidence = "; ".join(f"{key}: {value[:300]}" for key, value in list(finding.evidence.items())[:6])
    return f"{_text(finding.message)} ({_text(evidence)})" if evidence else _text(finding.message)


def _could_not_look(stage: Stage) -> str:
    return _text(f"gate could not look: {stage.name} ({stage.outcome.value}): {stage.reason}")


class CodeQualityReporter:
    """A list; stages that could not look come first, as blockers: nobody may take their silence for clean."""

    name = "codequality"

    def render(self, report: Report) -> str:
        """The artifact as ASCII JSON."""
        ranked, stories = worst_first(report.findings), _stories(report)
        entries = [
            self._entry("gate.could-not-look", _could_not_look(stage), "blocker", stage.name)
            for stage in incomplete_stages(report.stages)
        ]
        entries += [
            self._entry(
                rule_id(f.rule_id), _words(f, stories), _QUALITY[f.severity], f.fingerprint, f.primary
            )
            for f in ranked[:MOST]
        ]
        if len(ranked) > MOST:
            more = f"{len(ranked) - MOST} more findings, none worse, are in report.json"
            entries.append(self._entry("gate.more", more, "info", "more"))
        return ascii_json(entries)

    @staticmethod
    def _entry(name: str, text: str, severity: str, key: str, place: Location | None = None) -> JsonObject:
        return {
            "type": "issue",
            "check_name": name,
            "description": text,
            "categories": ["Security"],
            "severity": severity,
            "fingerprint": hashlib.sha256(f"{name}\0{key}".encode("utf-8", "surrogateescape")).hexdigest(),
            "location": {
                "path": _path(place.path) if place else _NOWHERE,
                "lines": {"begin": (place.line if place else None) or 1},
            },
        }


class SastReporter:
    """One scan; it failed where the verdict is inconclusive, and its messages say what could not look."""

    name = "sast"

    def render(self, report: Report) -> str:
        """The artifact as ASCII JSON."""
        ended = report.made.at if report.made else 0
        began = max(0, ended - round(sum(report.timings.values())))
        tool = {
            "id": "gate",
            "name": "gate",
            "version": report.gate_version,
            "vendor": {"name": "the gate authors"},
        }
        ranked, stories = worst_first(report.findings), _stories(report)
        messages = [{"level": "fatal", "value": _could_not_look(s)} for s in incomplete_stages(report.stages)]
        if len(ranked) > MOST:
            more = f"{len(ranked) - MOST} more findings, none worse, are in report.json"
            messages.append({"level": "warn", "value": more})
        words = f"verdict {report.verdict.value}, score {report.score.value} of 100"
        messages.append({"level": "info", "value": words})
        return ascii_json(
            {
                "version": _SCHEMA_VERSION,
                "scan": {
                    "analyzer": tool,
                    "scanner": tool,
                    "type": "sast",
                    "start_time": _time(began),
                    "end_time": _time(ended),
                    "status": "failure" if report.verdict is Verdict.INCONCLUSIVE else "success",
                    "messages": messages,
                },
                "vulnerabilities": [
                    _vulnerability(finding, report.rules, stories) for finding in ranked[:MOST]
                ],
            }
        )


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _vulnerability(finding: Finding, rules: Mapping[str, Any], stories: Mapping[str, str]) -> JsonObject:
    name, meta = rule_id(finding.rule_id), rules.get(finding.rule_id)
    location: JsonObject = {"file": _path(finding.primary.path), "start_line": finding.primary.line or 1}
    if finding.primary.line is not None and finding.primary.end_line is not None:
        location["end_line"] = finding.primary.end_line
    made: JsonObject = {
        "id": finding.fingerprint,
        "name": _text(meta.title if meta else name, 250)[:255],
        "description": _words(finding, stories),
        "severity": _SECURITY[finding.severity],
        "location": location,
        "identifiers": [{"type": "gate_rule", "name": f"gate {name}", "value": name}],
    }
    if url := page_url(finding.rule_id, rules):
        made["identifiers"][0]["url"] = url
    for number in finding.cwe:
        url = f"https://cwe.mitre.org/data/definitions/{number}.html"
        made["identifiers"].append({"type": "cwe", "name": f"CWE-{number}", "value": str(number), "url": url})
    if meta:
        made["solution"] = _text(meta.remediation, 5_000)
    return made


CODE_QUALITY: Final = CodeQualityReporter()
SAST: Final = SastReporter()
