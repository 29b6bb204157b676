"""Routes, checks and what they look at, of one file that tree-sitter reads. Runs in the limited child."""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from gate.protections.facts import FileFacts
from gate.protections.heard.tree_sitter import tree_sitter_heard
from gate.protections.routes.calls import call_routes
from gate.protections.routes.marked import Marks, marked_routes
from gate.protections.sequence.tree_sitter import tree_sitter_asked

_SHOWN: Final = (".jsx", ".tsx")
"""Endings of what is shown to somebody: whoever runs it there may change what it checks, anyway."""
_MOST: Final = 2_000


def moving_facts(root: Node, ending: str, path: str, marks: Marks) -> FileFacts:
    """What is compared over the whole change by what it is about, and not by the function it stands in."""
    routes = (*call_routes(root, ending, path), *marked_routes(root, marks))
    asked = tree_sitter_asked(root) if ending not in _SHOWN else ()
    return FileFacts(routes=routes[:_MOST], heard=tree_sitter_heard(root, ending), asked=asked)
