"""Conditions that ask a promise (JavaScript) or a coroutine (Python): those are always true.

A check that becomes asynchronous lets everybody in where nobody awaits it. Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gate.languages.tree_sitter_parse import walk
from gate.prescreen.meanings.facts import Meaning
from gate.protections.tree_sitter.shapes import arguments, callee, line_of, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_PREDICATES: Final = frozenset({"filter", "some", "every", "find", "findIndex", "findLast", "findLastIndex"})
_AWAITS: Final = regex(r"(?i)stream|readable|async|observable|\$$|^(?:promise|bluebird|_|p|iter\w*)$|^from\(")
"""What may await an answer itself: streams of Node, iterators of promises, libraries."""
_FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "function_declaration", "function"})
_BETWEEN: Final = frozenset({
    "parenthesized_expression", "unary_expression", "binary_expression", "not_operator", "boolean_operator",
})  # fmt: skip
_ASKS: Final = {
    "if_statement": "condition", "while_statement": "condition", "elif_clause": "condition",
    "ternary_expression": "condition", "do_statement": "condition", "conditional_expression": "",
    "assert_statement": "",
}  # fmt: skip


def of_javascript(root: Node) -> Iterator[Meaning]:
    """Asynchronous functions given to what takes their answer for *yes*, and conditions on such calls."""
    nodes = [*walk(root, frozenset())]
    made = _asynchronous(nodes)
    for node in nodes:
        if node.type != "call_expression":
            continue
        receiver, _, method = callee(node).rpartition(".")
        given = next(iter(arguments(node)), None)
        if method in _PREDICATES and given is not None and not _AWAITS.search(receiver.rpartition(".")[2]):
            if _is_asynchronous(given) or text_of(given) in made:
                yield Meaning("promise", f".{method}({text_of(given)[:40]}", line_of(node), f".{method}()")
        elif callee(node) in made and _is_condition(node):
            yield Meaning("promise", callee(node), line_of(node), f"{callee(node)}() without await")


def of_python(root: Node) -> Iterator[Meaning]:
    """Conditions on coroutines of the same module or class."""
    nodes = [*walk(root, frozenset())]
    functions = [*_functions(nodes)]
    own = {name: is_async for name, is_async, place in functions if place is None}
    of_classes = {(place, name) for name, is_async, place in functions if is_async}
    for node in nodes:
        if node.type != "call" or not _is_condition(node):
            continue
        called = text_of(node.child_by_field_name("function"))
        is_async = own.get(called, False)
        if called.startswith("self.") and (place := _class_around(node)) is not None:
            is_async = (place.id, called.removeprefix("self.")) in of_classes
        if is_async:
            yield Meaning("promise", called, line_of(node), f"{called}() without await")


def _functions(nodes: list[Node]) -> Iterator[tuple[str, bool, int | None]]:
    """Name, is it asynchronous, and the class in which it stands (None: the module) of each function."""
    for node in nodes:
        if node.type != "function_definition":
            continue
        above = node.parent
        if above is not None and above.type == "decorated_definition":
            above = above.parent
        around = _class_around(node)
        if above is not None and (above.type == "module" or around is not None):
            is_async = bool(node.children) and node.children[0].type == "async"
            where = around.id if around is not None else None
            yield text_of(node.child_by_field_name("name")), is_async, where


def _class_around(node: Node) -> Node | None:
    at = node.parent
    while at is not None and at.type != "class_definition":
        at = at.parent
    return at


def _asynchronous(nodes: list[Node]) -> frozenset[str]:
    """Functions of the module that answer with a promise; none that it makes twice."""
    named: dict[str, list[bool]] = {}
    for node in nodes:
        if node.type == "function_declaration":
            name = text_of(node.child_by_field_name("name"))
            named.setdefault(name, []).append(_is_asynchronous(node))
        elif node.type == "variable_declarator":
            value = node.child_by_field_name("value")
            name = text_of(node.child_by_field_name("name"))
            named.setdefault(name, []).append(value is not None and _is_asynchronous(value))
        elif node.type in ("required_parameter", "optional_parameter", "formal_parameters"):
            for one in node.named_children:
                named.setdefault(text_of(one), []).append(False)
    return frozenset(name for name, each in named.items() if name and all(each))


def _is_asynchronous(node: Node) -> bool:
    return node.type in _FUNCTIONS and bool(node.children) and node.children[0].type == "async"


def _is_condition(call: Node) -> bool:
    """Is the call's answer itself taken for *yes* or *no*?"""
    node, at = call, call.parent
    while at is not None and at.type in _BETWEEN:
        if at.type in ("unary_expression", "not_operator"):
            return text_of(at).startswith(("!", "not"))
        if at.type == "binary_expression" and text_of(at.child_by_field_name("operator")) not in ("&&", "||"):
            return False
        node, at = at, at.parent
    if at is None or at.type not in _ASKS:
        return False
    if at.type == "conditional_expression":  # Python: value, condition, other
        return len(at.named_children) > 1 and at.named_children[1] == node
    if at.type == "assert_statement":
        return at.named_children[0] == node
    return at.child_by_field_name(_ASKS[at.type]) == node
