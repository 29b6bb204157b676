"""`gate init`: the files that put gate to work in a repository."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gate.errors import Exit, UsageError
from gate.verbs.common import write_file
from gate.verbs.interface import Verb

if TYPE_CHECKING:
    from gate.project_files.plan import Plan, Written


_ON_GITLAB: Final = (
    "  1. push gate's image to a registry of yours, and name it in gate.gitlab-ci.yml",
    "  2. have a runner with the tag `gate` whose jobs get the container engine's socket",
    "  3. move gate.gitlab-ci.yml to a project that merge requests cannot write, and include it from there",
    "  4. give the note its token, GATE_GITLAB_TOKEN (docs/gitlab.md has each step)",
)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--repo", type=Path, default=Path(), metavar="DIR", help="the repository (default: where you stand)"
    )
    parser.add_argument(
        "--forge",
        choices=("auto", "github", "gitlab", "none"),
        default="auto",
        help="whose workflow (default: auto, by what is in the repository)",
    )
    parser.add_argument(
        "--forks",
        action="store_true",
        help="pull requests come from strangers: the two workflows of which one holds no token",
    )
    parser.add_argument(
        "--pre-commit", action="store_true", help="write the pre-commit hook also where there is none yet"
    )
    parser.add_argument("--force", action="store_true", help="overwrite files that are there")
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would be written, and write nothing"
    )


def _run(arguments: argparse.Namespace) -> int:
    from gate.change.git_command import GitRepository
    from gate.change.uncommitted import work_tree
    from gate.project_files.plan import make_plan

    door = GitRepository(arguments.repo)
    try:
        root = work_tree(door)
    finally:
        door.close()
    plan = make_plan(root, forge=arguments.forge, forks=arguments.forks, hook=arguments.pre_commit)
    refused = [file for file in plan.files if _is_there(root, file) and not arguments.force]
    wanted = [file for file in plan.files if file not in refused]
    for file in wanted:
        if arguments.dry_run:
            print(f"--- {file.path} ({file.why})\n{file.text}")
        else:
            _write(root, file)
            print(f"{'added to' if file.adds else 'wrote'} {file.path}: {file.why}")
    for file in refused:
        print(f"left {file.path}: it is there; --force overwrites it", file=sys.stderr)
    for line in plan.left:
        print(f"left {line}", file=sys.stderr)
    print(_next(plan, arguments))
    return Exit.OK


def _is_there(root: Path, file: Written) -> bool:
    path = root / file.path
    return not file.adds and (path.exists() or path.is_symlink())


def _write(root: Path, file: Written) -> None:
    """Raises UsageError where the path leads through a link, or cannot be written."""
    path = root / file.path
    if any(part.is_symlink() for part in (path, *path.parents) if root in part.parents):
        raise UsageError(f"{file.path} leads through a symbolic link", advice="Write it by hand.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make {path.parent}: {error.strerror}", advice="Make it by hand.") from error
    write_file(path, file.text)


def _next(plan: Plan, arguments: argparse.Namespace) -> str:
    again = ["gate", "init", *(["--repo", str(arguments.repo)] if arguments.repo != Path() else [])]
    if arguments.dry_run:
        again += ["--forge", arguments.forge] if arguments.forge != "auto" else []
        again += [f"--{name}" for name in ("forks", "pre-commit", "force") if _given(arguments, name)]
        return f"Nothing was written. Next:\n  {shlex.join(again)}\n  gate doctor"
    zeros = [file.path for file in plan.files if "0" * 40 in file.text]
    put = f"Put the release that you trust where the zeros are in {', '.join(zeros)}. " if zeros else ""
    lines = [f"{put}Next:"]
    if plan.forge == "none" and arguments.forge == "auto":
        wanted = shlex.join([*again, "--forge", "github"])
        lines.append(f"  {wanted}    the workflow, left as no forge was found (or: gitlab)")
    if plan.forge == "gitlab":
        lines += _ON_GITLAB
    lines += [
        "  gate doctor              what this machine offers",
        "  gate check --worktree    judge these files, and what else is not committed",
    ]
    return "\n".join(lines)


def _given(arguments: argparse.Namespace, name: str) -> bool:
    return bool(getattr(arguments, name.replace("-", "_")))


VERB: Final = Verb(
    name="init",
    summary="write gate.toml, the workflow and the pre-commit hook into a repository",
    description="Looks at what the repository has and writes what fits: a commented gate.toml that changes "
    "nothing yet, the workflow of its forge, and one entry in its pre-commit configuration. Overwrites "
    "nothing without --force.",
    epilog="""\
examples:
  gate init --dry-run       what would be written
  gate init --forks         for pull requests from people you do not know""",
    arguments=_arguments,
    run=_run,
)
