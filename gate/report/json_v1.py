"""report.json: the report for programs, and for the job that publishes it (docs/report.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec

from gate.errors import UsageError
from gate.model.attribution import CommitAttribution
from gate.model.behaviour import Behaviour
from gate.model.change import Change, ChangedFile
from gate.model.finding import Finding
from gate.model.override import OverrideDecision
from gate.model.report import Report
from gate.model.rule import RuleMeta
from gate.model.run import Completeness, RunRecord
from gate.model.score import Contribution
from gate.report import v1
from gate.report.order import worst_first
from gate.textsafe import json_text, shorten

T = TypeVar("T")
_TAIL: Final = 2_000


def _word(text: str) -> str:
    return json_text(text, 300)


def _path(text: str) -> str:
    return json_text(text, v1.MAX_PATH)


def _maybe(text: str | None, limit: int = v1.MAX_TEXT) -> str | None:
    return None if text is None else json_text(text, limit)


def rule_id(text: str) -> str:
    """The id with all but ``[A-Za-z0-9._-]`` replaced, so that it can close nothing (RP-3)."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", text).lstrip("._-")[:200] or "unnamed"


def _hex(text: str | None) -> str | None:
    return text if text is not None and re.fullmatch(r"[0-9a-f]{4,64}", text) else None


def _strings(items: Mapping[str, str]) -> dict[str, str]:
    kept = sorted(items.items())[: v1.MAX_EVIDENCE]
    return {_word(key): json_text(value) for key, value in kept}


def _seconds(value: float) -> float:
    return round(min(max(value, 0.0), 1e9), 3)


def _tail(data: bytes) -> str:
    return json_text(data[-_TAIL:].decode("utf-8", "replace"))


def _commit(item: CommitAttribution, subjects: Mapping[str, str]) -> v1.CommitV1:
    return v1.CommitV1(
        sha=item.commit,
        subject=_maybe(subjects.get(item.commit), 500),
        attribution=v1.AttributionV1(
            is_ai=item.is_ai,
            tool=_maybe(item.tool, 300),
            confidence=item.confidence,
            evidence=[
                v1.EvidenceV1(
                    kind=_word(e.kind),
                    where=_word(e.where),
                    matched=json_text(e.matched, 200),
                    tool=_word(e.tool),
                    confidence=e.confidence,
                    role=e.role,
                )
                for e in item.evidence[:200]
            ],
            lines=[
                v1.LinesV1(path=_path(a.path), lines=list(a.lines[:10_000]), tool=_word(a.tool))
                for a in item.lines[:10_000]
            ],
            is_bot=item.is_bot,
        ),
    )


def _file(item: ChangedFile) -> v1.FileV1:
    return v1.FileV1(
        path=_path(item.path),
        old_path=None if item.old_path is None else _path(item.old_path),
        status=item.status,
        language=item.language,
        old_mode=item.old_mode,
        new_mode=item.new_mode,
        binary=item.binary,
        size=item.size,
        added_lines=item.added_line_count,
    )


def _finding(item: Finding) -> v1.FindingV1:
    first = item.primary
    return v1.FindingV1(
        rule_id=rule_id(item.rule_id),
        stage=item.stage.value,
        severity=item.severity.value,
        confidence=item.confidence.value,
        message=json_text(item.message),
        path=_path(first.path),
        line=first.line,
        end_line=first.end_line,
        fingerprint=item.fingerprint,
        cwe=list(item.cwe[:50]),
        evidence=_strings(item.evidence),
        suppressed_by=_maybe(item.suppressed_by, 300),
        topic=_word(item.topic),
        shape=json_text(item.shape),
        hard_block=item.hard_block,
        related=[
            v1.LocationV1(path=_path(loc.path), line=loc.line, end_line=loc.end_line)
            for loc in item.locations
            if loc is not first
        ][:100],
    )


def _behaviour(item: Behaviour) -> v1.BehaviourV1:
    return v1.BehaviourV1(
        kind=item.kind.value,
        subject=json_text(item.subject),
        actor=json_text(item.actor),
        detail=_strings(item.detail),
        probes=[_word(p) for p in item.probes[:1_000]],
        count=item.count,
        denied=item.denied,
        path=None if item.at is None else _path(item.at.path),
        line=None if item.at is None else item.at.line,
    )


def _completeness(item: Completeness) -> v1.CompletenessV1:
    return v1.CompletenessV1(dropped=item.dropped, unparsed=item.unparsed, truncated=item.truncated)


def _run(item: RunRecord) -> v1.RunV1:
    return v1.RunV1(
        probe=_word(item.probe.id),
        phase=item.probe.phase,
        target=json_text(item.probe.target),
        path=None if item.probe.path is None else _path(item.probe.path),
        side=item.side,
        repeat=item.repeat,
        outcome=item.outcome.value,
        exit_code=item.exit_code,
        seconds=_seconds(item.seconds),
        peak_memory_bytes=item.peak_memory,
        completed=item.completed,
        completeness=_completeness(item.completeness),
        stdout_bytes=item.stdout_total,
        stderr_bytes=item.stderr_total,
        stdout_tail=_tail(item.stdout),
        stderr_tail=_tail(item.stderr),
        fault=_maybe(item.fault),
    )


