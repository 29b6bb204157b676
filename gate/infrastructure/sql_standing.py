"""What a migration says anew, and so takes back: options of views and functions, conditions of policies.

``CREATE OR REPLACE`` replaces options as well: what is not repeated is gone. What base said stands in another
file, which does not change. Statements are read as words, as in ``sql_constraints``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from gate.infrastructure.sql_constraints import plain, statements
from gate.languages.tree_sitter_parse import parse, walk
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

What = Literal["view", "function", "policy"]
_OFF: Final = frozenset({"FALSE", "OFF", "0", "NO"})
_RELOPTIONS: Final = {"SECURITY_INVOKER": "security_invoker", "SECURITY_BARRIER": "security_barrier"}
_SKIPPED: Final = frozenset({"IF", "NOT", "EXISTS", "ONLY"})
_GRAMMARS: Final = {
    "rb": "tree_sitter_ruby", "exs": "tree_sitter_elixir",
    "js": "javascript", "cjs": "javascript", "mjs": "javascript", "ts": "typescript",
    "php": "tree_sitter_php:language_php", "go": "tree_sitter_go",
    "java": "tree_sitter_java", "kt": "tree_sitter_kotlin",
}  # fmt: skip
_PROGRAMS: Final = (".py", *(f".{ending}" for ending in _GRAMMARS))
_MIGRATION: Final = regex(r"(?i)migrat|(?:^|/)(?:versions|alembic|db|schema|sql|database)/")
_TEXT: Final = regex(r"string|heredoc|text_block")
_SAYS: Final = regex(r"(?i)\b(?:create|alter)\b[\s\S]{0,60}?\b(?:view|policy|function|procedure)\b")
_DOWN: Final = regex(
    r"(?i)(?:^|\.)[:\"']?_?(?:down(?:grade)?|revert|rollback|reverse(?:_sql)?|undo)(?:_\w+)?\b"
)
_LONGEST: Final = 60
"""Words before the query of a view."""


class Standing(msgspec.Struct, frozen=True):
    """One view, function or policy as a statement leaves it. ``options``: what protects in it. ``whole``: the
    statement makes it anew; else it only sets ``options`` or takes ``gone``.
    """

    what: What
    name: str
    options: list[str]
    line: int
    whole: bool = True
    gone: list[str] = []
    text: str = ""


def read(path: str, data: bytes, options: Mapping[str, object]) -> list[Standing]:
    """The views, functions and policies of one file in order; of a program, in texts of its way up."""
    del options
    if path.endswith(_PROGRAMS):
        grammar = "tree_sitter_python" if path.endswith(".py") else _GRAMMARS[path.rpartition(".")[2]]
        return [one for text, line in _texts(parse(data, grammar)) for one in _read(text, line - 1)]
    return _read(data.decode("utf-8", "replace"), 0)


def is_program(path: str) -> bool:
    """Is this a migration that a program runs?"""
    return path.endswith(_PROGRAMS) and bool(_MIGRATION.search(path))


def _texts(root: Node) -> Iterator[tuple[str, int]]:
    for node in walk(root, frozenset()):
        if not _TEXT.search(node.type) or (node.parent is not None and _TEXT.search(node.parent.type)):
            continue
        text = (node.text or b"").decode("utf-8", "replace")
        if _SAYS.search(text) and not _is_way_down(node):
            yield text.strip("\"'`"), node.start_point[0] + 1


def _is_way_down(node: Node) -> bool:
    at = node.parent
    while at is not None:
        name = (
            at.child_by_field_name("name") or at.child_by_field_name("key") or at.child_by_field_name("left")
        )
        said = (name.text or b"").decode("utf-8", "replace") if name is not None else ""
        if _DOWN.search(said):
            return True
        at = at.parent
    return False


def _read(source: str, above: int) -> list[Standing]:
    found: list[Standing] = []
    for number, words in statements(source):
        line = above + number
        upper = [word.upper() for word in words]
        if upper[:1] == ["CREATE"]:
            found += _created(words, upper, line)
        elif upper[:1] == ["ALTER"]:
            found += _altered(words, upper, line)
    return found


def _created(words: list[str], upper: list[str], line: int) -> Iterator[Standing]:
    head = upper[:12]
    text = " ".join(words[:24])[:160]
    if "VIEW" in head and "MATERIALIZED" not in head and "AS" in upper[:_LONGEST]:
        begins, query = upper.index("VIEW"), upper.index("AS")
        name = _name(words, begins)
        if name:
            options = [*_given(upper[:query]), *_checked(upper)]
            yield Standing("view", name, options, line, text=text)
    elif ("FUNCTION" in head[:4] or "PROCEDURE" in head[:4]) and "DEFINER" in upper:
        begins = next(at for at, word in enumerate(upper) if word in ("FUNCTION", "PROCEDURE"))
        fixed = any(pair == ("SET", "SEARCH_PATH") for pair in pairwise(upper))
        yield Standing(
            "function", _name(words, begins), ["SET search_path"] if fixed else [], line, text=text
        )
    elif upper[1:2] == ["POLICY"] and len(words) > 4 and "ON" in upper:
        yield _policy(words, upper, line, whole=True)


def _altered(words: list[str], upper: list[str], line: int) -> Iterator[Standing]:
    text = " ".join(words[:24])[:160]
    if upper[1:2] == ["VIEW"]:
        name = _name(words, 1)
        named = [option for word, option in _RELOPTIONS.items() if word in upper]
        on = _given(upper)
        gone = [one for one in named if "RESET" in upper or one not in on]
        yield Standing("view", name, [one for one in on if one not in gone], line, False, gone, text)
    elif upper[1:2] in (["FUNCTION"], ["PROCEDURE"]) and "SEARCH_PATH" in upper and "SET" in upper:
        yield Standing("function", _name(words, 1), ["SET search_path"], line, False, text=text)
    elif upper[1:2] == ["POLICY"] and "ON" in upper and {"USING", "CHECK"} & {*upper}:
        yield _policy(words, upper, line, whole=False)


def _policy(words: list[str], upper: list[str], line: int, *, whole: bool) -> Standing:
    """A policy's rows: ``USING (true)`` and ``WITH CHECK (true)`` hold nobody back."""
    at = upper.index("ON")
    table = _name(words, at)
    held = [f"{word} a condition" for word in ("USING", "CHECK") if _holds(upper, word)]
    gone = [f"{word} a condition" for word in ("USING", "CHECK") if word in upper and not _holds(upper, word)]
    text = " ".join(words[:40])[:160]
    return Standing("policy", f"{plain(words[2])} on {table}", held, line, whole, gone, text)


