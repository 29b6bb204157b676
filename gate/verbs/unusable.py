"""The report of a check that could not begin: for whoever reads report.json and not the exit code."""

from __future__ import annotations

import argparse
import time

from gate.errors import GateError
from gate.verbs.common import FORMATS, write_reports


def write_unusable(error: GateError, arguments: argparse.Namespace) -> None:
    """Write the asked-for reports: inconclusive, with the reason. The exit code stays the error's own."""
    if all(getattr(arguments, name) is None for name in FORMATS):
        return
    from gate.model.behaviour import BehaviourDiff
    from gate.model.change import Change
    from gate.model.report import SandboxReport
    from gate.model.stage import Stage, StageOutcome
    from gate.settings import Config, Settings
    from gate.stages.judgement import Evidence, judge

    reason = f"{error.message}. {error.advice}".rstrip(". ") + "."
    change = Change(repo=str(arguments.repo), base=None, head=None, merge_base=None, commits=(), files=())
    report = judge(
        Evidence(
            change=change,
            settings=Settings(config=Config(), origin={}),
            commits=(),
            static=(),
            behaviour=(),
            diff=BehaviourDiff(),
            sandbox=SandboxReport(),
            planted=(),
            secrets=(),
            stages=(Stage(name="range", outcome=StageOutcome.FAILED, reason=reason),),
            asked=(),
            ended=time.time(),
        )
    )
    write_reports(report, arguments)
