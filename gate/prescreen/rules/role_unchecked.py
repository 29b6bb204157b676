"""Whoever is signed in changes the role, the membership or the owner of somebody else.

The view asks for a log-in, takes the object by the address, and never looks at who asks.

Ask for the role first: look up the caller's own membership, and refuse where it is not enough.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.routes import is_django_view, is_route
from gate.prescreen.python_ast.rule import Hit, rule
from gate.regex import regex

_LOG_IN: Final = regex(r"^(?:login_required|jwt_required|auth_required|authenticated|require_login)$")
_WHO: Final = regex(
    r"^(?:get_)?(?:current_|active_|authenticated_)*user$|^(?:get_|require_)current_\w+$|^require_login$"
)
_NEUTRAL: Final = regex(
    r"^(?:require_(?:POST|GET|http_methods|safe)|atomic|csrf_\w+|never_cache|cache_\w+|route|get|post|put|patch|delete"
    r"|api_route|wraps|ratelimit|limit|inject|async_to_sync|sync_to_async|extend_schema|swagger_auto_schema)$"
)
_RIGHTS: Final = regex(
    r"^(?:roles?|role_id|is_(?:admin|staff|superuser|owner|moderator)|permissions?|access_level|owner|owner_id|privileges?)$"
)
_RECORDS: Final = regex(r"Member|Role|Permission|Grant|Admin|Collaborator|Invit")
_CALLER: Final = regex(
    r"^(?:user|current_user|identity|get_jwt_identity|get_jwt|session|auth|principal|account|me|g)$"
)
_ASKS: Final = regex(
    r"permi|authori[sz]|ensure|require|check|can_|_can|allowed|is_admin|is_owner|has_role|forbid|guard|policy"
)


@rule(
    "py.role-unchecked",
    "Rights of others changed by anybody signed in",
    severity="high",
    confidence="medium",
    topic="auth",
    cwe=(862, 269),
    why="Any user makes himself an owner or an administrator, or removes others.",
    fix="Look up the caller's own role first, and refuse where it is not enough.",
)
def check(module: Module) -> Iterator[Hit]:
    """Views that ask for a log-in alone and write a role or a membership of what the address names."""
    if not module.is_web or "before_request" in module.text or "dependencies=" in module.text:
        return
    for function in module.all(ast.FunctionDef, ast.AsyncFunctionDef):
        if not is_route(module, function) and not is_django_view(module, function):
            continue
        who = _signed_in(function)
        if who is None or _looks_at_caller(module, function, who):
            continue
        node = _changes_rights(module, function)
        if node is not None:
            yield Hit(node=node, message="Anybody who is signed in changes what others may do.")


def _signed_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str] | None:
    """Parameters that hold who asks, of a function that demands a log-in and nothing more; else None."""
    demands = False
    for decorator in function.decorator_list:
        name = _last(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if _LOG_IN.match(name):
            demands = True
        elif not _NEUTRAL.match(name):
            return None  # it may ask for more
    args = function.args
    given = [*args.posonlyargs, *args.args]
    defaults = [*([None] * (len(given) - len(args.defaults))), *args.defaults, *args.kw_defaults]
    who: set[str] = set()
    for arg, default in zip([*given, *args.kwonlyargs], defaults, strict=True):
        needs = [n for n in ast.walk(arg) if isinstance(n, ast.Call)]
        needs += [default] if isinstance(default, ast.Call) else []
        for call in needs:
            if _last(call.func) in ("Depends", "Security"):
                asked = _last(call.args[0]) if call.args else ""
                if _WHO.match(asked):
                    demands, who = True, {*who, arg.arg}
                elif not re.search(r"db|session|repo|service|settings", asked):
                    return None
        if (
            not needs
            and arg.annotation is not None
            and re.search(r"user|admin|role|auth", _last(arg.annotation), re.IGNORECASE)
        ):
            return None
    return who if demands else None


def _last(expr: ast.expr) -> str:
    return expr.attr if isinstance(expr, ast.Attribute) else getattr(expr, "id", "")


def _looks_at_caller(module: Module, function: ast.AST, who: set[str]) -> bool:
    body = getattr(function, "body", [])
    for top in body:
        for node in module.within(top):
            if isinstance(node, ast.Name) and (node.id in who or _CALLER.match(node.id)):
                if node.id != "session" or "flask.session" in module.names_of(node):
                    return True
            elif (
                isinstance(node, ast.Attribute)
                and node.attr == "user"
                and _last(node.value) in ("request", "req")
            ):
                return True
            elif isinstance(node, ast.Call):
                if _ASKS.search(_last(node.func)):
                    return True
                if any(_last(given) in ("request", "req") for given in node.args):
                    return True  # what it is given to may look at who asks
    return False


def _changes_rights(module: Module, function: ast.AST) -> ast.AST | None:
    """The first place where a right is written, or a record of one deleted."""
    for node in module.within(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                owned = isinstance(target, ast.Attribute) and _looked_up(module, target.value)
                if isinstance(target, ast.Attribute) and owned and _RIGHTS.match(target.attr):
                    return node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            text = " ".join(_models(module, node.func.value))
            if node.func.attr in ("delete", "adelete") and _RECORDS.search(text):
                return node
            if (
                node.func.attr == "delete"
                and node.args
                and _RECORDS.search(" ".join(_models(module, node.args[0])))
            ):
                return node
            written = [k.arg or "" for k in node.keywords]
            if node.func.attr == "update" and any(_RIGHTS.match(name) for name in written) and text:
                return node
    return None


def _looked_up(module: Module, expr: ast.expr) -> bool:
    return bool(_models(module, expr))


def _models(module: Module, expr: ast.expr) -> list[str]:
    """Classes that an object was taken from by something: ``get_object_or_404(Membership, ...)``."""
    todo, found = [expr], list[str]()
    for _ in range(3):
        following: list[ast.expr] = []
        for one in todo:
            for node in module.within(one):
                if isinstance(node, ast.Name):
                    if node.id[:1].isupper() and not node.id.isupper():
                        found.append(node.id)
                    following += [
                        b.value
                        for b in module.bindings_of(node)
                        if b.kind == "assign" and b.value is not None
                    ]
        todo = following
    return found
