"""`gate publish`: tell a finished report on GitHub."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Final

from gate.verbs.interface import Verb


def _arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what to publish")
    what.add_argument(
        "--report", type=Path, metavar="FILE", help="report.json (default: the artifact of the event's run)"
    )
    what.add_argument("--workflow", metavar="PATH", help="the workflow that makes reports (gate-check.yml)")
    what.add_argument("--artifact", metavar="NAME", help="the artifact's name (default: gate-report)")
    where = parser.add_argument_group("where")
    where.add_argument(
        "--event", type=Path, metavar="FILE", help="event payload (default: $GITHUB_EVENT_PATH)"
    )
    where.add_argument("--repo", metavar="OWNER/NAME", default="", help="default: $GITHUB_REPOSITORY")
    where.add_argument("--pull", type=int, metavar="NUMBER", help="the pull request (default: the event's)")
    how = parser.add_argument_group("how")
    how.add_argument("--config", type=Path, metavar="FILE", help="settings instead of the ones at base")
    how.add_argument("--comment", choices=("auto", "always", "never"), help="see github.comment")
    how.add_argument("--sarif", action="store_true", default=None, help="also hand findings to code scanning")
    how.add_argument("--audit", type=Path, metavar="FILE", help="add every override decision to this log")


def _run(arguments: argparse.Namespace) -> int:
    from gate.errors import Exit
    from gate.escape import terminal
    from gate.github.publishing.publish import ARTIFACT, WORKFLOW, PublishRequest, publish
    from gate.github.publishing.runner_context import surroundings

    around = surroundings(os.environ, event=arguments.event, repo=arguments.repo)
    wanted = PublishRequest(
        report=arguments.report,
        pull=arguments.pull,
        workflow=arguments.workflow or WORKFLOW,
        artifact=arguments.artifact or ARTIFACT,
        audit=arguments.audit,
        config=arguments.config,
        flags={
            "github.comment": (arguments.comment, "--comment"),
            "github.sarif": (arguments.sarif, "--sarif"),
        },
    )
    report, outcome = publish(around, wanted)
    for line in outcome.words().splitlines():
        print(f"gate: {terminal(line)}")
    if report is not None:
        score = str(report.score.value)
        around.put(verdict=report.verdict.value, score=score, comment_url=outcome.comment_url)
    return Exit.INCONCLUSIVE if outcome.failed or not outcome.published else Exit.OK


VERB: Final = Verb(
    name="publish",
    summary="tell a finished report on a GitHub pull request",
    description="The half that holds a token and never sees the code: pull request and commit come from the "
    "API, never from the report; a report about another commit is refused. GITHUB_TOKEN (or GATE_TOKEN) is "
    "the token. Exit 0: told, 2: refused (the check says why), 3: GitHub did not take it. "
    "The verdict is in the check it writes.",
    epilog="example: gate publish --report report.json",
    arguments=_arguments,
    run=_run,
)
