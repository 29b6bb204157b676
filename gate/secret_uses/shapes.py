"""Small questions about steps and values that flow.py asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gate.secret_uses.names import snake
from gate.secret_uses.sources import Value, Values
from gate.secret_uses.steps import RECEIVER, Step

_NUMBER_OF_BYTES: Final = frozenset({"bytes", "item"})


def enciphered(path: Sequence[str], given: Sequence[Values]) -> list[Value]:
    """What a call that encrypts is given as the text, not as the key."""
    last = snake(path[-1])
    if "oaep" in last or "pkcs" in last:  # Go: hash, chance, key, text
        return [value for values in given for value in values]
    by_module = last.startswith("public") and path[0] in ("crypto", path[-1]) and len(given) > 1
    return [*given[1 if by_module else 0]]


def is_number(value: Value) -> bool:
    """Is it the number of a character or of a byte?"""
    return "code" in value.marks or value.marks >= _NUMBER_OF_BYTES


def first_text(call: Step) -> str:
    """The first text that a call is given as it stands."""
    return next(
        (part.name[0] for key, part in call.parts if not key and part.kind == "const" and part.name), ""
    )


def chained(step: Step) -> tuple[str, ...]:
    """``res.json`` of ``res.status(500).json(...)``."""
    at: Step | None = step
    while at is not None and at.kind == "call" and at.name:
        receiver = next((part for key, part in at.parts if key == RECEIVER), None)
        if receiver is None:
            return (at.name[0], *step.name[-1:]) if at is not step else ()
        at = receiver
    return ()


def root_of(step: Step) -> Step:
    """What a path of entries and pieces begins with."""
    while step.kind in ("index", "slice") and step.parts:
        step = step.parts[0][1]
    return step
