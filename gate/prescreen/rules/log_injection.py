"""Text of a request is written into a log as it is.

Line breaks in it make log lines that never happened, and hide those that did.

Log `repr(value)` (`%r`), or take the line breaks out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REQUEST

_LEVELS = ("debug", "info", "warning", "warn", "error", "critical", "exception", "log")
_CLEAN = frozenset(
    {
        "repr",
        ".replace",
        ".splitlines",
        ".encode",
        "re.sub",
        "json.dumps",
        "html.escape",
        "ascii",
        ".translate",
        "urllib.parse.quote",
    }
)


@rule(
    "py.log-injection",
    "Request text in a log",
    severity="medium",
    confidence="medium",
    topic="injection",
    cwe=(117,),
    why="Line breaks in the value forge log lines.",
    fix="Log it with %r, or remove the line breaks first.",
)
def check(module: Module) -> Iterator[Hit]:
    """Logging calls with text of a request that still may hold line breaks."""
    flow = Flow(module, _CLEAN)
    for call in module.methods(*_LEVELS):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        word = (getattr(owner, "id", "") or getattr(owner, "attr", "")).lower()
        if "log" not in word:
            continue
        first = module.text_of(call.args[0]) if call.args else None
        if first is not None and "%r" in first and "%s" not in first:
            continue
        for given in call.args:
            if REQUEST in flow.kinds(given) and not _repr(given):
                yield Hit(node=call, message="Text of a request is logged with its line breaks.")
                break


def _repr(given: ast.AST) -> bool:
    parts = [part for part in getattr(given, "values", []) if isinstance(part, ast.FormattedValue)]
    return bool(parts) and all(part.conversion == ord("r") for part in parts)
