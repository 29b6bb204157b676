"""A permission is checked by `assert`.

Python leaves asserts out when it runs with `-O`: then nobody is asked.

Raise an error: `if not user.is_admin: raise PermissionError`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.regex import regex

_RIGHT = regex(
    r"^(?:is_admin|is_staff|is_superuser|is_authenticated|has_perm|has_permission|can_edit|can_delete|is_owner"
    r"|check_password)$"
)


@rule(
    "py.assert-guard",
    "A permission is checked by assert",
    severity="medium",
    confidence="low",
    topic="weak-check",
    cwe=(617, 862),
    why="Python leaves asserts out when it runs with -O; then everybody is let in.",
    fix="Raise an error: if not user.is_admin: raise PermissionError.",
)
def check(module: Module) -> Iterator[Hit]:
    """``assert user.is_admin`` and ``assert user.has_perm(...)``."""
    for node in module.all(ast.Assert):
        asked = node.test.func if isinstance(node.test, ast.Call) else node.test
        if isinstance(asked, ast.Attribute) and _RIGHT.match(asked.attr):
            yield Hit(node=node, message="Nobody is asked when Python runs with -O.")
