"""A secret is compared with `==`.

The comparison stops at the first difference, and its time tells how far a guess was right.

Use `hmac.compare_digest` (or `secrets.compare_digest`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import words_of
from gate.prescreen.python_ast.sources import REQUEST
from gate.regex import regex

_DIGESTS = frozenset(
    {
        "hmac.new().digest",
        "hmac.new().hexdigest",
        "hmac.digest",
        "hmac.HMAC().hexdigest",
        "hmac.HMAC().digest",
    }
)
_SECRET = regex(r"(?:^|_)(?:password|passwd|secret|token|api_?key|signature|hmac|csrf)(?:_|$)", re.IGNORECASE)


@rule(
    "py.timing-compare",
    "Secret compared in variable time",
    severity="medium",
    confidence="medium",
    topic="crypto",
    cwe=(208, 385),
    why="The time of the comparison tells how much of a guess was right.",
    fix="Compare with hmac.compare_digest.",
)
def check(module: Module) -> Iterator[Hit]:
    """== and != between a MAC and anything, or between a secret and text of a request."""
    if not (module.is_web or module.imports_any("hmac")):
        return
    flow = Flow(module)
    for node in module.all(ast.Compare):
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
            continue
        sides = [node.left, node.comparators[0]]
        traces = [flow.trace(side) for side in sides]
        if any(
            isinstance(module.const(side), str | int | bool | type(None)) and isinstance(side, ast.Constant)
            for side in sides
        ):
            continue
        if any(trace.calls & _DIGESTS for trace in traces):
            yield Hit(node=node, message="A message authentication code is compared with ==.")
        elif any(REQUEST in t.kinds for t in traces) and any(_named(side) for side in sides):
            yield Hit(node=node, message="A secret is compared with == to text of a request.")


def _named(side: ast.AST) -> bool:
    name = side.id if isinstance(side, ast.Name) else getattr(side, "attr", "")
    return bool(_SECRET.search(words_of(name)))
