"""Protections that stand outside of conditions: decorators, parameters, arguments, classes, middleware.

Runs in the limited child.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gate.languages.naming import snake
from gate.languages.unparse import unparsed
from gate.protections.conditions import is_user, last_name
from gate.protections.facts import QUERY, Family, Form, Guard, Weakness
from gate.protections.traits import BY_ENDING, EVERYWHERE, lapse, trait
from gate.protections.vocabulary import family_of, is_opening, is_owner

ROUTES: Final = frozenset({
    "route", "get", "post", "put", "delete", "patch", "api_route", "websocket", "view_config", "api_view",
    "expose", "endpoint", "action", "head", "options",
})  # fmt: skip
_BY_OWNER: Final = frozenset(
    {"limit", "required", "check", "protect", "requires", "require", "guard", "test"}
)
_BY_ARGUMENT: Final = frozenset({
    "method_decorator", "requires", "permission_classes", "authentication_classes", "throttle_classes",
    "decorators",
})  # fmt: skip
LISTS: Final = frozenset({
    "permission_classes", "authentication_classes", "throttle_classes", "dependencies", "decorators",
    "method_decorators", "required_scopes", "permissions", "auth", "middleware", "permission",
})  # fmt: skip
"""Arguments and class attributes that name protections."""
_OFF: Final = (
    ("optional", True), ("required", False), ("auto_error", False), ("enabled", False), ("exempt", True),
)  # fmt: skip
_QUERIES: Final = frozenset({
    "get", "filter", "exclude", "filter_by", "get_object_or_404", "aget_object_or_404", "get_or_404", "where",
    "find_one", "find", "first_or_404", "get_list_or_404", "exists", "aget", "get_or_create",
    "update_or_create",
})  # fmt: skip
_ON: Final = frozenset({
    "secure", "httponly", "raise_exception", "check_hostname", "no_network", "requires_auth",
    "login_required", "validate_csrf", "csrf_protect", "verify_signature", "require_tls", "enforce_csrf",
    "authenticated",
})  # fmt: skip
_GIVEN: Final = frozenset({"audience", "issuer", "max_age"})
_WIDE: Final = (
    "_middleware", "_protect", "talisman", "limiter", "_router", "_csp", "_controller", "_blueprint",
)  # fmt: skip
_REGISTERING: Final = frozenset({
    "add_middleware", "before_request", "before_app_request", "add_before_request", "use", "register_guard",
    "add_hook", "before_websocket",
})  # fmt: skip
_WRAPPING: Final = ("_required", "_only", "_protect", "_authenticated", "_member")
_LOADING: Final = frozenset({"decode", "loads", "set_cookie", "is_valid", "create_default_context", "unsign"})
_CUT: Final = 160


def source(node: ast.AST) -> str:
    """The node on one line, cut."""
    return " ".join(unparsed(node).split())[:_CUT]


def assigned_in(node: ast.AST) -> dict[str, ast.expr]:
    """What the names of a function are set to, by the last assignment."""
    return {
        one.targets[0].id: one.value
        for one in ast.walk(node)
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)
    }


def guard(family: Family, form: Form, key: str, node: ast.AST, text: str = "") -> Guard:
    """A protection that refuses where ``key`` does not hold."""
    line = getattr(node, "lineno", 1)
    return Guard(family=family, form=form, must=(f"-{key}",), text=text or source(node), line=line)


def decorator_guards(decorator: ast.expr) -> Iterator[Guard | Weakness]:
    """What one decorator protects, or opens."""
    name = last_name(decorator)
    if is_opening(name):
        yield _opening(decorator, name)
        return
    if isinstance(decorator, ast.Call):
        yield from argument_guards(decorator)
        if name not in ROUTES and any(_is_off(keyword) for keyword in decorator.keywords):
            if family_of(name):
                yield _opening(decorator, f"{name} that asks nobody")
            return
        if name in _BY_ARGUMENT:
            for value in decorator.args:
                yield from named_guards(value, "decorator")
            return
    if name in ROUTES:
        return
    family = family_of(name)
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if family is None and name in _BY_OWNER and isinstance(called, ast.Attribute):
        family = family_of(last_name(called.value))
    if family is not None:
        yield guard(family, "decorator", source(decorator), decorator, f"@{source(decorator)}")


def _is_off(keyword: ast.keyword) -> bool:
    value = keyword.value
    return isinstance(value, ast.Constant) and (keyword.arg, value.value) in _OFF


def route_decorators(decorators: list[ast.expr]) -> list[ast.expr]:
    """The decorators that act on what a route answers with: above the route's own, one changes nothing."""
    lowest = max((i for i, one in enumerate(decorators) if _declares_route(one)), default=-1)
    return [one for i, one in enumerate(decorators) if i >= lowest or _declares_route(one)]


