"""The functions of one file: their random values, and what facts of the machine decide in them.

Runs in the limited child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gate.languages.grammars import grammar_of
from gate.languages.tree_sitter_parse import parse, walk, without_long_lines
from gate.prescreen.machine.builds import FACT, left_out
from gate.prescreen.machine.vocabulary import ACTS, CHECKS, FACTS, RUN, SECURE, WEAK
from gate.protections.tree_sitter.functions import function_around, name_of
from gate.protections.tree_sitter.shapes import assigned, callee, is_call, line_of, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_BRANCHES: Final = regex(
    r"if(?:_\w+)?|unless(?:_\w+)?|elif_clause|else_clause|elsif|conditional(?:_expression)?|ternary_expression"
    r"|match_expression|switch_\w+|when(?:_\w+)?|case(?:_\w+)?|while_\w+|except_clause|catch_clause|rescue"
)
_TESTS: Final = ("condition", "initializer", "value", "subject")
_ENDS: Final = frozenset(
    {"return_statement", "return_expression", "return", "continue_statement", "break_statement"}
)
_LONGEST: Final = 5_000
_MOST: Final = 400
_MOST_ASKED: Final = 100
"""Conditions on facts that are followed to what they decide about."""
_MOST_NODES: Final = 4_000
_PASSES: Final = 3


class Chance(msgspec.Struct, frozen=True):
    """Random values of a function: draws from the system's source that always happen, those behind a
    condition, and other sources by name.
    """

    function: str
    always: int
    sometimes: int
    weak: list[str]
    line: int


class Decided(msgspec.Struct, frozen=True):
    """A condition on ``fact``, and the call that it decides about."""

    function: str
    fact: str
    what: str
    line: int


class Facts(msgspec.Struct, frozen=True):
    """What one file says. ``helpers``: functions that draw from the system's source."""

    chances: list[Chance]
    decided: list[Decided]


def read(path: str, data: bytes, options: Mapping[str, Any]) -> Facts:
    """The random values and the decisions of a program."""
    del options
    python = path.endswith((".py", ".pyw"))
    grammar = "tree_sitter_python" if python else grammar_of(path)
    if not grammar:
        return Facts([], [])
    root = parse(without_long_lines(data, _LONGEST), grammar)
    run = PurePosixPath(path).name == "conftest.py" or "pytest" in path or b"globalSetup" in data
    built = [Decided(function, FACT, what, line) for function, what, line in left_out(root, data)]
    return Facts([*_chances(root)][:_MOST], [*_decided(root, run=run), *built][:_MOST])


def _leaf(node: Node) -> str:
    """The text of a call's name, of a path or of a short text, by which a source is told."""
    if is_call(node):
        return callee(node)
    if "string" in node.type and node.end_byte - node.start_byte < 60:
        return text_of(node)
    dotted = ("selector_expression", "member_expression", "scoped_identifier", "attribute", "field_access")
    return text_of(node) if node.type in dotted and node.end_byte - node.start_byte < 80 else ""


def _chances(root: Node) -> Iterator[Chance]:
    always: dict[str, int] = {}
    sometimes: dict[str, int] = {}
    weak: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    calls: dict[str, set[str]] = {}
    for node in walk(root, frozenset()):
        said = _leaf(node)
        if not said:
            continue
        name = name_of(function_around(node))
        if is_call(node):
            calls.setdefault(name, set()).add(said.replace("::", ".").rpartition(".")[2])
        if SECURE.search(said):
            kind = sometimes if is_behind(node) else always
            kind[name] = kind.get(name, 0) + 1
            lines.setdefault(name, line_of(node))
        elif WEAK.search(said):
            weak.setdefault(name, []).append(said[:60])
            lines.setdefault(name, line_of(node))
    for _ in range(2):  # what a helper of the file is made of
        for name, many in calls.items():
            for one in many & (weak.keys() - {name}):
                fresh = [said for said in weak[one] if said not in weak.get(name, [])]
                weak.setdefault(name, []).extend(fresh[:20])
    own = {name for name in always if name}
    for name in sorted({*always, *sometimes, *weak}):
        helped = bool(calls.get(name, set()) & (own - {name}))
        yield Chance(
            function=name,
            always=always.get(name, 0) + helped,
            sometimes=sometimes.get(name, 0),
            weak=sorted(set(weak.get(name, [])))[:10],
            line=lines.get(name, 1),
        )


