"""A decoded report.json back as a Report, so that the publishing job uses the same reporters.

The texts stay what they were: untrusted. What report.json does not hold (traces, hunks, author names)
is empty; nothing is made up.
"""

from __future__ import annotations

import threading
from typing import Final, TypeVar

import msgspec

from gate.errors import UsageError
from gate.model.attribution import CommitAttribution
from gate.model.behaviour import Behaviour, BehaviourDiff
from gate.model.change import Change, ChangedFile, Commit, Hunk
from gate.model.excerpt import Excerpt
from gate.model.exploit import Proof
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.override import Override, OverrideDecision
from gate.model.report import Report, ReportProvenance, SandboxReport
from gate.model.rule import RuleMeta
from gate.model.run import Completeness, NotExercised, Outcome, Probe, RunRecord
from gate.model.score import Contribution, Score, Thresholds, Verdict
from gate.model.stage import Stage
from gate.report import v1
from gate.report.exercised import from_v1

T = TypeVar("T")
# msgspec has crashed when two threads met a type for the first time at once.
_ONE_AT_A_TIME: Final = threading.Lock()


def _like(kind: type[T], item: msgspec.Struct, /, **more: object) -> T:
    """The value whose fields have the names of the item's; ``more`` are those that have not."""
    with _ONE_AT_A_TIME:
        return msgspec.convert(msgspec.structs.asdict(item) | more, kind, from_attributes=True)


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
    hunks = (whole,) if item.added_lines else ()
    return _like(ChangedFile, item, hunks=hunks, old_blob=None, new_blob=None)


def _finding(item: v1.FindingV1) -> Finding:
    first = Location(path=item.path, line=item.line, end_line=item.end_line)
    related = [_like(Location, place, kind="related") for place in item.related]
    return _like(Finding, item, locations=(first, *related))


def _behaviour(item: v1.BehaviourV1) -> Behaviour:
    at = None if item.path is None else Location(path=item.path, line=item.line)
    return _like(Behaviour, item, at=at)


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
        completeness=_like(Completeness, item.completeness),
        stdout=item.stdout_tail.encode("utf-8", "replace"),
        stderr=item.stderr_tail.encode("utf-8", "replace"),
        stdout_total=item.stdout_bytes,
        stderr_total=item.stderr_bytes,
        fault=item.fault,
        not_run=item.not_run,
        repeat=item.repeat,
        kept_at=item.kept_at,
    )


def _proof(item: v1.ProofV1) -> Proof:
    source, _, name = item.value_of.partition(" ")
    return _like(Proof, item, field=(source, name), mark="", request=None, call=item.repeat)


def as_report(found: v1.ReportV1) -> Report:
    """The Report that a version 1 file describes.

    Raises UsageError for values that the schema cannot rule out (an end line before its line, a
    stage that could not look without a reason, an unknown kind of behaviour).
    """
    try:
        return _report(found)
    except (ValueError, msgspec.ValidationError) as error:
        raise UsageError(
            f"report.json contradicts itself: {error}",
            advice="use the report.json of `gate check` of the same version, unchanged",
        ) from error


def _report(found: v1.ReportV1) -> Report:
    box = found.sandbox
    return Report(
        gate_version=found.gate_version,
        change=Change(
            repo=found.repo,
            base=found.base,
            head=found.head,
            merge_base=found.merge_base,
            commits=tuple(_commit(c) for c in found.commits if c.subject is not None),
            files=tuple(map(_file, found.files)),
            branch=found.branch,
        ),
        verdict=Verdict(found.verdict),
        score=Score(
            value=found.score, contributions=tuple(_like(Contribution, c) for c in found.contributions)
        ),
        thresholds=_like(Thresholds, found.thresholds),
        reasons=tuple(found.reasons),
        commits=tuple(_like(CommitAttribution, c.attribution, commit=c.sha) for c in found.commits),
        findings=tuple(map(_finding, found.findings)),
        behaviour=BehaviourDiff(
            new=tuple(map(_behaviour, found.behaviour.new)),
            gone=tuple(map(_behaviour, found.behaviour.gone)),
            unchanged_count=found.behaviour.unchanged_count,
        ),
        sandbox=SandboxReport(
            backend=box.backend,
            isolation=box.isolation,
            tracer=box.tracer,
            completeness=_like(Completeness, box.completeness),
            runs=tuple(map(_run, box.runs)),
            not_exercised=tuple(_like(NotExercised, n) for n in box.not_exercised),
        ),
        stages=tuple(_like(Stage, s, reason=s.reason or "") for s in found.stages),
        rules={name: _like(RuleMeta, rule, id=name) for name, rule in found.rules.items()},
        timings=dict(found.timings),
        settings_origin=dict(found.settings_origin),
        overrides=tuple(_like(OverrideDecision, o, override=_like(Override, o)) for o in found.overrides),
        made=None if found.made is None else _like(ReportProvenance, found.made),
        pull_request=found.pull_request,
        tree=found.tree,
        exercised=from_v1(found.exercised),
        proofs=tuple(map(_proof, found.proofs)),
        excerpts=tuple(_like(Excerpt, e) for e in found.excerpts),
        blob_url=found.blob_url,
    )
