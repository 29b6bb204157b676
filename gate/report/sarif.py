"""SARIF 2.1.0 for code-scanning tabs and editors.

Sources: OASIS SARIF 2.1.0 (errata 01); GitHub "SARIF support for code scanning" (limits: 5,000 results
shown of 25,000, 10 MB compressed; ``security-severity`` 0.1-10.0; ``partialFingerprints``).
"""

from __future__ import annotations

import os
from typing import Any, Final
from urllib.parse import quote_from_bytes

from gate.escape import display_path, json_text, visible
from gate.model.finding import Finding, worst_first
from gate.model.location import Location
from gate.model.report import Report
from gate.model.rule import Confidence, RuleMeta, Severity
from gate.model.score import Verdict
from gate.model.stage import StageOutcome, incomplete_stages
from gate.report.exercised import properties
from gate.report.incidents import incidents, plain
from gate.report.json_v1 import ascii_json
from gate.report.published import rule_id
from gate.report.rule_pages import page_url
from gate.report.summary import stays_inside

JsonObject = dict[str, Any]
"""A part of the log: its shape is written in SARIF 2.1.0."""
MOST_RESULTS: Final = 5_000
_LEVELS: Final = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
}
# GitHub: over 9.0 critical, 7.0-8.9 high, 4.0-6.9 medium, 0.1-3.9 low
_SECURITY: Final = {
    Severity.CRITICAL: "9.5",
    Severity.HIGH: "8.0",
    Severity.MEDIUM: "5.5",
    Severity.LOW: "2.0",
}
_PRECISION: Final = {Confidence.HIGH: "high", Confidence.MEDIUM: "medium", Confidence.LOW: "low"}
_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def uri(path: str) -> str:
    """A relative URI reference for a path: every byte outside the unreserved set percent-encoded.

    A first segment with ``:`` cannot be read as a scheme because ``:`` is encoded too. A path that
    climbs (``..``), or is empty or absolute, becomes the root itself: no viewer may leave the repository.
    """
    if not stays_inside(path):
        return "."
    return quote_from_bytes(os.fsencode(path), safe="/")


def _text(text: str, limit: int = 1_000) -> str:
    """A SARIF message: no link (``[text](target)`` would be one) and no placeholder (``{0}``)."""
    shown = visible(json_text(text, limit)).replace("\\", "\\\\")
    return shown.replace("[", "\\[").replace("]", "\\]").replace("{", "{{").replace("}", "}}") or "-"


def _place(location: Location) -> JsonObject:
    physical: JsonObject = {"artifactLocation": {"uri": uri(location.path), "uriBaseId": "SRCROOT"}}
    # GitHub places a result without a region nowhere; a whole-file finding goes to line 1
    region: dict[str, int] = {"startLine": location.line or 1}
    if location.end_line is not None:
        region["endLine"] = location.end_line
    physical["region"] = region
    return {"physicalLocation": physical}


def _rule(name: str, meta: RuleMeta | None, example: Finding) -> JsonObject:
    severity = meta.severity if meta else example.severity
    confidence = meta.confidence if meta else example.confidence
    cwe = meta.cwe if meta else example.cwe
    attack = meta.attack if meta else ()
    tags = ["security", *(f"external/cwe/cwe-{number:03d}" for number in cwe)]
    tags += [f"external/attack/{technique.lower()}" for technique in attack]
    made: JsonObject = {
        "id": name,
        "name": name,
        "shortDescription": {"text": _text(meta.title if meta else name)},
        "defaultConfiguration": {"level": _LEVELS[severity]},
        "properties": {
            "tags": tags,
            "precision": _PRECISION[confidence],
            "security-severity": _SECURITY[severity],
        },
    }
    if meta:
        made["fullDescription"] = {"text": _text(meta.help)}
        if url := page_url(meta.id, {meta.id}):
            made["helpUri"] = url
        made["help"] = {"text": _text(f"{meta.help} What to do: {meta.remediation}")}
    return made


