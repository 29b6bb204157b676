"""`gate mcp`: gate as tools of a coding agent."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from gate.errors import Exit, UsageError
from gate.verbs.common import add_looking, chosen_settings
from gate.verbs.interface import Verb


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--repo",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the folder below which the agent may have repositories judged (default: where you stand)",
    )
    add_looking(parser)


def _run(arguments: argparse.Namespace) -> int:
    try:
        from gate.mcp.server import make_server
    except ImportError as error:
        raise UsageError(
            f"gate mcp needs {error.name}", advice="Install it with: pip install 'gate-ci[mcp]'"
        ) from error
    from gate.mcp.desk import Desk

    if not arguments.repo.is_dir():
        raise UsageError(f"{arguments.repo} is no folder", advice="Give --repo a folder.")
    make_server(Desk(root=arguments.repo, chosen=chosen_settings(arguments))).run("stdio")
    return Exit.OK


VERB: Final = Verb(
    name="mcp",
    summary="serve a coding agent: check changes and run snippets for it (MCP, on stdin and stdout)",
    description="A Model Context Protocol server on standard input and output. The agent chooses what is "
    "judged; settings are yours (these options), else those of the default branch. Recipes: docs/agents.md.",
    epilog="example: claude mcp add gate -- gate mcp",
    arguments=_arguments,
    run=_run,
)
