"""A database query is put together from values instead of being given parameters.

A quote in the value ends the text and the rest of it is a query of its own.

Write `?` or `%s` (as the driver wants it) and pass the values as the second argument.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.built_text import built_from
from gate.prescreen.python_ast.call_sites import through_wrappers
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import INPUT, OUTSIDERS, REMOTE
from gate.regex import regex

_METHODS = (
    "execute",
    "executemany",
    "executescript",
    "raw",
    "extra",
    "read_sql",
    "read_sql_query",
    "fetch",
    "fetch_all",
    "fetch_one",
    "exec_driver_sql",
    "fetchrow",
    "fetchval",
    "mogrify",
)
_PARTS = (
    *(
        "sqlalchemy.text",
        "sqlalchemy.sql.text",
        "sqlalchemy.sql.expression.text",
        "sqlalchemy.literal_column",
    ),
    *("django.db.models.expressions.RawSQL", "django.db.models.RawSQL", "sqlmodel.text"),
)
"""Calls whose text becomes a part of a query as it is."""
_SQL = regex(
    r"\b(select\b.*\b(?:from|where)\b|insert\s+(or\s+\w+\s+)?into\b|update\b.*\bset\b|delete\s+from\b|replace\s+into\b"
    r"|with\b.*\bas\s*\(|drop\s+(table|database)|create\s+(table|user)|alter\s+table|truncate\b|grant\b"
    r")",
    re.IGNORECASE | re.DOTALL,
)
_CLEAN = frozenset({
    "psycopg2.sql.Identifier", "psycopg2.sql.Literal", "psycopg.sql.Identifier", "psycopg.sql.SQL",
    "psycopg2.sql.SQL", ".quote_name", ".quote_ident", "sqlalchemy.bindparam", ".as_string",
})  # fmt: skip


@rule(
    "py.sql-built",
    "SQL is put together from values",
    severity="medium",
    confidence="medium",
    topic="injection",
    cwe=(89, 943),
    why="A quote in a value turns the rest of it into a query of its own.",
    fix="Pass the values as parameters: cursor.execute(query, (value,)).",
)
def check(module: Module) -> Iterator[Hit]:
    """Query methods whose text has pieces that are values from outside the function."""
    flow = Flow(module, _CLEAN)
    for call, query, whole in _queries(module, flow):
        pieces = built_from(module, query)
        if not pieces:
            continue
        moving = [p for p in pieces if not _placeholders(module, flow, p) and not flow.escaped(p)]
        kinds = frozenset(kind for piece in moving for kind in flow.kinds(piece))
        if kinds & (REMOTE | {INPUT}):
            message = "A value from outside becomes part of a query."
            yield Hit(node=call, message=message, severity=Severity.HIGH if kinds & OUTSIDERS else None)
        elif kinds and any(_in_quotes(module, query) or (whole and _value_like(p)) for p in moving):
            yield Hit(node=call, message="A value becomes part of a query.")
        elif kinds:
            yield Hit(node=call, message="A name becomes part of a query.", severity=Severity.LOW)


def _queries(module: Module, flow: Flow) -> Iterator[tuple[ast.Call, ast.expr, bool]]:
    """Calls that take a query, and its text: methods of connections, also by a function of this file that
    only hands it on; and parts of queries (False), which need not look like one.
    """
    for call in module.methods(*_METHODS):
        query = module.arg(call, 0, "query", "sql", "statement", "operation", "where")
        if getattr(call.func, "attr", "") == "extra":
            yield from _extra(module, call)
            continue
        for site, given in through_wrappers(module, call, query) if query is not None else ():
            if _is_sql(module, flow, given):
                yield site, given, True
    for call, _ in module.calls(*_PARTS):
        query = module.arg(call, 0, "text", "sql")
        if query is not None:
            yield call, query, False


def _extra(module: Module, call: ast.Call) -> Iterator[tuple[ast.Call, ast.expr, bool]]:
    """The parts of Django's ``extra(select={...}, where=[...], tables=[...], order_by=[...])``."""
    for place, name in enumerate(("select", "where")):
        given = module.arg(call, place, name)
        if isinstance(given, ast.Dict):
            yield from ((call, value, False) for value in given.values)
        elif isinstance(given, ast.List | ast.Tuple):
            yield from ((call, value, False) for value in given.elts)


def _texts(module: Module, flow: Flow, query: ast.expr) -> str:
    """The constant texts of the query, in their order, without those of other calls."""
    tops = [
        n
        for n in flow.trace(query).nodes
        if isinstance(n, ast.JoinedStr | ast.BinOp | ast.Call | ast.Constant)
    ]
    nodes = {n for top in tops for n in module.within(top) if isinstance(n, ast.Constant)}
    ordered = sorted(nodes, key=lambda n: module.order[n])
    return " ".join(n.value for n in ordered[:60] if isinstance(n.value, str))


def _is_sql(module: Module, flow: Flow, query: ast.expr) -> bool:
    return bool(_SQL.search(_texts(module, flow, query)))


def _in_quotes(module: Module, query: ast.expr) -> bool:
    """``name = '{name}'``: the value stands between quotes, so it is a value and not a table's name."""
    return "'" in _texts(module, Flow(module), query)


def _value_like(piece: ast.expr) -> bool:
    name = piece.id if isinstance(piece, ast.Name) else getattr(piece, "attr", "")
    return not re.search(
        r"table|column|field|schema|clause|where|order|sql|query|cols|names|placeholder", name
    )


def _placeholders(module: Module, flow: Flow, piece: ast.expr) -> bool:
    """``", ".join("?" * len(ids))``: a run of placeholders."""
    texts = [
        n.value for n in module.within(piece) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    ]
    joined = isinstance(piece, ast.Call) or any(c == ".join" for c in flow.trace(piece).calls)
    return joined and any(t.strip() in ("?", "%s", "?,", "%s,") for t in texts)
