"""What keeps two requests apart, in Python: locks, values of their own, tables that nobody changes.

Runs in the limited child. Tests ask one thing at a time; what is lost here shows only under load.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.languages.naming import snake
from gate.protections.conditions import last_name
from gate.protections.facts import QUERY
from gate.protections.python.guards import assigned_in, source
from gate.protections.traits import Fact, lapse, trait
from gate.protections.vocabulary import family_of, is_granting, is_owner

_ROW_LOCKS: Final = frozenset({"select_for_update", "with_for_update"})
_OWN_VALUES: Final = frozenset({"ContextVar", "local", "Local", "LocalStack"})
_CHANGING: Final = frozenset({"update", "extend", "append", "add", "insert", "setdefault"})
_ASKED: Final = frozenset({"path", "url", "full_path", "headers", "query_string", "args", "query_params"})
_PERSON: Final = ("session", "user", "authoriz", "cookie", "principal", "account", "identity", "vary")
_VIEWS: Final = frozenset({"view", "view_func", "handler", "endpoint"})
LOCKED: Final = "-locks the rows that it changes"
OWN_VALUE: Final = "-one value for each request"


def isolation_facts(node: ast.FunctionDef | ast.AsyncFunctionDef, about: str) -> Iterator[Fact]:
    """Locks, and what is kept or changed for everybody. ``about``: words of the file's name."""
    for one in ast.walk(node):
        if isinstance(one, ast.Call) and last_name(one) in _ROW_LOCKS:
            yield trait("isolation", LOCKED, source(one), one.lineno, of=QUERY, form="argument")
        elif isinstance(one, ast.Constant) and isinstance(one.value, str) and _locks(one.value):
            yield trait("isolation", LOCKED, one.value, one.lineno, of=QUERY, form="argument")
    if any(family_of(word) or is_granting(word) for word in (node.name, *about.split())):
        yield from _changed_tables(node)
    yield from _kept_for_all(node)


def own_value_facts(statement: ast.stmt) -> Iterator[Fact]:
    """``current = ContextVar("tenant")`` of a module: every request has its own."""
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Call) and last_name(value) in _OWN_VALUES:
        yield trait("isolation", OWN_VALUE, source(statement), statement.lineno)


def _locks(text: str) -> bool:
    words = text.lower().split()
    return "select" in words and "for update" in " ".join(words)


def _changed_tables(node: ast.AST) -> Iterator[Fact]:
    """``found = ROLES.get(name); found |= more``: the table itself has more from here on."""
    taken: dict[str, str] = {}
    for one in ast.walk(node):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            table = _table(one.value)
            if table:
                taken[one.targets[0].id] = table
    for one in ast.walk(node):
        match one:
            case ast.AugAssign(target=ast.Name(id=name)) if name in taken:
                pass
            case ast.Call(func=ast.Attribute(attr=act, value=ast.Name(id=name))) if (
                name in taken and act in _CHANGING
            ):
                pass
            case _:
                continue
        yield lapse("authorisation", f"{taken[name]} itself is changed", source(one), one.lineno, anew=True)


def _table(value: ast.expr) -> str:
    """The constant of a module that a value is taken out of; empty for a copy and for anything else."""
    match value:
        case ast.Call(func=ast.Attribute(attr="get", value=ast.Name(id=name))):
            return name if name.isupper() else ""
        case ast.Subscript(value=ast.Name(id=name)):
            return name if name.isupper() else ""
    return ""


def _kept_for_all(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Fact]:
    """``kept[request.path] = answer``, and nothing says whose answer it is."""
    names = {snake(one.id) for one in ast.walk(node) if isinstance(one, ast.Name)}
    names |= {snake(one.attr) for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    texts = {
        one.value.lower()
        for one in ast.walk(node)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }
    if any(is_owner(name) for name in names) or any(
        word in name for name in names | texts for word in _PERSON
    ):
        return
    made = assigned_in(node)
    if not any(isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) for one in node.body):
        return  # what is no wrapper keeps its own answers
    wraps = not _VIEWS.isdisjoint(arg.arg for arg in node.args.args)
    for one in ast.walk(node):
        if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store):
            key = made.get(one.slice.id, one.slice) if isinstance(one.slice, ast.Name) else one.slice
            if _is_asked(key) or (wraps and not isinstance(key, ast.Constant)):
                yield lapse("isolation", "kept for whoever asks", source(one), one.lineno, anew=True)
                return


def _is_asked(key: ast.expr) -> bool:
    return any(
        isinstance(one, ast.Attribute) and one.attr in _ASKED and last_name(one.value) in ("request", "req")
        for one in ast.walk(key)
    )