def _declares_route(decorator: ast.expr) -> bool:
    if not isinstance(decorator, ast.Call) or last_name(decorator) not in ROUTES or not decorator.args:
        return False
    first = decorator.args[0]
    return isinstance(first, ast.Constant) and str(first.value).startswith("/")


def named_guards(value: ast.expr, form: Form) -> Iterator[Guard | Weakness]:
    """Protections named in a list, alone, or in ``Depends(...)``."""
    match value:
        case ast.List() | ast.Tuple() | ast.Set():
            for item in value.elts:
                yield from named_guards(item, form)
        case ast.BinOp():
            yield from named_guards(value.left, form)
            yield from named_guards(value.right, form)
        case ast.Call() if last_name(value) in ("Depends", "Security"):
            yield from depends_guards(value, form)
        case ast.Constant(value=str() as text):
            if family := family_of(text):
                yield guard(family, form, text, value)
        case _:
            name = last_name(value)
            if is_opening(name):
                yield _opening(value, name)
            elif family := family_of(name):
                yield guard(family, form, source(value), value)


_GUARDING: Final = frozenset({"guard", "guarded", "protect", "protected", "secure", "secured"})
"""Words in the name of a dependency that says no more of what it asks."""


def depends_guards(call: ast.Call, form: Form) -> Iterator[Guard]:
    """``Depends(get_current_user)``, ``Security(get_user, scopes=[...])``."""
    target = call.args[0] if call.args else next((k.value for k in call.keywords), None)
    name = last_name(target) if target is not None else ""
    family = family_of(name)
    if family is None and (last_name(call) == "Security" or not _GUARDING.isdisjoint(snake(name).split("_"))):
        family = "authentication"
    if family is not None:
        yield guard(family, form, source(target or call), call)


def parameter_guards(arguments: ast.arguments) -> Iterator[Guard]:
    """FastAPI's dependencies among a function's parameters, whether as default or in the annotation."""
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    defaults: list[ast.expr | None] = [*arguments.defaults, *arguments.kw_defaults]
    for default in defaults:
        if isinstance(default, ast.Call) and last_name(default) in ("Depends", "Security"):
            yield from depends_guards(default, "parameter")
    for arg in given:
        note = arg.annotation
        if note is None:
            continue
        inside = [n for n in ast.walk(note) if isinstance(n, ast.Call)]
        for call in inside:
            if last_name(call) in ("Depends", "Security"):
                yield from depends_guards(call, "parameter")
        name = last_name(note)
        named = snake(name).endswith(("_dep", "_dependency")) or snake(name).startswith("current_")
        if named and not inside and (family := family_of(name)):
            yield guard(family, "parameter", name, arg)


def argument_guards(call: ast.Call) -> Iterator[Guard | Weakness]:
    """Protections among the arguments of one call; lost only where the call is still there."""
    for found in _arguments(call):
        if isinstance(found, Guard):
            yield replace(found, of=found.of or last_name(call))
        else:
            yield found


def _arguments(call: ast.Call) -> Iterator[Guard | Weakness]:
    name = last_name(call)
    for keyword in call.keywords:
        word, value = keyword.arg, keyword.value
        if word in LISTS and word != "middleware":
            yield from named_guards(value, "argument")
        elif _is_on(name, word, value):
            yield guard("setting", "argument", f"{name}({word})", keyword, f"{name}({source(keyword)})")
        elif word == "autoescape" and not (isinstance(value, ast.Constant) and not value.value):
            yield guard("escaping", "argument", "autoescape", keyword, f"{name}({source(keyword)})")
            yield from _escaped(value)
        elif word == "algorithms":
            yield from _algorithms(name, keyword)
        elif word == "options" and isinstance(value, ast.Dict):
            yield from _options(name, value)
        elif name in _QUERIES and _is_bound(word, value):
            yield _of_user(keyword, call)
    if name in _QUERIES:
        for value in call.args:
            sides = [value.left, *value.comparators] if isinstance(value, ast.Compare) else []
            if any(_is_users(side) or _is_owner(last_name(side)) for side in sides):
                yield _of_user(value, call)


def _escaped(value: ast.expr) -> Iterator[Guard | Weakness]:
    """``autoescape=True`` is for every template; ``select_autoescape()`` asks their endings."""
    if isinstance(value, ast.Constant):
        yield trait("escaping", EVERYWHERE, source(value), value.lineno)
    elif isinstance(value, ast.Call) and last_name(value) == "select_autoescape":
        named = {keyword.arg: keyword.value for keyword in value.keywords}
        default = named.get("default")
        given = value.args[0] if value.args else named.get("enabled_extensions")
        items = given.elts if isinstance(given, ast.List | ast.Tuple | ast.Set) else []
        endings = [str(one.value).lstrip(".") for one in items if isinstance(one, ast.Constant)]
        if not (isinstance(default, ast.Constant) and default.value):
            key = f"{BY_ENDING}{' '.join(endings or ('html', 'htm', 'xml'))}"
            yield lapse("escaping", key, source(value), value.lineno, needs=(EVERYWHERE,))


