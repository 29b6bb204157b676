"""What nodes of different grammars have in common: names with their values, calls, numbers.

Runs in the limited child.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from gate.languages.tree_sitter_parse import walk

_NAMES: Final = ("name", "left", "key", "pattern", "field")
_VALUES: Final = ("value", "right")
_OWNERS: Final = ("object", "receiver", "scope")
_CALLED: Final = ("function", "constructor", "type", "macro")
_GIVEN: Final = (
    "value_arguments", "call_suffix", "token_tree", "argument_list", "attribute_argument_list",
    "annotation_argument_list", "arguments",
)  # fmt: skip
_LISTED: Final = frozenset(
    {"expression_list", "literal_element", "equals_value_clause", "element_value", "argument"}
)
_CALLS: Final = frozenset({
    "call_expression", "new_expression", "method_invocation", "object_creation_expression",
    "invocation_expression",
    "call", "function_call_expression", "member_call_expression", "scoped_call_expression",
    "macro_invocation",
    "nullsafe_member_call_expression", "implicit_object_creation_expression", "constructor_invocation",
    "composite_literal", "annotation", "attribute",
})  # fmt: skip
_NUMBERS: Final = (
    "number", "integer", "float", "int_literal", "integer_literal", "float_literal",
    "decimal_integer_literal",
    "decimal_floating_point_literal", "real_literal", "number_literal", "long_literal", "hex_integer_literal",
    "hex_literal",
)  # fmt: skip
_STRINGS: Final = (
    "string",
    "string_literal",
    "interpreted_string_literal",
    "template_string",
    "encapsed_string",
)
_PAIRS: Final = frozenset(
    {"keyed_element", "array_element_initializer", "property_declaration", "value_argument"}
)
_SPANS: Final = {
    "nanosecond": 1e-9, "microsecond": 1e-6, "millisecond": 1e-3, "second": 1.0, "minute": 60.0,
    "hour": 3600.0,
    "day": 86400.0, "week": 604800.0, "month": 2592000.0, "year": 31536000.0,
}  # fmt: skip
_SHORT: Final = {"ms": 1e-3, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "hr": 3600.0,
                 "d": 86400.0, "w": 604800.0, "y": 31536000.0}  # fmt: skip
_SIZES: Final = {"b": 1.0, "kb": 1024.0, "mb": 1024.0**2, "gb": 1024.0**3, "tb": 1024.0**4}
_DEPTH: Final = 8
_MOST: Final = 1e18

_NEGATED: Final = frozenset({"!=", "!==", ">=", "<="})
_KINDS: Final = {"!=": "==", "===": "==", "!==": "==", ">=": "<", "<=": ">"}

Value = tuple[float, bool]
"""An amount, and whether its unit is certain: seconds or bytes."""


def text_of(node: Node | None) -> str:
    """The source of a node on one line."""
    raw = (node.text or b"") if node is not None else b""
    return " ".join(raw.decode("utf-8", "replace").split())


def line_of(node: Node) -> int:
    """Where a node begins, from 1."""
    return node.start_point[0] + 1


def plain_operator(word: str, holds: bool) -> tuple[str, bool]:
    """A comparison's operator without a negation, and whether it holds then: ``a != b`` is not ``a == b``."""
    return _KINDS.get(word, word), not holds if word in _NEGATED else holds


def is_call(node: Node) -> bool:
    """Is it a call, or the making of an object?"""
    return node.type in _CALLS


def callee(node: Node) -> str:
    """What is called, dotted as it is written and without arguments; empty where nobody can say."""
    of = _first(node, _OWNERS)
    named = _first(node, ("name", "method")) or _first(node, _CALLED)
    text = text_of(named or next(iter(node.named_children), None))
    return f"{text_of(of)}.{text}" if of is not None else text


def arguments(node: Node) -> list[Node]:
    """The arguments of a call, comments left out."""
    given = node.child_by_field_name("arguments")
    given = given or next((n for n in node.named_children if n.type in _GIVEN), None)
    if given is not None and given.type == "call_suffix":
        given = next((n for n in given.named_children if n.type == "value_arguments"), given)
    return [inside(n) for n in given.named_children if "comment" not in n.type] if given is not None else []


def _first(node: Node, fields: tuple[str, ...]) -> Node | None:
    return next((n for field in fields if (n := node.child_by_field_name(field)) is not None), None)


def inside(node: Node) -> Node:
    """A node without what a grammar puts around one expression."""
    while (node.type in _LISTED or "parenthesized" in node.type) and node.named_child_count == 1:
        node = node.named_children[0]
    return node


def assigned(node: Node) -> tuple[Node, Node] | None:
    """The name and the value of whatever gives a name one: a declaration, an assignment, a pair."""
    if node.type in _PAIRS:
        many = [n for n in node.named_children if "modifier" not in n.type and "annotation" not in n.type]
        if len(many) < 2:
            return None
        return inside(many[0]), inside(many[-1])
    name = _first(node, _NAMES)
    value = _first(node, _VALUES)
    if name is not None and value is None and node.type in ("variable_declarator", "property_element"):
        last = inside(node.named_children[-1])
        value = last if last != name else None
    if name is None or value is None or is_call(node) or "binary" in node.type:
        return None
    return inside(name), inside(value)


