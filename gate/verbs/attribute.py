"""`gate attribute`: who wrote commits, as far as they disclose it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gate.errors import Exit, UsageError
from gate.verbs.common import write_file, write_stdout
from gate.verbs.interface import Verb

if TYPE_CHECKING:
    from gate.model.attribution import CommitAttribution


def _arguments(parser: argparse.ArgumentParser) -> None:
    which = parser.add_argument_group("which commits")
    which.add_argument("--base", metavar="REV", help="look at the commits that --head has and REV has not")
    which.add_argument("--head", metavar="REV", default="HEAD", help="the last commit (default: HEAD)")
    which.add_argument("--history", action="store_true", help="the whole history of --head, as a table")
    which.add_argument("--since", metavar="WHEN", help='with --history: 2026-01-31 or "6 months"')
    which.add_argument(
        "--no-lines", action="store_true", help="with --history: do not count lines (much faster)"
    )
    which.add_argument("--repo", type=Path, default=Path(), metavar="DIR", help="the repository")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write JSON to FILE (- for standard output)"
    )


def _run(arguments: argparse.Namespace) -> int:
    if arguments.history == (arguments.base is not None):
        raise UsageError(
            "give either --base REV (a range) or --history (everything)",
            advice="For example: gate attribute --base origin/main, or: gate attribute --history",
        )
    return _history(arguments) if arguments.history else _range(arguments)


def _history(arguments: argparse.Namespace) -> int:
    from gate.attribution.history import history_json, tally
    from gate.attribution.render import render
    from gate.change.history import read_history

    found = tally(
        read_history(
            arguments.repo,
            revision=arguments.head,
            since=arguments.since,
            lines=not arguments.no_lines,
        )
    )
    if not _wrote_json(arguments, json.dumps(history_json(found), indent=2) + "\n"):
        print(render(found).rstrip("\n"))
    return Exit.OK


def _range(arguments: argparse.Namespace) -> int:
    from gate.attribution.attribute import attribute
    from gate.change.git_range import open_range
    from gate.report.json_v1 import commits_document

    with open_range(arguments.repo, arguments.base, arguments.head) as opened:
        found = attribute(opened.change, opened.head, opened.notes, origins=opened.origins)
        text = commits_document(opened.change, found)
    if not _wrote_json(arguments, text):
        _print(found)
    return Exit.OK


def _wrote_json(arguments: argparse.Namespace, text: str) -> bool:
    """True when JSON went to standard output, so that nothing else may."""
    if arguments.json is None:
        return False
    if str(arguments.json) == "-":
        write_stdout(text)
        return True
    write_file(arguments.json, text)
    return False


def _print(found: tuple[CommitAttribution, ...]) -> None:
    from gate.escape import terminal

    for item in found:
        who = f"{item.tool} ({item.confidence})" if item.is_ai else "bot" if item.is_bot else "-"
        print(f"{item.commit[:12]}  {terminal(who)}")
        for proof in item.evidence:
            print(
                f"              {proof.role} by {terminal(proof.where)}: {terminal(proof.matched)} "
                f"({proof.confidence})"
            )
    ai = sum(item.is_ai for item in found)
    print(f"{ai} of {len(found)} commits disclose an AI author. Absence of a disclosure proves nothing.")


VERB: Final = Verb(
    name="attribute",
    summary="say which commits disclose an AI author, for a range or for the whole history",
    description="Reads trailers, identities, footers, git notes and Agent Trace records. What a commit "
    "discloses is evidence; what it does not disclose proves nothing.",
    epilog='example: gate attribute --history --since "6 months"',
    arguments=_arguments,
    run=_run,
)