def _rule(item: RuleMeta) -> v1.RuleV1:
    return v1.RuleV1(
        title=json_text(item.title),
        stage=item.stage.value,
        severity=item.severity.value,
        confidence=item.confidence.value,
        help=json_text(item.help),
        remediation=json_text(item.remediation),
        topic=_word(item.topic),
        cwe=list(item.cwe[:50]),
        attack=[_word(a) for a in item.attack[:50]],
        origin=_word(item.origin),
    )


def _override(item: OverrideDecision) -> v1.OverrideV1:
    asked = item.override
    return v1.OverrideV1(
        what=_word(asked.what),
        reason=json_text(asked.reason),
        by=_word(asked.by),
        source=asked.source,
        where=json_text(asked.where),
        until=asked.until,
        accepted=item.accepted,
        covers=list(item.covers[: v1.MAX_FINDINGS]),
        refused=json_text(item.refused),
    )


def _contribution(item: Contribution) -> v1.ContributionV1:
    points = round(min(max(item.points, -1000.0), 1000.0), 2)
    return v1.ContributionV1(rule_id=rule_id(item.rule_id), points=points, why=json_text(item.why))


def _subjects(change: Change) -> dict[str, str]:
    return {c.sha: (c.message.splitlines() or [""])[0] for c in change.commits}


def _first(items: Iterable[T], limit: int) -> list[T]:
    return list(items)[:limit]


def _over(items: Sequence[object], limit: int) -> int:
    return max(0, len(items) - limit)


def document(report: Report) -> v1.ReportV1:
    """The published form of a report: worst findings first, within the bounds of v1, the rest counted."""
    change, box, made = report.change, report.sandbox, report.made
    subjects = _subjects(change)
    return v1.ReportV1(
        schema_version="1",
        gate_version=_word(report.gate_version),
        repo=_path(change.repo),
        base=_hex(change.base),
        head=_hex(change.head),
        merge_base=_hex(change.merge_base),
        branch=_maybe(change.branch, 300),
        verdict=report.verdict.value,
        reasons=[json_text(r) for r in report.reasons[:1_000]],
        score=report.score.value,
        thresholds=v1.ThresholdsV1(warn=report.thresholds.warn, fail=report.thresholds.fail),
        contributions=[_contribution(c) for c in report.score.contributions[: v1.MAX_FINDINGS]],
        commits=[_commit(c, subjects) for c in report.commits[: v1.MAX_COMMITS]],
        files=[_file(f) for f in change.files[: v1.MAX_FILES]],
        findings=[_finding(f) for f in _first(worst_first(report.findings), v1.MAX_FINDINGS)],
        behaviour=v1.BehaviourDiffV1(
            new=[_behaviour(b) for b in report.behaviour.new[: v1.MAX_BEHAVIOURS]],
            gone=[_behaviour(b) for b in report.behaviour.gone[: v1.MAX_BEHAVIOURS]],
            unchanged_count=report.behaviour.unchanged_count,
        ),
        sandbox=v1.SandboxV1(
            backend=_maybe(box.backend, 300),
            isolation=_maybe(box.isolation, 300),
            tracer=_maybe(box.tracer, 300),
            completeness=_completeness(box.completeness),
            runs=[_run(r) for r in box.runs[: v1.MAX_RUNS]],
            not_exercised=[
                v1.NotExercisedV1(path=_path(n.path), target=json_text(n.target), reason=json_text(n.reason))
                for n in box.not_exercised[:10_000]
            ],
        ),
        stages=[
            v1.StageV1(
                name=_word(s.name),
                outcome=s.outcome.value,
                reason=json_text(s.reason) if s.reason else None,
                seconds=_seconds(s.seconds),
            )
            for s in report.stages[:1_000]
        ],
        timings={_word(k): _seconds(v) for k, v in report.timings.items()},
        rules={rule_id(k): _rule(v) for k, v in _first(report.rules.items(), 5_000)},
        settings_origin={_word(k): json_text(v) for k, v in report.settings_origin.items()},
        omitted=v1.OmittedV1(
            findings=_over(report.findings, v1.MAX_FINDINGS),
            files=_over(change.files, v1.MAX_FILES),
            commits=_over(report.commits, v1.MAX_COMMITS),
            behaviour_new=_over(report.behaviour.new, v1.MAX_BEHAVIOURS),
            behaviour_gone=_over(report.behaviour.gone, v1.MAX_BEHAVIOURS),
            runs=_over(box.runs, v1.MAX_RUNS),
        ),
        overrides=[_override(o) for o in report.overrides[:2_000]],
        made=None
        if made is None
        else v1.MadeV1(at=made.at, policy=made.policy, rules=made.rules, gate=made.gate),
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


def decode(data: bytes) -> v1.ReportV1:
    """A report.json from somewhere else, checked strictly. Its texts are still untrusted.

    Raises UsageError when it is too big, not JSON, or not exactly what version 1 allows.
    """
    advice = "use the report.json of `gate check` of the same version, unchanged"
    if len(data) > v1.MAX_BYTES:
        raise UsageError(f"report.json is larger than {v1.MAX_BYTES >> 20} MiB", advice=advice)
    try:
        return msgspec.json.decode(data, type=v1.ReportV1)
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
