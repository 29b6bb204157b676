"""Calls as chains in the trees of several grammars: what stands before one, behind one and around one.

``r.With(auth).Get("/x", h)``, ``app.MapGet("/x", h).RequireAuthorization()``, ``Route::middleware("auth")
->group(function () { ... })``. Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.protections.tree_sitter.shapes import arguments, assigned, callee, is_call, text_of

CLOSURES: Final = frozenset({
    "arrow_function", "function_expression", "func_literal", "anonymous_function",
    "anonymous_function_creation_expression", "lambda_expression", "anonymous_method_expression", "block",
    "do_block", "lambda_literal", "closure_expression", "lambda", "anonymous_function_expression",
})  # fmt: skip
"""Functions without a name. A ``block`` is one in Ruby only, as a child of its call."""
_NAMED: Final = frozenset({
    "function_declaration", "method_declaration", "method_definition", "method", "function_item",
    "function_definition", "singleton_method", "local_function_statement",
})  # fmt: skip
_MEMBERS: Final = (
    "member_expression", "selector_expression", "member_access_expression", "navigation_expression",
    "field_expression", "await_expression", "parenthesized_expression",
)  # fmt: skip
_OF: Final = ("object", "receiver", "scope", "operand", "expression", "value")
_DEPTH: Final = 200


def method(call: Node) -> str:
    """The last name of what is called."""
    name = callee(call)
    for mark in ("::", "->", "?.", "&."):
        name = name.replace(mark, ".")
    return name.rpartition(".")[2].strip("!? ").partition("<")[0]


def receiver(call: Node) -> Node | None:
    """What a method is called of; None for a plain function."""
    for at in (call, call.child_by_field_name("function") or next(iter(call.named_children), None)):
        if at is None or (at is not call and at.type not in _MEMBERS):
            continue
        for field in _OF:
            if (of := at.child_by_field_name(field)) is not None:
                return of
        if at is not call and at.named_child_count > 1:
            return at.named_children[0]
    return None


def before(call: Node) -> list[Node]:
    """The calls that a call is chained to, the nearest first."""
    found: list[Node] = []
    at = receiver(call)
    while at is not None and is_call(at) and len(found) < _DEPTH:
        found.append(at)
        at = receiver(at)
    return found


def root_of(call: Node) -> str:
    """The name at the beginning of a chain: ``r`` of ``r.With(auth).Get``; empty for a plain function."""
    last = [call, *before(call)][-1]
    return text_of(receiver(last))


def behind(call: Node) -> list[Node]:
    """The calls that are chained to a call, the nearest first."""
    found: list[Node] = []
    at = call
    for _ in range(_DEPTH):
        above = at.parent
        if above is None:
            break
        if above.type in _MEMBERS and above.named_children[0] == at:
            at = above
        elif is_call(above) and above.named_children[0] == at:
            found.append(above)
            at = above
        else:
            break
    return found


def around(node: Node) -> Iterator[tuple[Node, Node]]:
    """The functions without a name that hold a node, each with the call that it is given to; inner first."""
    at = node
    for _ in range(_DEPTH):
        above = at.parent
        if above is None:
            return
        if above.type in CLOSURES and (to := _given_to(above)) is not None:
            yield above, to
        at = above


def _given_to(closure: Node) -> Node | None:
    at: Node | None = closure.parent
    for _ in range(6):
        if at is None or at.type in CLOSURES:
            return None
        if is_call(at):
            inner = at.named_children[0]
            return inner if is_call(inner) and trailing(inner) is not None else at
        at = at.parent
    return None


def trailing(call: Node) -> Node | None:
    """Kotlin's function behind a call: ``get("/x") { ... }``, of which the call is the first part."""
    above = call.parent
    if above is None or above.type != "call_expression" or above.named_children[0] != call:
        return None
    return next((n for n in above.named_children if "lambda" in n.type), None)


def holder(node: Node) -> int:
    """The id of the nearest function that holds a node, named or not; 0 for the file."""
    at = node.parent
    while at is not None:
        if at.type in _NAMED or (at.type in CLOSURES and (at.type != "block" or _given_to(at) is not None)):
            return at.id
        at = at.parent
    return 0


def function_name(node: Node) -> str:
    """The name of the function with a name that holds a node; empty for the file."""
    at = node.parent
    while at is not None:
        if at.type in _NAMED:
            return text_of(at.child_by_field_name("name"))
        at = at.parent
    return ""


def assigned_to(node: Node) -> str:
    """The name that a value is given, itself or with what is chained to it; empty for none."""
    at = [node, *behind(node)][-1]
    above = at.parent
    for _ in range(4):
        if above is None or above.type in CLOSURES:
            return ""
        for field in ("name", "left", "pattern"):
            if (left := above.child_by_field_name(field)) is not None and left.end_byte <= at.start_byte:
                return text_of(left)
        if "argument" in above.type:
            return ""
        above = above.parent
    return ""


def first_text(call: Node) -> str | None:
    """The first argument, where it is a text or a symbol."""
    given = arguments(call)
    if not given:
        return None
    pair = assigned(given[0]) if given[0].type == "pair" else None
    return text_value(pair[0] if pair is not None else given[0])


def text_value(node: Node) -> str | None:
    """The text of a string or of a Ruby symbol; None for anything else."""
    if node.type == "value_argument" and node.named_children:
        node = node.named_children[-1]
    if node.type == "simple_symbol":
        return text_of(node).lstrip(":")
    return text_of(node).strip("'\"`@") if "string" in node.type else None
