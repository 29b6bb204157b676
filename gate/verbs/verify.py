"""`gate verify`: check a signed verdict without a network."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from gate.errors import VERDICT_EXIT, UsageError
from gate.verbs.interface import Verb


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--statement", type=Path, required=True, metavar="FILE", help="what `gate sign` wrote"
    )
    parser.add_argument(
        "--key",
        type=Path,
        action="append",
        metavar="FILE",
        help="trusted Ed25519 public key (PEM); repeatable",
    )
    parser.add_argument(
        "--identity", metavar="URI", help="sigstore: the workflow that must have signed, instead of --key"
    )
    parser.add_argument(
        "--issuer",
        metavar="URL",
        default="https://token.actions.githubusercontent.com",
        help="sigstore: who vouched for that identity (default: GitHub Actions)",
    )
    parser.add_argument(
        "--trusted-root", type=Path, metavar="FILE", help="sigstore: a trusted root of your own (JSON)"
    )
    parser.add_argument("--sha", metavar="SHA", help="the commit, in full, that it must be about")


def _run(arguments: argparse.Namespace) -> int:
    from gate.deploy.report_statement import read_file
    from gate.deploy.signing import public_key, verify
    from gate.deploy.statement import MAX_BYTES, BadStatementError, encode_statement
    from gate.model.score import Verdict

    if bool(arguments.key) == bool(arguments.identity):
        raise UsageError("whose signature is trusted? give --key FILE, or --identity URI for sigstore")
    raw = read_file(arguments.statement, MAX_BYTES + 1)
    if arguments.identity:
        from gate.deploy.sigstore import verify_keyless

        root = arguments.trusted_root
        found = verify_keyless(raw, arguments.identity, arguments.issuer, root=root)
        by = arguments.identity
    else:
        verified = verify(raw, [public_key(read_file(path, 1 << 16)) for path in arguments.key])
        found, by = verified.statement, f"key {verified.key_id[:16]}"
    if arguments.sha is not None and arguments.sha != found.commit:
        raise BadStatementError(f"the statement is about {found.commit}, not about {arguments.sha[:64]}")
    print(encode_statement(found).decode())
    told = found.predicate
    print(
        f"{told.verdict}, score {told.score}, for {found.commit}; signed by {ascii(by)[1:-1]}",
        file=sys.stderr,
    )
    return VERDICT_EXIT[Verdict(told.verdict)]


VERB: Final = Verb(
    name="verify",
    summary="check a signed statement offline; print it; exit with its verdict",
    description="Exit 1 for a statement that is malformed, not signed by a trusted key, or about another "
    "commit; else the verdict's own exit code. It looks at nothing but the files named.",
    epilog="example: gate verify --statement verdict.dsse.json --key pub.pem --sha $(git rev-parse HEAD)",
    arguments=_arguments,
    run=_run,
)
