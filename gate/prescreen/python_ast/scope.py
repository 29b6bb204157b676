"""Scopes and bindings of one Python file: who a name means, as Python's own rules have it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any, Final, Literal

from gate.dataclass import dataclass

Position = tuple[int, int]
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

BindingKind = Literal[
    "import", "assign", "augment", "unpack", "loop", "with", "param", "def", "class", "other"
]


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One place that gives a name a value.

    ``value`` is the bound expression where there is one (for ``loop`` the iterable, for ``with``
    the context manager, for ``param`` its default). ``dotted`` is what an import means
    (``os.path``). ``at`` is where the name starts to mean it.
    """

    kind: BindingKind
    node: ast.AST
    at: Position
    value: ast.expr | None = None
    dotted: str = ""


@dataclass(slots=True, eq=False)
class Scope:
    """A module, class, function, lambda or comprehension."""

    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    outer: set[str] = field(default_factory=set)
    """Names declared ``global`` or ``nonlocal`` here."""

    @property
    def is_class(self) -> bool:
        """Class bodies are not visible from the functions inside them."""
        return isinstance(self.node, ast.ClassDef)

    @property
    def is_comprehension(self) -> bool:
        """Comprehensions have scopes of their own, but ``:=`` binds outside of them."""
        return isinstance(self.node, Comprehension)

    def chain(self) -> Iterator[Scope]:
        """The scope itself and those a name is looked up in after it."""
        scope: Scope | None = self
        while scope is not None:
            if scope is self or not scope.is_class:
                yield scope
            scope = scope.parent

    def bind(self, name: str, binding: Binding) -> None:
        """Adds a binding where Python would put it."""
        scope = self
        if name in scope.outer and scope.parent is not None:
            while scope.parent is not None:
                scope = scope.parent
                if not scope.is_class and (name in scope.bindings or scope.parent is None):
                    break
        scope.bindings.setdefault(name, []).append(binding)


def start_of(node: ast.AST) -> Position:
    """Line and column where a node starts; (0, 0) for nodes without a place."""
    return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))


def end_of(node: ast.AST) -> Position:
    """Line and column where a node ends."""
    return (getattr(node, "end_lineno", None) or 0, getattr(node, "end_col_offset", None) or 0)


def target_names(target: ast.expr) -> Iterator[tuple[str, bool]]:
    """Names a target binds; the flag is True when it gets only a part of the value."""
    stack: list[tuple[ast.expr, bool]] = [(target, False)]
    while stack:
        node, part = stack.pop()
        if isinstance(node, ast.Name):
            yield node.id, part
        elif isinstance(node, ast.Tuple | ast.List):
            stack.extend((item, True) for item in node.elts)
        elif isinstance(node, ast.Starred):
            stack.append((node.value, True))


def record(node: ast.AST, scope: Scope) -> None:
    """Enters what one node binds into its scope."""
    handler = _HANDLERS.get(type(node))
    if handler is not None:
        handler(node, scope)


def _import(node: ast.Import, scope: Scope) -> None:
    for alias in node.names:
        if alias.asname:
            binding = Binding("import", node, end_of(node), dotted=alias.name)
            scope.bind(alias.asname, binding)
        else:
            top = alias.name.partition(".")[0]
            scope.bind(top, Binding("import", node, end_of(node), dotted=top))


def _import_from(node: ast.ImportFrom, scope: Scope) -> None:
    base = node.module or ""
    if node.level:
        base = "." * node.level + base
    for alias in node.names:
        if alias.name == "*":
            scope.stars.append(base)
            continue
        dotted = f"{base}{'' if base.endswith('.') else '.'}{alias.name}"
        scope.bind(alias.asname or alias.name, Binding("import", node, end_of(node), dotted=dotted))


def _assign(node: ast.Assign, scope: Scope) -> None:
    for target in node.targets:
        _bind_target(target, node.value, scope, end_of(node), node)


