"""Which column of which table an expression reads: rows of SQL statements, and objects of models.

``row["body"]`` after ``row = db.execute("SELECT body FROM comments").fetchone()`` is column ``body`` of table
``comments``; ``hook.url`` after ``session.get(Hook, key)`` is ``url`` of ``hook``. Rows are followed through
names, loops, and functions of the file and of files that it imports.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.dataclass import dataclass
from gate.prescreen.python_ast.call_sites import argument_for, call_sites
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.scope import Binding
from gate.prescreen.python_ast.sources import OUTSIDERS
from gate.prescreen.python_ast.stored.statements import ANY, selected
from gate.prescreen.python_ast.values.library import is_standard
from gate.prescreen.python_ast.values.tree import Sources

_DEEP: Final = 12
_SITES: Final = 6
_STATEMENTS: Final = frozenset({
    "execute", "fetch", "fetch_all", "fetch_one", "fetchrow", "fetchval", "raw", "exec", "execute_fetchall",
    "scalars", "scalar",
})  # fmt: skip
"""Methods whose first argument is a statement, or a query of a model."""
_BY_MODEL: Final = frozenset({"get", "query", "get_or_404", "one_or_404", "first_or_404"})
"""Methods of a session whose first argument is a model."""
_FUNCTIONS: Final = frozenset({"select", "get_object_or_404", "get_list_or_404", "aget_object_or_404"})
_MANAGERS: Final = frozenset({"objects", "query"})
_SAME: Final = frozenset({"list", "tuple", "sorted", "reversed", "iter", "next", "dict", "set", "enumerate"})
_SINGLE: Final = frozenset({"scalar", "fetchval", "scalar_one", "scalar_one_or_none"})
"""Methods that give the one column of the one row, of statements with columns."""
STORED_CALLS: Final = _SINGLE | {"get"}
"""Methods that may give one column of a row."""
_UNKNOWN: Final = "?"


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one query. ``columns``: their names in order, empty for the objects of a model."""

    tables: tuple[str, ...]
    columns: tuple[str, ...] = ()


Column = tuple[str, str]
"""A table, or a model's class in small letters, and a column of it."""


