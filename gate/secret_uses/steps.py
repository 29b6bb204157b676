"""One small language for all: what programs do with values, as a tree of steps.

The readers of each language write it and flow.py reads it, so that what a use is stands in one place.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final, Literal

from gate.dataclass import dataclass

Kind = Literal[
    "name", "call", "map", "list", "text", "plus", "xor", "sum", "index", "slice", "test", "any", "item",
    "assign", "return", "raise", "function", "class", "const", "import", "each",
]  # fmt: skip
"""``name``: a dotted path. ``xor``, ``sum``: computed with. ``test``: only asked about. ``any``: one of its
parts, or all of a block. ``item``: one after another of what it holds. ``each``: a comprehension, of which
the last part is made and those before it bind names."""
RECEIVER = "<"
"""The key of what a method is called on, or of what stands before a path that is no name."""
SPREAD = "..."
"""The key of an object whose entries become entries of another one."""
TARGET = "to"
ENVIRONMENT = "@environment"
"""What stands before a name that holds the whole environment."""
ERROR = "@error"
"""The key of a part that says: this class is one of errors."""
HOLDER = "@settings"
"""The key of a part that says: what has this name holds settings, as its type says."""
SETTING = "@setting"
"""The key of a part that says: the field of this name is filled from the configuration."""
ROUTE = "@route"
"""The key of a part that says: this function answers requests."""


BITS: Final = frozenset({"&", "<<", ">>", ">>>", "shl", "shr", "ushr"})
"""Operators that take a number's bits."""


@dataclass(slots=True)
class Step:
    """One step. ``name``: a path; of a call what is called; of a function its name and its parameters, with
    ``*`` before those that take several; of a text its literal pieces; of an assignment its operator; of an
    import the local name, the module and the name there. ``parts``: with the key of each: of a keyword, an
    entry, or empty.
    """

    kind: Kind
    line: int
    name: tuple[str, ...] = ()
    parts: list[tuple[str, Step]] = field(default_factory=list)


def several(kind: Kind, line: int, steps: list[Step], name: tuple[str, ...] = ()) -> Step:
    """A step of parts that have no keys."""
    return Step(kind, line, name, [("", step) for step in steps])
