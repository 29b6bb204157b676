"""Settings that protect: Django's and Flask's, as assignments, keys of a configuration, lists of middleware.

Runs in the limited child.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.protections.conditions import last_name
from gate.protections.facts import Guard, Weakness
from gate.protections.python.guards import guard, source
from gate.protections.vocabulary import family_of

_NEEDED: Final = frozenset({
    "SECURE_SSL_REDIRECT", "SECURE_HSTS_SECONDS", "SECURE_HSTS_INCLUDE_SUBDOMAINS", "SESSION_COOKIE_SECURE",
    "CSRF_COOKIE_SECURE", "CSRF_COOKIE_HTTPONLY", "REMEMBER_COOKIE_SECURE", "REMEMBER_COOKIE_HTTPONLY",
    "JWT_COOKIE_SECURE", "SECURE_BROWSER_XSS_FILTER", "SESSION_EXPIRE_AT_BROWSER_CLOSE", "LOGIN_REQUIRED",
})  # fmt: skip
"""Off unless they are set."""
_GIVEN: Final = frozenset({
    "SECURE_CONTENT_TYPE_NOSNIFF", "SESSION_COOKIE_HTTPONLY", "WTF_CSRF_ENABLED", "WTF_CSRF_CHECK_DEFAULT",
    "JWT_COOKIE_CSRF_PROTECT", "RATELIMIT_ENABLED", "AUTH_REQUIRED", "REQUIRE_LOGIN",
})  # fmt: skip
"""On unless they are switched off."""
_DANGER: Final = frozenset({
    "DEBUG", "CORS_ALLOW_ALL_ORIGINS", "CORS_ORIGIN_ALLOW_ALL", "LOGIN_DISABLED", "JWT_ALGORITHM_NONE",
    "TEMPLATES_AUTO_UNESCAPE",
})  # fmt: skip
"""Dangerous when they are on."""
_ACTIVE: Final = frozenset({
    "svg", "svg+xml", "html", "htm", "xhtml", "xhtml+xml", "shtml", "xml", "php", "phtml", "php5", "phar",
    "jsp", "jspx", "asp", "aspx", "js", "mjs", "javascript", "exe", "sh", "bat", "cmd", "ps1", "py", "cgi",
    "pl", "htaccess", "swf",
})  # fmt: skip
"""Endings and types of files that a browser or a server runs."""
_LISTS: Final = frozenset({
    "MIDDLEWARE", "MIDDLEWARE_CLASSES", "AUTH_PASSWORD_VALIDATORS", "DEFAULT_PERMISSION_CLASSES",
    "DEFAULT_AUTHENTICATION_CLASSES", "DEFAULT_THROTTLE_CLASSES", "DEFAULT_THROTTLE_RATES",
})  # fmt: skip
ORDER: Final = "order "
"""How what is asked of a guard begins that is kept by two entries staying in this order."""
_FIRST: Final = ("AuthenticationMiddleware", "SessionMiddleware", "RemoteUserMiddleware")
"""Those that others ask for what they found out."""
_OURS: Final = ("django.middleware.", "django.contrib.")
"""Django's own say by themselves when they stand wrong."""
_LONGEST: Final = 60
_NAMES: Final = (
    "Csrf", "Auth", "Security", "XFrame", "RateLimit", "Throttl", "Permission", "CSP", "Login", "Validator",
    "Axes", "Limiter", "TrustedHost", "IsAdmin", "IsStaff", "Csp", "OTP",
)  # fmt: skip


def setting_facts(statement: ast.stmt) -> Iterator[Guard | Weakness]:
    """What one statement of a module, a class or a function sets."""
    yield from _taken_out(statement)
    for name, value in _set(statement):
        if name == "REST_FRAMEWORK" and isinstance(value, ast.Dict):
            for key, item in zip(value.keys, value.values, strict=True):
                if isinstance(key, ast.Constant):
                    yield from _one(str(key.value), item)
        else:
            yield from _one(name, value)


