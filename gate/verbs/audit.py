"""`gate audit`: check the log of decisions."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from gate.verbs.interface import Verb


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("verify",), help="verify: every seal, from the first line on")
    parser.add_argument("log", type=Path, metavar="FILE", help="the log that `gate publish --audit` wrote")
    parser.add_argument("--last", metavar="SEAL", help="a seal kept elsewhere that must still be in the log")


def _run(arguments: argparse.Namespace) -> int:
    from gate.errors import Exit
    from gate.github.audit_log import AuditError, verify

    try:
        count, seal = verify(arguments.log, last=arguments.last)
    except AuditError as error:
        error.exit = Exit.BLOCKED
        raise
    print(f"{count} entries, unbroken; last seal {seal}")
    return Exit.OK


VERB: Final = Verb(
    name="audit",
    summary="check the log of override decisions for tampering",
    description="Exit 0: the log is whole; 1: a line was changed, added or removed.",
    epilog="example: gate audit verify gate-audit.jsonl --last 5f3c...",
    arguments=_arguments,
    run=_run,
)
