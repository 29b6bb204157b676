"""The steps of each function, in all languages but Python. Runs in the limited child."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import walk
from gate.protections.facts import Asked
from gate.protections.heard.names import is_heard_for
from gate.protections.routes.chains import holder, method, receiver
from gate.protections.sequence.steps import Step, asked_in, key_of
from gate.protections.tree_sitter.shapes import arguments, assigned, is_call, line_of, text_of
from gate.protections.vocabulary import family_of, is_check
from gate.regex import regex

_FUNCTIONS: Final = frozenset({
    "function_declaration", "method_declaration", "method_definition", "function_item", "function_definition",
    "method", "local_function_statement", "singleton_method", "constructor_declaration",
})  # fmt: skip
_IFS: Final = frozenset({
    "if_statement", "if_expression", "if", "unless", "if_modifier", "unless_modifier", "elsif",
})  # fmt: skip
_MEMBERS: Final = frozenset({
    "member_expression", "selector_expression", "member_access_expression", "field_expression",
    "field_access",
    "navigation_expression", "scoped_identifier", "class_constant_access_expression",
})  # fmt: skip
_ARITHMETIC: Final = ("*", "/")
_LEAVES: Final = regex(
    r"\b(?:throw|raise|return|reject|panic|abort|halt|deny|continue|break|redirect_to|head|render|next|fail)\b|\b40[0-9]\b|bail!"
)
_CONSTANT: Final = regex(r"^[A-Z][A-Z0-9_]+$")
_TRIVIAL: Final = frozenset({"0", "1", "''", '""', "-1", "``"})
_IF: Final = regex(rb"\b(?:if|unless)\b|[Cc]heck|[Vv]erify|[Vv]alidate|[Ee]nsure|[Gg]uard|[Rr]equire")
_MOST: Final = 400
_NODES: Final = 20_000


def tree_sitter_asked(root: Node) -> tuple[Asked, ...]:
    """Every check of every function with what its values went through."""
    found: list[Asked] = []
    for node in walk(root, frozenset()):
        name = _function_name(node)
        if name and len(found) < _MOST and _IF.search(node.text or b""):
            found += asked_in(name, _parameters(node), _steps(node))
    return tuple(found)[:_MOST]


def _function_name(node: Node) -> str:
    """A function's name, also of one that a constant of the file holds; empty for what is no such."""
    if node.type in _FUNCTIONS:
        return text_of(node.child_by_field_name("name"))
    if node.type not in ("arrow_function", "function_expression") or node.parent is None:
        return ""
    above = node.parent
    if above.type not in ("variable_declarator", "assignment_expression", "public_field_definition", "pair"):
        return ""
    name = next((n for f in ("name", "left", "key") if (n := above.child_by_field_name(f)) is not None), None)
    return text_of(name).rpartition(".")[2] if holder(node) == 0 else ""


def _parameters(function: Node) -> set[str]:
    """Names of its parameters, and of those of functions within it."""
    found: set[str] = set()
    for node in walk(function, frozenset()):
        if "parameter" in node.type or node.type in ("simple_parameter", "block_parameters"):
            found |= {text_of(n) for n in walk(node, frozenset()) if _is_name(n)}
    return found


def _is_name(node: Node) -> bool:
    return node.type in (
        "identifier",
        "simple_identifier",
        "variable_name",
        "shorthand_property_identifier_pattern",
    )


def _steps(function: Node) -> Iterator[Step]:
    for i, node in enumerate(walk(function, frozenset())):
        if i > _NODES:
            return
        if node.type in _IFS:
            condition = node.child_by_field_name("condition") or next(iter(node.named_children), None)
            if condition is not None and _LEAVES.search(text_of(node).replace(text_of(condition), "", 1)):
                yield from _check(condition)
        elif is_call(node):
            yield from _call(node)
        elif (pair := _set(node)) is not None:
            targets = tuple(_reads(pair[0]))
            yield Step(
                at=node.end_byte * 4 + 2,
                reads=tuple(_reads(pair[1])),
                calls=tuple(_calls(pair[1])),
                sets=targets,
            )


