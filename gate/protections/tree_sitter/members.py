"""Which keys of what is sent are taken, in languages that tree-sitter reads. Runs in the limited child."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from gate.languages.tree_sitter_parse import walk
from gate.protections.covered import MATCHER
from gate.protections.facts import Members
from gate.protections.overall.said import plain
from gate.protections.tree_sitter.shapes import (
    arguments,
    assigned,
    callee,
    is_call,
    line_of,
    short_name,
    text_of,
)

_DEPTH: Final = 8
_CUT: Final = 160
_MAPPED: Final = frozenset({"OmitType", "PickType", "PartialType", "IntersectionType"})
_CLOSED: Final = frozenset({"permit", "only", "pick", "set_allowed_fields"})
_OPEN: Final = frozenset({"except", "omit", "set_disallowed_fields"})
_SENT: Final = ("params", "request", "req.", "body", "payload", "input", "binder", "schema", "Schema", "data")
_LISTS: Final = {"fillable": False, "guarded": True}
_ENDS: Final = frozenset({"function_declaration", "method", "method_declaration", "method_definition",
                          "function_definition", "singleton_method", "variable_declarator"})  # fmt: skip

_Taken = tuple[bool, frozenset[str]]
"""Is everything taken, and which keys are left out (open) or taken (closed)."""


def members_in(root: Node) -> Iterator[Members]:
    """Classes of mapped types, schemas and calls that pick from what was sent."""
    classes = {
        text_of(node.child_by_field_name("name")): node
        for node in walk(root, frozenset())
        if node.type in ("class_declaration", "abstract_class_declaration")
    }
    for name, node in classes.items():
        of = _heritage(node)
        if of is not None and any(one in text_of(of) for one in _MAPPED):
            yield _made(name, _taken(of, classes), of)
    for node in walk(root, frozenset()):
        if is_call(node):
            yield from _picked(node)
        elif node.type == "property_element":
            yield from _listed(node)
        elif node.type == "pair" and short_name(node.child_by_field_name("key")) == "matcher":
            yield from _matched(node)


def _made(name: str, taken: _Taken, node: Node) -> Members:
    return Members(
        name=name, open=taken[0], names=tuple(sorted(taken[1])), text=text_of(node)[:_CUT], line=line_of(node)
    )


def _heritage(node: Node) -> Node | None:
    """What a class extends, in TypeScript and JavaScript."""
    for one in walk(node, frozenset({"class_body"})):
        if one.type == "extends_clause":
            return one.child_by_field_name("value") or next(iter(one.named_children), None)
    return None


def _taken(node: Node, classes: Mapping[str, Node], depth: int = 0) -> _Taken:
    """What a class or a mapped type takes; whatever is not known takes everything."""
    if depth > _DEPTH:
        return True, frozenset()
    if node.type == "identifier" and (known := classes.get(text_of(node))) is not None:
        of = _heritage(known)
        own = frozenset(_fields(known))
        if of is None:
            return False, own
        is_open, names = _taken(of, classes, depth + 1)
        return is_open, names - own if is_open else names | own
    if not is_call(node):
        return True, frozenset()
    given = arguments(node)
    parts = [
        _taken(one, classes, depth + 1) for one in given if one.type in ("identifier", "call_expression")
    ]
    name = short_name(node.child_by_field_name("function"))
    if not parts:
        return True, frozenset()
    if name == "PickType":
        return False, frozenset(_texts(given[-1]))
    is_open, names = parts[0]
    if name == "OmitType":
        left = frozenset(_texts(given[-1]))
        return is_open, names | left if is_open else names - left
    if name == "IntersectionType":
        return _together(parts)
    return is_open, names


def _together(parts: list[_Taken]) -> _Taken:
    closed = frozenset[str]().union(*(names for is_open, names in parts if not is_open))
    wide = [names for is_open, names in parts if is_open]
    return (True, frozenset.intersection(*wide) - closed) if wide else (False, closed)


def _fields(node: Node) -> Iterator[str]:
    body = node.child_by_field_name("body")
    for one in body.named_children if body is not None else ():
        if one.type == "public_field_definition":
            yield text_of(one.child_by_field_name("name"))


def _texts(node: Node) -> list[str]:
    """The names of a list, of Ruby's symbols and of an object of flags."""
    found = []
    for one in walk(node, frozenset()):
        if "string" in one.type and (one.parent is None or "string" not in one.parent.type):
            found.append(text_of(one).strip("'\"`"))
        elif one.type in ("simple_symbol", "bare_symbol", "hash_key_symbol"):
            found.append(text_of(one).strip(":"))
        elif one.type == "property_identifier":
            found.append(text_of(one))
    return found


def _picked(node: Node) -> Iterator[Members]:
    """``params.permit(:name)``, ``schema.omit({role: true})``, ``$request->only([...])``."""
    called = callee(node)
    name = plain(called)
    if name not in _CLOSED | _OPEN:
        return
    given = arguments(node)
    about = called + (text_of(given[0]) if len(given) > 1 and name in ("pick", "omit") else "")
    if not any(one in about for one in _SENT):
        return
    names = frozenset(text for one in given for text in _texts(one))
    everything = called.endswith("permit!")
    if names or everything:
        yield _made(f"{_holder(node)} of {_kind(called)}", (everything or name in _OPEN, names), node)


def _kind(called: str) -> str:
    """What is picked from, so that two lists of one function are told apart."""
    for mark in ("->", "?.", "&.", "::"):
        called = called.replace(mark, ".")
    return called.rpartition(".")[0].partition("(")[0][-40:]


def _matched(node: Node) -> Iterator[Members]:
    """Next's ``config.matcher``: which paths a middleware is asked for."""
    value = node.child_by_field_name("value")
    names = [one for one in _texts(value) if one.startswith("/")] if value is not None else []
    if names:
        yield _made(MATCHER, (False, frozenset(names)), node)


def _holder(node: Node) -> str:
    above = node.parent
    while above is not None and above.type not in _ENDS:
        above = above.parent
    return text_of(above.child_by_field_name("name")) if above is not None else ""


def _listed(node: Node) -> Iterator[Members]:
    """Laravel's ``$fillable`` and ``$guarded``."""
    pair = assigned(node)
    name = text_of(node).partition("=")[0].strip().lstrip("$")
    if name in _LISTS:
        above = node.parent
        while above is not None and above.type != "class_declaration":
            above = above.parent
        owner = text_of(above.child_by_field_name("name")) if above is not None else ""
        value = pair[1] if pair is not None else node
        yield _made(f"{owner} by mass assignment", (_LISTS[name], frozenset(_texts(value))), node)
