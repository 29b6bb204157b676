"""Protection against forged requests is switched off.

Any site that a user visits can then act in that user's name.

Leave it on; exempt only views that take no session. High where the view asks for a log-in: its cookie
is what browsers send along.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule

_LOGINS = frozenset(
    {
        "login_required",
        "permission_required",
        "user_passes_test",
        "LoginRequiredMixin",
        "PermissionRequiredMixin",
    }
)
_SETTINGS = ("WTF_CSRF_ENABLED", "WTF_CSRF_CHECK_DEFAULT", "CSRF_ENABLED")


@rule(
    "py.csrf-off",
    "Protection against forged requests is off",
    severity="medium",
    confidence="medium",
    topic="auth",
    cwe=(352,),
    why="Any site that a user visits can act in that user's name.",
    fix="Leave the protection on; exempt only views that take no session.",
)
def check(module: Module) -> Iterator[Hit]:
    """csrf_exempt decorators and settings that switch it off."""
    for function in module.all(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
        for decorator in function.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            named = getattr(target, "attr", getattr(target, "id", ""))
            wrapped = isinstance(decorator, ast.Call) and any(
                name.endswith(".csrf_exempt") for given in decorator.args for name in module.names_of(given)
            )
            if wrapped or (named in ("csrf_exempt", "exempt") and _csrf(module, target)):
                if _for_users(module, function):
                    message = "A view for users who are logged in accepts forged requests."
                    yield Hit(node=decorator, message=message, severity=Severity.HIGH)
                else:
                    yield Hit(node=decorator, message="This view accepts forged requests.")
    for node in module.all(ast.Assign):
        for item in node.targets:
            key = module.text_of(item.slice) if isinstance(item, ast.Subscript) else getattr(item, "id", "")
            if key in _SETTINGS and module.is_false(node.value):
                yield Hit(node=node, message="The protection is switched off for every form.")


def _for_users(module: Module, view: ast.AST) -> bool:
    """The view asks for a log-in of Django's, whose cookie browsers send along. No key is."""
    above = [*getattr(view, "decorator_list", []), *getattr(view, "bases", [])]
    parts = [
        part for node in above for part in module.within(node) if isinstance(part, ast.Name | ast.Attribute)
    ]
    return any(name.rpartition(".")[2] in _LOGINS for part in parts for name in module.names_of(part))


def _csrf(module: Module, target: ast.expr) -> bool:
    owner = getattr(target, "value", None)
    return any("csrf" in name.lower() for name in module.names_of(target)) or "csrf" in getattr(
        owner, "id", ""
    )
