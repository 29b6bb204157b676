"""Names that are put together from parts: ``tenant + "/" + bucket``, in every form that languages have.

Runs in the limited child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from gate.protections.tree_sitter.shapes import arguments, callee, inside, is_call, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

Part = tuple[bool, str]
"""Whether it is a value, and its text; a text of the code otherwise."""
_TEXT: Final = frozenset({
    "string", "string_literal", "interpreted_string_literal", "raw_string_literal", "encapsed_string",
    "template_string", "verbatim_string_literal", "char_literal", "interpolated_string_expression",
    "line_string_literal", "character_literal", "rune_literal", "multiline_string_literal",
})  # fmt: skip
_FILLED: Final = regex(
    r"template_substitution|interpolation|interpolated_\w+|variable_name|member_access_expression|subscript_expression"
)
_PLUS: Final = frozenset({"+", ".", "<>", "..", "&", "~"})
_FORMATS: Final = frozenset(
    {"sprintf", "format", "printf", "formatted", "string_format", "format!", "errorf"}
)
_JOINS: Final = frozenset({"join", "implode"})
_LISTS: Final = frozenset({
    "array", "list", "tuple", "composite_literal", "array_creation_expression", "initializer_expression",
    "array_initializer", "implicit_array_creation_expression", "collection_expression", "literal_value",
})  # fmt: skip
_HOLE: Final = regex(r"%(?:\d+\$)?[-+ 0#]*\d*(?:\.\d+)?[a-zA-Z]|\{[^{}]*\}")
_QUOTES: Final = "\"'`"
_DEEPEST: Final = 12


def parts_of(node: Node, depth: int = 0) -> list[Part]:
    """The parts of what stands here, one after another; a value by itself is one part."""
    node = inside(node)
    if depth > _DEEPEST:
        return [(True, text_of(node))]
    if node.type in _TEXT:
        return _filled(node)
    if "binary" in node.type or node.type in ("additive_expression", "concatenated_string"):
        found = _binary(node, depth)
        if found is not None:
            return found
    if is_call(node) or node.type == "macro_invocation":
        found = _called(node, depth)
        if found is not None:
            return found
    return [(True, _value(text_of(node)))]


def _value(text: str) -> str:
    """A value's text without what makes a text of it."""
    plain = re.sub(r"\.(?:to_s|toString\(\)|to_string\(\)|as_str\(\)|clone\(\)|String\(\))$", "", text)
    wrapped = re.fullmatch(r"(?:str|String|string|strval)\((\w[\w.]*)\)", plain)
    return (wrapped[1] if wrapped else plain).lstrip("$@&*")


def _literal(text: str) -> str:
    body = text.lstrip("fFrRbBuU$@")
    for mark in ('"""', "'''", *_QUOTES):
        if body.startswith(mark) and body.endswith(mark) and len(body) >= 2 * len(mark):
            return body[len(mark) : len(body) - len(mark)]
    return body.strip(_QUOTES)


def _filled(node: Node) -> list[Part]:
    raw = node.text or b""
    start = node.start_byte
    found: list[Part] = []
    at = 0
    for child in node.named_children:
        if not _FILLED.fullmatch(child.type):
            continue
        found.append((False, raw[at : child.start_byte - start].decode("utf-8", "replace")))
        found.append((True, _value(text_of(child).strip("${}#"))))
        at = child.end_byte - start
    if not found:
        return [(False, _literal(text_of(node)))]
    found.append((False, raw[at:].decode("utf-8", "replace")))
    first, last = found[0][1].lstrip("fFrRbBuU$@").lstrip(_QUOTES), found[-1][1].rstrip(_QUOTES)
    found[0], found[-1] = (False, first.rstrip("{")), (False, last.lstrip("}"))
    return [(is_value, text) for is_value, text in found if is_value or text]


def _binary(node: Node, depth: int) -> list[Part] | None:
    operator = next((text_of(n) for n in node.children if not n.is_named), "")
    sides = [node.child_by_field_name("left"), node.child_by_field_name("right")]
    both = [one for one in sides if one is not None] or node.named_children
    if operator == "%" and len(both) == 2 and both[0].type in _TEXT:
        given = both[1].named_children if both[1].type == "tuple" else [both[1]]
        return _spread(_literal(text_of(both[0])), given, depth)
    if operator not in _PLUS and node.type != "concatenated_string":
        return None
    return [part for one in both for part in parts_of(one, depth + 1)]


