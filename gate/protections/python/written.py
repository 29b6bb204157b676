"""What a function of Python writes to a database, and how it takes an address apart. In the child."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.protections.bulk import bulk_facts
from gate.protections.conditions import last_name
from gate.protections.domains import domain_facts
from gate.protections.overall.said import plain
from gate.protections.python.guards import source
from gate.protections.traits import Fact


def written_facts(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Fact]:
    """The two of them: each looks at the calls of the function."""
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    writes = [
        (plain(last_name(one)), source(one), tuple(_columns(one)), one.lineno)
        for one in calls
        if isinstance(one.func, ast.Attribute) and last_name(one) in _WRITING
    ]
    if writes:
        yield from bulk_facts(writes)
    splits = [(last_name(one), source(one), one.lineno) for one in calls if last_name(one) in _SPLITTING]
    if splits:
        yield from domain_facts(node.name, splits, ast.unparse(node))


_WRITING = frozenset({"save", "update", "bulk_create", "bulk_update", "delete", "update_or_create"})
_SPLITTING = frozenset({"partition", "rpartition", "split", "rsplit", "endswith"})


def _columns(call: ast.Call) -> Iterator[str]:
    yield from (k.arg for k in call.keywords if k.arg)
    for one in ast.walk(call):  # bulk_update(rows, ["role"]), bulk_create(Worker(role=...) ...)
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value
        elif isinstance(one, ast.Call) and one is not call and last_name(one)[:1].isupper():
            yield from (k.arg for k in one.keywords if k.arg)
