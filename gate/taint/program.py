"""One small program tree for eight languages: the lowering of each writes it, walk.py reads it."""

from __future__ import annotations

from dataclasses import field
from typing import Final, Literal

from gate.dataclass import dataclass

Kind = Literal[
    "const", "name", "member", "index", "call", "new", "concat", "any", "cond", "test", "not", "and", "or",
    "object", "list", "function", "param", "assign", "block", "if", "loop", "return", "throw", "jump",
    "class", "switch", "case", "import", "try",
]  # fmt: skip
"""``test``: a comparison, its operator as text. ``any``: one of its parts. ``case``: its values, then its
block; without values the default."""
SPREAD: Final = "..."
"""The key of a part that is spread into the others."""

RECEIVER: Final = "receiver "
"""The mark of a Go method: the name that it has for what it belongs to, and the type of that."""


@dataclass(slots=True)
class Node:
    """One node. ``text``: a name, a literal, an operator. ``keys``: of entries and arguments, one a
    part; of a
    parameter its type and its annotations; of an import the module and the name there; of a class its bases.
    """

    kind: Kind
    line: int
    text: str = ""
    parts: list[Node] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


def nothing(line: int) -> Node:
    """A value that nobody else decides."""
    return Node("const", line)
