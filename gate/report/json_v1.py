"""report.json: the report for programs, and for the job that publishes it (docs/report.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from gate.errors import UsageError
from gate.escape import json_text, shorten
from gate.model.attribution import CommitAttribution
from gate.model.behaviour import Behaviour
from gate.model.change import Change
from gate.model.finding import Finding, worst_first
from gate.model.override import OverrideDecision
from gate.model.report import Report
from gate.model.run import RunRecord
from gate.report import v1
from gate.report.exercised import to_v1
from gate.report.incidents import Incident, incidents, plain
from gate.report.published import published, rule_id
from gate.signals.proof_kit import repeat

_TAIL: Final = 2_000


def _hex(text: str | None) -> str | None:
    return text if text is not None and re.fullmatch(r"[0-9a-f]{4,64}", text) else None


def _tail(data: bytes) -> str:
    return data[-_TAIL:].decode("utf-8", "replace")


def _commit(item: CommitAttribution, subjects: Mapping[str, str]) -> v1.CommitV1:
    subject = subjects.get(item.commit)
    evidence = [
        published(v1.EvidenceV1, one, matched=json_text(one.matched, 200))
        for one in item.evidence[: v1.MAX_SIGNS]
    ]
    return published(
        v1.CommitV1,
        item,
        sha=item.commit,
        subject=None if subject is None else json_text(subject, 500),
        attribution=published(v1.AttributionV1, item, evidence=evidence),
    )


def _finding(item: Finding) -> v1.FindingV1:
    first = item.primary
    return published(
        v1.FindingV1,
        item,
        path=first.path,
        line=first.line,
        end_line=first.end_line,
        related=[place for place in item.locations if place is not first],
    )


def _behaviour(item: Behaviour) -> v1.BehaviourV1:
    path, line = (None, None) if item.at is None else (item.at.path, item.at.line)
    return published(v1.BehaviourV1, item, path=path, line=line)


def _run(item: RunRecord) -> v1.RunV1:
    return published(
        v1.RunV1,
        item,
        probe=item.probe.id,
        phase=item.probe.phase,
        target=item.probe.target,
        path=item.probe.path,
        peak_memory_bytes=item.peak_memory,
        stdout_bytes=item.stdout_total,
        stderr_bytes=item.stderr_total,
        stdout_tail=_tail(item.stdout),
        stderr_tail=_tail(item.stderr),
    )


def _override(item: OverrideDecision) -> v1.OverrideV1:
    asked = item.override
    return published(
        v1.OverrideV1,
        item,
        what=asked.what,
        reason=asked.reason,
        by=asked.by,
        source=asked.source,
        where=asked.where,
        until=asked.until,
    )


def _incident(item: Incident) -> v1.IncidentV1:
    return v1.IncidentV1(
        severity=item.severity.value,
        sentence=json_text(plain(item.sentence)),
        path=json_text(item.primary.path, v1.MAX_PATH),
        line=item.primary.line,
        findings=[finding.fingerprint for finding in item.findings[: v1.MAX_FINDINGS]],
    )


def _subjects(change: Change) -> dict[str, str]:
    return {c.sha: (c.message.splitlines() or [""])[0] for c in change.commits}


def _over(items: Sequence[object], limit: int) -> int:
    return max(0, len(items) - limit)


def document(report: Report) -> v1.ReportV1:
    """The published form of a report: worst findings first, within the bounds of v1, the rest counted."""
    change, box, behaviour = report.change, report.sandbox, report.behaviour
    subjects = _subjects(change)
    return published(
        v1.ReportV1,
        report,
        schema_version="1",
        repo=change.repo,
        base=_hex(change.base),
        head=_hex(change.head),
        merge_base=_hex(change.merge_base),
        branch=change.branch,
        score=report.score.value,
        contributions=[
            published(v1.ContributionV1, one, points=round(one.points, 2))
            for one in report.score.contributions[: v1.MAX_FINDINGS]
        ],
        commits=[_commit(c, subjects) for c in report.commits[: v1.MAX_COMMITS]],
        files=[published(v1.FileV1, f, added_lines=f.added_line_count) for f in change.files[: v1.MAX_FILES]],
        findings=[_finding(f) for f in worst_first(report.findings)[: v1.MAX_FINDINGS]],
        behaviour=v1.BehaviourDiffV1(
            new=[_behaviour(b) for b in behaviour.new[: v1.MAX_BEHAVIOURS]],
            gone=[_behaviour(b) for b in behaviour.gone[: v1.MAX_BEHAVIOURS]],
            unchanged_count=behaviour.unchanged_count,
        ),
        sandbox=published(v1.SandboxV1, box, runs=[_run(r) for r in box.runs[: v1.MAX_RUNS]]),
        stages=[published(v1.StageV1, s, reason=s.reason or None) for s in report.stages[:1_000]],
        rules={rule_id(name): rule for name, rule in report.rules.items()},
        omitted=v1.OmittedV1(
            findings=_over(report.findings, v1.MAX_FINDINGS),
            files=_over(change.files, v1.MAX_FILES),
            commits=_over(report.commits, v1.MAX_COMMITS),
            behaviour_new=_over(behaviour.new, v1.MAX_BEHAVIOURS),
            behaviour_gone=_over(behaviour.gone, v1.MAX_BEHAVIOURS),
            runs=_over(box.runs, v1.MAX_RUNS),
        ),
        overrides=[_override(o) for o in report.overrides[:2_000]],
        tree=_hex(report.tree),
        exercised=to_v1(report.exercised),
        incidents=[_incident(one) for one in incidents(report)[:1_000]],
        proofs=[
            published(v1.ProofV1, one, value_of=" ".join(one.field).strip(), repeat=repeat(one))
            for one in report.proofs[:1_000]
        ],
    )


def _ascii(match: re.Match[str]) -> str:
    pair = match[0].encode("utf-16-be")
    return "".join(f"\\u{pair[i]:02x}{pair[i + 1]:02x}" for i in range(0, len(pair), 2))


def ascii_json(value: object) -> str:
    """Indented JSON in printable ASCII only: nothing in it can act on a terminal that shows it."""
    packed = msgspec.json.encode(value, order="deterministic")
    text = msgspec.json.format(packed, indent=2).decode()
    return re.sub(r"[^\n -~]", _ascii, text) + "\n"


def commits_document(change: Change, commits: Sequence[CommitAttribution]) -> str:
    """``{"commits": [...]}`` with the same objects as ``commits`` in report.json."""
    subjects = _subjects(change)
    return ascii_json({"commits": [_commit(item, subjects) for item in commits]}) + "\n"


class JsonReporter:
    """report.json, version 1. The same report gives the same bytes."""

    name = "json"

    def render(self, report: Report) -> str:
        """The whole document as ASCII text."""
        return ascii_json(document(report))


_REPORT: Final = msgspec.json.Decoder(v1.ReportV1)
"""Made known before there are threads: see gate/change/event.py."""


def decode(data: bytes) -> v1.ReportV1:
    """A report.json from somewhere else, checked strictly. Its texts are still untrusted.

    Raises UsageError when it is too big, not JSON, or not exactly what version 1 allows.
    """
    advice = "use the report.json of `gate check` of the same version, unchanged"
    if len(data) > v1.MAX_BYTES:
        raise UsageError(f"report.json is larger than {v1.MAX_BYTES >> 20} MiB", advice=advice)
    try:
        return _REPORT.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = shorten(json_text(str(error)), 300)
        raise UsageError(f"report.json is not a version 1 report: {why}", advice=advice) from error


def schema() -> dict[str, Any]:
    """The JSON Schema of version 1 (docs/report.schema.json)."""
    made = msgspec.json.schema(v1.ReportV1)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "gate report, version 1",
    }
    return head | made


REPORTER: Final = JsonReporter()