def _holds(upper: Sequence[str], word: str) -> bool:
    if word not in upper:
        return False
    inside = [one for one in upper[upper.index(word) + 1 :] if one not in "()"][:2]
    return bool(inside) and not (inside[0] == "TRUE" and (len(inside) == 1 or inside[1] in ("WITH", "TRUE")))


def _given(upper: Sequence[str]) -> list[str]:
    """Options in brackets that are on, and MySQL's ``SQL SECURITY INVOKER``."""
    found = []
    for word, name in _RELOPTIONS.items():
        if word in upper:
            after = upper[upper.index(word) + 1 :][:1]
            found += [] if after and after[0] in _OFF else [name]
    joined = " ".join(upper)
    return [*found, *(["SQL SECURITY INVOKER"] if "SQL SECURITY INVOKER" in joined else [])]


def _checked(upper: Sequence[str]) -> list[str]:
    tail = " ".join(upper[-4:])
    return ["WITH CHECK OPTION"] if tail.endswith("CHECK OPTION") or "CHECK_OPTION" in upper else []


def _name(words: Sequence[str], begins: int) -> str:
    rest = [word for word in words[begins + 1 : begins + 6] if word.upper() not in _SKIPPED]
    while len(rest) > 1 and rest[0].endswith("."):  # public."loans"
        rest = rest[1:]
    return plain(rest[0]) if rest else ""