def _taken_out(statement: ast.stmt) -> Iterator[Weakness]:
    """``MIDDLEWARE.remove("django.middleware.csrf.CsrfViewMiddleware")``."""
    match statement:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(attr="remove", value=of), args=[ast.Constant(value=str() as word)]
            )
        ):
            if last_name(of) in _LISTS and any(part in word for part in _NAMES):
                key = f"taken out of {last_name(of)}: {word.rpartition('.')[2]}"
                yield Weakness(key=key, family="setting", text=source(statement), line=statement.lineno)


def _set(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    match statement:
        case (
            ast.Assign(targets=[target], value=value)
            | ast.AnnAssign(target=target, value=ast.expr() as value)
        ):
            if isinstance(target, ast.Name):
                yield target.id, value
            elif (
                isinstance(target, ast.Subscript)
                and isinstance(target.slice, ast.Constant)
                and last_name(target.value) == "config"
            ):
                yield str(target.slice.value), value
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            yield name, value
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="update", value=of)) as call):
            if last_name(of) == "config":
                yield from ((k.arg, k.value) for k in call.keywords if k.arg)


def _one(name: str, value: ast.expr) -> Iterator[Guard | Weakness]:
    if name in _LISTS:
        for word, node in _items(value):
            if any(part in word for part in _NAMES):
                family = family_of(word.rpartition(".")[2]) or "setting"
                yield guard(
                    family, "wide", f"{name}: {word.rpartition('.')[2]}", node, f"{name}: {word}"[:160]
                )
        yield from _order(name, value)
        return
    yield from _allowed(name, value)
    on = _is_on(value)
    if name in _NEEDED and on:
        yield guard("setting", "wide", name, value, f"{name} = {source(value)}")
    weak = (name in _GIVEN and on is False) or (name in _DANGER and on is True)
    weak = weak or (name == "ALLOWED_HOSTS" and any(word == "*" for word, _ in _items(value)))
    if weak:
        text = f"{name} = {source(value)}"
        yield Weakness(key=f"setting {name}", family="setting", text=text, line=value.lineno)


def _order(name: str, value: ast.expr) -> Iterator[Guard]:
    """Middleware sees what those before it have decided: who is logged in, which host, which origin."""
    words = [word for word, _ in _items(value)] if name.startswith("MIDDLEWARE") else []
    for at, first in enumerate(words[:_LONGEST]):
        if not any(part in first for part in _FIRST):
            continue
        for later in words[at + 1 : _LONGEST]:
            if not later.startswith(_OURS):
                text = f"{name}: {first.rpartition('.')[2]} before {later.rpartition('.')[2]}"
                yield guard("authorisation", "wide", f"{ORDER}{first} before {later}", value, text)


def _allowed(name: str, value: ast.expr) -> Iterator[Weakness]:
    """One more entry in a constant list of who or what is allowed (``ADMIN_ROLES``, ``ALLOWED_HOSTS``)."""
    if isinstance(value, ast.Call) and last_name(value) in ("frozenset", "set", "tuple") and value.args:
        value = value.args[0]
    family = family_of(name)
    if not name.isupper() or family not in ("authorisation", "place", "csrf"):
        return
    for item in value.elts if isinstance(value, ast.List | ast.Tuple | ast.Set) else ():
        if isinstance(item, ast.Constant) and item.value != "*":
            text = f"{name}: {source(item)}"
            runs = str(item.value).lower().rpartition("/")[2].lstrip("*.") in _ACTIVE and family == "place"
            yield Weakness(key=text, family=family, text=text, line=item.lineno, mild=not runs)


def _is_on(value: ast.expr) -> bool | None:
    """Is a setting on, as far as it is written; the last constant of a call is its default."""
    if isinstance(value, ast.Constant):
        return value.value not in (False, None, 0, "", "0", "false", "False", "no", "off")
    if isinstance(value, ast.Call):
        given = [
            a for a in (*value.args[1:], *(k.value for k in value.keywords)) if isinstance(a, ast.Constant)
        ]
        flags = [a.value for a in given if isinstance(a.value, bool)]
        return flags[-1] if flags else None
    return None


def _items(value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, node
        elif isinstance(node, ast.Name | ast.Attribute):
            yield last_name(node), node
