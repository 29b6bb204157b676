"""A permission check always says yes.

A stub left by whoever wrote it first opens everything that it guards; models leave many of them.

Write the check, or raise `NotImplementedError` until it is written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.regex import regex

_NAME = regex(
    r"^_*(is_auth(enticated|orized)|authenticate(_user)?|authorize(_user)?|check_(auth|password|permissions?|token|signature"
    r"|access|api_key)|verify_(token|signature|password|user|auth|jwt|webhook|api_key|request)|validate_(token|signature"
    r"|session|api_?key|jwt)|has_access|is_admin|require_admin|login_user)$"
)


@rule(
    "py.permission-stub",
    "A permission check always says yes",
    severity="medium",
    confidence="medium",
    topic="auth",
    cwe=(862, 287),
    why="Everything that the check guards is open to everybody.",
    fix="Write the check, or raise NotImplementedError until it is written.",
)
def check(module: Module) -> Iterator[Hit]:
    """Functions named as a check whose whole body is ``return True``."""
    for function in module.all(ast.FunctionDef, ast.AsyncFunctionDef):
        body = [s for s in function.body if not isinstance(s, ast.Expr | ast.Pass)]
        only = body[0] if len(body) == 1 else None
        if not isinstance(only, ast.Return) or not _NAME.match(function.name):
            continue
        if isinstance(only.value, ast.Constant) and only.value.value is True and len(function.args.args) > 0:
            yield Hit(node=function, message="This check says yes to everybody.")
