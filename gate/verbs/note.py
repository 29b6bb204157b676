"""`gate note`: tell a finished report on a GitLab merge request."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Final

from gate.verbs.interface import Verb


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--report", type=Path, required=True, metavar="FILE", help="report.json")
    parser.add_argument(
        "--always", action="store_true", help="a first note also where the verdict is pass (else edited only)"
    )


def _run(arguments: argparse.Namespace) -> int:
    from gate.errors import VERDICT_EXIT
    from gate.escape import terminal
    from gate.github.publishing.runner_context import read_report
    from gate.gitlab.merge_request import JobEnvironment, connected
    from gate.gitlab.note import publish

    raw = read_report(arguments.report)
    with connected(JobEnvironment.of(os.environ)) as request:
        report, done = publish(request, raw, always=arguments.always)
    print(f"gate: {terminal(done)}")
    return VERDICT_EXIT[report.verdict]


VERB: Final = Verb(
    name="note",
    summary="tell a finished report on a GitLab merge request",
    description="The half that holds a token and never sees the code: head, merge base and changed files "
    "come from GitLab's API; a report about anything else is refused. Writes one note and the commit's "
    "status `gate`. Token: GATE_GITLAB_TOKEN. The exit code is the verdict's.",
    epilog="example: gate note --report report.json",
    arguments=_arguments,
    run=_run,
)
