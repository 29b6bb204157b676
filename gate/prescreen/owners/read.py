"""What one program says of owners and receivers. Runs in the limited child; one reader for every grammar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from gate.languages.grammars import is_read
from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import parse, walk, without_long_lines
from gate.prescreen.owners.bounds import bounds
from gate.prescreen.owners.vocabulary import (
    ADDRESSES,
    APPROVALS,
    CACHE,
    COPIES,
    DISTINCT,
    GIVEN_TO,
    HEADER,
    LIMIT,
    LIMITS,
    LOCKING_TEXT,
    LOCKS,
    OWNER,
    RECEIVER,
    SENDS,
    SENT,
    TAKES,
    TRUSTED,
    WRITES,
)
from gate.protections.tree_sitter.functions import function_around, name_of
from gate.protections.tree_sitter.shapes import arguments, assigned, callee, is_call, line_of, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

What = Literal["cache", "limit", "receiver", "distinct", "copy", "locked", "bound"]
_NAMES: Final = frozenset({
    "identifier", "simple_identifier", "property_identifier", "field_identifier", "name", "variable_name",
    "field_expression", "constant",
})  # fmt: skip
_RETURNS: Final = frozenset({"return_statement", "return_expression", "return", "jump_expression"})
_COUNTS: Final = regex(r"(?i)\b(?:length|size|count|len)\b")
_LONGEST: Final = 5_000
_LONGEST_VALUE: Final = 800
_LONGEST_FUNCTION: Final = 20_000
_MOST: Final = 400
_MOST_NODES: Final = 600


class Owned(msgspec.Struct, frozen=True):
    """One place: what it is for, in which function and under which name, and the words that decide."""

    what: What
    function: str
    name: str
    words: list[str]
    line: int
    text: str


def read(path: str, data: bytes, options: Mapping[str, Any]) -> list[Owned]:
    """All such places of a program."""
    del options
    grammar = is_read(path)
    if not grammar:
        return []
    root = parse(without_long_lines(data, _LONGEST), grammar)
    given = _given(root)
    place = path.rpartition("/")[2]
    found: list[Owned] = []
    for node in walk(root, frozenset()):
        if is_call(node) or node.type == "function_call":
            found += _call(node, given, place)
            found += _given_to(node)
        found += _receiver(node)
        found += _locked(node)
        for function, (asked, limit), place_of in bounds(node):
            said = text_of(place_of)[:160]
            found.append(Owned("bound", function, " ".join(asked), limit, line_of(place_of), said))
        if len(found) >= _MOST:
            break
    return found[:_MOST]


def _given(root: Node) -> dict[tuple[int, str], Node]:
    """What a name of a function was given last."""
    found: dict[tuple[int, str], Node] = {}
    for node in walk(root, frozenset()):
        pair = _pair(node)
        if pair is not None and pair[1].end_byte - pair[1].start_byte <= _LONGEST_VALUE:
            name = text_of(pair[0]).split(",")[0].strip("$@ ")
            found[function_around(node).id, name] = pair[1]
    return found


def _pair(node: Node) -> tuple[Node, Node] | None:
    pair = assigned(node)
    if pair is None and node.type in ("let_declaration", "assignment_statement", "match_operator"):
        named = node.named_children
        pair = (named[0], named[-1]) if len(named) > 1 else None
    return pair


def _call(node: Node, given: Mapping[tuple[int, str], Node], place: str) -> Iterator[Owned]:
    said = callee(node)
    function = function_around(node)
    name = name_of(function)
    first = next(iter(arguments(node)), None)
    about = LIMITS.search(f"{place} {name}") is not None and TAKES.search(said) is not None
    limited = LIMIT.search(said) is not None or about
    for what, wanted in (("cache", CACHE.search(said) is not None), ("limit", limited)):
        if not wanted or first is None:
            continue
        key = given.get((function.id, text_of(first).strip("&$@* ")), first)
        if key.end_byte - key.start_byte > _LONGEST_VALUE:
            continue
        words = _words(key) if what == "cache" else _sent(key)
        kind: What = "cache" if what == "cache" else "limit"
        yield Owned(kind, name, said[:80] if what == "cache" else "", words, line_of(key), text_of(key)[:160])
    plain = said.replace("::", ".").replace(".new", "")
    if DISTINCT.search(plain) and APPROVALS.search(f"{name} {text_of(node)[:600]}"):
        yield Owned("distinct", name, "", [], line_of(node), text_of(node)[:160])


def _words(key: Node) -> list[str]:
    """Names in a key that say whose something is."""
    found = {
        snake(text_of(node).rpartition(".")[2])
        for node in islice(walk(key, frozenset()), _MOST_NODES)
        if node.type in _NAMES
    }
    return sorted(one for one in found if OWNER.search(one))


def _sent(key: Node) -> list[str]:
    text = text_of(key).replace(" .", ".")
    return [text[:120]] if HEADER.search(text) and not TRUSTED.search(text) else []


def _locked(node: Node) -> Iterator[Owned]:
    """Rows that are locked in a function that writes."""
    written = "string" in node.type and "content" not in node.type and LOCKING_TEXT.search(text_of(node))
    called = is_call(node) and LOCKS.search(callee(node))
    if written or called or (node.named_child_count == 0 and text_of(node) == "PESSIMISTIC_WRITE"):
        function = function_around(node)
        if WRITES.search(text_of(function)[:_LONGEST_FUNCTION]):
            yield Owned("locked", name_of(function), "", [], line_of(node), text_of(node)[:160])


def _given_to(node: Node) -> Iterator[Owned]:
    """``->bcc(...)``, ``.to(...)``, ``add_recipient(...)`` of a message."""
    said = callee(node).replace("->", ".").replace("::", ".")
    name = snake(said.rpartition(".")[2])
    given = arguments(node)
    if SENDS.search(said):
        texts = [text_of(one).replace(" .", ".").replace("?.", ".")[:200] for one in given[:4]]
        sent = sorted({m[0] for text in texts for m in SENT.finditer(text) if ADDRESSES.search(m[0])})
        yield Owned(
            "receiver", name_of(function_around(node)), f"{name}()", sent, line_of(node), text_of(node)[:160]
        )
    if not given or not GIVEN_TO.match(name):
        return
    text = text_of(given[0]).replace(" .", ".").replace(" ?.", "?.")[:_LONGEST_VALUE]
    words = sorted({match[0] for match in SENT.finditer(text)})
    what: What = "copy" if COPIES.search(name) else "receiver"
    yield Owned(what, name_of(function_around(node)), name, words, line_of(node), text[:160])


def _receiver(node: Node) -> Iterator[Owned]:
    """The values of names, options and answers that say who gets something."""
    function = ""
    if node.type in _RETURNS and node.named_children:
        function = name_of(function_around(node))
        name, value = snake(function), node.named_children[0]
    elif (pair := _pair(node)) is not None:
        name, value = snake(text_of(pair[0]).rpartition(".")[2].strip("'\"`:$@ ")), pair[1]
    else:
        return
    size = value.end_byte - value.start_byte
    copied = COPIES.search(name) is not None
    if not name or size > _LONGEST_VALUE or not (copied or RECEIVER.search(name)):
        return
    text = text_of(value).replace(" .", ".").replace(" ?.", "?.")
    words = sorted({match[0] for match in SENT.finditer(text)})
    function = function or name_of(function_around(node))
    yield Owned("copy" if copied else "receiver", function, name, words, line_of(node), text[:160])
