"""A place of a text, and the text of nodes."""

from __future__ import annotations

from tree_sitter import Node

from gate.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call begins: line from 1, column and offset in bytes."""

    line: int
    column: int
    byte: int


def place_of(text: bytes, line: int, column: int) -> Place:
    """The place by line and column; behind the text's end where there is no such line."""
    at = 0
    for _ in range(line - 1):
        found = text.find(b"\n", at)
        if found < 0:
            at = len(text)
            break
        at = found + 1
    return Place(line, column, min(at + column, len(text)))


def text_of(node: Node) -> str:
    """As it is written."""
    return (node.text or b"").decode("utf-8", "replace")
