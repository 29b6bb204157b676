"""The one walk over a parsed Python file: nodes by type, parents, scopes; what stands around a node.

Made with an explicit stack, so that no input can exhaust the interpreter's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TypeVar, overload

from gate.languages.path_roles import is_test_code
from gate.prescreen.python_ast.scope import (
    Comprehension,
    FunctionNode,
    Scope,
    record,
    record_comprehension,
    record_parameters,
)

N = TypeVar("N", bound=ast.AST)
M = TypeVar("M", bound=ast.AST)
P = TypeVar("P", bound=ast.AST)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_FRAMEWORKS = (
    "flask", "django", "fastapi", "starlette", "bottle", "tornado", "aiohttp", "sanic", "quart",
    "pyramid", "rest_framework", "falcon", "cherrypy", "webob", "werkzeug", "http.server",
    "flask_restful",
)  # fmt: skip
_SKIPPED = frozenset({"ctx", "op", "ops", "kind", "type_comment", "conversion", "type_ignores", "is_async"})
"""Fields that hold no node with a place in the source."""
_FIELDS = {
    kind: tuple(name for name in kind._fields if name not in _SKIPPED)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


def _children(node: ast.AST) -> list[ast.AST]:
    out: list[ast.AST] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        if type(value) is list:
            out += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            out.append(value)
    return out


class Index:
    """Every node of a file with its parent, scope and place in the walk."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path = path
        self.tree = tree
        self.order: dict[ast.AST, int] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        self.scopes: dict[ast.AST, Scope] = {}
        self._functions: dict[ast.AST, FunctionNode | None] = {}
        self.scope = Scope(tree, None)
        self._kinds: dict[type[ast.AST], list[ast.AST]] = {}
        self._attributes: dict[tuple[ast.AST, str], list[ast.expr]] = {}
        self._returns: dict[ast.AST, list[ast.expr]] | None = None
        self._index()

    # --- the one walk -------------------------------------------------------------------------

    def _index(self) -> None:
        stack: list[tuple[ast.AST, ast.AST | None, Scope]] = [(self.tree, None, self.scope)]
        order, parents, scopes, kinds = self.order, self.parents, self.scopes, self._kinds
        while stack:
            node, parent, scope = stack.pop()
            order[node] = len(order)
            if parent is not None:
                parents[node] = parent
            scopes[node] = scope
            kind = type(node)
            kinds.setdefault(kind, []).append(node)
            record(node, scope)
            if isinstance(node, _FUNCTIONS):
                children = self._function_children(node, scope)
            elif isinstance(node, ast.ClassDef):
                inner = Scope(node, scope)
                children = [(c, inner if c in node.body else scope) for c in _children(node)]
            elif isinstance(node, Comprehension):
                children = self._comprehension_children(node, scope)
            else:
                stack.extend([(child, node, scope) for child in reversed(_children(node))])
                if kind is ast.Assign:
                    self._attribute_targets(node)
                continue
            stack.extend([(child, node, inner) for child, inner in reversed(children)])

    def _function_children(self, node: FunctionNode, scope: Scope) -> list[tuple[ast.AST, Scope]]:
        inner = Scope(node, scope)
        record_parameters(node, inner)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        within: list[ast.AST] = [*body]
        inside = set(within)
        return [(child, inner if child in inside else scope) for child in _children(node)]

    def _comprehension_children(self, node: Comprehension, scope: Scope) -> list[tuple[ast.AST, Scope]]:
        inner = Scope(node, scope)
        record_comprehension(node, inner)
        return [(child, inner) for child in _children(node)]

    def _attribute_targets(self, node: ast.AST) -> None:
        if not isinstance(node, ast.Assign):
            return
        for target in node.targets:
            if (
                isinstance(target, ast.Attribute)
                and isinstance(target.value, ast.Name)
                and target.value.id in ("self", "cls")
            ):
                owner = self.class_of(node)
                if owner is not None:
                    self._attributes.setdefault((owner, target.attr), []).append(node.value)

    def attribute_values(self, owner: ast.ClassDef | None, name: str) -> list[ast.expr]:
        """What ``self.name`` is assigned anywhere in the class."""
        return self._attributes.get((owner, name), []) if owner else []

    @cached_property
    def imported(self) -> frozenset[str]:
        """Every module the file imports by statement, and each package above it."""
        found: set[str] = set()
        for node in self.all(ast.Import):
            found.update(alias.name for alias in node.names)
        for source in self.all(ast.ImportFrom):
            found.add(source.module or "")
            found.update(f"{source.module}.{alias.name}" for alias in source.names)
        return frozenset(
            ".".join(name.split(".")[: i + 1]) for name in found for i in range(name.count(".") + 1)
        )

    def imports_any(self, *modules: str) -> bool:
        """True when one of these modules (or something inside it) is imported."""
        return not self.imported.isdisjoint(modules)

    @cached_property
    def is_web(self) -> bool:
        """True when the file imports a web framework."""
        return self.imports_any(*_FRAMEWORKS)

    # --- looking around -----------------------------------------------------------------------

    @overload
    def all(self, kind: type[N], /) -> Iterator[N]: ...
    @overload
    def all(self, kind: type[N], other: type[M], /) -> Iterator[N | M]: ...
    @overload
    def all(self, kind: type[N], other: type[M], third: type[P], /) -> Iterator[N | M | P]: ...
    def all(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        """Every node of these exact types, in the order of the walk for each type."""
        for kind in kinds:
            yield from self._kinds.get(kind, ())

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The node's parents, nearest first."""
        current = self.parents.get(node)
        while current is not None:
            yield current
            current = self.parents.get(current)

    def function_of(self, node: ast.AST) -> FunctionNode | None:
        """The function or lambda whose body (or header) holds the node."""
        if node not in self._functions:
            self._functions[node] = next((up for up in self.above(node) if isinstance(up, _FUNCTIONS)), None)
        return self._functions[node]

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """The nearest class around the node."""
        return next((up for up in self.above(node) if isinstance(up, ast.ClassDef)), None)

    def statement_of(self, node: ast.AST) -> ast.AST:
        """The statement the node is part of."""
        if isinstance(node, ast.stmt):
            return node
        return next((up for up in self.above(node) if isinstance(up, ast.stmt)), node)

    def at_import(self, node: ast.AST) -> bool:
        """True when the node runs as soon as the file is imported or run (not inside a function)."""
        inner = node
        for up in self.above(node):
            if isinstance(up, ast.Lambda) or (
                isinstance(up, ast.FunctionDef | ast.AsyncFunctionDef) and inner in up.body
            ):
                return False
            inner = up
        return True

    def within(self, node: ast.AST) -> Iterator[ast.AST]:
        """The node and everything below it."""
        stack = [node]
        while stack:
            current = stack.pop()
            yield current
            stack.extend(_children(current))

    def returns_of(self, function: ast.AST) -> list[ast.expr]:
        """The expressions a function returns (those of functions inside it left out)."""
        if self._returns is None:
            self._returns = {}
            for node in self.all(ast.Return):
                owner = self.function_of(node)
                if owner is not None and node.value is not None:
                    self._returns.setdefault(owner, []).append(node.value)
        return self._returns.get(function, [])

    @cached_property
    def is_test(self) -> bool:
        """True for files that only tests run, told by their path."""
        return is_test_code(self.path)