def _result(finding: Finding, index: int) -> JsonObject:
    evidence = "; ".join(f"{key}: {value[:300]}" for key, value in list(finding.evidence.items())[:6])
    words = _text(finding.message) + (f" ({_text(evidence)})" if evidence else "")
    made: JsonObject = {
        "ruleId": rule_id(finding.rule_id),
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": words},
        "locations": [_place(finding.primary)],
        "partialFingerprints": {"gateFingerprint/v1": finding.fingerprint},
        "properties": {
            "stage": finding.stage.value,
            "severity": finding.severity.value,
            "confidence": finding.confidence.value,
            "security-severity": _SECURITY[finding.severity],
        },
    }
    related = [loc for loc in finding.locations if loc is not finding.primary][:20]
    if related:
        made["relatedLocations"] = [{"id": i, **_place(loc)} for i, loc in enumerate(related, 1)]
    if related and "from" in finding.evidence:
        way = [{"location": _place(loc)} for loc in (*related, finding.primary)]
        made["codeFlows"] = [{"threadFlows": [{"locations": way}]}]
    return made


def _notification(level: str, text: str, name: str) -> JsonObject:
    return {"level": level, "message": {"text": _text(text)}, "descriptor": {"id": name}}


def _invocation(report: Report, left_out: int) -> JsonObject:
    notes = []
    for stage in incomplete_stages(report.stages):
        level = "error" if stage.outcome is StageOutcome.FAILED else "warning"
        words = f"could not look: {stage.name} ({stage.outcome.value}): {stage.reason}"
        notes.append(_notification(level, words, "could-not-look"))
    notes += [
        _notification("note", f"skipped: {stage.name}: {stage.reason}", "skipped")
        for stage in report.stages
        if stage.outcome is StageOutcome.SKIPPED
    ]
    for item in report.sandbox.not_exercised[:200]:
        words = f"not exercised: {display_path(item.path)} ({item.target}): {item.reason}"
        notes.append(_notification("note", words, "not-exercised"))
    if left_out:
        words = f"{left_out} more findings, none worse than those listed, are in report.json"
        notes.append(_notification("warning", words, "too-many-results"))
    return {
        "executionSuccessful": report.verdict is not Verdict.INCONCLUSIVE,
        "toolExecutionNotifications": notes,
    }


class SarifReporter:
    """One run; results worst first, at most :data:`MOST_RESULTS`, the rest counted in a notification."""

    name = "sarif"

    def __init__(self, *, category: str = "") -> None:
        """``category``: keeps apart the logs of several looks at one commit."""
        self._category = category

    def render(self, report: Report) -> str:
        """The log as ASCII JSON."""
        return ascii_json(self.log(report))

    def log(self, report: Report) -> JsonObject:
        """The log as plain objects."""
        ranked = worst_first(report.findings)
        shown = ranked[:MOST_RESULTS]
        index: dict[str, int] = {}
        rules: list[JsonObject] = []
        results = []
        for finding in shown:
            name = rule_id(finding.rule_id)
            if name not in index:
                index[name] = len(rules)
                rules.append(_rule(name, report.rules.get(finding.rule_id), finding))
            results.append(_result(finding, index[name]))
        notes = ("could-not-look", "skipped", "not-exercised", "too-many-results")
        run: JsonObject = {
            "tool": {
                "driver": {
                    "name": "gate",
                    "semanticVersion": report.gate_version,
                    "rules": rules,
                    "notifications": [{"id": name} for name in notes],
                }
            },
            "automationDetails": {"id": f"gate/{self._category}/" if self._category else "gate/"},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The repository's root."}}},
            "invocations": [_invocation(report, len(ranked) - len(shown))],
            "results": results,
            "properties": {
                "verdict": report.verdict.value,
                "score": report.score.value,
                "base": report.change.base,
                "head": report.change.head,
                "incidents": [_text(plain(one.sentence)) for one in incidents(report)[:100]],
                **({"exercised": figure} if (figure := properties(report)) is not None else {}),
            },
        }
        return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


REPORTER: Final = SarifReporter()