def _bind_target(target: ast.expr, value: ast.expr, scope: Scope, at: Position, node: ast.AST) -> None:
    if (
        isinstance(target, ast.Tuple | ast.List)
        and isinstance(value, ast.Tuple | ast.List)
        and len(target.elts) == len(value.elts)
        and not any(isinstance(e, ast.Starred) for e in [*target.elts, *value.elts])
    ):
        for part, part_value in zip(target.elts, value.elts, strict=True):
            for name, inner in target_names(part):
                scope.bind(name, Binding("unpack" if inner else "assign", node, at, part_value))
        return
    for name, part_only in target_names(target):
        scope.bind(name, Binding("unpack" if part_only else "assign", node, at, value))


def _annotated(node: ast.AnnAssign, scope: Scope) -> None:
    if isinstance(node.target, ast.Name) and node.value is not None:
        scope.bind(node.target.id, Binding("assign", node, end_of(node), node.value))


def _augmented(node: ast.AugAssign, scope: Scope) -> None:
    if isinstance(node.target, ast.Name):
        scope.bind(node.target.id, Binding("augment", node, end_of(node), node.value))


def _walrus(node: ast.NamedExpr, scope: Scope) -> None:
    while scope.is_comprehension and scope.parent is not None:
        scope = scope.parent
    scope.bind(node.target.id, Binding("assign", node, end_of(node), node.value))


def _loop(node: ast.For | ast.AsyncFor, scope: Scope) -> None:
    for name, _ in target_names(node.target):
        scope.bind(name, Binding("loop", node, end_of(node.iter), node.iter))


def _with(node: ast.With | ast.AsyncWith, scope: Scope) -> None:
    for item in node.items:
        if item.optional_vars is not None:
            for name, part in target_names(item.optional_vars):
                kind: BindingKind = "unpack" if part else "with"
                place = end_of(item.context_expr)
                scope.bind(name, Binding(kind, node, place, item.context_expr))


def _definition(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, scope: Scope) -> None:
    kind: BindingKind = "class" if isinstance(node, ast.ClassDef) else "def"
    scope.bind(node.name, Binding(kind, node, start_of(node)))


def _handler(node: ast.ExceptHandler, scope: Scope) -> None:
    if node.name:
        scope.bind(node.name, Binding("other", node, start_of(node)))


def _outer(node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
    scope.outer.update(node.names)


def _match(node: ast.Match, scope: Scope) -> None:
    for case in node.cases:
        stack: list[ast.AST] = [case.pattern]
        while stack:
            pattern = stack.pop()
            whole = pattern is case.pattern and isinstance(pattern, ast.MatchAs)
            whole = whole and getattr(pattern, "pattern", None) is None
            name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
            if isinstance(name, str):
                kind: BindingKind = "assign" if whole else "unpack"
                scope.bind(name, Binding(kind, node, start_of(pattern), node.subject))
            stack.extend(ast.iter_child_nodes(pattern))


_HANDLERS: Final[dict[type[ast.AST], Callable[[Any, Scope], None]]] = {
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.NamedExpr: _walrus,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.FunctionDef: _definition,
    ast.AsyncFunctionDef: _definition,
    ast.ClassDef: _definition,
    ast.ExceptHandler: _handler,
    ast.Global: _outer,
    ast.Nonlocal: _outer,
    ast.Match: _match,
}


def record_parameters(node: FunctionNode, scope: Scope) -> None:
    """Enters a function's parameters into the function's own scope."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
    defaults.extend(args.defaults)
    pairs = [*zip(positional, defaults, strict=True)]
    pairs.extend(zip(args.kwonlyargs, args.kw_defaults, strict=True))
    pairs.extend((extra, None) for extra in (args.vararg, args.kwarg) if extra is not None)
    for arg, default in pairs:
        scope.bind(arg.arg, Binding("param", arg, start_of(node), default))


def record_comprehension(node: Comprehension, scope: Scope) -> None:
    """Enters a comprehension's loop names into its own scope."""
    for generator in node.generators:
        for name, _ in target_names(generator.target):
            scope.bind(name, Binding("loop", generator, start_of(node), generator.iter))
