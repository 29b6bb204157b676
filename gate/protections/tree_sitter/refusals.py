"""What the readers of JavaScript and of the other languages with a tree-sitter grammar share about refusals.

Runs in the limited child.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Final

from tree_sitter import Node

from gate.dataclass import dataclass
from gate.protections.conditions import Term
from gate.protections.facts import WHO, Family, Form, Guard
from gate.protections.refusals import Gathered, Place, family_of_term
from gate.protections.tree_sitter.shapes import line_of, text_of

CUT: Final = 200
"""Characters kept of a source text."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """How a block says no. ``explicit``: by status or exception, so its condition is a check by itself."""

    explicit: Family | None
    is_no: bool


@dataclass
class TreeSitterRefusals(Gathered):
    """What a reader of one function does alike in all of these languages."""

    def _family(self, term: Term) -> Family | None:
        return family_of_term(term)

    def _guards_branch(self, node: Node, test: Node, no: list[Term], body: list[Node], place: Place) -> bool:
        """``if (user.isAdmin) act()``: what stands in the branch is guarded."""
        named = [(term, family) for term in no for family in (self._family(term),) if family in WHO]
        if not named or any(atom.startswith("+") for term, _ in named for atom in term):
            return False
        for term, family in named:
            made = made_guard(family, "branch", tuple(sorted(term | place.must)), node, f"if {text_of(test)}")
            self._add(replace(made, holds=tuple(digest(one) for one in body)), place)
        return True


def digest(node: Node) -> int:
    """32 bits of a statement, layout aside."""
    return zlib.crc32(text_of(node).encode("utf-8", "replace"))


def made_guard(family: Family, form: Form, must: tuple[str, ...], node: Node, text: str = "") -> Guard:
    """A guard at a node; its text is the node's own where none is given."""
    return Guard(family=family, form=form, must=must, text=(text or text_of(node))[:CUT], line=line_of(node))
