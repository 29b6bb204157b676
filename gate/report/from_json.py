"""A decoded report.json back as a Report, so that the publishing job uses the same reporters.

The texts stay what they were: untrusted. What report.json does not hold (traces, hunks, author names)
is empty; nothing is made up.
"""

from __future__ import annotations

from gate.errors import UsageError
from gate.model.attribution import AttributedLines, AttributionEvidence, CommitAttribution
from gate.model.behaviour import Behaviour, BehaviourDiff, BehaviourKind
from gate.model.change import Change, ChangedFile, Commit, Hunk
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.override import Override, OverrideDecision
from gate.model.report import Made, Report, SandboxReport
from gate.model.rule import Confidence, FindingStage, RuleMeta, Severity
from gate.model.run import Completeness, NotExercised, Outcome, Probe, RunRecord
from gate.model.score import Contribution, Score, Thresholds, Verdict
from gate.model.stage import Stage, StageOutcome
from gate.report import v1


def _attribution(item: v1.CommitV1) -> CommitAttribution:
    told = item.attribution
    return CommitAttribution(
        commit=item.sha,
        is_ai=told.is_ai,
        tool=told.tool,
        confidence=told.confidence,
        evidence=tuple(
            AttributionEvidence(
                kind=e.kind,
                where=e.where,
                matched=e.matched,
                tool=e.tool,
                confidence=e.confidence,
                role=e.role,
            )
            for e in told.evidence
        ),
        lines=tuple(AttributedLines(path=a.path, lines=tuple(a.lines), tool=a.tool) for a in told.lines),
        is_bot=told.is_bot,
    )


def _commit(item: v1.CommitV1) -> Commit:
    return Commit(
        sha=item.sha,
        parents=(),
        author_name="",
        author_email="",
        committer_name="",
        committer_email="",
        authored_at=0,
        message=item.subject or "",
    )


def _file(item: v1.FileV1) -> ChangedFile:
    whole = Hunk(old_start=0, old_count=0, new_start=1, new_count=item.added_lines)
    return ChangedFile(
        path=item.path,
        old_path=item.old_path,
        status=item.status,
        language=item.language,
        hunks=(whole,) if item.added_lines else (),
        old_mode=item.old_mode,
        new_mode=item.new_mode,
        old_blob=None,
        new_blob=None,
        binary=item.binary,
        size=item.size,
    )


def _finding(item: v1.FindingV1) -> Finding:
    first = Location(path=item.path, line=item.line, end_line=item.end_line)
    return Finding(
        rule_id=item.rule_id,
        stage=FindingStage(item.stage),
        severity=Severity(item.severity),
        confidence=Confidence(item.confidence),
        message=item.message,
        locations=(
            first,
            *(Location(path=r.path, line=r.line, end_line=r.end_line, kind="related") for r in item.related),
        ),
        shape=item.shape,
        topic=item.topic,
        cwe=tuple(item.cwe),
        evidence=item.evidence,
        fingerprint=item.fingerprint,
        suppressed_by=item.suppressed_by,
        hard_block=item.hard_block,
    )


def _behaviour(item: v1.BehaviourV1) -> Behaviour:
    return Behaviour(
        kind=BehaviourKind(item.kind),
        subject=item.subject,
        actor=item.actor,
        detail=item.detail,
        probes=tuple(item.probes),
        count=item.count,
        denied=item.denied,
        at=None if item.path is None else Location(path=item.path, line=item.line),
    )


def _completeness(item: v1.CompletenessV1) -> Completeness:
    return Completeness(dropped=item.dropped, unparsed=item.unparsed, truncated=item.truncated)


def _run(item: v1.RunV1) -> RunRecord:
    return RunRecord(
        probe=Probe(id=item.probe, phase=item.phase, target=item.target, path=item.path, argv=()),
        side=item.side,
        outcome=Outcome(item.outcome),
        exit_code=item.exit_code,
        seconds=item.seconds,
        peak_memory=item.peak_memory_bytes,
        completed=item.completed,
        trace=None,
        completeness=_completeness(item.completeness),
        stdout=item.stdout_tail.encode("utf-8", "replace"),
        stderr=item.stderr_tail.encode("utf-8", "replace"),
        stdout_total=item.stdout_bytes,
        stderr_total=item.stderr_bytes,
        fault=item.fault,
        repeat=item.repeat,
    )


def _rule(name: str, item: v1.RuleV1) -> RuleMeta:
    return RuleMeta(
        id=name,
        title=item.title,
        stage=FindingStage(item.stage),
        severity=Severity(item.severity),
        confidence=Confidence(item.confidence),
        help=item.help,
        remediation=item.remediation,
        topic=item.topic,
        cwe=tuple(item.cwe),
        attack=tuple(item.attack),
        origin=item.origin,
    )


def _override(item: v1.OverrideV1) -> OverrideDecision:
    return OverrideDecision(
        override=Override(
            what=item.what,
            reason=item.reason,
            by=item.by,
            source=item.source,
            where=item.where,
            until=item.until,
        ),
        accepted=item.accepted,
        covers=tuple(item.covers),
        refused=item.refused,
    )


def as_report(found: v1.ReportV1) -> Report:
    """The Report that a version 1 file describes.

    Raises UsageError for values that the schema cannot rule out (an end line before its line, a
    stage that could not look without a reason, an unknown kind of behaviour).
    """
    try:
        return _report(found)
    except ValueError as error:
        raise UsageError(
            f"report.json contradicts itself: {error}",
            advice="use the report.json of `gate check` of the same version, unchanged",
        ) from error


def _report(found: v1.ReportV1) -> Report:
    box, made = found.sandbox, found.made
    return Report(
        gate_version=found.gate_version,
        change=Change(
            repo=found.repo,
            base=found.base,
            head=found.head,
            merge_base=found.merge_base,
            commits=tuple(_commit(c) for c in found.commits if c.subject is not None),
            files=tuple(_file(f) for f in found.files),
            branch=found.branch,
        ),
        verdict=Verdict(found.verdict),
        score=Score(
            value=found.score,
            contributions=tuple(
                Contribution(rule_id=c.rule_id, points=c.points, why=c.why) for c in found.contributions
            ),
        ),
        thresholds=Thresholds(warn=found.thresholds.warn, fail=found.thresholds.fail),
        reasons=tuple(found.reasons),
        commits=tuple(_attribution(c) for c in found.commits),
        findings=tuple(_finding(f) for f in found.findings),
        behaviour=BehaviourDiff(
            new=tuple(_behaviour(b) for b in found.behaviour.new),
            gone=tuple(_behaviour(b) for b in found.behaviour.gone),
            unchanged_count=found.behaviour.unchanged_count,
        ),
        sandbox=SandboxReport(
            backend=box.backend,
            isolation=box.isolation,
            tracer=box.tracer,
            completeness=_completeness(box.completeness),
            runs=tuple(_run(r) for r in box.runs),
            not_exercised=tuple(
                NotExercised(path=n.path, target=n.target, reason=n.reason) for n in box.not_exercised
            ),
        ),
        stages=tuple(
            Stage(name=s.name, outcome=StageOutcome(s.outcome), reason=s.reason or "", seconds=s.seconds)
            for s in found.stages
        ),
        rules={name: _rule(name, rule) for name, rule in found.rules.items()},
        timings=dict(found.timings),
        settings_origin=dict(found.settings_origin),
        overrides=tuple(_override(o) for o in found.overrides),
        made=None if made is None else Made(at=made.at, policy=made.policy, rules=made.rules, gate=made.gate),
    )
