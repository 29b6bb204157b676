"""`gate check`: judge a git range."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gate.errors import Exit, GateError, NothingToJudgeError, UsageError
from gate.verbs.common import (
    CannotWriteError,
    add_bundle,
    add_looking,
    add_telling,
    check_outputs,
    chosen_settings,
    keeping,
    watching,
    write_file,
    write_report,
)
from gate.verbs.interface import Verb
from gate.verbs.unusable import write_unusable

if TYPE_CHECKING:
    from gate.change.uncommitted import Part
    from gate.model.report import Report


def _arguments(parser: argparse.ArgumentParser) -> None:
    which = parser.add_argument_group(
        "which change", "Without any of these: what HEAD has that the default branch has not."
    )
    which.add_argument(
        "--base", metavar="REV", help="what the change is to be merged into (default: the default branch)"
    )
    which.add_argument("--head", metavar="REV", help="the change's last commit (default: HEAD)")
    which.add_argument("--staged", action="store_true", help="what is staged, against HEAD, as the change")
    which.add_argument(
        "--worktree", action="store_true", help="everything not committed, new files too, against HEAD"
    )
    which.add_argument(
        "--allow-empty",
        action="store_true",
        help="with --staged or --worktree: nothing to judge ends in 0 (for hooks)",
    )
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
    parser.add_argument(
        "--write-tests",
        type=Path,
        metavar="DIR",
        help="write a pytest test into DIR for each request that is proven to go through a new hole",
    )


def _run(arguments: argparse.Namespace) -> int:
    from gate.report.forge_links import blob_url

    check_outputs(arguments)
    began = int(time.time())
    try:
        report = _judged(arguments)
        report = replace(report, blob_url=blob_url(os.environ, report.change.head))
    except CannotWriteError:
        raise
    except NothingToJudgeError as error:
        if not arguments.allow_empty:
            write_unusable(error, arguments)
            raise
        print(f"gate: {error.message}; nothing was judged", file=sys.stderr)
        return Exit.OK
    except GateError as error:
        write_unusable(error, arguments)
        raise
    if report.made is not None and report.made.at < began and not arguments.quiet:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(report.made.at))
        print(f"gate: told again, looked at {when}; --no-cache looks anew", file=sys.stderr)
    if arguments.write_tests is not None:
        _write_tests(report, arguments.write_tests)
    return write_report(report, arguments)


def _write_tests(report: Report, folder: Path) -> None:
    """Tests of what was proven, into a folder that is made where it is missing. Raises CannotWriteError."""
    from gate.report.exploit_tests import written_tests

    for name, text in written_tests(report.proofs):
        with contextlib.suppress(OSError):  # write_file says what is wrong with it
            folder.mkdir(parents=True, exist_ok=True)
        write_file(folder / name, text)


def _judged(arguments: argparse.Namespace) -> Report:
    """The report of the change that the arguments name."""
    from gate import api
    from gate.change.default_range import default_base
    from gate.change.event import Event, read_event

    named = [
        f"--{name}" for name in ("base", "head", "event", "staged", "worktree") if getattr(arguments, name)
    ]
    uncommitted = arguments.staged or arguments.worktree
    if uncommitted and len(named) > 1:
        raise UsageError(
            f"{' and '.join(named)} name different changes",
            advice="Give --staged alone, --worktree alone, or a range of commits: --base REV --head REV.",
        )
    chosen = chosen_settings(arguments)
    if uncommitted:
        part: Part = "staged" if arguments.staged else "worktree"
        with watching(arguments) as watch, keeping(arguments) as keep:
            return api.check_uncommitted(arguments.repo, part, chosen, watch, keep=keep)
    event = read_event(arguments.event) if arguments.event else Event(base=None, head="", branch=None)
    base, head = arguments.base or event.base, arguments.head or event.head or "HEAD"
    if arguments.event and not base:
        raise UsageError(
            "which change? the event names no base", advice="For example: gate check --base origin/main"
        )
    base = base or default_base(arguments.repo, head)
    if not named:
        _mention(arguments, base)
    with watching(arguments) as watch, keeping(arguments) as keep:
        return api.check(arguments.repo, base, head, chosen, watch, event=event, keep=keep)


def _mention(arguments: argparse.Namespace, base: str) -> None:
    """Say which range was taken, and what is not in it."""
    from gate.change.uncommitted import uncommitted_count
    from gate.escape import terminal

    if arguments.quiet:
        return
    short = base.removeprefix("refs/").removeprefix("heads/").removeprefix("remotes/")
    print(f"gate: judging what HEAD has that {terminal(short)} has not", file=sys.stderr)
    count = uncommitted_count(arguments.repo)
    if count:
        files = "1 uncommitted file is" if count == 1 else f"{count:,} uncommitted files are"
        print(f"gate: {files} not part of it; --worktree or --staged judge them", file=sys.stderr)


VERB: Final = Verb(
    name="check",
    summary="judge a git range: who wrote it, what it contains, what it does when it runs",
    description="Compares the tree at --head with its merge base with --base. The head is never checked out "
    "on this machine; it runs only inside the sandbox. Settings come from gate.toml at --base.",
    epilog="""\
examples:
  gate check                                        this branch against the default branch
  gate check --worktree                             what is not committed yet, before you commit it
  gate check --staged --fast                        what is about to be committed, in seconds
  gate check --base origin/main --head HEAD --json report.json
  gate check --base v1.0 --head v1.1 --json - | jq .verdict
exit codes: 0 pass or warn | 1 blocked | 2 wrong usage (the report then says why) | 3 inconclusive""",
    arguments=_arguments,
    run=_run,
)
