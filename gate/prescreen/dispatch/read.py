"""The calls of one file that choose a function, a class or a module by a name. Runs in the limited child."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gate.languages.grammars import grammar_of
from gate.languages.tree_sitter_parse import parse, walk, without_long_lines
from gate.prescreen.dispatch.calls import ENUMERATES, RECEIVER, family_of, looked_up
from gate.prescreen.dispatch.names import is_bounded
from gate.protections.tree_sitter.functions import function_around
from gate.protections.tree_sitter.shapes import (
    arguments,
    assigned,
    callee,
    inside,
    is_call,
    line_of,
    text_of,
)
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_TABLE: Final = regex(
    r"(?i)(?:handlers?|callbacks?|listeners?|fns?|functions?|map|table|registry|commands?|actions?|readers?"
    r"|parsers?|strategies|resolvers?|reducers?|routes?|validators?|formatters?|converters?|console|logger|log"
    r"|ops|operators|visitors?|factories|builders|creators?|loaders?|renderers?|mocks?|hooks|plugins|schemas)$"
)
"""Names of tables of functions: their keys are the list of what may be called."""
_NAMES: Final = regex(
    r"ucfirst|lcfirst|str_replace|strtolower|ucwords|sprintf|\$_(?:GET|POST|REQUEST)|->(?:get|input|query)\("
)
_INDEX: Final = regex(r"(?i)(?:[ijkn]|idx|index|\w*(?:Index|Idx)|.*\.length.*|-?\d+)")
_SPACES: Final = regex(r"^(?:globals|locals|vars)\(|^sys\.modules$|(?:^|\.)__dict__$")
_ORDINARY: Final = regex(
    r"(?i)\$(?:\w*(?:callback|handler|closure|callable|next|listener|resolver|factory|func|fn|cb)\w*|f|this)"
)
"""Variables of PHP that hold functions, as their names say."""
_ON: Final = ("call", "apply", "bind")
_TEXTUAL: Final = frozenset({"getattr"})
_LONGEST: Final = 5_000
"""Bytes of a line from which it is made by a tool: such a line is not read, those beside it are."""
_LOOSE: Final = frozenset({"identifier", "variable_name", "call_expression", "call"})
_MOST_ASKED: Final = 300
"""Names that are followed through their functions: each costs a walk."""
_MOST: Final = 60


class Dispatch(msgspec.Struct, frozen=True):
    """One call by a name. ``what``: function, class or module. ``name``: the expression that says which."""

    what: str
    name: str
    call: str
    line: int


def read(path: str, data: bytes, options: Mapping[str, Any]) -> list[Dispatch]:
    """Calls by a name that no reader of the file can enumerate."""
    del options
    family = family_of(path)
    grammar = "tree_sitter_python" if family == "python" else grammar_of(path)
    if not family or not grammar:
        return []
    root = parse(without_long_lines(data, _LONGEST), grammar)
    found: list[Dispatch] = []
    tables = _literal_tables(root) if family in ("script", "php") else frozenset[str]()
    asked = 0
    for node in walk(root, frozenset()):
        for what, name in _chosen(node, family, tables):
            asked += name.type in _LOOSE
            if asked <= _MOST_ASKED and not is_bounded(name):
                found.append(Dispatch(what, text_of(name)[:120], text_of(node)[:120], line_of(node)))
        if len(found) >= _MOST:
            break
    return [*found, *_by_hand(root, family)]


def _by_hand(root: Node, family: str) -> Iterator[Dispatch]:
    """Functions that go through the members of an object, compare their names, and call one."""
    lists, calls = ENUMERATES.get(family, (frozenset(), frozenset()))
    listed: dict[int, Node] = {}
    called: dict[int, Node] = {}
    for node in walk(root, frozenset()):
        if not is_call(node):
            continue
        last = callee(node).replace("::", ".").replace("->", ".").rpartition(".")[2]
        if last in lists:
            listed.setdefault(function_around(node).id, node)
        elif last in calls:
            called.setdefault(function_around(node).id, node)
    for function, node in listed.items():
        if function in called:
            yield Dispatch("function", text_of(node)[:120], text_of(called[function])[:120], line_of(node))


def _chosen(node: Node, family: str, tables: frozenset[str]) -> Iterator[tuple[str, Node]]:
    if family == "php":
        yield from _php(node)
    if family == "script" and node.type == "subscript_expression":
        yield from _member(node, tables)
    if family == "script" and node.type == "pair_pattern":
        yield from _taken_out(node)
    if family == "python" and node.type == "subscript" and _is_called(node):
        of, name = node.child_by_field_name("value"), node.child_by_field_name("subscript")
        if name is not None and _SPACES.search(text_of(of)):
            yield "function", name
    if not is_call(node):
        return
    found = looked_up(family, callee(node))
    if found is None:
        return
    what, at = found
    given = [_value(one) for one in arguments(node)]
    if at == RECEIVER:
        of = node.child_by_field_name("receiver")
        if of is not None:
            yield what, of
    elif len(given) > at and (callee(node) not in _TEXTUAL or _is_called(node)):
        yield what, given[at]


def _value(argument: Node) -> Node:
    """An argument without its name or its wrapper."""
    if (
        argument.type in ("keyword_argument", "pair", "argument", "value_argument")
        and argument.named_children
    ):
        return inside(argument.named_children[-1])
    return argument


def _php(node: Node) -> Iterator[tuple[str, Node]]:
    """``$f(...)``, ``new $class``, ``$object->$method()``, ``Some::$method()``."""
    if node.type == "object_creation_expression":
        made = next(iter(node.named_children), None)
        if made is not None and made.type == "variable_name":
            yield "class", made
    if node.type == "function_call_expression":
        held = node.child_by_field_name("function")
        if held is None or held.type != "variable_name" or _ORDINARY.fullmatch(text_of(held)):
            return
        if _is_text(held):
            yield "function", held
    if node.type in (
        "include_expression",
        "require_expression",
        "include_once_expression",
        "require_once_expression",
    ):
        file = inside(node.named_children[0]) if node.named_children else None
        if file is not None and file.type in ("variable_name", "subscript_expression", "encapsed_string"):
            yield "module", file
    if node.type in ("member_call_expression", "scoped_call_expression"):
        named = node.child_by_field_name("name")
        if named is not None and named.type in ("variable_name", "encapsed_string"):
            yield "function", named


def _is_text(name: Node) -> bool:
    """Is the variable made of texts in its function, or a parameter that is one, so that it holds a name?"""
    text = text_of(name)
    for node in walk(function_around(name), frozenset()):
        if node.type == "simple_parameter" and text_of(node.child_by_field_name("name")) == text:
            return text_of(node.child_by_field_name("type")) == "string"
        pair = assigned(node)
        if pair is not None and text_of(pair[0]) == text and pair[1].end_byte <= name.start_byte:
            said = text_of(pair[1])
            return "binary" in pair[1].type or "string" in pair[1].type or bool(_NAMES.search(said))
    return False


def _taken_out(node: Node) -> Iterator[tuple[str, Node]]:
    """``const { [name]: run } = object; run()``."""
    key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    if key is None or value is None or key.type != "computed_property_name" or not key.named_children:
        return
    called = text_of(value)
    around = walk(function_around(node), frozenset())
    if any(is_call(one) and text_of(one.child_by_field_name("function")) == called for one in around):
        yield "function", key.named_children[0]


def _member(node: Node, tables: frozenset[str]) -> Iterator[tuple[str, Node]]:
    """``object[name](...)``, where the object is no table of functions that the file writes down."""
    of, name = node.child_by_field_name("object"), node.child_by_field_name("index")
    if of is None or name is None or not _is_called(node):
        return
    owner, text = text_of(of), text_of(name)
    short = owner.rpartition(".")[2].strip("#?!")
    plain = short.lower()
    if (
        short in tables
        or (_TABLE.search(plain) and f"*{short}" not in tables)
        or _INDEX.fullmatch(text)
        or text.startswith("Symbol.")
    ):
        return
    if name.type in ("identifier", "member_expression", "call_expression", "subscript_expression"):
        yield "function", name


def _is_called(node: Node) -> bool:
    """Is what stands here called at once, or by the name that it is given in the same function?"""
    parent = node.parent
    while parent is not None and (
        "parenthesized" in parent.type or parent.type in ("await", "non_null_expression")
    ):
        node, parent = parent, parent.parent
    if parent is None:
        return False
    if parent.type == "attribute" and text_of(node).startswith("sys.modules"):
        node, parent = parent, parent.parent or parent
    if parent.type == "member_expression" and text_of(parent.child_by_field_name("property")) in _ON:
        node, parent = parent, parent.parent or parent
    if is_call(parent) and parent.child_by_field_name("function") == node:
        return True
    pair = assigned(parent)
    if pair is None or pair[1] != node or pair[0].type != "identifier":
        return False
    name = text_of(pair[0])
    return any(
        is_call(other) and text_of(other.child_by_field_name("function")) == name
        for other in walk(function_around(node), frozenset())
    )


def _literal_tables(root: Node) -> frozenset[str]:
    """Names that the file gives an object with members written out."""
    found: set[str] = set()
    for node in walk(root, frozenset()):
        pair = assigned(node)
        if pair is not None and pair[1].type in (
            "object",
            "array",
            "array_creation_expression",
            "as_expression",
        ):
            found.add(text_of(pair[0]).rpartition(".")[2].strip("$#"))
        elif node.type == "namespace_import" and node.named_children:
            found.add(f"*{text_of(node.named_children[-1])}")  # all of a module, not a table
    return frozenset(found)


def is_read(path: str) -> bool:
    """Is this a file in a language whose calls by name are known?"""
    return bool(family_of(PurePosixPath(path).name))
