"""What a file writes into a database that outsiders decide: ``INSERT`` and ``UPDATE``, objects and forms."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.dataclass import dataclass
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.sources import OUTSIDERS, PARAMETER, REQUEST
from gate.prescreen.python_ast.stored.reads import stored_reads
from gate.prescreen.python_ast.stored.statements import ANY, written
from gate.regex import regex

_STATEMENTS: Final = frozenset({"execute", "executemany", "fetchrow", "fetchval", "fetch_one"})
_MAKING: Final = frozenset({"create", "acreate", "update", "get_or_create", "update_or_create", "values"})
_TABLES: Final = frozenset({"insert", "update"})
NO_TEXT: Final = "no text"
"""Instead of a kind: the column holds no text, whoever writes it."""
TEXT: Final = "text"
"""Instead of a kind: the column is one that a model declares."""
_COLUMN: Final = regex(r"(?:Field|ForeignKey)$|^(?:Column|mapped_column|Mapped)$")
_NO_TEXT: Final = regex(
    r"(?:Positive|Big|Small|Auto)*(?:Integer|Date|DateTime|Time|Boolean|Float|Decimal|Duration|UUID|ForeignKey"
    r"|OneToOne)(?:Field)?|ForeignKey|OneToOneField|Numeric|int|bool|float|datetime|date"
)
_KEYS: Final = ("id", "pk", "created", "updated")
"""Fields that forms show and do not take."""
_NO_MODEL: Final = frozenset({"Response", "JSONResponse", "HTTPException"})


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredWrite:
    """A column that gets what outsiders decide, or a parameter of the function, at a line; ``*`` for every
    column.
    """

    table: str
    column: str
    kinds: tuple[str, ...]
    line: int


def read_writes(path: str, data: bytes, options: dict[str, object]) -> list[StoredWrite]:
    """What one file stores. Runs in the limited child; ``outside``: what other files pass to it."""
    from gate.prescreen.python_ast.scanner import parse

    module = parse(path, data)
    given = options.get("outside")
    module.outside = given.get(path, {}) if isinstance(given, dict) else {}
    return list(_writes(module))


def _writes(module: Module) -> Iterator[StoredWrite]:
    flow = Flow(module)
    for table, column, value, line in _values(module):
        kinds = flow.kinds(value) & (OUTSIDERS | {PARAMETER})
        if kinds:
            yield StoredWrite(table=table, column=column, kinds=tuple(sorted(kinds)), line=line)
    for table, column, kind, line in _declared(module):
        yield StoredWrite(table=table, column=column, kinds=(kind,), line=line)
    for table, column, line in _forms(module):
        yield StoredWrite(table=table, column=column, kinds=(REQUEST,), line=line)


def _values(module: Module) -> Iterator[tuple[str, str, ast.expr, int]]:
    for call in module.all(ast.Call):
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        if name in _STATEMENTS and call.args and isinstance(call.func, ast.Attribute):
            yield from _of_statement(module, call)
        elif name in _MAKING and isinstance(call.func, ast.Attribute):
            table = _owner(module, call.func.value)
            yield from _keywords(call, table) if table else ()
        elif name[:1].isupper() and not name.isupper() and name not in _NO_MODEL:
            yield from _keywords(call, name.lower())
    for node in module.all(ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Attribute) and (table := _owner(module, target.value)):
                yield table, target.attr.lower(), node.value, node.lineno


def _of_statement(module: Module, call: ast.Call) -> Iterator[tuple[str, str, ast.expr, int]]:
    text = module.text_of(call.args[0])
    if text is None and isinstance(call.args[0], ast.Call) and call.args[0].args:
        text = module.text_of(call.args[0].args[0])
    given = call.args[1] if len(call.args) > 1 else None
    if text is None or given is None:
        return
    for one in written(text):
        value: ast.expr | None = given
        if isinstance(given, ast.Tuple | ast.List) and isinstance(one.slot, int):
            value = given.elts[one.slot] if one.slot < len(given.elts) else None
        elif isinstance(given, ast.Dict) and isinstance(one.slot, str):
            pairs = zip(given.keys, given.values, strict=True)
            value = next((v for k, v in pairs if str(module.text_of(k)).lower() == one.slot), None)
        elif len(call.args) > 2 and isinstance(one.slot, int) and one.slot + 1 < len(call.args):
            value = call.args[one.slot + 1]
        if value is not None:
            yield one.table, one.column, value, call.lineno


def _keywords(call: ast.Call, table: str) -> Iterator[tuple[str, str, ast.expr, int]]:
    for keyword in call.keywords:
        if keyword.arg == "defaults" and isinstance(keyword.value, ast.Dict):
            pairs = zip(keyword.value.keys, keyword.value.values, strict=True)
            yield from ((table, k.value.lower(), v, call.lineno) for k, v in pairs if _is_text(k))  # type: ignore[union-attr]
        else:
            yield table, (keyword.arg or ANY).lower(), keyword.value, call.lineno


def _is_text(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def _owner(module: Module, expr: ast.expr) -> str:
    """The table whose row, objects or insertion an expression is; empty where it is none."""
    if isinstance(expr, ast.Name):
        for binding in module.bindings_of(expr):
            made = binding.value
            if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and made.func.id[:1].isupper():
                return made.func.id.lower()
    if isinstance(expr, ast.Call) and expr.args:
        name = expr.func.id if isinstance(expr.func, ast.Name) else getattr(expr.func, "attr", "")
        model = expr.args[0]
        if name in _TABLES:
            return str(getattr(model, "id", getattr(model, "attr", ""))).lower()
    rows = stored_reads(module).rows(module, expr)
    return rows.tables[0] if rows is not None else ""


def _declared(module: Module) -> Iterator[tuple[str, str, str, int]]:
    """Columns of models, those apart that hold numbers, dates and keys: ``models.DateField()``."""
    for owner in module.all(ast.ClassDef):
        for node in owner.body:
            if not isinstance(node, ast.Assign | ast.AnnAssign):
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            parts: list[ast.AST] = [node.annotation] if isinstance(node, ast.AnnAssign) else []
            if isinstance(node.value, ast.Call):
                parts += [node.value.func, *node.value.args[:2]]
            names = {
                n.id if isinstance(n, ast.Name) else getattr(n, "attr", "")
                for p in parts
                for n in ast.walk(p)
            }
            if isinstance(target, ast.Name) and any(_COLUMN.search(name) for name in names):
                kind = NO_TEXT if any(_NO_TEXT.fullmatch(name) for name in names) else TEXT
                yield owner.name.lower(), target.id.lower(), kind, node.lineno


def _forms(module: Module) -> Iterator[tuple[str, str, int]]:
    """The fields of forms and serializers, which take them from requests."""
    for owner in module.all(ast.ClassDef):
        around = module.parents.get(owner)
        if owner.name != "Meta" or not isinstance(around, ast.ClassDef):
            continue
        said = {
            target.id: node.value
            for node in owner.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        model, fields = said.get("model"), said.get("fields")
        if model is None or fields is None:
            continue
        table = str(getattr(model, "id", getattr(model, "attr", ""))).lower()
        names = module.const(fields)
        for name in names if isinstance(names, list | tuple) else [ANY]:
            if name not in _KEYS:
                yield table, str(name).lower(), owner.lineno
