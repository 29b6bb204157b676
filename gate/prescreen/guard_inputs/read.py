"""The guards of one file and what feeds them, in any language with a grammar. Runs in the limited child."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from gate.languages.grammars import grammar_of
from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import parse, walk, without_long_lines
from gate.prescreen.guard_inputs.facts import Called, Facts, Function, Guard
from gate.prescreen.guard_inputs.functions import by_function, name_of
from gate.prescreen.guard_inputs.types import declared_in, embeds_in, owner_of, structural_in
from gate.prescreen.guard_inputs.vocabulary import ASKS, EQUAL, GUARDED, ORDERED, VERIFIER
from gate.protections.tree_sitter.shapes import arguments, assigned, callee, is_call, line_of, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_LONGEST: Final = 5_000
_MOST: Final = 400
_NAME: Final = regex(r"(?:\w*identifier|variable_name|name|constant|instance_variable|word)")
_BRANCH: Final = regex(r"(?:if|unless|elif|elsif|guard)(?:_\w+)?")
_RETURN: Final = regex(r"return(?:_\w+)?|jump_expression|expression_body|arrow_expression_clause")
_ARROW: Final = regex(r"arrow_function|lambda\w*|func_literal|closure\w*")
_SHORT: Final = 1_600
_ENDS: Final = (";", "}", "end", ")")


def read(path: str, data: bytes, options: Mapping[str, Any]) -> Facts:
    """The functions of a file with their guards, and what it declares."""
    del options
    grammar = "tree_sitter_python" if path.endswith((".py", ".pyw")) else grammar_of(path)
    if not grammar:
        return Facts([], [], [], [], [], [])
    root = parse(without_long_lines(data, _LONGEST), grammar)
    functions = [_function(node, nodes) for node, nodes in by_function(root)]
    return Facts(
        functions[:_MOST],
        [*declared_in(root)][: _MOST * 4],
        [*embeds_in(root)][:_MOST],
        [*structural_in(root)][:_MOST],
        [*_imports(root)][:_MOST],
        [*_wrapped(root)][:_MOST],
    )


def names_in(node: Node) -> set[str]:
    """All names that an expression holds."""
    return {
        text_of(one).lstrip("$@")
        for one in walk(node, frozenset())
        if not one.named_child_count and _NAME.fullmatch(one.type)
    }


def _function(node: Node, nodes: list[Node]) -> Function:
    local: dict[str, set[str]] = {}
    for one in nodes:
        pair = assigned(one)
        if pair is not None and pair[1].end_byte - pair[1].start_byte < _SHORT and pair[0] != pair[1]:
            for name in names_in(pair[0]):
                local.setdefault(name, set()).update(names_in(pair[1]))
    given = _parameters(node)
    name = name_of(node)
    returned = {one for n in nodes if _RETURN.fullmatch(n.type) for one in names_in(n)}
    if node.type in ("method", "singleton_method") or _ARROW.fullmatch(node.type):
        body = node.child_by_field_name("body")
        last = body.named_children[-1] if body is not None and body.named_child_count else body
        returned |= names_in(last) if last is not None else set()
    head = node.child_by_field_name("body")
    start = head.start_byte - node.start_byte if head is not None else 0
    whole = (node.text or b"")[:6_000] if node.parent is not None else b""
    parent = node.parent
    above = text_of(parent)[:200] if parent is not None and parent.type == "decorated_definition" else ""
    return Function(
        owner=owner_of(node),
        name=name,
        line=line_of(node),
        gives=_gives(node),
        parameters=given,
        returns=sorted(_through(returned, local))[:60],
        guards=[*_guards(nodes, local, name)][:60],
        calls=[*_calls(nodes, local)][:200],
        body=whole[max(0, start) :].decode("utf-8", "replace"),
        marks=above.partition("def ")[0],
        defaults=dict(_defaults(node)),
    )


def _gives(node: Node) -> str:
    for field in ("return_type", "result", "type", "returns"):
        if (one := node.child_by_field_name(field)) is not None:
            return text_of(one).lstrip(": ")[:80]
    kinds = [n for n in node.named_children if n.type in ("user_type", "nullable_type")]
    return text_of(kinds[-1])[:80] if kinds else ""


def _parameters(node: Node) -> list[str]:
    given = node.child_by_field_name("parameters") or next(
        (n for n in node.named_children if n.type == "function_value_parameters"), None
    )
    found: list[str] = []
    for one in given.named_children if given is not None else ():
        names = [n for n in one.children_by_field_name("name") if n is not None]
        inner = names or [n for f in ("pattern", "left") if (n := one.child_by_field_name(f)) is not None]
        texts = [text_of(n) for n in inner] or [*re.findall(r"\$?[A-Za-z_]\w*", text_of(one))[:1]]
        found += [text.lstrip("$&*@") for text in texts if text not in ("self", "cls", "this")]
    return found


def _defaults(node: Node) -> Iterator[tuple[str, str]]:
    """Parameters with what they are where nobody gives them."""
    given = node.child_by_field_name("parameters")
    for one in given.named_children if given is not None else ():
        value = one.child_by_field_name("value") or one.child_by_field_name("right")
        words = re.findall(r"[A-Za-z_]\w*", text_of(one))
        if value is not None and words:
            yield words[0], text_of(value)[:60]


def _imports(root: Node) -> Iterator[tuple[str, str, int]]:
    for node in root.named_children:
        module = node.child_by_field_name("source") or node.child_by_field_name("module_name")
        if module is not None and node.type in ("import_statement", "import_from_statement"):
            said = text_of(module).strip("'\"`")
            for name in sorted(names_in(node) - names_in(module)):
                yield name, said, line_of(node)


def _through(names: set[str], local: Mapping[str, set[str]]) -> set[str]:
    """Names with those that the variables among them were made of."""
    found, fresh = set(names), set(names)
    for _ in range(5):
        fresh = {one for name in fresh for one in local.get(name, ())} - found
        if not fresh:
            break
        found |= fresh
    return found


def _guards(nodes: list[Node], local: Mapping[str, set[str]], name: str) -> Iterator[Guard]:
    asks = bool(ASKS.match(snake(name)))
    for node in nodes:
        test = None
        if _BRANCH.fullmatch(node.type):
            test = node.child_by_field_name("condition") or next(iter(node.named_children), None)
            behind = " ".join(text_of(one)[:400] for one in node.named_children if one != test)
            if test is None or not GUARDED.search(behind):
                continue
        elif asks and _RETURN.fullmatch(node.type) and _compares(text_of(node)[:400]):
            test = node
        if test is not None:
            yield Guard(sorted(_through(names_in(test), local))[:80], text_of(test)[:200], line_of(node))


def _compares(text: str) -> bool:
    return bool(ORDERED.search(text) or EQUAL.search(text))


def _calls(nodes: list[Node], local: Mapping[str, set[str]]) -> Iterator[Called]:
    for node in nodes:
        if is_call(node):
            name = re.split(r"\.|::|->|\?", callee(node))[-1]
            given = [sorted(_through(names_in(one), local))[:30] for one in arguments(node)[:8]]
            if name and len(name) < 60:
                yield Called(name, given, line_of(node))


def _wrapped(root: Node) -> Iterator[tuple[str, str, int, str]]:
    """Functions that are handed a verifier, as they are called."""
    for node in walk(root, frozenset()):
        if not is_call(node):
            continue
        for one in arguments(node):
            text = text_of(one)
            name = re.split(r"\.|::|->", text)[-1].strip("&:$'\"")
            if re.fullmatch(r"[\w.:>$&'\"-]{3,80}", text) and VERIFIER.search(snake(name)):
                yield re.split(r"\.|::|->", callee(node))[-1], name, line_of(node), text_of(node)[:600]
