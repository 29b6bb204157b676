"""Is the name by which something is called bounded: a constant, one of a list, with a constant beginning?

Bounded is what a reviewer of the call can enumerate. Everything else is whatever the caller sends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gate.languages.tree_sitter_parse import walk
from gate.protections.tree_sitter.functions import function_around
from gate.protections.tree_sitter.shapes import arguments, assigned, callee, inside, is_call, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_TEXT: Final = frozenset({
    "string", "string_literal", "interpreted_string_literal", "raw_string_literal", "simple_symbol",
    "encapsed_string", "template_string", "verbatim_string_literal", "char_literal", "class_literal",
    "concatenated_string", "interpolated_string_expression", "line_string_literal", "delimited_symbol",
})  # fmt: skip
_FILLED: Final = regex(r"substitution|interpolation|interpolated_expression|variable_name")
_NUMBERS: Final = frozenset(
    {"number", "integer", "int_literal", "decimal_integer_literal", "float", "unary_expression"}
)
_LISTED: Final = frozenset({
    "array", "list", "tuple", "set", "object", "dictionary", "hash", "composite_literal", "string_array",
    "symbol_array", "array_creation_expression", "initializer_expression", "array_initializer",
})  # fmt: skip
_MEMBER: Final = regex(
    r"(?:includes?\??|has|contains(?:Key|Value)?|Contains(?:Key)?|key\?|has_key\?|member\?|in_array|array_key_exists"
    r"|TryGetValue|isset|hasOwn|hasOwnProperty|issubset|index|indexOf|MatchString|IsMatch|match\??|fullmatch|test"
    r"|search|matches|preg_match|containsAll|respond_to\?)"
)
_PREFIX: Final = regex(r"[A-Za-z./@~_-]{3,}")
_LOOPS: Final = frozenset(
    {
        "for_statement",
        "for_in_statement",
        "for_range_loop",
        "enhanced_for_statement",
        "foreach_statement",
        "for_each_statement",
        "for_in_clause",
    }
)
_MOST: Final = 20_000
_DEPTH: Final = 4


def is_bounded(name: Node, depth: int = 0) -> bool:
    """Can a reader of the file say which names it may be?"""
    name = inside(name)
    if name.type in _NUMBERS or name.type in ("true", "false", "nil", "null", "none"):
        return True
    if name.type in _TEXT:
        return not any(_FILLED.search(n.type) for n in walk(name, frozenset()) if n is not name) or _begins(
            name
        )
    text = text_of(name)
    if _is_constant(text) or "__dirname" in text or "__DIR__" in text or "import.meta" in text:
        return True
    if "binary" in name.type or "additive" in name.type:
        left = name.child_by_field_name("left") or (name.named_children[0] if name.named_children else None)
        return left is not None and (is_bounded(left, depth + 1) if depth < _DEPTH else False)
    if is_call(name) or "conditional" in name.type or "ternary" in name.type:
        return _computed(name, depth)
    if name.type in _LISTED:  # [object, "method"] of PHP, a list of candidates
        return bool(name.named_children) and all(
            is_bounded(inside(n), depth + 1) for n in name.named_children[1:]
        )
    return depth < _DEPTH and _followed(name, text, depth)


def _computed(name: Node, depth: int) -> bool:
    """``"do_%s" % x``, ``sprintf("on%s", x)``, ``cond ? "a" : "b"``: what begins with a text of the code."""
    if "conditional" in name.type or "ternary" in name.type:
        return depth < _DEPTH and all(is_bounded(n, depth + 1) for n in name.named_children[1:])
    short = callee(name).replace("::", ".").rpartition(".")[2]
    given = arguments(name)
    if short in (
        "format",
        "sprintf",
        "Sprintf",
        "Format",
        "join",
        "Join",
        "concat",
        "intern",
        "to_sym",
        "String",
    ):
        return any(one.type in _TEXT and _begins(one) for one in given[:1]) or _of_text(name)
    return _of_text(name)


def _of_text(name: Node) -> bool:
    """A method on a constant text: ``"{}_x".format(y)`` with a beginning, ``"abc".upper()``."""
    of = next(iter(name.named_children), None)
    if of is not None and of.type in ("attribute", "member_expression", "navigation_expression"):
        of = next(iter(of.named_children), None)
    return of is not None and of.type in _TEXT and (_begins(of) or not callee(name).endswith("format"))


def _begins(text: Node) -> bool:
    """Does a filled text begin with letters of the code, so that it cannot be every name?"""
    plain = text_of(text).lstrip("fFrRbB$@:\"'`")
    return bool(_PREFIX.match(plain.partition("{")[0].partition("%")[0].partition("$")[0].partition("#")[0]))


def _is_constant(text: str) -> bool:
    last = text.replace("::", ".").replace("->", ".").rpartition(".")[2].strip("$@ ")
    return bool(last) and (last.isupper() or last.endswith(("__name__", ".class"))) and "(" not in text


def _followed(name: Node, text: str, depth: int) -> bool:
    """The values that the function or the file gives the name, and the checks that it passes."""
    function = function_around(name)
    values: list[Node] = []
    for count, node in enumerate(walk(function, frozenset())):
        if count > _MOST or node.start_byte > name.end_byte:
            break
        if _tests(node, text):
            return True
        if node.type in _LOOPS or node.type.startswith("for_"):
            values += _walked(node, text)
        pair = assigned(node)
        if (
            pair is not None
            and text_of(pair[0]).lstrip("*& ") == text
            and pair[1].end_byte <= name.start_byte
        ):
            values.append(pair[1])
    if any(text_of(v) == text for v in values):
        return False
    return bool(values) and all((v.type in _LISTED and _plain(v)) or is_bounded(v, depth + 1) for v in values)


def _plain(values: Node) -> bool:
    return all(is_bounded(n, _DEPTH) for n in values.named_children)


def _walked(loop: Node, text: str) -> Iterator[Node]:
    """What a loop over which the name runs goes through."""
    left = (
        loop.child_by_field_name("left")
        or loop.child_by_field_name("name")
        or loop.child_by_field_name("pattern")
    )
    right = loop.child_by_field_name("right") or loop.child_by_field_name("value")
    if (
        left is not None
        and right is not None
        and text in text_of(left).replace(",", " ").replace("(", " ").split()
    ):
        yield right


def _tests(node: Node, text: str) -> bool:
    """``name in ALLOWED``, ``ALLOWED.include?(name)``: somebody says which names there are."""
    if node.type in ("comparison_operator", "in_expression", "binary_expression"):
        words = [n for n in node.children if not n.is_named and text_of(n) in ("in", "not in", "not")]
        return bool(words) and text_of(next(iter(node.named_children), None)) == text
    if is_call(node) and _MEMBER.fullmatch(callee(node).replace("::", ".").rpartition(".")[2]):
        given = arguments(node)
        return any(text in (text_of(one), text_of(one).split(".")[0]) for one in given)
    return False