class StoredReads:
    """Asks about the expressions of one module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._sources = Sources(module.others)
        self._known: dict[ast.AST, frozenset[Column]] = {}
        self._rows: dict[ast.AST, Rows | None] = {}
        self.unresolved = False
        """Something came of a function in another file, which was not there to be read."""

    def columns(self, node: ast.AST) -> frozenset[Column]:
        """What an item, an attribute, a ``get`` or an unpacked name reads; empty where it is no row."""
        found = self._known.get(node)
        if found is None:
            self._known[node] = frozenset()
            found = self._known[node] = frozenset(self._columns(node))
        return found

    def _columns(self, node: ast.AST) -> Iterator[Column]:
        module = self._module
        if isinstance(node, ast.Subscript):
            key = module.const(node.slice)
            rows = self.rows(module, node.value) if isinstance(key, str | int) else None
            if rows is not None and isinstance(key, str):
                yield from self._named(rows, key)
            elif rows is not None and isinstance(key, int) and 0 <= key < len(rows.columns):
                yield from self._named(rows, rows.columns[key])
        elif isinstance(node, ast.Attribute):
            around = module.parents.get(node)
            called = isinstance(around, ast.Call) and around.func is node
            rows = None if called or node.attr in _MANAGERS else self.rows(module, node.value)
            yield from self._named(rows, node.attr) if rows is not None else ()
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from self._called(node, node.func)
        elif isinstance(node, ast.Name):
            yield from self._unpacked(node)

    def _called(self, node: ast.Call, func: ast.Attribute) -> Iterator[Column]:
        key = self._module.const(node.args[0]) if func.attr == "get" and node.args else None
        if isinstance(key, str):
            rows = self.rows(self._module, func.value)
            yield from self._named(rows, key) if rows is not None else ()
        elif func.attr in _SINGLE:
            rows = self.rows(self._module, node)
            if rows is not None and len(rows.columns) == 1:
                yield from self._named(rows, rows.columns[0])

    def _unpacked(self, node: ast.Name) -> Iterator[Column]:
        """``for author, body in rows``, ``name, host = row``."""
        for binding in self._module.bindings_of(node):
            if binding.kind not in ("loop", "unpack") or binding.value is None:
                continue
            target = next(
                (up for up in (binding.node, *self._module.above(binding.node)) if isinstance(up, ast.Tuple)),
                None,
            ) or _target_of(binding.node)
            names = [getattr(item, "id", "") for item in getattr(target, "elts", ())]
            rows = self.rows(self._module, binding.value) if node.id in names else None
            if rows is not None and len(names) == len(rows.columns):
                yield from self._named(rows, rows.columns[names.index(node.id)])

    def _named(self, rows: Rows, name: str) -> Iterator[Column]:
        told = name.lower()
        if rows.columns and ANY not in rows.columns and told not in rows.columns:
            return
        yield from ((table, told) for table in rows.tables)

    # --- rows ------------------------------------------------------------------------------------

    def rows(self, module: Module, expr: ast.AST, depth: int = 0) -> Rows | None:
        """The rows, or the one row, that an expression of a module is; None where it is something else."""
        if depth > _DEEP:
            return None
        if expr in self._rows:
            return self._rows[expr]
        self._rows[expr] = None
        found = self._made(module, expr, depth + 1)
        self._rows[expr] = found
        return found

    def _made(self, module: Module, expr: ast.AST, depth: int) -> Rows | None:
        match expr:
            case ast.Await() | ast.NamedExpr() | ast.Starred():
                return self.rows(module, expr.value, depth)
            case ast.Name():
                return self._of_name(module, expr, depth)
            case ast.Subscript():
                by_place = isinstance(expr.slice, ast.Slice) or isinstance(module.const(expr.slice), int)
                return self.rows(module, expr.value, depth) if by_place else None
            case ast.IfExp():
                return self.rows(module, expr.body, depth) or self.rows(module, expr.orelse, depth)
            case ast.BoolOp():
                found = (self.rows(module, value, depth) for value in expr.values)
                return next((rows for rows in found if rows is not None), None)
            case ast.Attribute() if expr.attr in _MANAGERS:
                return _model(expr.value)
            case ast.Call():
                return self._of_call(module, expr, depth)
        return None

    def _of_name(self, module: Module, name: ast.Name, depth: int) -> Rows | None:
        for binding in module.bindings_of(name):
            rows = None
            if binding.kind == "param":
                rows = self._of_parameter(module, binding, name.id, depth)
            elif binding.kind in ("assign", "loop", "with") and binding.value is not None:
                rows = self.rows(module, binding.value, depth)
            if rows is not None:
                return rows
        return None

    def _of_parameter(self, module: Module, binding: Binding, name: str, depth: int) -> Rows | None:
        """What calls of the function in its file give for it."""
        function = module.function_of(binding.node)
        if function is None:
            return None
        for call in module.kept("call sites", call_sites).get(function, ())[:_SITES]:
            given = argument_for(module, function, name, call)
            rows = self.rows(module, given, depth) if given is not None else None
            if rows is not None:
                return rows
        return None

    def _of_call(self, module: Module, call: ast.Call, depth: int) -> Rows | None:
        func = call.func
        first = call.args[0] if call.args else None
        if isinstance(func, ast.Name):
            if func.id in _FUNCTIONS and first is not None:
                return _model(first) or self._selected_columns(call)
            if func.id in _SAME and first is not None:
                return self.rows(module, first, depth)
        if isinstance(func, ast.Attribute):
            if func.attr in _STATEMENTS and first is not None:
                return self._of_statement(module, first, depth) or self.rows(module, func.value, depth)
            if func.attr in _BY_MODEL and first is not None and (model := _model(first)) is not None:
                return model
            if func.attr in _FUNCTIONS and first is not None and (model := _model(first)) is not None:
                return model
            rows = self.rows(module, func.value, depth)
            if rows is not None:
                return rows
        return self._returned(module, call, depth)

    def _of_statement(self, module: Module, query: ast.expr, depth: int) -> Rows | None:
        text = module.text_of(query)
        if text is None and isinstance(query, ast.Call) and query.args:
            text = module.text_of(query.args[0])  # text("SELECT ...")
        if text is None:
            return self.rows(module, query, depth)
        found = selected(text)
        return Rows(found.tables, found.columns) if found is not None else None

    def _selected_columns(self, call: ast.Call) -> Rows | None:
        """``select(Hook.url, Hook.id)``."""
        parts = [a for a in call.args if isinstance(a, ast.Attribute)]
        models = {model.tables for a in parts if (model := _model(a.value)) is not None}
        if len(models) != 1 or len(parts) != len(call.args):
            return None
        return Rows(models.pop(), tuple(a.attr.lower() for a in parts))

    def _returned(self, module: Module, call: ast.Call, depth: int) -> Rows | None:
        """What a function of the tree gives back."""
        if isinstance(call.func, ast.Name):
            for binding in module.bindings_of(call.func):
                if binding.kind == "def":
                    return self._ends(module, binding.node, depth)
        for name in module.names_of(call.func):
            found = self._sources.find(name, module)
            if found is not None and isinstance(found[1], ast.FunctionDef | ast.AsyncFunctionDef):
                return self._ends(found[0], found[1], depth)
            self.unresolved = self.unresolved or (not module.others and not is_standard(name))
        return None

    def _ends(self, module: Module, function: ast.AST, depth: int) -> Rows | None:
        ends = (self.rows(module, end, depth) for end in module.returns_of(function))
        return next((rows for rows in ends if rows is not None), None)


def _model(expr: ast.AST) -> Rows | None:
    """``Hook``, ``models.Hook``: a class by the way it is written."""
    name = expr.id if isinstance(expr, ast.Name) else getattr(expr, "attr", "")
    return Rows((name.lower(),)) if name[:1].isupper() and not name.isupper() else None


def _target_of(node: ast.AST) -> ast.AST | None:
    """What stands left in an assignment or a loop."""
    if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        return node.target
    return node.targets[0] if isinstance(node, ast.Assign) else None


def stored_reads(module: Module) -> StoredReads:
    """The questions about this module, made once."""
    return module.kept("stored reads", StoredReads)


def kinds_stored(module: Module, node: ast.AST) -> frozenset[str]:
    """The kinds of those who decide what an expression reads from the database; empty where nobody outside
    does. What is asked for is noted in ``module.asked``.
    """
    if not module.keeps_rows:
        return frozenset()
    reads = stored_reads(module)
    columns = reads.columns(node)
    if reads.unresolved and module.asking:
        module.asked.add(_UNKNOWN)
    kinds: set[str] = set()
    for table, column in columns:
        if module.asking:
            module.asked.add(table)
        known = module.stored.get(table, {})
        kinds.update(known[column] if column in known else known.get(ANY, ()))
    return frozenset(kinds & OUTSIDERS)
