"""`gate run`: judge files outside git."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from gate.verbs.common import (
    add_bundle,
    add_looking,
    add_telling,
    check_outputs,
    chosen_settings,
    keeping,
    watching,
    write_report,
)
from gate.verbs.interface import Verb


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files or folders to judge")
    add_looking(parser)
    add_telling(parser)
    add_bundle(parser)


def _run(arguments: argparse.Namespace) -> int:
    from gate.api import check_files

    check_outputs(arguments)
    with watching(arguments) as watch, keeping(arguments) as keep:
        report = check_files(arguments.paths, chosen_settings(arguments), watch, keep=keep)
    return write_report(report, arguments)


VERB: Final = Verb(
    name="run",
    summary="judge files outside git: everything in them counts as changed",
    description="The same look as `gate check`, on loose files or folders. They run only inside the sandbox.",
    epilog="example: gate run downloaded_script.py",
    arguments=_arguments,
    run=_run,
)