def _set(node: Node) -> tuple[Node, Node] | None:
    if node.type in ("parameter", "formal_parameter", "simple_parameter", "pair", "argument"):
        return None
    if node.type in ("assignment_statement", "short_var_declaration", "assignment_expression", "assignment"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        return (left, right) if left is not None and right is not None else None
    return assigned(node)


def _call(node: Node) -> Iterator[Step]:
    name = method(node)
    given = arguments(node)
    checks = is_check(name) or is_heard_for("", name) or family_of(name) == "place"
    at = node.end_byte * 4
    yield Step(at=at, reads=tuple(_reads(node)), calls=(snake(name),))
    yield Step(
        at=at, reads=tuple(r for one in given for r in _reads(one)),
        calls=tuple(c for one in given for c in _calls(one)), key=key_of([name], ()) if checks else "",
        passed=snake(name), text=text_of(node), line=line_of(node),
    )  # fmt: skip


def _check(condition: Node) -> Iterator[Step]:
    for part in _parts(condition):
        outer = [*_outermost(part)]
        known = {snake(one) for one in outer}
        constants = [
            text for n in walk(part, frozenset()) if (text := _constant(n)) and text not in _TRIVIAL
        ]  # fmt: skip
        yield Step(
            at=part.end_byte * 4 + 1, reads=tuple(_reads(part)),
            calls=tuple(c for c in _calls(part) if c not in known),
            key=key_of(outer, constants), text=text_of(part), line=line_of(part),
        )  # fmt: skip


def _parts(node: Node) -> Iterator[Node]:
    """What ``&&`` and ``||`` join, each by itself."""
    while (
        node.type in ("parenthesized_expression", "parenthesized_statements") and node.named_child_count == 1
    ):
        node = node.named_children[0]
    signs = {text_of(n) for n in node.children if not n.is_named}
    if signs & {"&&", "||", "and", "or"} and node.named_child_count == 2:
        for one in node.named_children:
            yield from _parts(one)
    else:
        yield node


def _constant(node: Node) -> str:
    text = text_of(node)
    if "string" in node.type and not any(
        "string" in n.type for n in node.named_children if "content" not in n.type
    ):
        return text.strip("'\"`") and text if "content" not in node.type else ""
    if "integer" in node.type or "number" in node.type or node.type in ("int_literal", "float_literal"):
        return text
    plain = node.type in ("identifier", "simple_identifier", "constant", "name", "field_identifier")
    return text if plain and _CONSTANT.match(text) and _is_last(node) else ""


def _is_last(node: Node) -> bool:
    """Is it no part in the midst of a dotted name (``URL`` of ``r.URL.Path``)?"""
    at = node
    while at.parent is not None and at.parent.type in _MEMBERS:
        if at.parent.named_children[-1] != at:
            return False
        at = at.parent
    return True


def _outermost(node: Node) -> Iterator[str]:
    todo = [node]
    while todo:
        one = todo.pop()
        if is_call(one):
            yield method(one)
        else:
            todo += one.named_children


def _calls(node: Node) -> Iterator[str]:
    for one in walk(node, frozenset()):
        if is_call(one):
            yield snake(method(one))
        elif one.named_child_count == 2 and any(
            text_of(n) in _ARITHMETIC for n in one.children if not n.is_named
        ):
            for side in one.named_children:
                if side.type in _MEMBERS or _is_name(side):
                    yield f"times {text_of(side).rpartition('.')[2]}"


def _reads(node: Node) -> Iterator[str]:
    """Names and dotted names without calls; of a call its arguments and what it is called of."""
    todo = [node]
    while todo:
        one = todo.pop()
        text = text_of(one)
        if _is_name(one) or (one.type in _MEMBERS and re.fullmatch(r"[$@\w]+(?:(?:\.|->|::)\w+)*", text)):
            yield text.replace("->", ".").replace("::", ".").lstrip("$@")
        elif is_call(one):
            of = receiver(one)
            todo += arguments(one)
            todo += [of] if of is not None else []
        else:
            todo += one.named_children
