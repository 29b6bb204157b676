"""Markup in JavaScript and TypeScript (JSX) that a browser fetches by itself, and where a page is sent.

An ``<img src={`https://.../?t=${token}`}>`` is a request with a value in it, written without any call. Only
addresses outside of the site with something put into them are told, and code that comes from there: a
picture from a fixed address carries nothing but that the page was seen.
"""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from gate.languages.sensitive_calls.javascript_values import JavaScriptValues
from gate.regex import regex

_FETCHED: Final = frozenset(
    {
        "src",
        "srcset",
        "poster",
        "data",
        "action",
        "formaction",
        "ping",
        "background",
        "xlinkhref",
        "imagesrcset",
    }
)
_LINKS: Final = frozenset({"link", "image", "use", "base"})
"""Elements whose ``href`` is fetched, too."""
_CODE: Final = frozenset({"script", "iframe", "embed", "object", "Script"})
_ABROAD: Final = regex(r"\A[\"'`]?(?:https?:|wss?:)?//[\w.-]+", re.IGNORECASE)
_PLACES: Final = frozenset({"location", "action"})
_MADE: Final = frozenset({"template_string", "binary_expression"})
_FEWEST_PARTS: Final = 2
_DEEPEST: Final = 4


def loads_from_abroad(attribute: Node, values: JavaScriptValues) -> bool:
    """True for an attribute of JSX by which the browser asks another site, with a value of the page's or for
    code.
    """
    element, parts = attribute.parent, attribute.named_children
    if element is None or len(parts) < _FEWEST_PARTS:
        return False
    tag = _name(element.child_by_field_name("name"), values)
    name = _name(parts[0], values).lower()
    if name not in _FETCHED and not (name == "href" and tag in _LINKS):
        return False
    value = parts[1]
    if value.type == "jsx_expression":
        value = value.named_children[0] if value.named_children else value
    said = values.constant(value)
    if said is not None:
        return tag in _CODE and bool(_ABROAD.match(said))
    return is_abroad(value, values)


def goes_elsewhere(left: list[str]) -> bool:
    """True for what a page or a form is sent to by an assignment: ``document.location``, ``form.action``."""
    if len(left) > 1 and left[-1] == "href":
        left = left[:-1]
        return left[-1] == "location"
    return len(left) > 1 and left[-1] in _PLACES


def is_abroad(node: Node, values: JavaScriptValues, depth: int = 0) -> bool:
    """True for an address of another site that is put together here, from a fixed host and something else."""
    if node.type in _MADE:
        first = values.scopes.said(node)
        return bool(_ABROAD.match(first))
    if depth < _DEEPEST and node.type == "identifier":
        binding = values.scopes.binding(node)
        return binding is not None and any(
            is_abroad(source, values, depth + 1)
            for source, path in binding.sources
            if isinstance(source, Node) and not path
        )
    return depth < _DEEPEST and any(
        is_abroad(child, values, depth + 1)
        for child in node.named_children
        if node.type in ("ternary_expression", "parenthesized_expression", "as_expression")
    )


def _name(node: Node | None, values: JavaScriptValues) -> str:
    return values.scopes.said(node) if node is not None else ""
