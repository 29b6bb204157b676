"""`gate completion`: a shell completion script."""

from __future__ import annotations

import argparse
from typing import Final

from gate.errors import UsageError
from gate.verbs.interface import Verb


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh", "fish"), help="the shell to complete for")


def _run(arguments: argparse.Namespace) -> int:
    import shtab

    from gate.verbs.parser import build_parser

    if arguments.shell not in shtab.SUPPORTED_SHELLS:
        raise UsageError(
            f"the installed shtab knows no {arguments.shell}", advice="pip install --upgrade shtab"
        )
    print(shtab.complete(build_parser(), shell=arguments.shell))
    return 0


VERB: Final = Verb(
    name="completion",
    summary="print a completion script for your shell",
    epilog="""\
examples:
  gate completion bash > ~/.local/share/bash-completion/completions/gate
  gate completion fish > ~/.config/fish/completions/gate.fish""",
    arguments=_arguments,
    run=_run,
)
