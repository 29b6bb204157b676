"""The action's `mode: publish`: tells a report that another job made.

The job that holds the token installs what this file imports and no more (requirements-publish.txt): no
scanner, no sandbox, nothing that reads a change.
"""

from __future__ import annotations

from pathlib import Path

from gate.errors import Exit
from gate.escape import command_data
from gate.github.publishing.publish import PublishRequest, publish
from gate.github.publishing.step import Step, flags


def run_publish(step: Step) -> int:
    """Tell a report that another job made. Ends well when it was told; the verdict is in the check."""
    wanted = step.inputs
    asked = PublishRequest(
        workflow=wanted.workflow,
        artifact=wanted.artifact,
        audit=Path(wanted.audit) if wanted.audit else None,
        chosen=wanted.config,
        flags=flags(wanted),
    )
    report, outcome = publish(step.around, asked)
    for line in outcome.words().splitlines():
        print(f"gate: {command_data(line, 600)}")
    if report is not None:
        step.around.put(
            verdict=report.verdict.value, score=str(report.score.value), comment_url=outcome.comment_url
        )
    return Exit.INCONCLUSIVE if outcome.failed or not outcome.published else Exit.OK
