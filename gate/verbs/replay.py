"""`gate replay`: judge stored evidence again."""

from __future__ import annotations

import argparse
from operator import attrgetter
from pathlib import Path
from typing import Final

from gate.errors import VERDICT_EXIT, UsageError
from gate.model.score import Verdict
from gate.verbs.common import FORMATS, add_telling, check_outputs, write_report
from gate.verbs.interface import Verb


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundles", nargs="+", type=Path, metavar="BUNDLE", help="what --bundle stored")
    add_telling(parser)


def _run(arguments: argparse.Namespace) -> int:
    from gate.replay import replay

    check_outputs(arguments)
    if len(arguments.bundles) > 1 and any(getattr(arguments, name) for name in FORMATS):
        raise UsageError(
            "several bundles cannot share one report file",
            advice="Replay one bundle at a time, or leave the report files out.",
        )
    codes = {write_report(replay(bundle), arguments) for bundle in arguments.bundles}
    worst_first = (VERDICT_EXIT[verdict] for verdict in sorted(Verdict, key=attrgetter("rank"), reverse=True))
    return next((int(code) for code in worst_first if code in codes), max(codes))


VERB: Final = Verb(
    name="replay",
    summary="judge stored evidence again: the same report, and nothing is run",
    description="Takes evidence bundles (gate check --bundle FILE) and makes their reports anew from the "
    "traces in them. Equal to the first report under the same rules; under changed rules, what those say.",
    epilog="example: gate check --base main --head HEAD --bundle evidence.zip && gate replay evidence.zip",
    arguments=_arguments,
    run=_run,
)
