"""One parsed Python file: what its names mean, what is constant, who is called.

Everything is made with explicit stacks or a depth budget, so that no input can exhaust the interpreter's
own stack; the parse itself happens in a child with limits (gate/languages/limited_child.py).
"""

from __future__ import annotations

import ast
import builtins
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar, cast

from gate.prescreen.python_ast.constants import NOT_CONST, Folder
from gate.prescreen.python_ast.index import Index
from gate.prescreen.python_ast.scope import Binding, start_of

T = TypeVar("T")
DEPTH = 24
"""How many steps a name or a constant is followed before it counts as unknown."""
NAMES = 6
"""How many meanings one expression may have before the rest are left out."""
_BUILTINS = frozenset(dir(builtins)) | {"unicode", "execfile", "reload", "__builtins__"}
_STEMS = {
    "builtins": "",
    "__builtin__": "",
    "__builtins__": "",
    "posix": "os",
    "nt": "os",
    "cPickle": "pickle",
    "_pickle": "pickle",
    "os.posix": "os",
    "posixpath": "os.path",
    "ntpath": "os.path",
}
_PATH_MAKERS = (
    "Path.home()", "Path.cwd()", "Path().parent", "Path().resolve()", "Path().joinpath()",
    "Path().expanduser()", "Path().absolute()", "PosixPath()", "Path().with_suffix()",
    "Path().with_name()", "PurePath()",
)  # fmt: skip
_CHANGES = frozenset({
    "append", "add", "update", "setdefault", "insert", "extend", "pop", "remove", "clear", "appendleft",
    "set", "write", "popleft", "put", "sort", "reverse", "__setitem__",
})  # fmt: skip
_ROWS = (".execute(", ".objects", ".query", "select(", "session.get(", ".fetch", "get_object_or_404")
_NAMESPACES = {"globals()", "locals()", "vars()", "__builtins__.__dict__", "builtins.__dict__", "__dict__"}


