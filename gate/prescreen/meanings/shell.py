"""Functions of a shell script whose checks end it by ``set -e``, and calls where ``set -e`` does nothing.

A function that stands in a condition (``if f``, ``until f``, ``! f``, ``f && x``, ``f || x``), in ``$(f)``
of bash, or in front of a pipe without ``pipefail`` goes on after a command that fails. What a declaration
takes from ``$(f)`` (``local x=$(f)``) loses also the status of ``f`` itself. Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gate.languages.tree_sitter_parse import parse, walk, without_long_lines
from gate.protections.shell.reader import modes_of, verifier
from gate.protections.tree_sitter.shapes import line_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_COMPARES: Final = frozenset({"cmp", "diff", "test", "["})
_WITHIN: Final = frozenset({"command_substitution", "string", "concatenation", "variable_assignment"})
"""What stands between a call and the declaration that takes what it prints."""
_LONGEST: Final = 5_000
_MOST: Final = 400


class Function(msgspec.Struct, frozen=True):
    """One function. ``checks``: commands that verify and whose failure only ``set -e`` heeds; ``calls``:
    other functions that it calls by such a statement; ``ends``: the check that is its last word;
    ``verifies``: a check anywhere in it.
    """

    name: str
    checks: list[str]
    calls: list[str]
    ends: str = ""
    verifies: str = ""


class Called(msgspec.Struct, frozen=True):
    """A call of what may be a function. ``idle``: why ``set -e`` does nothing there; empty: it acts.
    ``declared``: the word of the declaration that keeps its status from everybody; ``check``: the call itself
    where it verifies.
    """

    name: str
    line: int
    idle: str
    inside: str
    declared: str = ""
    check: str = ""


class Script(msgspec.Struct, frozen=True):
    """One script."""

    functions: list[Function]
    calls: list[Called]
    ends_on_failure: bool


def read(path: str, data: bytes, options: Mapping[str, Any]) -> Script:
    """The functions and the calls of one script."""
    del path, options
    root = parse(without_long_lines(data, _LONGEST), "bash")
    modes = modes_of(root, data)
    off = _switched_off(root)
    bash = not data.startswith((b"#!/bin/sh", b"#!/usr/bin/env sh")) and b"inherit_errexit" not in data
    functions = [node for node in walk(root, frozenset()) if node.type == "function_definition"][:_MOST]
    return Script(
        functions=[_function(node, modes, off) for node in functions],
        calls=[*_calls(root, modes, off, bash=bash)][:_MOST],
        ends_on_failure="errexit" in modes,
    )


def _function(node: Node, modes: frozenset[str], off: frozenset[int]) -> Function:
    body = node.child_by_field_name("body")
    checks: list[str] = []
    calls: list[str] = []
    ends = verifies = ""
    statements = body.named_children if body is not None else []
    for one in walk(body, frozenset({"function_definition"})) if body is not None else ():
        if one.type == "command" and verifier(one):
            verifies = verifies or _said(one)
    for at, statement in enumerate(statements):
        is_last = at == len(statements) - 1
        for one in walk(statement, frozenset({"function_definition", "command_substitution"})):
            if one.type not in ("command", "test_command") or _idle(
                one, modes, off, bash=True, within=statement
            ):
                continue
            said = _said(one)
            name = text_of(one.child_by_field_name("name")).rpartition("/")[2]
            checking = one.type == "test_command" or bool(verifier(one)) or name in _COMPARES
            if checking and is_last:
                ends = said
            elif checking:
                checks.append(said)
            elif name and not is_last:
                calls.append(name)
    return Function(
        text_of(node.child_by_field_name("name")), checks, sorted(set(calls))[:_MOST], ends, verifies
    )


def _said(node: Node) -> str:
    return " ".join(text_of(node).split())[:80]


def _calls(root: Node, modes: frozenset[str], off: frozenset[int], *, bash: bool) -> Iterator[Called]:
    for node in walk(root, frozenset()):
        if node.type == "command":
            name = text_of(node.child_by_field_name("name"))
            if name and "/" not in name and "$" not in name:
                check = _said(node) if verifier(node) else ""
                idle = _idle(node, modes, off, bash=bash)
                yield Called(name, line_of(node), idle, _inside(node), _declared(node), check)


def _declared(node: Node) -> str:
    """``local`` in ``local x=$(node)``: the status is that of the declaration."""
    at = node.parent
    while at is not None and at.type in _WITHIN:
        at = at.parent
    return text_of(at.children[0]) if at is not None and at.type == "declaration_command" else ""


def _inside(node: Node) -> str:
    at = node.parent
    while at is not None and at.type != "function_definition":
        at = at.parent
    return text_of(at.child_by_field_name("name")) if at is not None else ""


def _idle(
    node: Node, modes: frozenset[str], off: frozenset[int], *, bash: bool, within: Node | None = None
) -> str:
    """In what a command stands that keeps ``set -e`` from acting upon what fails in it; empty: nothing."""
    at = node
    while at.parent is not None and at != within:
        if at.id in off:
            return "set +e"
        above = at.parent
        kind = above.type
        if kind == "negated_command":
            return "!"
        if kind == "list" and above.named_children[-1] != at:
            return next((text_of(one) for one in above.children if not one.is_named), "&&")
        if kind == "pipeline" and above.named_children[-1] != at and "pipefail" not in modes:
            return "|"
        if kind in ("if_statement", "elif_clause", "while_statement") and _is_condition(at, above):
            return above.children[0].type
        if kind == "command_substitution" and bash:
            return "$( )"
        if kind == "function_definition":
            return ""
        at = above
    return ""


def _switched_off(root: Node) -> frozenset[int]:
    """Statements behind a ``set +e``, up to the next ``set -e`` beside it."""
    found: set[int] = set()
    for node in walk(root, frozenset({"string", "command"})):
        off = False
        for one in node.named_children if node.named_child_count > 1 else ():
            found |= {one.id} if off else set()
            words = text_of(one).split() if one.type == "command" else []
            if words[:1] == ["set"]:
                off = (off or any(word[:1] == "+" and "e" in word for word in words)) and not any(
                    word[:1] == "-" and "e" in word for word in words
                )
    return frozenset(found)


def _is_condition(node: Node, statement: Node) -> bool:
    """Does it stand in front of ``then`` or ``do``?"""
    for one in statement.children:
        if one.type in ("then", "do_group"):
            return False
        if one == node:
            return True
    return False


def verified(name: str, known: Mapping[str, Function], depth: int = 4) -> str:
    """A check on which the status of this function may depend; empty: none."""
    one = known.get(name)
    if one is None or depth == 0:
        return ""
    return one.verifies or next(filter(None, (verified(other, known, depth - 1) for other in one.calls)), "")


def unheeded(name: str, known: Mapping[str, Function], depth: int = 4) -> str:
    """A check in this function, or in what it calls, that nothing heeds without ``set -e``; empty: none."""
    one = known.get(name)
    if one is None or depth == 0:
        return ""
    if verifying := [check for check in one.checks if not check.startswith("[")] or one.checks:
        return verifying[0]
    for called in one.calls:
        other = known.get(called)
        found = unheeded(called, known, depth - 1) or other.ends if other is not None else ""
        if found:
            return found
    return ""