def short_name(node: Node | None) -> str:
    """The last name of what is written: ``maxAge`` of ``opts.maxAge``, ``"maxAge"``, ``:max_age``."""
    text = text_of(node).strip("'\"`:$@? ")
    for mark in ("::", "->", "?."):
        text = text.replace(mark, ".")
    text = text.partition("(")[0].partition(" ")[0]
    return text.rpartition(".")[2].strip("'\"`:$@?!")


def folded(node: Node, known: Mapping[str, Node], depth: int = 0) -> Value | None:
    """The number that an expression is by itself; spans of time in seconds."""
    node = inside(node)
    if depth > _DEPTH:
        return None
    if node.type in _NUMBERS:
        return _number(text_of(node))
    if node.type in _STRINGS:
        return _written(text_of(node).strip("'\"`"))
    if any(word in node.type for word in ("binary", "multiplicative", "additive")):
        return _arithmetic(node, known, depth)
    if is_call(node):
        return _called(node, known, depth)
    name = short_name(node)
    span = _SPANS.get(name.lower().removesuffix("s")) if "." in text_of(node) else None
    if span is not None:
        many = folded(node.named_children[0], known, depth + 1) if node.named_children else None
        return (many[0] * span if many is not None else span), True
    if name in known and "call" not in node.type:
        return folded(known[name], known, depth + 1)
    return None


def _number(text: str) -> Value | None:
    plain = text.replace("_", "").rstrip("lLuUnNfFdDmM")
    for kind in ("i", "u"):
        head, mark, size = plain.partition(kind)
        plain = head if mark and size.isdecimal() else plain
    try:
        value = float(int(plain, 0)) if plain.lower().startswith("0x") else float(plain)
    except ValueError:
        return None
    return (value, False) if math.isfinite(value) and abs(value) < _MOST else None


def _written(text: str) -> Value | None:
    """``15m``, ``7 days``, ``100kb`` and a number in quotes."""
    plain = text.replace(" ", "").lower()
    digits = "".join(c for c in plain if c.isdecimal() or c == ".")
    unit = plain[len(digits) :]
    if (
        not digits
        or len(digits) > 12
        or not plain.startswith(digits)
        or digits.count(".") > 1
        or digits == "."
    ):
        return None
    if not unit:
        return float(digits), False
    by = _SHORT.get(unit) or _SIZES.get(unit) or _SPANS.get(unit.removesuffix("s"))
    return (float(digits) * by, True) if by else None


def _arithmetic(node: Node, known: Mapping[str, Node], depth: int) -> Value | None:
    sides = [node.child_by_field_name("left"), node.child_by_field_name("right")]
    if None in sides:
        sides = [node.named_children[0], node.named_children[-1]] if node.named_child_count > 1 else []
    if not sides:
        return None
    both = [folded(side, known, depth + 1) if side is not None else None for side in sides]
    operator = next((text_of(n) for n in node.children if not n.is_named), "")
    left, right = both
    if left is None or right is None:
        one = left or right
        if operator in ("||", "??") and right is not None:
            return right
        return one if one is not None and one[1] and operator == "+" else None
    (a, timed), (b, spans) = left, right
    if operator == "+":
        value = a + b
    elif operator == "-":
        value = a - b
    elif operator == "*":
        value = a * b
    elif operator == "/" and b:
        value = a / b
    elif operator == "<<" and 0 <= b <= 62:
        value = a * 2**b
    elif operator == "**" and 0 < a < 1_000 and 0 <= b <= 64:
        value = a**b
    else:
        return None
    return (value, timed or spans) if math.isfinite(value) and abs(value) < _MOST else None


def _called(node: Node, known: Mapping[str, Node], depth: int) -> Value | None:
    """``Duration.ofMinutes(15)``, ``TimeSpan.FromDays(1)``, ``15.minutes``, ``Number(env.X || 5)``."""
    given = arguments(node)
    name = callee(node).replace("::", ".").rpartition(".")[2]
    unit = name.lower().removeprefix("of").removeprefix("from").strip("_").removesuffix("s")
    unit = {"sec": "second", "milli": "millisecond", "min": "minute"}.get(unit, unit)
    if unit in _SPANS:
        of = node.child_by_field_name("receiver") or node.child_by_field_name("object")
        inner = given[0] if len(given) == 1 else of if not given else None
        value = folded(inner, known, depth + 1) if inner is not None else None
        return (value[0] * _SPANS[unit], True) if value is not None else None
    if (
        name in ("Number", "parseInt", "ms", "int", "Duration", "from_now", "getenv", "fetch", "env")
        and given
    ):
        return folded(given[-1] if name != "parseInt" else given[0], known, depth + 1)
    return None


def named_values(root: Node) -> Iterator[tuple[Node, Node]]:
    """Every name with its value below a node."""
    for node in walk(root, frozenset()):
        if (pair := assigned(node)) is not None:
            yield pair