def _called(node: Node, depth: int) -> list[Part] | None:
    called = callee(node).replace("::", ".")
    last = called.rpartition(".")[2].lower()
    if node.type == "macro_invocation":
        return _macro(node) if last.rstrip("!") == "format" else None
    given = arguments(node)
    of = _receiver(node)
    if last in _JOINS:
        return _join(of, given, depth)
    if last in _FORMATS:
        if of is not None and of.type in _TEXT:
            return _spread(_literal(text_of(of)), given, depth)
        if given and given[0].type in _TEXT:
            return _spread(_literal(text_of(given[0])), given[1:], depth)
    return None


def _receiver(node: Node) -> Node | None:
    of = node.child_by_field_name("receiver") or node.child_by_field_name("object")
    function = node.child_by_field_name("function")
    if of is None and function is not None:
        of = function.child_by_field_name("object") or function.child_by_field_name("operand")
        of = of or function.child_by_field_name("expression")
        of = of or (function.named_children[0] if function.type == "navigation_expression" else None)
    return of


def _join(of: Node | None, given: Sequence[Node], depth: int) -> list[Part] | None:
    """``sep.join(list)``, ``list.join(sep)``, ``strings.Join(list, sep)``, ``String.join(sep, a, b)``."""
    every = [*([of] if of is not None else []), *given]
    texts = [one for one in every if one.type in _TEXT]
    lists = [one for one in every if one.type in _LISTS]
    if len(texts) < 1:
        return None
    separator = _literal(text_of(texts[0]))
    members = _members(lists[0]) if lists else [one for one in given if one is not texts[0]]
    found: list[Part] = []
    for number, member in enumerate(members):
        found += [(False, separator)] if number else []
        found += parts_of(member, depth + 1)
    return found or None


def _members(node: Node) -> list[Node]:
    if node.type == "composite_literal":
        body = node.child_by_field_name("body")
        return [inside(one) for one in body.named_children] if body is not None else []
    inner = next(
        (n for n in node.named_children if n.type in ("initializer_expression", "array_initializer")), node
    )
    return [_element(one) for one in inner.named_children]


def _element(node: Node) -> Node:
    named = node.named_children
    return inside(named[0]) if node.type == "array_element_initializer" and len(named) == 1 else inside(node)


def _spread(form: str, given: Sequence[Node], depth: int) -> list[Part]:
    found: list[Part] = []
    at = 0
    for number, hole in enumerate(_HOLE.finditer(form)):
        found += [(False, form[at : hole.start()])] if hole.start() > at else []
        named = hole[0].strip("{}").partition(":")[0]
        if number < len(given):
            found += parts_of(given[number], depth + 1)
        else:
            found.append((True, named))
        at = hole.end()
    return [*found, (False, form[at:])] if at < len(form) else found


def _macro(node: Node) -> list[Part] | None:
    """Rust's ``format!``: its arguments are tokens, no expressions."""
    tree = next((n for n in node.named_children if n.type == "token_tree"), None)
    first = next((n for n in tree.named_children if n.type == "string_literal"), None) if tree else None
    if tree is None or first is None:
        return None
    after = (tree.text or b"")[first.end_byte - tree.start_byte :].decode("utf-8", "replace")
    given = [one.strip() for one in after.rstrip(")]}").split(",") if one.strip()]
    found: list[Part] = []
    form, at, taken = _literal(text_of(first)), 0, 0
    for hole in _HOLE.finditer(form):
        found += [(False, form[at : hole.start()])] if hole.start() > at else []
        name = hole[0].strip("{}").partition(":")[0]
        if not name and taken < len(given):
            name, taken = given[taken], taken + 1
        found.append((True, _value(name)))
        at = hole.end()
    return [*found, (False, form[at:])] if at < len(form) else found


def joined_in(root: Node) -> Iterator[tuple[Node, list[Part]]]:
    """Every text that is put together from two values or more, the outermost of those within each other."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        may = node.type in _TEXT or "binary" in node.type or node.type == "additive_expression"
        if may or is_call(node) or node.type == "macro_invocation":
            parts = parts_of(node)
            if sum(is_value for is_value, _ in parts) >= 2 and len(parts) <= 20:
                yield node, parts
                if not is_call(node):
                    continue
        waiting += reversed(node.named_children)
