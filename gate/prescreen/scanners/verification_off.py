"""Commands that are told to take what they cannot verify: an option of a tool, or a variable that it reads.

The check itself still stands there and still answers "OK", so nothing looks removed.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from gate.languages.commands.reading import statements
from gate.languages.path_roles import is_example, is_test_code
from gate.model.rule import Severity
from gate.prescreen.interface import View
from gate.prescreen.scanners.command_lines import command_lines, holds_commands
from gate.prescreen.text_rule import TextHit, rule
from gate.resources import rules_dir

_NOT: Final = ("false", "0", "no", "off", "n")
"""An option with one of these values leaves the check on."""
_SIGNS: Final = "\"'`(){}[],;"


class _Table(NamedTuple):
    """``programs``: for each the words (one option, or several in a row) with what is taken then."""

    programs: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]
    variables: frozenset[str]


@cache
def _table() -> _Table:
    data = tomllib.loads((rules_dir() / "verification-off.toml").read_text(encoding="utf-8"))
    programs: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {}
    for tool in data["tool"]:
        for name in tool["programs"]:
            words = tuple((tuple(one.split()), tool["what"]) for one in tool["words"])
            programs[name] = programs.get(name, ()) + words
    return _Table(programs, frozenset(f"{name}={v}" for name, vs in data["variables"].items() for v in vs))


@rule(
    "command.verification-off",
    "A command takes what it cannot verify",
    severity="medium",
    confidence="high",
    topic="weak-check",
    cwe=(347, 295, 494, 353),
    attack=("T1195.002", "T1557"),
    why="A sum, a signature or a certificate is what tells the right file or machine from another one. With "
    "this option the check still runs, and passes for those as well.",
    fix="Leave the check on; add the key, the sum or the certificate that is missing.",
)
def verification_off(view: View) -> Iterator[TextHit]:
    """`sha256sum --check --ignore-missing`, `apt-get --allow-unauthenticated`, `pip --trusted-host`, `cosign
    --insecure-ignore-tlog`, `ssh -o UserKnownHostsFile=/dev/null`, `NODE_TLS_REJECT_UNAUTHORIZED=0` and the
    like (`rules/verification-off.toml`), in scripts, build files and pipelines. In tests and examples: low.
    """
    if not holds_commands(view):
        return
    level = Severity.LOW if is_test_code(view.path) or is_example(view.path) else None
    for first, last, line in command_lines(view):
        for statement, _ in statements(line):
            for option, what in _off(_words(statement)):
                yield TextHit(
                    message="A check is told to let through what it cannot verify.",
                    first=first,
                    last=last,
                    evidence={"option": option, "takes": what},
                    shape=f"off {option}",
                    severity=level,
                )


def _words(statement: str) -> list[str]:
    try:
        words = shlex.split(statement, posix=True)
    except ValueError:  # a quote of the format around the command
        words = statement.split()
    return [bare for word in words if (bare := word.strip(_SIGNS))]


def _off(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options that switch verification off, each with what is taken then."""
    programs, variables = _table()
    told = {word: None for word in words if word in variables}
    for word in told:
        yield word, "whatever answers"
    for at, word in enumerate(words):
        rest = words[at + 1 :]
        for option, what in programs.get(word.rpartition("/")[2], ()):
            if option[0] not in told and any(_is_at(rest, place, option) for place in range(len(rest))):
                yield f"{word.rpartition('/')[2]} {' '.join(option)}", what
                return


def _is_at(words: Sequence[str], at: int, option: Sequence[str]) -> bool:
    if len(option) > 1:
        return list(words[at : at + len(option)]) == list(option)
    word = words[at].removeprefix("-o") if not option[0].startswith("-") else words[at]
    name, equals, value = word.partition("=")
    is_set = option[0].startswith("--") and name == option[0] and bool(equals)
    return word == option[0] or (is_set and value.lower() not in _NOT)
