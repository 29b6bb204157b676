"""What one file names, read in the limited child."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

import msgspec

from gate.languages.content import reader_of
from gate.languages.grammars import grammar_of
from gate.prescreen.identities import data_literals, python_literals, tree_literals
from gate.prescreen.identities.names import words_of
from gate.prescreen.identities.written import UNNAMED, Written
from gate.prescreen.named.vocabulary import (
    Kind,
    credential_in,
    function_in,
    git_in,
    ignored_in,
    nobody_in,
    place_in,
)

_DATA: Final = (
    ".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".csv", ".tsv", ".properties", ".txt",
    ".list",
)  # fmt: skip
_WINDOW: Final = 6
_MOST: Final = 40
_LEAVES_OUT: Final = frozenset({
    "exclude", "excludes", "excluded", "ignore", "ignores", "ignored", "deny", "denied", "denylist",
    "block", "blocked",
    "blocklist", "forbid", "forbidden", "skip", "protect", "protected", "redact", "banned", "ban",
    "sensitive", "pattern",
    "patterns", "disallow", "disallowed", "rule", "rules", "description", "message", "help", "title",
    "msg", "reject",
    "unsafe", "dangerous", "test", "tests", "example", "examples", "comment",
})  # fmt: skip
"""Names on the way that say: not these."""


class Named(msgspec.Struct, frozen=True):
    """One thing that a file names. ``what``: which function, or what kind of file or place."""

    kind: Kind
    what: str
    text: str
    line: int


def read(path: str, data: bytes, options: Mapping[str, Any]) -> list[Named]:
    """The things that the texts of a file name, neighbours in a list taken together."""
    del options
    pure = PurePosixPath(path.lower())
    found: list[Named] = []
    before: list[Written] = []
    for one in _texts(path, data):
        same = before and before[-1].path == one.path and before[-1].row == one.row
        before = [*before[1 - _WINDOW :], one] if same else [one]
        if len(found) >= _MOST:
            break
        if one.value and not _is_left_out(one):
            found += _named(before, is_data=pure.suffix in _DATA)
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        if len(line) >= 2_000 or line.lstrip().startswith(("#", "//", "*")):
            continue
        if what := ignored_in(line):
            found.append(Named("ignored", what, line.strip()[-120:], number))
        if what := nobody_in(line):
            found.append(Named("nobody", what, line.strip()[-120:], number))
    return found[: 2 * _MOST]


def _texts(path: str, data: bytes) -> Iterator[Written]:
    if grammar_of(path):
        yield from tree_literals.written(path, data)
    elif path.endswith((".py", ".pyw")) or reader_of(path, data) == "python":
        yield from python_literals.written(path, data)
    elif path.endswith(_DATA) or PurePosixPath(path).suffix == "":
        yield from data_literals.written(path, data)
        if PurePosixPath(path).suffix in ("", ".txt", ".list", ".conf"):
            for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
                if not line.lstrip().startswith("#"):
                    yield Written(("",), line.strip(), number, str(number))


def _is_left_out(one: Written) -> bool:
    return any(not _LEAVES_OUT.isdisjoint(words_of(name).split("-")) for name in one.path)


def _named(texts: list[Written], *, is_data: bool) -> Iterator[Named]:
    last = texts[-1]
    values = [one.value for one in texts]
    if is_data and (name := function_in(values)):
        yield Named("function", name, " ".join(values)[-120:], last.line)
    if what := credential_in(values if _is_list(last) else values[-1:]):
        yield Named("credential", what, last.value[-120:], last.line)
    if what := place_in(values if _is_list(last) else values[-1:]):
        yield Named("starts", what, last.value[-120:], last.line)
    if name := git_in(" ".join(values[-2:])):
        yield Named("git", name, last.value[-120:], last.line)


def _is_list(one: Written) -> bool:
    return (bool(one.path) and one.path[-1] != "") or UNNAMED in one.path
