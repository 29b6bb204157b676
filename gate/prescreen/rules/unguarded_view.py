"""A page that only users should see does not look who asks.

Other handlers of the file use the session; this one, with `admin`, `dashboard`, `account` or the like
in its path, does not.

Add `@login_required` or test the session first.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.model.rule import Confidence, Severity
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.routes import response_functions
from gate.prescreen.python_ast.rule import Hit, rule
from gate.regex import regex

_PATH = regex(
    r"/(admin|dashboard|account|profile|settings|users?/delete|internal|manage|console)\b", re.IGNORECASE
)
_GUARD = regex(
    r"login|auth|require|permission|admin_only|protected|jwt|token|role|access|user_passes", re.IGNORECASE
)
_ADMIN = regex(r"^/(?:\w+/)?admin\b", re.IGNORECASE)
_CHANGING = frozenset({"post", "put", "patch", "delete"})
_CHANGED = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_SESSION = ("flask.session", "flask_login.current_user", "flask.g")


@rule(
    "py.unguarded-view",
    "Protected page without a check",
    severity="medium",
    confidence="low",
    topic="auth",
    cwe=(306, 862),
    why="Anybody who knows the address sees the page.",
    fix="Add the project's log-in decorator, or test the session first.",
)
def check(module: Module) -> Iterator[Hit]:
    """Routes with such paths in a file that uses sessions, without decorator or test."""
    yield from _nobody_checks(module)
    yield from _open_to_all(module)
    if not module.is_web or not any(
        name.startswith(_SESSION)
        for kind in (ast.Name, ast.Attribute)
        for node in module.all(kind)
        for name in module.names_of(node)
    ):
        return
    for function in response_functions(module):
        route, guarded = _decorators(module, function)
        if not route or guarded or _PATH.search(route) is None:
            continue
        names = {
            name
            for node in module.within(function)
            if isinstance(node, ast.Name | ast.Attribute)
            for name in module.names_of(node)
        }
        called = [
            getattr(node.func, "id", getattr(node.func, "attr", ""))
            for node in module.within(function)
            if isinstance(node, ast.Call)
        ]
        if not any(name.startswith(_SESSION) for name in names) and not any(
            _GUARD.search(name) for name in called
        ):
            yield Hit(node=function, message="This page does not look who asks.")


def _nobody_checks(module: Module) -> Iterator[Hit]:
    """An ``/admin`` page that changes something, in a file that has no word about log-in anywhere."""
    if not module.is_web or _GUARD.search(module.text) or "before_request" in module.text:
        return
    for function in response_functions(module):
        for decorator in function.decorator_list:
            if not isinstance(decorator, ast.Call) or not decorator.args:
                continue
            route = module.text_of(decorator.args[0]) or ""
            methods = module.const(module.arg(decorator, None, "methods"))
            verb = getattr(decorator.func, "attr", "")
            changes = verb in _CHANGING or (isinstance(methods, list) and bool(_CHANGED & set(methods)))
            if _ADMIN.match(route) and (changes or "delete" in route):
                yield Hit(node=function, message="Nothing in this file looks who asks.")


_WRITING = frozenset({
    "ModelViewSet", "CreateModelMixin", "UpdateModelMixin", "DestroyModelMixin", "CreateAPIView",
    "UpdateAPIView", "DestroyAPIView", "ListCreateAPIView", "RetrieveUpdateAPIView",
    "RetrieveDestroyAPIView", "RetrieveUpdateDestroyAPIView",
})  # fmt: skip
_FOR_EVERYBODY = regex(
    r"sign_?up|regist|log_?in|log_?out|token|public|contact|webhook|callback|password|verif|activat|newsletter"
    r"|subscri|feedback|health|refresh|comment|survey|guest|cart|basket|checkout|anonymous",
    re.IGNORECASE,
)


def _open_to_all(module: Module) -> Iterator[Hit]:
    """Views that change every object of a model, and say that anybody may: ``[AllowAny]``, an empty list."""
    if not module.imports_any("rest_framework"):
        return
    for owner in module.all(ast.ClassDef):
        bases = {getattr(base, "id", getattr(base, "attr", "")) for base in owner.bases}
        said = {
            target.id: node
            for node in owner.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        given = said.get("permission_classes")
        if given is None or bases.isdisjoint(_WRITING) or _FOR_EVERYBODY.search(owner.name):
            continue
        listed = given.value.elts if isinstance(given.value, ast.List | ast.Tuple) else None
        names = {getattr(item, "id", getattr(item, "attr", "")) for item in listed or ()}
        limited = any(getattr(n, "name", "") in ("get_queryset", "get_permissions") for n in owner.body)
        authenticated = "authentication_classes" in said
        if listed is not None and names <= {"AllowAny"} and not limited and not authenticated:
            message = "Anybody may change every object of this view."
            yield Hit(node=given, message=message, severity=Severity.HIGH, confidence=Confidence.MEDIUM)


def _decorators(module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, bool]:
    route, guarded = "", False
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and decorator.args and (text := module.text_of(decorator.args[0])):
            route = route or (text if text.startswith("/") else "")
        else:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            guarded = guarded or bool(_GUARD.search(getattr(target, "id", getattr(target, "attr", ""))))
    return route, guarded
