"""How one file names owners: composite names with their separators, and what is folded before comparing.

Runs in the limited child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gate.languages.grammars import grammar_of
from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import parse, walk, without_long_lines
from gate.prescreen.collisions.folding import FOLDS, folds_in
from gate.prescreen.collisions.joined import joined_in
from gate.protections.tree_sitter.functions import function_around
from gate.protections.tree_sitter.shapes import callee, is_call, line_of, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

    from gate.prescreen.collisions.joined import Part

_OWNER: Final = regex(
    r"(?:^|_)(?:tenants?|orgs?|organi[sz]ations?|owners?|users?|accounts?|customers?|merchants?|workspaces?|projects?"
    r"|namespaces?|teams?|groups?|realms?|issuers?|hosts?|domains?|zones?|buckets?|principals?|subjects?|sellers?"
    r"|shops?|communit(?:y|ies)|members?|roles?|scopes?|client|audience|uid|email|login|username|repos?(?:itory)?)(?:_|$)"
)
_SAYS: Final = regex(
    r"(?i)log|print|echo|warn|error|debug|info|fatal|panic|raise|throw|exception|message|abort|assert|expect|describe"
    r"|execute|query|title|label|render|subject"
)
_LONGEST: Final = 5_000
_MOST: Final = 400


class Joined(msgspec.Struct, frozen=True):
    """One composite name. ``values``: what it is made of, in order; ``between``: the texts between them."""

    function: str
    values: list[str]
    between: list[str]
    line: int


class Folded(msgspec.Struct, frozen=True):
    """What a function does to a name of somebody before it is compared: kinds of FOLDS."""

    function: str
    kinds: list[str]
    lines: list[int]


class Naming(msgspec.Struct, frozen=True):
    """What one file says."""

    joined: list[Joined]
    folded: list[Folded]


def read(path: str, data: bytes, options: Mapping[str, Any]) -> Naming:
    """The composite names of owners and the foldings of a file."""
    del options
    grammar = "tree_sitter_python" if path.endswith((".py", ".pyw")) else grammar_of(path)
    if not grammar:
        return Naming([], [])
    root = parse(without_long_lines(data, _LONGEST), grammar)
    return Naming([*_joined(root)][:_MOST], [*_folded(root, path)][:_MOST])


def _name_of(function: Node) -> str:
    named = function.child_by_field_name("name")
    if named is None and function.parent is not None:
        named = function.parent.child_by_field_name("name") or function.parent.child_by_field_name("key")
    return text_of(named)


def _joined(root: Node) -> Iterator[Joined]:
    for node, parts in joined_in(root):
        values = [text for is_value, text in parts if is_value]
        if not any(_OWNER.search(_short(one)) for one in values) or _is_said(node):
            continue
        yield Joined(
            function=_name_of(function_around(node)),
            values=values,
            between=_between(parts),
            line=line_of(node),
        )


def _short(value: str) -> str:
    """The last name of a value, in snake case."""
    plain = re.sub(r"\([^()]*\)", "", value.replace("::", ".").replace("->", "."))
    return snake(plain.rpartition(".")[2].strip("?!)"))


def _between(parts: list[Part]) -> list[str]:
    found: list[str] = []
    text = ""
    seen = False
    for is_value, said in parts:
        if not is_value:
            text += said
            continue
        if seen:
            found.append(text)
        text, seen = "", True
    return found


def _is_said(node: Node) -> bool:
    """Is it a text for people: an error, a log, a message?"""
    at = node.parent
    for _ in range(4):
        if at is None:
            return False
        if at.type in ("raise_statement", "throw_statement", "assert_statement"):
            return True
        if is_call(at) and _SAYS.search(callee(at).replace("::", ".").rpartition(".")[2]):
            return True
        at = at.parent
    return False


def _folded(root: Node, path: str) -> Iterator[Folded]:
    found: dict[str, dict[str, int]] = {}
    for node in walk(root, frozenset()):
        for kind in folds_in(node):
            function = function_around(node)
            if is_about_somebody(function, path):
                found.setdefault(_name_of(function), {}).setdefault(kind, line_of(node))
    for name, kinds in found.items():
        yield Folded(name, sorted(kinds), [kinds[kind] for kind in sorted(kinds)])


_SOMEBODY: Final = regex(
    r"(?:^|_)(?:e?mails?|addr(?:ess)?|users?|usernames?|logins?|handles?|accounts?|tenants?|orgs?|hosts?|hostnames?|domains?"
    r"|identit(?:y|ies)|principals?|nick(?:name)?s?|subjects?|members?|owners?|customers?|realms?|canonical|recipients?)(?:_|$)"
)


def is_about_somebody(function: Node, path: str) -> bool:
    """Do the function's name, its parameters or the file's name say that it is about who somebody is?"""
    if function.parent is None:
        return False
    words = [_name_of(function), path.rpartition("/")[2].partition(".")[0]]
    given = function.child_by_field_name("parameters") or function.child_by_field_name("parameter")
    words += re.findall(r"\w+", text_of(given)) if given is not None else []
    return any(_SOMEBODY.search(snake(word)) for word in words)


KINDS: Final = tuple(FOLDS)
