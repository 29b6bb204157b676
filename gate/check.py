"""The whole check, from a change to a report: the stages and their order. The one page to read.

    change ─┬─ attribution ──────────────────────────────┐
            ├─ prescreen (bandit · semgrep · our rules) ─┼─ findings ─ policy ─ Report
            └─ plan ─ sandbox ─ behaviour diff ─ signals ┘

Each stage's work is in its own file in gate/stages. One that could not look becomes a Stage with a reason;
policy never lets such a check end green.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from gate import crash_log
from gate.change.interface import OpenChange
from gate.errors import InconclusiveError
from gate.model.change import PullRequest
from gate.model.report import Report
from gate.model.stage import Stage
from gate.settings import Settings
from gate.stages import attribution, exercised, opinion, prescreen, sandbox
from gate.stages.context import CheckContext, CheckStage, Ending, EvidenceSink
from gate.stages.excerpts import with_excerpts
from gate.stages.judgement import Evidence, judge, requested_overrides
from gate.stages.progress import Silent, Watch

STAGES: Final = (
    CheckStage(name="readings", run=exercised.read, beside=True, reported=False),
    CheckStage(name="attribution", run=attribution.run),
    CheckStage(name="prescreen", run=prescreen.run, beside=True),
    CheckStage(name="sandbox", run=sandbox.run),  # setup within it
    CheckStage(name="exercised", run=exercised.run, after=("prescreen",)),
    CheckStage(name="opinion", run=opinion.run, after=("prescreen",), reported=False),  # off unless asked for
)
"""What runs beside is read only. The sandbox is in the main thread, so that an interrupt tears it down at
once."""


def check(
    opened: OpenChange,
    settings: Settings,
    watch: Watch | None = None,
    *,
    request: PullRequest | None = None,
    keep: EvidenceSink | None = None,
) -> Report:
    """Look at one change in every way and judge it. Never raises for what the change contains.

    ``request`` is the pull request's own text, evidence for attribution only. ``keep`` is given the
    evidence, traces while they exist.
    """
    start = time.monotonic()
    asked = requested_overrides(opened)  # first: a file that cannot be read must not cost a whole run
    with tempfile.TemporaryDirectory(prefix="gate-") as scratch:
        context = CheckContext(
            opened=opened,
            settings=settings,
            watch=watch or Silent(),
            scratch=Path(scratch),
            guard=_guarded,
            request=request,
            keep=keep,
        )
        _run_all(context)
    results, stages = context.results, tuple(context.stages)
    evidence = Evidence(
        change=opened.change,
        settings=settings,
        commits=results.commits,
        static=results.attribution + results.prescreened.findings + results.opinion,
        behaviour=results.sandbox.findings,
        diff=results.sandbox.diff,
        sandbox=results.sandbox.report,
        planted=results.sandbox.canaries,
        secrets=results.prescreened.secrets,
        stages=stages,
        proofs=results.sandbox.attacks.proofs,
        held=results.sandbox.attacks.held,
        asked=asked,
        ended=time.time(),
        timings={"total": time.monotonic() - start} | {s.name: s.seconds for s in stages},
        exercised=results.exercised,
        forced=results.sandbox.forced,
        varied=results.sandbox.varied,
        guards=results.sandbox.guards,
        hosts_at_base=tuple(sorted(results.sandbox.hosts_at_base)),
    )
    if keep is not None:
        keep.rest(evidence)
    number = request.number if request is not None else None
    report = replace(judge(evidence), pull_request=number, tree=opened.head_tree)
    planted = tuple(text for canary in evidence.planted for text in canary.secrets)
    return with_excerpts(report, opened.head, evidence.secrets + planted)


def _run_all(context: CheckContext) -> None:
    """Run the stages in order; those that run beside, each in a thread of its own."""
    beside = max(1, sum(stage.beside for stage in STAGES))
    with ThreadPoolExecutor(beside, thread_name_prefix="prescreen") as pool:
        for stage in STAGES:
            if stage.beside:
                context.beside[stage.name] = pool.submit(_run, context, stage)
                continue
            for name in stage.after:
                context.wait(name)
            _run(context, stage)


def _run(context: CheckContext, stage: CheckStage) -> None:
    if not stage.reported:
        stage.run(context, Ending())
        return
    with context.stage(stage.name) as ending:
        stage.run(context, ending)


@contextmanager
def _guarded(context: CheckContext, name: str) -> Iterator[Ending]:
    """Time one stage and turn every way it can fail into a Stage. The only broad except of a check."""
    context.watch.started(name)
    start, ending = time.monotonic(), Ending()
    try:
        yield ending
    except InconclusiveError as error:
        ending.failed(f"{error.message}. {error.advice}".rstrip(". ") + ".")
    except Exception as error:  # noqa: BLE001  # the one place: a bug of ours must not lose the report
        ending.failed(f"internal error ({type(error).__name__}); details in {crash_log.write_log(error)}")
    stage = Stage(
        name=name,
        outcome=ending.outcome,
        reason=ending.reason,
        seconds=time.monotonic() - start,
        skip_reason=ending.skip_reason,
    )
    context.stages.append(stage)
    context.watch.ended(stage)
