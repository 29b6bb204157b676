"""`gate check`: judge a git range."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from gate.cli_verbs.common import add_bundle, add_looking, add_telling, keeping, load_settings, tell, watching
from gate.cli_verbs.interface import Verb
from gate.errors import UsageError


def _arguments(parser: argparse.ArgumentParser) -> None:
    which = parser.add_argument_group("which change")
    which.add_argument("--base", metavar="REV", help="what the change is to be merged into")
    which.add_argument("--head", metavar="REV", help="the change's last commit")
    which.add_argument(
        "--event",
        type=Path,
        metavar="FILE",
        help="take both from a GitHub event payload ($GITHUB_EVENT_PATH)",
    )
    which.add_argument(
        "--repo", type=Path, default=Path(), metavar="DIR", help="the repository (default: where you stand)"
    )
    add_looking(parser)
    add_telling(parser)
    add_bundle(parser)


def _run(arguments: argparse.Namespace) -> int:
    from gate.change.event import Event, read_event
    from gate.change.git import open_range
    from gate.pipeline import check

    event = read_event(arguments.event) if arguments.event else Event(base=None, head="", branch=None)
    base, head = arguments.base or event.base, arguments.head or event.head
    if not base or not head:
        raise UsageError(
            "which change? --base and --head are needed"
            + (" (the event names no base)" if event.head else ""),
            advice="For example: gate check --base origin/main --head HEAD",
        )
    with open_range(arguments.repo, base, head, branch=event.branch) as opened:
        settings = load_settings(arguments, opened.config)
        with watching(arguments) as watch, keeping(arguments) as keep:
            report = check(opened, settings, watch, request=event.pull_request, keep=keep)
        return tell(report, arguments)


VERB: Final = Verb(
    name="check",
    summary="judge a git range: who wrote it, what it contains, what it does when it runs",
    description="Compares the tree at --head with its merge base with --base. The head is never checked out "
    "on this machine; it runs only inside the sandbox. Settings come from gate.toml at --base.",
    epilog="example: gate check --base origin/main --head HEAD --json report.json",
    arguments=_arguments,
    run=_run,
)