def _is_users(value: ast.expr) -> bool:
    """``request.user``, and what is kept of it: ``request.user.account``."""
    while isinstance(value, ast.Attribute) and not is_user(value):
        value = value.value
    return is_user(value)


def _is_bound(word: str | None, value: ast.expr) -> bool:
    return _is_users(value) or (_is_owner(word) and not isinstance(value, ast.Constant))


def _is_owner(word: str | None) -> bool:
    """``tenant_id=``, ``owner__in=``, ``account__pk=``."""
    return word is not None and is_owner(word.removesuffix("__in").replace("__", "_"))


def _of_user(node: ast.AST, call: ast.Call) -> Guard:
    """A query for what belongs to who asks."""
    return replace(guard("authorisation", "argument", "what is the user's", node, source(call)), of=QUERY)


def _is_on(name: str, word: str | None, value: ast.expr) -> bool:
    """Is it an argument that protects, with a value that does?"""
    if not isinstance(value, ast.Constant):
        return word in _GIVEN and name in _LOADING
    if word == "samesite":
        return str(value.value).lower() in ("lax", "strict")
    on = word in _ON and value.value is True
    return on or (word in _GIVEN and name in _LOADING and value.value is not None)


def _algorithms(name: str, keyword: ast.keyword) -> Iterator[Guard | Weakness]:
    value = keyword.value
    items = value.elts if isinstance(value, ast.List | ast.Tuple | ast.Set) else []
    known = [str(item.value) for item in items if isinstance(item, ast.Constant)]
    if items and len(known) == len(items):
        if any(one.lower() == "none" for one in known):
            text = f"{name}({source(keyword)})"
            yield Weakness(key="unsigned tokens", family="authentication", text=text, line=value.lineno)
        if not any(one.lower().startswith(("hs", "none")) for one in known):
            yield guard("integrity", "argument", f"{name}: public keys only", keyword, source(keyword))
        return
    told = [n for n in ast.walk(value) if isinstance(n, ast.Call | ast.Subscript)]
    if any("header" in source(node).lower() or "alg" in source(node).lower() for node in told):
        text = f"{name}({source(keyword)})"
        yield Weakness(
            key="the token chooses the algorithm", family="authentication", text=text, line=value.lineno
        )


def _options(name: str, options: ast.Dict) -> Iterator[Guard | Weakness]:
    for key, value in zip(options.keys, options.values, strict=True):
        if not isinstance(key, ast.Constant):
            continue
        word = str(key.value)
        if word.startswith("verify_") and isinstance(value, ast.Constant) and value.value is False:
            yield Weakness(
                key=f"{name}: {word} off", family="integrity", text=f"{word}: False", line=value.lineno
            )
        if word == "require" and isinstance(value, ast.List | ast.Tuple):
            for item in value.elts:
                yield guard(
                    "integrity",
                    "argument",
                    f"{name}: require {source(item)}",
                    item,
                    f"require {source(item)}",
                )


def wide_guards(call: ast.Call) -> Iterator[Guard | Weakness]:
    """Middleware, limiters and routers that protect more than the function they are made in."""
    name = last_name(call)
    plain = snake(name)
    if family_of(name) or plain.startswith(("http_", "api_key", "o_auth", "oauth")):
        for keyword in call.keywords:
            if _is_off(keyword) and keyword.arg == "auto_error":
                yield _opening(call, f"{name} that asks nobody")
    if name in _REGISTERING:
        for value in call.args[:1]:
            if family := family_of(last_name(value)):
                yield guard(family, "wide", last_name(value), call)
        return
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if name == "init_app" and owner is not None and (family := family_of(last_name(owner))):
        yield guard(family, "wide", f"{last_name(owner)}.init_app", call)
        return
    family = family_of(name)
    if family is not None and plain.endswith(_WIDE):
        yield guard(family, "wide", name, call)
    elif family is not None and plain.endswith(_WRAPPING) and call.args and owner is None:
        of = call.args[-1]
        if isinstance(of, ast.Name | ast.Attribute) or last_name(of) == "as_view":
            yield guard(family, "wide", f"{name}({source(of)})", call)


def _opening(node: ast.expr, name: str) -> Weakness:
    family = family_of(snake(name).replace("exempt", "").replace("bypass_", "")) or "authorisation"
    return Weakness(key=name, family=family, text=source(node), line=node.lineno)
