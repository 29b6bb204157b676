"""What each name of a module is bound to, scope by scope: a parameter called ``requests`` is no module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field
from typing import Final, Literal

from gate.dataclass import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MOST: Final = 100
"""Bindings of one name that are followed."""


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One way in which a name gets a value. ``node`` is the expression (or the definition), to be read in
    ``scope``; ``name`` the dotted name of an import. ``statement`` is where it stands. ``annotated``:
    ``node`` says of which class it is.
    """

    how: Literal["value", "import", "parameter", "self", "function", "class", "annotated", "unknown"]
    scope: Scope
    node: ast.AST | None = None
    name: tuple[str, ...] = ()
    statement: ast.AST | None = None


@dataclass(slots=True, eq=False)
class Scope:
    """One scope and what it binds. Classes are skipped when a name is looked up from a function in them."""

    node: ast.AST
    parent: Scope | None = None
    names: dict[str, list[Binding]] = field(default_factory=dict)
    elsewhere: dict[str, Literal["global", "nonlocal"]] = field(default_factory=dict)
    stars: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def is_class(self) -> bool:
        """True for a class body."""
        return isinstance(self.node, ast.ClassDef)

    def bind(self, name: str, binding: Binding) -> None:
        """Add one meaning of a name, where ``global`` and ``nonlocal`` put it."""
        home = self._home(name)
        known = home.names.setdefault(name, [])
        if len(known) < _MOST:
            known.append(binding)

    def find(self, name: str) -> list[Binding] | None:
        """All bindings of a name as seen from here; None where the module binds it nowhere."""
        scope: Scope | None = self._home(name)
        first = True
        while scope is not None:
            if name in scope.names and (first or not scope.is_class):
                return scope.names[name]
            scope, first = scope.parent, False
        return None

    def _home(self, name: str) -> Scope:
        where = self.elsewhere.get(name)
        if where == "global":
            return self.module
        if where == "nonlocal" and self.parent is not None:
            return self.parent
        return self

    @property
    def module(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


class Scopes:
    """The scopes of a module. ``of``: by the node that opens each. ``inside``: of any node, the scope it is
    evaluated in. ``members``: what attributes are assigned, by their name alone, whoever they belong to.
    """

    def __init__(self, tree: ast.Module, package: tuple[str, ...]) -> None:
        self.top = Scope(tree)
        self.of: dict[ast.AST, Scope] = {tree: self.top}
        self.inside: dict[ast.AST, Scope] = {}
        self.members: dict[str, list[Binding]] = {}
        self._package = package
        todo: list[tuple[ast.AST, Scope]] = [(node, self.top) for node in tree.body]
        order: list[tuple[ast.AST, Scope]] = []
        while todo:
            node, scope = todo.pop()
            self.inside[node] = scope
            order.append((node, scope))
            todo.extend(self._children(node, scope))
        for node, scope in order:  # first: where names live
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                kind: Literal["global", "nonlocal"] = "global" if isinstance(node, ast.Global) else "nonlocal"
                scope.elsewhere |= dict.fromkeys(node.names, kind)
        for node, scope in order:
            self._bind(node, scope)

    def _children(self, node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        """Children with the scope they are evaluated in: defaults and decorators outside, bodies inside."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            own = self.of[node] = Scope(node, scope)
            outside = [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
            yield from ((child, scope) for child in (*outside, *getattr(node, "decorator_list", ())))
            body = node.body if isinstance(node.body, list) else [node.body]
            yield from ((child, own) for child in body)
        elif isinstance(node, ast.ClassDef):
            own = self.of[node] = Scope(node, scope)
            yield from (
                (c, scope) for c in (*node.bases, *(k.value for k in node.keywords), *node.decorator_list)
            )
            yield from ((child, own) for child in node.body)
        elif isinstance(node, _COMPREHENSIONS):
            own = self.of[node] = Scope(node, scope)
            yield node.generators[0].iter, scope
            for n, generator in enumerate(node.generators):
                self.inside[generator] = own
                yield from ((child, own) for child in (generator.target, *generator.ifs))
                if n:
                    yield generator.iter, own
            elements = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
            yield from ((child, own) for child in elements)
        elif isinstance(node, ast.AnnAssign):
            yield from ((child, scope) for child in (node.target, node.value) if child is not None)
        else:
            yield from ((child, scope) for child in ast.iter_child_nodes(node))

    def _bind(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self._import(node, scope)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            self._function(node, scope)
        elif isinstance(node, ast.ClassDef):
            scope.bind(node.name, Binding("class", scope, node, statement=node))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._target(target, node.value, scope, node)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
            if isinstance(node, ast.AnnAssign):
                self._annotated(node, scope)
            if node.value is not None:
                self._target(node.target, node.value, scope, node)
        elif isinstance(node, ast.NamedExpr):
            home = scope
            while isinstance(home.node, _COMPREHENSIONS) and home.parent is not None:
                home = home.parent
            self._target(node.target, node.value, home, node)
        else:
            self._bind_more(node, scope)

    def _bind_more(self, node: ast.AST, scope: Scope) -> None:
        """Names of loops, ``with``, ``except`` and ``match``."""
        if isinstance(node, (ast.For, ast.AsyncFor)):
            self._target(node.target, node.iter, scope, node, looped=True)
        elif isinstance(node, _COMPREHENSIONS):
            own = self.of[node]
            for n, generator in enumerate(node.generators):
                read_in = scope if n == 0 else own
                self._target(generator.target, generator.iter, own, node, looped=True, read_in=read_in)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._target(node.optional_vars, node.context_expr, scope, node.context_expr)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            scope.bind(node.name, Binding("unknown", scope))
        elif isinstance(node, ast.Match):
            for inner in ast.walk(node):
                name = (
                    getattr(inner, "name", None) if isinstance(inner, (ast.MatchAs, ast.MatchStar)) else None
                )
                if name:
                    scope.bind(name, Binding("value", scope, node.subject, statement=node))
        elif isinstance(node, ast.Call):
            self._set(node, scope)

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = tuple(alias.name.split("."))
                bound = alias.asname or parts[0]
                name = parts if alias.asname else parts[:1]
                scope.bind(bound, Binding("import", scope, name=name, statement=node))
            return
        parts = tuple((node.module or "").split(".")) if node.module else ()
        if node.level:
            folder = self._package[: len(self._package) - node.level + 1]
            parts = ("/", *folder, *parts)
        for alias in node.names:
            if alias.name == "*":
                scope.stars.append(parts)
                self.top.stars.append(parts)
            else:
                name = (*parts, alias.name)
                scope.bind(alias.asname or alias.name, Binding("import", scope, name=name, statement=node))

    def _function(self, node: Function, scope: Scope) -> None:
        if not isinstance(node, ast.Lambda):
            scope.bind(node.name, Binding("function", scope, node, statement=node))
        own = self.of[node]
        spec = node.args
        plain = [*spec.posonlyargs, *spec.args]
        defaults: list[ast.expr | None] = [*[None] * (len(plain) - len(spec.defaults)), *spec.defaults]
        pairs = [*zip(plain, defaults, strict=True), *zip(spec.kwonlyargs, spec.kw_defaults, strict=True)]
        pairs += [(extra, None) for extra in (spec.vararg, spec.kwarg) if extra is not None]
        if scope.is_class and plain and not self._is_static(node):
            first = pairs.pop(0)[0]
            own.bind(first.arg, Binding("self", scope, scope.node, (first.arg,)))
        for argument, default in pairs:
            # The annotation says what is handed in; read where the function stands.
            own.bind(argument.arg, Binding("parameter", scope, argument.annotation, (argument.arg,), default))
            if default is not None:
                own.bind(argument.arg, Binding("value", scope, default, statement=default))

    @staticmethod
    def _is_static(node: Function) -> bool:
        decorators = getattr(node, "decorator_list", ())
        return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in decorators)

    def _target(
        self,
        target: ast.expr,
        value: ast.expr,
        scope: Scope,
        statement: ast.AST,
        *,
        looped: bool = False,
        read_in: Scope | None = None,
    ) -> None:
        where = read_in or scope
        if isinstance(target, ast.Starred):
            target = target.value
        if isinstance(target, ast.Name):
            bound = Binding("value", where, value, statement=statement)
            scope.bind(target.id, bound)
            if scope.is_class:
                self.members.setdefault(target.id, []).append(bound)
        elif isinstance(target, ast.Attribute):
            known = self.members.setdefault(target.attr, [])
            if len(known) < _MOST:
                known.append(Binding("value", where, value, statement=statement))
        elif isinstance(target, ast.Subscript):
            self._target(target.value, value, scope, statement, read_in=read_in)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = self._parts(value, len(target.elts), looped=looped)
            for n, element in enumerate(target.elts):
                for part in parts[n] if parts else [value]:
                    self._target(element, part, scope, statement, read_in=read_in)

    @staticmethod
    def _parts(value: ast.expr, count: int, *, looped: bool) -> list[list[ast.expr]]:
        """What each of ``count`` targets gets of a literal, where that can be told."""
        rows = [value]
        if looped:
            if not isinstance(value, (ast.Tuple, ast.List, ast.Set)):
                return []
            rows = list(value.elts)
        columns: list[list[ast.expr]] = [[] for _ in range(count)]
        for row in rows:
            if not isinstance(row, (ast.Tuple, ast.List)) or len(row.elts) != count:
                return []
            if any(isinstance(element, ast.Starred) for element in row.elts):
                return []
            for n, element in enumerate(row.elts):
                columns[n].append(element)
        return columns

    def _annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        """``self.x: Reporter = x``, the field ``x: Reporter`` of a class, ``x: Reporter = made()``."""
        bound = Binding("annotated", scope, node.annotation, statement=node)
        if isinstance(node.target, ast.Name) and not scope.is_class:
            scope.bind(node.target.id, bound)
            return
        name = getattr(node.target, "attr", "") or getattr(node.target, "id", "")
        known = self.members.setdefault(name, []) if name else []
        if len(known) < _MOST:
            known.append(bound)

    def _set(self, node: ast.Call, scope: Scope) -> None:
        """``setattr(x, "name", value)`` and ``x.append(value)``."""
        called = node.func
        if isinstance(called, ast.Name) and called.id == "setattr" and len(node.args) == 3:
            name = node.args[1]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                bound = Binding("value", scope, node.args[2], statement=node)
                self.members.setdefault(name.value, []).append(bound)
        elif isinstance(called, ast.Attribute) and called.attr in ("append", "add", "insert", "setdefault"):
            base = called.value
            if isinstance(base, ast.Name) and node.args and scope.find(base.id) is not None:
                found = scope.find(base.id)
                if found is not None and len(found) < _MOST:
                    found.append(Binding("value", scope, node.args[-1], statement=node))
