"""What a condition says of the names in it, as assignments: behind ``mode === "unlock"`` it is that."""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from gate.languages.forcing.places import text_of

_LITERALS: Final = frozenset({"string", "number", "true", "false", "null"})
_OPPOSITE: Final = {
    "===": "!==", "==": "!=", "!==": "===", "!=": "==", "<": ">=", ">": "<=", "<=": ">", ">=": "<",
}  # fmt: skip
_STEP: Final = {">": " + 1", ">=": "", "<": " - 1", "<=": ""}
_TURNED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_HOLD: Final = frozenset({"startsWith", "endsWith", "includes"})


def assumed(test: Node, *, holds: bool, equals: Node | None = None) -> str:
    """Statements that make it so, as far as names and attributes can be given a constant. ``equals``: the
    value itself is that.
    """
    while test.type == "parenthesized_expression" and test.named_children:
        test = test.named_children[0]
    if equals is not None:
        return _put(test, text_of(equals)) if _is_constant(equals) else ""
    if test.type == "unary_expression" and text_of(test.children[0]) == "!":
        inner = test.child_by_field_name("argument")
        return assumed(inner, holds=not holds) if inner is not None else ""
    if test.type == "binary_expression":
        return _of_binary(test, holds)
    if test.type == "call_expression" and holds:
        return _of_call(test)
    if test.type in ("identifier", "member_expression") and holds and _is_name(test):
        said = text_of(test)
        return f"try{{if(!({said})){said}=__gate__.mark();}}catch{{}}"
    return ""


def _of_binary(test: Node, holds: bool) -> str:
    left, operator, right = (test.child_by_field_name(n) for n in ("left", "operator", "right"))
    if left is None or operator is None or right is None:
        return ""
    sign = text_of(operator)
    if sign in ("&&", "||"):
        if holds == (sign == "&&"):
            return assumed(left, holds=holds) + assumed(right, holds=holds)
        return assumed(left, holds=holds)
    if not holds:
        sign = _OPPOSITE.get(sign, "")
    for one, other, now in ((left, right, sign), (right, left, _TURNED.get(sign, sign))):
        if not _is_constant(other):
            continue
        if now in ("===", "=="):
            return _of_type(one, other) or _put(one, text_of(other))
        if now in _STEP and other.type == "number":
            return _put(one, text_of(other) + _STEP[now])
    return ""


def _of_type(one: Node, other: Node) -> str:
    inner = one.child_by_field_name("argument") if one.type == "unary_expression" else None
    if inner is None or not text_of(one).startswith("typeof") or not _is_name(inner):
        return ""
    said = text_of(inner)
    return f"try{{{said}=__gate__.kind({said},{text_of(other)});}}catch{{}}"


def _of_call(test: Node) -> str:
    function, given = test.child_by_field_name("function"), test.child_by_field_name("arguments")
    if function is None or given is None or function.type != "member_expression" or not given.named_children:
        return ""
    owner, name = function.child_by_field_name("object"), function.child_by_field_name("property")
    if owner is None or name is None or text_of(name) not in _HOLD:
        return ""
    value = given.named_children[0]
    if owner.type == "array" and owner.named_children and _is_constant(owner.named_children[0]):
        return _put(value, text_of(owner.named_children[0]))
    return _put(owner, text_of(value)) if value.type == "string" else ""


def _is_constant(node: Node) -> bool:
    return node.type in _LITERALS or (
        node.type in ("identifier", "member_expression") and text_of(node).rsplit(".", 1)[-1].isupper()
    )


def _is_name(node: Node) -> bool:
    """A variable, or an attribute of one: what can be assigned without calling anything."""
    while node.type == "member_expression":
        owner = node.child_by_field_name("object")
        if owner is None or "?." in text_of(node):
            return False
        node = owner
    return node.type in ("identifier", "this") and text_of(node) not in ("process", "undefined")


def _put(node: Node, value: str) -> str:
    if not _is_name(node) or node.type == "this":
        return ""
    return f"try{{{text_of(node)}={value};}}catch{{}}"
