"""A regular expression that a chosen text makes run for minutes.

A repeat inside a repeat (`(a+)+$`) tries every way to share the text: time doubles with each character.

Write it without nested repeats, use possessive ones, or match with a limit on the text's length.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.patterns import patterns, slow
from gate.prescreen.python_ast.rule import Hit, rule


@rule(
    "py.slow-regex",
    "Regular expression can be made slow",
    severity="medium",
    confidence="medium",
    topic="resource",
    cwe=(1333, 400),
    why="A text of thirty characters can keep the process busy for minutes.",
    fix="Remove the repeat inside the repeat, or limit the text's length before matching.",
)
def check(module: Module) -> Iterator[Hit]:
    """Constant patterns that are ambiguous in a way that costs."""
    for call, pattern in patterns(module):
        text = module.text_of(pattern)
        kind = slow(text) if text is not None and ("+" in text or "*" in text) else None
        if kind:
            yield Hit(node=call, message=f"The time of this pattern is {kind} in the text's length.")
