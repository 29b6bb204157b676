"""A security check that raises an error counts as passed.

Whoever can make the check fail gets in.

Return False, or let the error through.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.regex import regex

_CHECK = regex(
    r"verif|authenti|authoriz|check_(pass|perm|auth|token|sig)|valid(ate)?_?(token|user|sig|session|jwt)|decode_token|decrypt"
)
_ASKS = regex(r"^(?:is_|has_|can_|check_)(?:allowed|permi\w*|access|auth\w*|admin|valid_(?:user|token))")


@rule(
    "py.fails-open",
    "A failing check counts as passed",
    severity="medium",
    confidence="medium",
    topic="auth",
    cwe=(636, 703),
    why="Whoever can make the check fail gets in.",
    fix="Return False in the handler, or let the error through.",
)
def check(module: Module) -> Iterator[Hit]:
    """Handlers that return True (or do nothing) around a call named as a security check."""
    for attempt in module.all(ast.Try):
        names = [
            _called(node) for top in attempt.body for node in module.within(top) if isinstance(node, ast.Call)
        ]
        owner = getattr(module.function_of(attempt), "name", "")
        if not any(_CHECK.search(name) for name in [*names, owner]) and not _ASKS.search(owner):
            continue
        for handler in attempt.handlers:
            last = handler.body[-1]
            yes = (
                isinstance(last, ast.Return)
                and isinstance(last.value, ast.Constant)
                and last.value.value is True
            )
            if yes:
                yield Hit(node=handler, message="An error in the check counts as a yes.")
            elif handler.type is None and isinstance(last, ast.Pass):
                yield Hit(
                    node=handler, message="Every error of the check is swallowed.", severity=Severity.LOW
                )


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