class Module(Index):
    """An indexed file. Build it with a tree from ``ast.parse``; ``text`` is the decoded source."""

    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        super().__init__(path, tree)
        self.text = text
        self.lines = text.splitlines()
        self._names: dict[ast.AST, tuple[str, ...]] = {}
        self._busy: set[ast.AST] = set()
        self._calls: dict[str, list[ast.Call]] | None = None
        self.outside: Mapping[str, Mapping[str, Sequence[str]]] = {}
        """What other files pass to this file's functions (outside_calls.Passed)."""
        self.stored: Mapping[str, Mapping[str, Sequence[str]]] = {}
        """What outsiders decide of tables, by column (stored.tree.Stored)."""
        self.asked: set[str] = set()
        """The tables from which something was read that goes to a sink; ``?``: another file may have said."""
        self.asking = False
        """A rule asks for whose sinks it counts who writes the database."""
        self.until = math.inf
        """When following values ends (time.process_time): from then on nothing is known of any."""
        self.late = False
        """A value was asked for after that."""
        self.others: Mapping[str, str] = {}
        """Other files of the tree that this one imports: dotted names of modules to texts."""
        self._kept: dict[str, object] = {}
        self._fold = Folder(self._constant_bindings, self.names_of)

    @cached_property
    def keeps_rows(self) -> bool:
        """True when the file may read a database, or something that another file has read."""
        return any(word in self.text for word in _ROWS) or self.is_web

    def is_late(self) -> bool:
        """True when the time for following values is over."""
        self.late = self.late or time.process_time() > self.until
        return self.late

    def kept(self, name: str, make: Callable[[Module], T]) -> T:
        """What ``make`` says of this file: made once, however many checks ask for it under ``name``."""
        if name not in self._kept:
            self._kept[name] = make(self)
        return cast("T", self._kept[name])

    # --- names --------------------------------------------------------------------------------

    def bindings_of(self, name: ast.Name) -> list[Binding]:
        """The bindings that may reach this use; empty when the name is a builtin or unknown.

        Within one scope a later straight-line assignment hides the earlier ones; from an outer
        scope every binding may reach.
        """
        start = self.scopes.get(name)
        if start is None:
            return []
        for scope in start.chain():
            found = scope.bindings.get(name.id)
            if not found:
                continue
            if scope is not start and not start.is_comprehension:
                return found
            return self._reaching(found, name)
        return []

    def _reaching(self, found: list[Binding], use: ast.AST) -> list[Binding]:
        if len(found) == 1:
            return found
        at = start_of(use)
        before = [binding for binding in found if binding.at <= at or binding.kind == "param"]
        if not before:
            return found
        around = {use, *self.above(use)}
        kept: list[Binding] = []
        for binding in reversed(before):
            kept.append(binding)
            if binding.kind == "augment":
                continue
            node = binding.node if isinstance(binding.node, ast.stmt) else self.statement_of(binding.node)
            if binding.kind == "param" or self.parents.get(node) in around:
                if self._other_branch(node, around):
                    continue
                break
        return kept[::-1]

    def _other_branch(self, node: ast.AST, around: set[ast.AST]) -> bool:
        """True when the node stands in a branch (else, except) that the use does not."""
        parent = self.parents.get(node)
        if parent is None:
            return False
        for field in ("body", "orelse", "handlers", "finalbody"):
            block = getattr(parent, field, None)
            if isinstance(block, list) and node in block:
                return not any(item in around for item in block)
        return False

    def names_of(self, expr: ast.AST | None, depth: int = 0) -> tuple[str, ...]:
        """The dotted names an expression may stand for, imports and simple aliases resolved.

        ``os.system`` for ``from os import system as s; s``; a call's result is ``name()``, an item
        ``name[]``, so ``socket.socket().connect`` is a method of an instance. Builtins have no prefix.
        Empty when unknown.
        """
        if expr is None or depth > DEPTH:
            return ()
        known = self._names.get(expr)
        if known is not None:
            return known
        if expr in self._busy:
            return ()
        self._busy.add(expr)
        try:
            found = tuple(dict.fromkeys(_normal(n) for n in self._resolve(expr, depth + 1)))[:NAMES]
        finally:
            self._busy.discard(expr)
        if depth == 0 or found:
            self._names[expr] = found
        return found

    def _resolve(self, expr: ast.AST, depth: int) -> list[str]:
        match expr:
            case ast.Name():
                return self._resolve_name(expr, depth)
            case ast.Attribute():
                return self._resolve_attribute(expr, depth)
            case ast.Call():
                return self._resolve_call(expr, depth)
            case ast.Subscript():
                return self._resolve_item(expr, depth)
            case ast.Await() | ast.NamedExpr() | ast.Starred():
                return list(self.names_of(expr.value, depth))
            case ast.BinOp(op=ast.Div()):
                return [name for name in self.names_of(expr.left, depth) if name == "pathlib.Path()"]
            case ast.IfExp():
                return [*self.names_of(expr.body, depth), *self.names_of(expr.orelse, depth)]
            case ast.BoolOp():
                return [name for value in expr.values[:NAMES] for name in self.names_of(value, depth)]
        return []

    def _resolve_name(self, name: ast.Name, depth: int) -> list[str]:
        bindings = self.bindings_of(name)
        if not bindings:
            if name.id in _BUILTINS:
                return [name.id]
            return [f"{star}.{name.id}" for star in self._stars(name)]
        out: list[str] = []
        for binding in bindings[-NAMES:]:
            match binding.kind:
                case "import":
                    out.append(binding.dotted)
                case "assign" | "with":
                    out.extend(self.names_of(binding.value, depth))
                case "loop" if isinstance(binding.value, ast.Tuple | ast.List | ast.Set):
                    for item in binding.value.elts[:NAMES]:
                        out.extend(self.names_of(item, depth))
                case "loop" | "unpack":
                    out.extend(f"{base}[]" for base in self.names_of(binding.value, depth))
                case "param":
                    annotation = getattr(binding.node, "annotation", None)
                    out.extend(f"{base}()" for base in self.names_of(annotation, depth))
                    if binding.value is not None:
                        out.extend(self.names_of(binding.value, depth))
                case _:
                    pass
        return out

    def _stars(self, name: ast.Name) -> Iterator[str]:
        start = self.scopes.get(name)
        for scope in start.chain() if start else ():
            yield from scope.stars

    def _resolve_attribute(self, expr: ast.Attribute, depth: int) -> list[str]:
        if isinstance(expr.value, ast.Name) and expr.value.id in ("self", "cls"):
            owner = self.class_of(expr)
            values = self.attribute_values(owner, expr.attr)
            found = [name for value in values[:NAMES] for name in self.names_of(value, depth)]
            if found:
                return found
        return [f"{base}.{expr.attr}" for base in self.names_of(expr.value, depth)]

    def _resolve_call(self, call: ast.Call, depth: int) -> list[str]:
        names = self.names_of(call.func, depth)
        out: list[str] = []
        for name in names:
            if name in ("__import__", "importlib.import_module", "importlib.__import__"):
                target = self.const(call.args[0]) if call.args else NOT_CONST
                if isinstance(target, str):
                    top = target.partition(".")[0]
                    out.append(top if name == "__import__" and len(call.args) < 4 else target)
                    continue
            elif name == "getattr" and len(call.args) >= 2:
                attribute = self.const(call.args[1])
                bases = self.names_of(call.args[0], depth)
                if isinstance(attribute, str) and bases:
                    out.extend(f"{base}.{attribute}" for base in bases)
                    continue
            elif name == "vars" and call.args:
                out.extend(f"{base}.__dict__" for base in self.names_of(call.args[0], depth))
                continue
            elif name in ("functools.partial", "operator.methodcaller") and call.args:
                out.extend(self.names_of(call.args[0], depth))
                continue
            elif name.endswith((".__getattribute__", ".__getattr__", ".__dict__.get")) and call.args:
                attribute = self.const(call.args[-1] if name.endswith("__") else call.args[0])
                if isinstance(attribute, str):
                    out.append(f"{name.rsplit('.', 2 if name.endswith('.get') else 1)[0]}.{attribute}")
                    continue
            out.append(f"{name.removesuffix('.__call__')}()")
        return out

    def _resolve_item(self, expr: ast.Subscript, depth: int) -> list[str]:
        bases = self.names_of(expr.value, depth)
        if not bases:
            return []
        key = self.const(expr.slice)
        out = []
        for base in bases:
            if isinstance(key, str):
                if base in _NAMESPACES or base == "__builtins__":
                    out.extend(self._global(key, depth))
                    continue
                if base == "sys.modules":
                    out.append(key)
                    continue
                if base.endswith(".__dict__"):
                    out.append(f"{base.removesuffix('.__dict__')}.{key}")
                    continue
            out.append(f"{base}[]")
        return out

    def _global(self, name: str, depth: int) -> list[str]:
        found = self.scope.bindings.get(name, ())
        out = [b.dotted for b in found if b.kind == "import"]
        for binding in found:
            if binding.kind == "assign":
                out.extend(self.names_of(binding.value, depth))
        return out or ([name] if name in _BUILTINS or name == "__builtins__" else [])

    # --- calls and arguments --------------------------------------------------------------------

    @property
    def call_index(self) -> dict[str, list[ast.Call]]:
        """Every call under each of the names its function may have."""
        if self._calls is None:
            self._calls = {}
            for call in self.all(ast.Call):
                for name in self.names_of(call.func):
                    self._calls.setdefault(name, []).append(call)
        return self._calls

    def calls(self, *names: str) -> Iterator[tuple[ast.Call, str]]:
        """Calls of these full names; a name ending in ``.*`` takes every name below it."""
        seen: set[ast.Call] = set()
        for name in names:
            if name.endswith(".*"):
                stem = name[:-1]
                pairs = [(c, n) for n, cs in self.call_index.items() if n.startswith(stem) for c in cs]
            else:
                pairs = [(c, name) for c in self.call_index.get(name, ())]
            for call, found in pairs:
                if call not in seen:
                    seen.add(call)
                    yield call, found

    def methods(self, *names: str) -> Iterator[ast.Call]:
        """Calls of attributes with these names, whatever they belong to."""
        wanted = frozenset(names)
        for call in self.all(ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr in wanted:
                yield call

    def handed_on(self, *names: str) -> Iterator[tuple[ast.expr, str]]:
        """Plain names that mean one of these and are not called: given as arguments, or decorators."""
        wanted = frozenset(names)
        given: list[ast.expr] = []
        for call in self.all(ast.Call):
            given += [item for item in call.args if type(item) is ast.Name]
            given += [k.value for k in call.keywords if type(k.value) is ast.Name]
        for definition in self.all(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
            given += [item for item in definition.decorator_list if type(item) is ast.Name]
        for node in given:
            for name in self.names_of(node):
                if name in wanted:
                    yield node, name

    def arg(self, call: ast.Call, position: int | None, *keywords: str) -> ast.expr | None:
        """The argument at a position (0-based) or under one of the keywords; None when not given."""
        for keyword in call.keywords:
            if keyword.arg in keywords:
                return keyword.value
            if keyword.arg is None and isinstance(keyword.value, ast.Dict):
                for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                    if key is not None and self.const(key) in keywords:
                        return value
        if position is not None and position < len(call.args):
            given = call.args[: position + 1]
            if not any(isinstance(item, ast.Starred) for item in given):
                return call.args[position]
        return None

    # --- constants ------------------------------------------------------------------------------

    def const(self, expr: ast.AST | None) -> object:
        """The value of an expression that is constant by plain arithmetic of literals, or NOT_CONST."""
        return self._fold.value(expr) if expr is not None else NOT_CONST

    @cached_property
    def texts(self) -> list[tuple[ast.expr, str]]:
        """Every text in the file, those put together from constants too (docstrings left out)."""
        out: list[tuple[ast.expr, str]] = [
            (constant, constant.value)
            for constant in self.all(ast.Constant)
            if isinstance(constant.value, str) and not isinstance(self.parents.get(constant), ast.Expr)
        ]
        for built in self.all(ast.BinOp, ast.Call):
            value = self.const(built)
            if isinstance(value, str):
                out.append((built, value))
        return out

    def text_of(self, expr: ast.AST | None) -> str | None:
        """The constant text of an expression (bytes decoded loosely), or None."""
        value = self.const(expr)
        if isinstance(value, bytes | bytearray):
            return bytes(value).decode("utf-8", "replace")
        return value if isinstance(value, str) else None

    def is_true(self, expr: ast.AST | None) -> bool:
        """True when the expression is a constant that counts as true."""
        value = self.const(expr)
        return value is not NOT_CONST and bool(value)

    def is_false(self, expr: ast.AST | None) -> bool:
        """True when the expression is a constant that counts as false."""
        value = self.const(expr)
        return value is not NOT_CONST and not value

    def _constant_bindings(self, name: ast.Name) -> list[Binding]:
        found = self.bindings_of(name)
        changing = name.id in self.changed_names and any(isinstance(b.value, ast.List) for b in found)
        return [] if changing else found

    @cached_property
    def changed_names(self) -> frozenset[str]:
        """Plain names of which a method or a store changes what they hold, anywhere in the file."""
        found = set()
        for call in self.all(ast.Call):
            func = call.func
            if isinstance(func, ast.Attribute) and func.attr in _CHANGES and isinstance(func.value, ast.Name):
                found.add(func.value.id)
        for item in self.all(ast.Subscript):
            if not isinstance(item.ctx, ast.Load) and isinstance(item.value, ast.Name):
                found.add(item.value.id)
        return frozenset(found)


def _normal(name: str) -> str:
    """``builtins.eval`` -> ``eval``; the C modules behind a public one -> the public one."""
    if name.startswith("pathlib.") and name.endswith(_PATH_MAKERS):
        return "pathlib.Path()"
    if name in ("builtins", "__builtins__", "__builtin__"):
        return name
    head, dot, rest = name.partition(".")
    if dot and head in _STEMS:
        stem = _STEMS[head]
        return f"{stem}.{rest}" if stem else rest
    if head in ("cPickle", "_pickle", "posixpath", "ntpath", "posix", "nt"):
        return _STEMS[head]
    return name
