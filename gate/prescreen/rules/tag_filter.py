"""HTML is made safe by deleting tags with a regular expression.

`<SCRIPT >`, `<img onerror=…>` and tags that form when the inner one is deleted go through.

Escape the text, or use a real sanitiser (`nh3`, `bleach`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.regex import regex

_TAG = regex(r"<\\?/?\(?(?:script|style|iframe|on\w+)", re.IGNORECASE)


@rule(
    "py.tag-filter",
    "HTML filtered by a regular expression",
    severity="medium",
    confidence="high",
    topic="injection",
    cwe=(116, 79, 185),
    why="Browsers accept many more forms of a tag than the pattern knows.",
    fix="Escape the text, or clean it with nh3.",
)
def check(module: Module) -> Iterator[Hit]:
    """re.sub (and str.replace) that deletes script tags."""
    for call, _ in module.calls("re.sub", "re.subn", "re.compile"):
        text = module.text_of(module.arg(call, 0, "pattern")) or ""
        if _TAG.search(text):
            yield Hit(node=call, message="Tags are filtered by a regular expression.")
    for call in module.methods("replace"):
        if len(call.args) == 2 and (module.text_of(call.args[0]) or "").lower() in (
            "<script>",
            "</script>",
            "<script",
        ):
            yield Hit(node=call, message="Tags are filtered by replacing text.")
