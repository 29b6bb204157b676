"""`gate isolation`: real attempts to get out of each backend, made inside it, with the evidence."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gate.errors import Exit, UsageError
from gate.verbs.interface import Verb

if TYPE_CHECKING:
    from gate.isolation.interface import Examination


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--backend", default="all", metavar="NAME", help="the backend to test, or all (default: all)"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write every check with its evidence as JSON"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table and the evidence")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the evidence of every check")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")


def _run(arguments: argparse.Namespace) -> int:
    from gate.isolation import table
    from gate.isolation.examine import examine
    from gate.sandbox.backends.registry import BACKENDS, SCRIPTED
    from gate.verbs.common import write_file

    known = {**BACKENDS, **SCRIPTED}
    if arguments.backend != "all" and arguments.backend not in known:
        raise UsageError(
            f"unknown sandbox backend {arguments.backend!r}", advice=f"Known: all, {', '.join(known)}."
        )
    names = list(known) if arguments.backend == "all" else [arguments.backend]
    done = []
    for name in names:

        def say(what: str, name: str = name) -> None:
            if not arguments.quiet:
                print(f"isolation: {name}: {what}", file=sys.stderr)

        done.append(examine(known[name](), say))
    if arguments.json:
        write_file(arguments.json, table.to_json(done))
    if arguments.markdown:
        write_file(arguments.markdown, table.to_markdown(done))
    if not arguments.quiet:
        width = min(shutil.get_terminal_size((100, 24)).columns, 120)
        print(table.to_terminal(done, verbose=arguments.verbose, width=width), end="")
    return exit_code(done)


def exit_code(done: list[Examination]) -> int:
    """1: a backend does not hold what it claims. 3: nothing was tested, or a check could not be tried."""
    if any(examination.broken for examination in done):
        return Exit.BLOCKED
    tested = [examination for examination in done if examination.capability.available]
    if not tested or any(not examination.tested or examination.not_tried for examination in tested):
        return Exit.INCONCLUSIVE
    return Exit.OK


VERB: Final = Verb(
    name="isolation",
    summary="prove that the backends hold on this machine: some 150 attempts to get out, with evidence",
    description="Runs real probes inside each sandbox backend and prints what each tried and what happened, "
    "by the seven published criteria for code-execution sandboxes. Nothing is sent to any network.",
    epilog="exit codes: 0 all that is claimed held | 1 a backend does not hold what it claims | "
    "3 nothing could be tested, or a check could not be tried",
    arguments=_arguments,
    run=_run,
)
