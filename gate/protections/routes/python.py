"""Registrations of a Python file: Django's patterns, routers, blueprints, tables of routes. In the child."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gate.dataclass import dataclass
from gate.protections.conditions import last_name
from gate.protections.facts import WHO, Guard, Route
from gate.protections.python.guards import LISTS, ROUTES, guard, named_guards, source
from gate.protections.routes.urls import joined, plain_url
from gate.protections.vocabulary import family_of, is_opening

_FUNCTION: Final = ast.FunctionDef | ast.AsyncFunctionDef
_ROUTERS: Final = frozenset({
    "Blueprint", "APIRouter", "FastAPI", "Flask", "Router", "NinjaAPI", "APIBlueprint", "RouteTableDef",
    "Namespace", "Starlette", "Quart", "Sanic", "Litestar",
})  # fmt: skip
_VERBS: Final = frozenset({"get", "post", "put", "patch", "delete", "head", "options"})
_PATTERNS: Final = frozenset({"path", "re_path", "url", "Route", "WebSocketRoute", "URLSpec", "Mount"})
_ADDING: Final = frozenset({
    "add_url_rule", "add_api_route", "add_route", "add_get", "add_post", "add_put", "add_patch",
    "add_delete", "add_view", "add_api_websocket_route",
})  # fmt: skip
_MOUNTING: Final = frozenset({"include_router", "register_blueprint", "mount", "add_router", "blueprint"})
_MOST: Final = 1_000


@dataclass(frozen=True)
class _Router:
    prefix: str
    guards: tuple[Guard, ...]


def python_routes(tree: ast.Module) -> tuple[Route, ...]:
    """Every registration that the file shows."""
    reader = _Reader(tree)
    return tuple(reader.routes())[:_MOST]


class _Reader:
    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.nodes = [*ast.walk(tree)]
        self.names = dict(_imported(self.nodes))
        self.routers = dict(self._routers())

    def routes(self) -> Iterator[Route]:
        for node in self.nodes:
            if isinstance(node, _FUNCTION):
                yield from self._decorated(node)
            elif isinstance(node, ast.Call):
                yield from self._called(node)
            elif isinstance(node, ast.Tuple) and len(node.elts) >= 2 and _is_class(node.elts[1]):
                yield from self._route(node.elts[0], node.elts[1], node, "", "")  # Tornado

    def _routers(self) -> Iterator[tuple[str, _Router]]:
        for node in self.nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                    if last_name(call) in _ROUTERS:
                        url = _text(_keyword(call, "prefix", "url_prefix", "path")) or ""
                        yield name, _Router(prefix=url, guards=tuple(_listed(call)))

    def _decorated(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Route]:
        for mark in node.decorator_list:
            if not isinstance(mark, ast.Call) or last_name(mark) not in ROUTES:
                continue
            if not isinstance(mark.func, ast.Attribute) or not mark.args or _text(mark.args[0]) is None:
                continue
            verb = last_name(mark).upper() if last_name(mark) in _VERBS else _methods(mark)
            yield from self._route(
                mark.args[0], ast.Name(id=node.name), mark, verb, last_name(mark.func.value)
            )

    def _called(self, call: ast.Call) -> Iterator[Route]:
        name = last_name(call)
        owner = last_name(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        if name in _PATTERNS and len(call.args) + len(call.keywords) >= 2:
            at = call.args[1] if len(call.args) > 1 else _keyword(call, "view", "endpoint", "routes", "app")
            url = call.args[0] if call.args else _keyword(call, "route", "path")
            if at is not None and url is not None:
                yield from self._route(url, at, call, _methods(call), owner)
        elif name in _ADDING and call.args:
            at = _keyword(call, "view_func", "endpoint", "handler", "view") or call.args[-1]
            verb = (
                name.removeprefix("add_").upper() if name.removeprefix("add_") in _VERBS else _methods(call)
            )
            yield from self._route(call.args[0], at, call, verb, owner)
        elif name in _VERBS and owner == "web" and len(call.args) > 1:  # aiohttp
            yield from self._route(call.args[0], call.args[1], call, name.upper(), "")
        elif name == "register" and len(call.args) > 1 and _text(call.args[0]) is not None:
            yield from self._route(call.args[0], call.args[1], call, "", owner)
        elif name == "add_resource" and call.args:
            for url in call.args[1:]:
                yield from self._route(url, call.args[0], call, "", owner)
        elif name in _MOUNTING and call.args:
            child = next((one for one in call.args if _text(one) is None), None)
            url = next((one for one in call.args if _text(one) is not None), None)
            if child is not None:
                at = url or _keyword(call, "prefix", "url_prefix", "path")
                yield from self._route(at or ast.Constant(value=""), child, call, "", owner, mounts=True)

    def _route(
        self, url: ast.expr, at: ast.expr, node: ast.expr, verb: str, owner: str, *, mounts: bool = False
    ) -> Iterator[Route]:
        text = _text(url)
        if text is None:
            return
        router = self.routers.get(owner, _Router(prefix="", guards=()))
        guards, wraps = [*router.guards], list[str]()
        if isinstance(node, ast.Call):
            guards += [*_listed(node)]
        while isinstance(at, ast.Call) and last_name(at) != "as_view":
            called = last_name(at.func) if isinstance(at.func, ast.Call) else last_name(at)
            if called == "include":
                mounts = True
            elif (family := family_of(called)) in WHO:
                guards.append(guard(family, "wide", source(at.func), at, f"{called}({source(at)})"))
            elif not is_opening(called):
                wraps.append(called)
            if not at.args:
                break
            at = at.args[0]
        if isinstance(at, ast.Call) and isinstance(at.func, ast.Attribute):
            guards += [*_listed(at)]
            at = at.func.value
        if isinstance(at, ast.Tuple) and at.elts:
            at = at.elts[0]
        named = _keyword(node, "name", "endpoint") if isinstance(node, ast.Call) else None
        yield Route(
            verb=verb,
            url=joined(plain_url(router.prefix), plain_url(text)),
            handler="" if isinstance(at, ast.Lambda) else _text(at) or self._dotted(at),
            name=_text(named) or "",
            group=owner,
            guards=tuple(replace(g, form="wide") for g in guards if g.family in WHO),
            wraps=tuple(wraps),
            words=tuple(
                sorted({last_name(n) for n in ast.walk(at) if isinstance(n, ast.Name | ast.Attribute)})
            )
            if isinstance(at, ast.Lambda)
            else (),
            text=source(node),
            line=node.lineno,
            mounts=mounts,
        )

    def _dotted(self, node: ast.expr) -> str:
        """``members.views.export`` of ``views.export`` behind ``from members import views``."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        parts.append(self.names.get(node.id, node.id))
        return ".".join(reversed(parts))


def _imported(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                dotted = ".".join(part for part in (node.module or "", alias.name) if part)
                yield alias.asname or alias.name, dotted
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    yield alias.asname, alias.name


def _listed(call: ast.Call) -> Iterator[Guard]:
    for keyword in call.keywords:
        if keyword.arg in LISTS:
            yield from (g for g in named_guards(keyword.value, "argument") if isinstance(g, Guard))


def _is_class(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and last_name(node).endswith("Handler")


def _keyword(call: ast.Call, *names: str) -> ast.expr | None:
    return next((k.value for k in call.keywords if k.arg in names), None)


def _methods(call: ast.Call) -> str:
    value = _keyword(call, "methods")
    items = value.elts if isinstance(value, ast.List | ast.Tuple | ast.Set) else []
    return " ".join(sorted(str(_text(one) or "").upper() for one in items))


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
