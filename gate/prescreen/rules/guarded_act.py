"""A dangerous call stands behind a condition that ordinary use and tests do not meet.

The digest of an argument, the name of one machine or one user, a variable that only CI sets, a trait by
which a sandbox betrays itself: whoever writes such a condition knows when the call will be made, and a
reviewer, a test and a sandbox do not. An integrity check that raises is no such condition, nor is the
question which platform or version it is.

Make the condition a named setting, or remove the call. `py.dated-action` tells dates and `py.sandbox-probe`
the marks of sandboxes that it knows; neither is told twice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from gate.model.forced import GUARDS
from gate.model.rule import Confidence
from gate.prescreen.python_ast.guards import Classifier, guards
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import DELETE_CALLS, dangerous_calls
from gate.prescreen.rules import dated_action, sandbox_probe

_ASKS: Final = frozenset({
    ".hexdigest", ".digest", "gethostname", "getfqdn", "node", "uname", "getnode", "getuser", "getlogin",
    "getpwuid", "getrlimit", "get_tool", "getprofile", "distributions", "get_clock_info", "getloadavg",
    "environ", "getenv", "hexdigest", "digest", "compare_digest",
})  # fmt: skip


@rule(
    "py.guarded-act",
    "Dangerous action behind an unusual condition",
    severity="medium",
    confidence="medium",
    topic="guard",
    cwe=(511, 506),
    attack=("T1480", "T1480.001"),
    why="What only one machine, one user or the holder of one value switches on is seen by nobody else.",
    fix="Make the condition a named setting, or remove the call.",
)
def check(module: Module) -> Iterator[Hit]:
    """Conditions on a digest, a host, a user, CI or a trait of a sandbox in front of dangerous calls."""
    if not any(_word(node) in _ASKS for node in module.all(ast.Attribute, ast.Name)):
        return
    classifier = Classifier(module)
    said: set[int] | None = None
    told: set[ast.expr] = set()
    for guard in guards(module):
        if guard.refuses or guard.test in told:
            continue
        calls = {name for _, name in dangerous_calls(module, guard.guarded) if name not in DELETE_CALLS}
        kind = classifier.kind(guard.test) if calls else ""
        if kind in ("", "date"):
            continue
        if said is None:
            said = _lines(dated_action.check.check(module)) | _lines(sandbox_probe.check.check(module))
        if guard.test.lineno in said:
            continue
        told.add(guard.test)
        yield Hit(
            node=module.parents.get(guard.test, guard.test),
            message=f"Whether {min(calls)} is called depends on {GUARDS[kind]}.",
            confidence=Confidence.LOW if kind == "ci" else None,
        )


def _word(node: ast.AST) -> str:
    return str(getattr(node, "attr", "") or getattr(node, "id", ""))


def _lines(hits: Iterable[Hit]) -> set[int]:
    return {getattr(hit.node, "lineno", 0) for hit in hits}