def is_behind(node: Node) -> bool:
    """Does it happen only on a condition of its function?"""
    at, parent = node, node.parent
    function = function_around(node)
    while parent is not None and at != function:
        if _BRANCHES.fullmatch(parent.type) and not _is_test(parent, at):
            return True
        at, parent = parent, parent.parent
    return False


def _is_test(branch: Node, part: Node) -> bool:
    return any(branch.child_by_field_name(field) == part for field in _TESTS)


def _decided(root: Node, *, run: bool) -> Iterator[Decided]:
    known = _asking(root)
    short = _short(root)
    asked = 0
    for node in walk(root, frozenset()):
        if not _BRANCHES.fullmatch(node.type):
            continue
        test = next((t for field in _TESTS if (t := node.child_by_field_name(field))), None)
        if test is None:
            test = node.named_children[0] if node.named_children else None
        if test is None:
            continue
        said = text_of(test)[:400]
        function = name_of(function_around(node))
        fact = _fact(said, known) or _fact(said, short.get(function_around(node).id, {}))
        asked += bool(fact) or run
        if asked > _MOST_ASKED:
            return
        if fact and (what := _among(_behind(node, test), SECURE, CHECKS)):
            yield Decided(function, fact, what, line_of(node))
        elif run and RUN.search(said) and (what := _among(_behind(node, test), ACTS)):
            yield Decided(function, "what only the run of the tests knows", what, line_of(node))


def _fact(said: str, known: Mapping[str, str]) -> str:
    for fact, pattern in FACTS.items():
        if pattern.search(said):
            return fact
    words = set(re.findall(r"[A-Za-z_]\w*", said))
    return next((known[word] for word in sorted(words) if word in known), "")


def _asking(root: Node) -> dict[str, str]:
    """Names of the file that stand for a fact: variables made from one, functions that ask for one."""
    found: dict[str, str] = {}
    for _ in range(_PASSES):
        before = len(found)
        for node in walk(root, frozenset()):
            pair = assigned(node)
            if pair is not None and pair[1].end_byte - pair[1].start_byte < 400:
                if fact := _fact(text_of(pair[1]), found):
                    found.setdefault(text_of(pair[0]).rpartition(".")[2].strip("$@"), fact)
            elif node.child_by_field_name("body") is not None and node.end_byte - node.start_byte < 1_200:
                name = name_of(node)
                body = text_of(node.child_by_field_name("body"))
                if name and not SECURE.search(body) and (fact := _fact(body, {})):
                    found.setdefault(name, fact)
        if len(found) == before:
            break
    return {name: fact for name, fact in found.items() if len(name) > 2}


def _short(root: Node) -> dict[int, dict[str, str]]:
    """Names of a letter or two that stand for a fact, by function: in others they are something else."""
    found: dict[int, dict[str, str]] = {}
    for node in walk(root, frozenset()):
        pair = assigned(node)
        if pair is None or pair[1].end_byte - pair[1].start_byte >= 400:
            continue
        name = text_of(pair[0]).strip("$@").split(",")[0]
        if len(name) <= 2 and name.isidentifier() and (fact := _fact(text_of(pair[1]), {})):
            found.setdefault(function_around(node).id, {})[name] = fact
    return found


def _behind(node: Node, test: Node) -> list[Node]:
    """What the condition decides about: its branches, and what follows when a branch ends the function."""
    inside = [child for child in node.named_children if child != test]
    ends = any(n.type in _ENDS for child in inside for n in walk(child, frozenset()))
    if ends:
        one = node.next_named_sibling
        while one is not None:
            inside.append(one)
            one = one.next_named_sibling
    return inside


def _among(nodes: list[Node], *patterns: re.Pattern[str]) -> str:
    count = 0
    for top in nodes:
        for node in walk(top, frozenset()):
            count += 1
            if count > _MOST_NODES:
                return ""
            said = _leaf(node)
            if said and any(pattern.search(said) for pattern in patterns):
                return said[:80]
    return ""
