"""`gate lsp`: gate in an editor."""

from __future__ import annotations

import argparse
from typing import Final

from gate.errors import Exit, UsageError
from gate.verbs.common import add_looking, chosen_settings
from gate.verbs.interface import Verb


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_looking(parser)
    parser.add_argument(
        "--stdio", action="store_true", help="as without it; editors say so (VS Code's client always does)"
    )


def _run(arguments: argparse.Namespace) -> int:
    try:
        from gate.lsp.server import make_server
    except ImportError as error:
        raise UsageError(
            f"gate lsp needs {error.name}", advice="Install it with: pip install 'gate-ci[lsp]'"
        ) from error
    make_server(chosen_settings(arguments)).start_io()
    return Exit.OK


VERB: Final = Verb(
    name="lsp",
    summary="serve an editor: findings while typing, a file run in the sandbox (LSP, on stdin and stdout)",
    description="A Language Server on standard input and output. An open file is read while you type, "
    "against HEAD's version; it runs only when you ask for it, and in a sandbox. Set-up: docs/editors.md.",
    epilog="example (Neovim): vim.lsp.config('gate', {cmd = {'gate', 'lsp'}}); vim.lsp.enable('gate')",
    arguments=_arguments,
    run=_run,
)
