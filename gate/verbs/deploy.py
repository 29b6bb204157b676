"""`gate deploy`: may this commit be deployed?"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gate.errors import Exit, InconclusiveError, UsageError
from gate.regex import regex
from gate.verbs.interface import Verb

if TYPE_CHECKING:
    from gate.change.git_command import GitRepository
    from gate.deploy.decide import Decision
    from gate.deploy.statement import Statement
    from gate.settings import DeploySettings, Settings

_FULL: Final = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def _arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what is to be deployed where")
    what.add_argument("--sha", required=True, metavar="SHA", help="the commit, in full")
    what.add_argument("--environment", required=True, metavar="NAME", help="its table [deploy.NAME] decides")
    what.add_argument(
        "--since", metavar="SHA", help="the last deployed commit: every commit since must be vouched for"
    )
    what.add_argument(
        "--base",
        metavar="REV",
        help="the trusted branch (default: the default branch on GitHub; origin/HEAD for statements)",
    )
    how = parser.add_argument_group("whose word")
    how.add_argument(
        "--statement",
        type=Path,
        action="append",
        metavar="FILE",
        help="signed verdicts and the clone in --repo, instead of check runs on GitHub; repeatable",
    )
    how.add_argument(
        "--key", type=Path, action="append", metavar="FILE", help="trusted public key beside the settings'"
    )
    how.add_argument("--repo", type=Path, default=Path(), metavar="DIR", help="the clone")
    how.add_argument("--github", metavar="OWNER/NAME", default="", help="default: $GITHUB_REPOSITORY")
    how.add_argument("--config", type=Path, metavar="FILE", help="settings instead of the ones at base")


def _run(arguments: argparse.Namespace) -> int:
    from gate.deploy.decide import Decision
    from gate.deploy.statement import BadStatementError
    from gate.escape import terminal

    for name in ("sha", "since"):
        given = getattr(arguments, name)
        if given is not None and not _FULL.fullmatch(given):
            raise UsageError(
                f"--{name} needs a commit's full name, not {ascii(given)[:80]}",
                advice="A branch or a short name may mean another commit in a moment: git rev-parse it.",
            )
    if arguments.key and not arguments.statement:
        raise UsageError("--key is for --statement", advice="Check runs are believed by their app.")
    try:
        found = _by_statements(arguments) if arguments.statement else _by_checks(arguments)
    except (InconclusiveError, BadStatementError) as error:  # unverifiable is blocked, not inconclusive
        found = Decision(allowed=False, reason=f"{error.message}. {error.advice}".rstrip(". "))
    word = "may be deployed" if found.allowed else "BLOCKED"
    print(f"gate: {arguments.environment}: {word}: {terminal(found.reason)}")
    if found.link:
        print(f"      {terminal(found.link)}")
    return Exit.OK if found.allowed else Exit.BLOCKED


def _by_checks(arguments: argparse.Namespace) -> Decision:
    from gate.deploy.answer import decide_on_github
    from gate.github.publishing.runner_context import surroundings

    environ = {k: v for k, v in os.environ.items() if k != "GITHUB_EVENT_PATH"}
    around = surroundings(environ, repo=arguments.github, flag="--github")
    return decide_on_github(
        around.api(),
        around.repo,
        arguments.sha,
        arguments.environment,
        branch=arguments.base,
        since=arguments.since,
        config=arguments.config,
    )


def _by_statements(arguments: argparse.Namespace) -> Decision:
    from gate.change.git_range import resolve
    from gate.change.objects import BlobCache, GitTree
    from gate.deploy.evidence import GitHistory, Request, evidence_from_statements, terms_of, vouch
    from gate.deploy.report_statement import opened, tree_of
    from gate.settings import load

    with opened(arguments.repo) as door:
        base = resolve(door, arguments.base) if arguments.base else _default_branch(door)
        sha = resolve(door, arguments.sha)
        since = resolve(door, arguments.since) if arguments.since else None
        tree = GitTree(door, tree_of(door, base), BlobCache())
        settings = load(base=tree, file=arguments.config, environ={})
        wanted = _terms(settings, arguments.environment)
        found = _verified(arguments, wanted)
        for statement, _ in found:  # a signature over a tree that is not the commit's would be a lie
            if tree_of(door, statement.commit) != statement.tree:
                raise InconclusiveError(
                    f"{statement.commit[:12]} does not have the tree that its statement names"
                )
        request = Request(sha=sha, base=base, since=since)
        terms = terms_of(arguments.environment, wanted, settings)
        return vouch(request, GitHistory(door), evidence_from_statements(found), terms)


def _default_branch(door: GitRepository) -> str:
    from gate.change.git_range import resolve

    try:
        return resolve(door, "refs/remotes/origin/HEAD")
    except UsageError as error:
        raise UsageError(
            f"{door.shown} does not say which branch of origin is the trusted one (no origin/HEAD)",
            advice="Give --base BRANCH, or have git ask: git remote set-head origin -a",
        ) from error


def _terms(settings: Settings, environment: str) -> DeploySettings:
    wanted = settings.config.deploy_to(environment)
    if wanted is None:
        raise InconclusiveError(
            f"the settings at base have no table [deploy.{environment}]",
            advice="docs/deploy.md shows one; without it nothing is deployed.",
        )
    return wanted


def _verified(arguments: argparse.Namespace, wanted: DeploySettings) -> list[tuple[Statement, str]]:
    from gate.deploy.report_statement import read_file
    from gate.deploy.signing import public_key, verify
    from gate.deploy.sigstore import is_keyless, verify_keyless
    from gate.deploy.statement import MAX_BYTES

    pems = [key.encode() for key in wanted.keys] + [read_file(p, 1 << 16) for p in arguments.key or ()]
    trusted = [public_key(pem) for pem in pems]
    out: list[tuple[Statement, str]] = []
    for path in arguments.statement:
        raw = read_file(path, MAX_BYTES)
        if wanted.identity and is_keyless(raw):
            out.append((verify_keyless(raw, wanted.identity, wanted.issuer), wanted.identity))
        else:
            verified = verify(raw, trusted)
            out.append((verified.statement, f"a statement signed with key {verified.key_id[:16]}"))
    return out


VERB: Final = Verb(
    name="deploy",
    summary="say whether a commit may be deployed: only with a passing verdict that can be believed",
    description="Exit 0 only if the exact commit (or a merge with the very tree of a judged commit, or with "
    "--since every commit of the range) carries a passing verdict: recent, by the trusted app or key, made "
    "with an accepted policy, against a base on the trusted branch. Anything else is exit 1, and says why.",
    epilog="example: gate deploy --sha $GITHUB_SHA --environment production",
    arguments=_arguments,
    run=_run,
)
