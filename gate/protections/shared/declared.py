"""Functions whose answers are kept: ``@lru_cache``, ``@Cacheable``. Runs in the limited child."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import walk
from gate.protections.shared.facts import Shared
from gate.protections.shared.kept import WHO
from gate.protections.tree_sitter.functions import name_of
from gate.protections.tree_sitter.shapes import line_of, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_PYTHON: Final = regex(
    r"@(?:\w+\.)*(?:lru_cache|cache|cached|memoize[d]?|alru_cache|ttl_cache|cache_result|async_lru)\b(?P<given>[\s\S]*)"
)
_SPRING: Final = regex(r"@(?:\w+\.)*(?:Cacheable|CacheResult)\b(?P<given>[\s\S]*)")
_NEST: Final = regex(r"@CacheKey\((?P<given>[\s\S]*)\)")
_KEY: Final = regex(r"\bkey\s*=\s*(?P<key>\"[^\"]*\"|[^,]+(?:,[^=]*?(?=,\s*\w+\s*=|\)$))?)")
_AMBIENT: Final = regex(
    r"(?<![\w.])(?:current_user\b(?!\s*[=(:])|current_(?:tenant|org\w*|account|user)\.get\(\)|g\.(?:user|tenant|org\w*|account)\w*"
    r"|request\.(?:user|tenant|org\w*|account|headers|cookies|args|session)\b|session\[|get_current_(?:user|tenant|org\w*|account|request)\(\)"
    r"|_?(?:current_)?(?:tenant|user|org|account|request)\w*?_?(?:ctx|var|context)?\.get\(\)"
    r"|\w*(?:Tenant|User|Security|Broker|Org|Account|Auth|Request)\w*(?:Context|Holder)\w*\.(?:get|current|require)\w*\(\)"
    r"|SecurityUtils\.\w+\(\)|(?:this\.)?currentUser(?:Id)?\(\))"
)
"""Who asks, taken from the thread, the request or the context and from no parameter."""
_FUNCTIONS: Final = frozenset({"method_declaration", "function_declaration", "method_definition"})
_OTHERS: Final = regex(r"^(?:self|cls|this)$")


def declared(node: Node) -> Iterator[Shared]:
    """A function under such a mark, whose key lacks a value that says for whom the answer is."""
    if node.type == "decorated_definition":
        marks = [one for one in node.named_children if one.type == "decorator"]
        function = node.child_by_field_name("definition")
        pattern = _PYTHON
    elif node.type in _FUNCTIONS:
        marks = _above(node)
        function, pattern = node, _SPRING if node.type != "method_definition" else _NEST
    else:
        return
    if function is None or "class" in function.type:
        return
    for mark in marks:
        match = pattern.search(text_of(mark))
        if match is None:
            continue
        word = _lacks(function, match["given"], fixed=pattern is _NEST)
        if word:
            said = text_of(mark)[:160]
            yield Shared(
                "cached", name_of(function), said.partition("(")[0], False, line_of(mark), said, word
            )


def _above(node: Node) -> list[Node]:
    found = [
        one
        for child in node.named_children
        if "modifiers" in child.type
        for one in child.named_children
        if "annotation" in one.type
    ]
    at = node.prev_named_sibling
    while at is not None and at.type == "decorator":
        found.append(at)
        at = at.prev_named_sibling
    return found + [one for one in node.named_children if one.type == "decorator"]


def _lacks(function: Node, given: str, *, fixed: bool) -> str:
    names = _parameters(function)
    match = _KEY.search(given)
    key = match["key"] if match is not None else given if fixed else ""
    body = function.child_by_field_name("body")
    ambient = _AMBIENT.search(text_of(body)) if body is not None else None
    if ambient is not None and ambient[0].split(".")[0].split("[")[0] in names:
        ambient = None
    if key:
        if "(" in key and not fixed and not key.startswith('"'):
            return ""  # a function makes it
        if any(WHO.search(snake(word)) for word in regex(r"\w+").findall(key)) or "principal" in key.lower():
            return ""
        whose = [one for one in names if WHO.search(snake(one))]
        if whose and not any(one in key for one in ("root.args", "#p", "#a", "methodName")):
            return whose[0]
    return ambient[0][:60] if ambient is not None else ""


def _parameters(function: Node) -> list[str]:
    given = function.child_by_field_name("parameters")
    if given is None:
        given = next((one for one in function.named_children if "parameters" in one.type), None)
    if given is None:
        return []
    nodes = islice(walk(given, frozenset()), 400)
    names = [text_of(one) for one in nodes if one.type in ("identifier", "simple_identifier")]
    return [one for one in names if not _OTHERS.search(one)]
