"""What kinds of programs there are, and what a command line gives away: rules/programs.toml."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from typing import Any, Final

from gate.languages.commands.fetched import worst_fetch as says_fetched
from gate.resources import rules_dir

MINES: Final = "mines cryptocurrency"
REMOTE_SHELL: Final = "opens a shell over the network"
_GRAVEST: Final = (MINES, REMOTE_SHELL)
HARVESTS: Final = "prints the whole environment"
COVERS: Final = "covers its tracks"


@cache
def _table() -> dict[str, Any]:
    with (rules_dir() / "programs.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def _kinds() -> dict[str, str]:
    return {name: kind for kind, names in _table()["kinds"].items() for name in names.split()}


@cache
def _commands() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((entry["what"], re.compile(entry["pattern"])) for entry in _table()["command"])


def kind_of(program: str) -> str:
    """The kind of a program by its name; ``other`` for everything not listed."""
    return _kinds().get(program, "other")


def command_risk(command: str) -> str | None:
    """The worst thing a command line says by itself, or None."""
    gravest = (what for what, pattern in _commands() if what in _GRAVEST and pattern.search(command))
    if (worst := next(gravest, None)) is not None:
        return worst
    fetched = says_fetched(command)
    if fetched is not None and fetched.how != "made executable":
        return "decodes a hidden command" if fetched.how == "decoded" else "runs what it downloads"
    return next((what for what, pattern in _commands() if pattern.search(command)), None)


def everyday_shell(argv: str) -> bool:
    """``sh -c`` with nothing but everyday programs in it, as ``ctypes.util`` and builds run it."""
    _, flag, command = (*argv.split(" ", 2), "", "")[:3]
    if not flag.startswith("-") or "c" not in flag or not command:
        return False
    words = re.findall(r"(?:^|[|&;(]|\bexec )\s*(?:LC_ALL=C |LANG=C )?([\w./+-]+)", command)
    return bool(words) and all(kind_of(word.rsplit("/", 1)[-1]) == "quiet" for word in words)
