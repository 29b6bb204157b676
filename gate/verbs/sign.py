"""`gate sign`: a verdict that travels."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from gate.errors import Exit
from gate.verbs.common import write_file
from gate.verbs.interface import Verb


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--report", type=Path, required=True, metavar="FILE", help="the report.json to sign")
    parser.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help="Ed25519 private key (PEM); without it: sigstore, where an OIDC token is there",
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="where the statement goes (default: standard output)"
    )
    parser.add_argument(
        "--repo", type=Path, default=Path(), metavar="DIR", help="the repository that has the judged commit"
    )


def _run(arguments: argparse.Namespace) -> int:
    from gate.deploy.report_statement import MAX_REPORT, read_file, statement_of

    made = statement_of(read_file(arguments.report, MAX_REPORT), arguments.repo)
    if arguments.key is None:
        from gate.deploy.sigstore import sign_keyless

        text = sign_keyless(made)
    else:
        from gate.deploy.signing import private_key, sign

        text = sign(made, private_key(read_file(arguments.key, 1 << 16))).decode("ascii")
    if arguments.output is None:
        print(text, end="")
    else:
        write_file(arguments.output, text)
    return Exit.OK


VERB: Final = Verb(
    name="sign",
    summary="make a signed statement of a report's verdict, for `gate verify` and `gate deploy`",
    description="Writes an in-toto statement about the judged commit and its tree in a DSSE envelope. "
    "It signs whatever the verdict is; `gate deploy` says what may go on.",
    epilog="example: gate sign --report report.json --key ed25519.pem --output verdict.dsse.json",
    arguments=_arguments,
    run=_run,
)
