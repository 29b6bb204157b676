"""Routes by annotations, attributes and decorators of methods: Spring, ASP.NET, JAX-RS, Nest, Symfony.

A method answers for its class's address and its own; what guards the class, guards it. In the child.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import walk
from gate.protections.facts import Route
from gate.protections.routes.urls import joined, plain_url
from gate.protections.tree_sitter.shapes import line_of, text_of

Marks = Callable[[Node], list[tuple[str, Node]]]
"""The marks of a declaration, each with its name."""

_METHODS: Final = frozenset({"method_declaration", "function_declaration", "method_definition"})
_CLASSES: Final = frozenset({"class_declaration", "class", "interface_declaration", "record_declaration"})
_CLASS_MARKS: Final = frozenset({"request_mapping", "route", "path", "controller", "rest_controller"})
_VERBS: Final = ("get", "post", "put", "patch", "delete", "head", "options", "all")


def marked_routes(root: Node, marks: Marks) -> Iterator[Route]:
    """Every method that is marked as an answer to requests."""
    for node in walk(root, frozenset()):
        if node.type not in _METHODS:
            continue
        owner = _owner(node)
        if owner is None:
            continue
        for name, mark in marks(node):
            verb = _verb(snake(name).removesuffix("_attribute"))
            if verb is None:
                continue
            prefix = next(
                (t for n, m in marks(owner) if snake(n) in _CLASS_MARKS and (t := _text(m)) is not None), ""
            )
            of = text_of(owner.child_by_field_name("name"))
            known = [m for n, m in marks(node) if snake(n) in ("route", "path")]
            text = _text(mark) or next((t for m in known if (t := _text(m))), "")
            action = text_of(node.child_by_field_name("name"))
            controller = of.removesuffix("Controller").lower()
            url = joined(
                plain_url(prefix.replace("[controller]", controller)),
                plain_url(text.replace("[action]", action)),
            )
            yield Route(
                verb=verb, url=url, handler=f"{of}.{action}", group=of, text=text_of(mark)[:160],
                line=line_of(node),
            )  # fmt: skip


def _verb(name: str) -> str | None:
    """``GET`` of ``GetMapping``, ``HttpGet``, ``Get``; empty for any; None for what is no route."""
    if name in ("request_mapping", "route"):
        return ""
    plain = name.removesuffix("_mapping").removeprefix("http_")
    return (plain.upper() if plain != "all" else "") if plain in _VERBS else None


def _owner(node: Node) -> Node | None:
    at = node.parent
    for _ in range(4):
        if at is None or at.type in _CLASSES:
            return at
        at = at.parent
    return None


def _text(mark: Node) -> str | None:
    found = next((n for n in walk(mark, frozenset({"string_literal", "string"})) if "string" in n.type), None)
    return text_of(found).strip("'\"`@") if found is not None else None
