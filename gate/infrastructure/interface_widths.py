"""Descriptions of interfaces that programs enforce: OpenAPI, JSON schemas, permissions of Hasura.

Of each, what it asks of a caller is counted: the schemes and scopes of an operation, the fields that a schema
refuses because it does not know them, the columns that keep a role's rows to the caller's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.infrastructure.facts import Width
from gate.infrastructure.settings import Line
from gate.supply.yaml_data import Path, items, mapping

_VERBS: Final = ("get", "put", "post", "delete", "patch", "head", "options", "trace")
_RIGHTS: Final = {
    "select_permissions": "filter",
    "update_permissions": "filter",
    "delete_permissions": "filter",
    "insert_permissions": "check",
}
_DEEPEST: Final = 40


def interface_widths(data: object, path: str, line_of: Line) -> Iterator[Width]:
    """Of one document; nothing where it is none of these."""
    root = mapping(data)
    if "openapi" in root or "swagger" in root:
        yield from _operations(root, path, line_of)
    yield from _schemas(data, path, line_of, ())
    yield from _rows(data, path, line_of, ())


def _operations(root: Mapping[str, object], path: str, line_of: Line) -> Iterator[Width]:
    for route, methods in mapping(root.get("paths")).items():
        for verb, operation in mapping(methods).items():
            if verb.lower() not in _VERBS:
                continue
            said = mapping(operation)
            where: Path = ("paths", route, verb)
            own = "security" in said
            asked = said.get("security") if own else root.get("security")
            at = line_of((*where, "security") if own else where) or 1
            text = f"{verb} {route}: {_ways(asked)}"[:120]
            yield Width("weaker", f"{path} {verb} {route} asks", at, text, measure=-float(_asked(asked)))


def _asked(ways: object) -> int:
    """Of the ways to come in, the easiest one: its schemes and their scopes."""
    each = [sum(1 + len(items(scopes)) for scopes in mapping(way).values()) for way in items(ways)]
    return min(each, default=0)


def _ways(ways: object) -> str:
    return (
        " or ".join(
            " and ".join(f"{name} {[*map(str, items(scopes))]}" for name, scopes in mapping(way).items())
            or "nobody asked"
            for way in items(ways)
        )
        or "nobody asked"
    )


def _schemas(data: object, path: str, line_of: Line, where: Path) -> Iterator[Width]:
    """``additionalProperties: false``: what a schema does not name is refused, or taken over."""
    if len(where) > _DEEPEST:
        return
    if isinstance(data, dict):
        if isinstance(data.get("properties"), dict) and str(data.get("type", "object")) == "object":
            closed = any(
                str(data.get(name, "")).lower() == "false"
                for name in ("additionalProperties", "unevaluatedProperties")
            )
            at = line_of((*where, "additionalProperties")) or line_of(where) or 1
            text = f"additionalProperties: {data.get('additionalProperties', 'not said')}"[:120]
            about = ".".join(map(str, where))
            yield Width("weaker", f"{path} schema {about} takes", at, text, measure=0.0 if closed else 1.0)
        for key, value in data.items():
            yield from _schemas(value, path, line_of, (*where, str(key)))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _schemas(value, path, line_of, (*where, index))


def _rows(data: object, path: str, line_of: Line, where: Path) -> Iterator[Width]:
    """Metadata of Hasura: which columns hold a role's rows to who asks, whichever alternative is taken."""
    if len(where) > _DEEPEST:
        return
    if isinstance(data, list):
        for index, value in enumerate(data):
            yield from _rows(value, path, line_of, (*where, index))
    for key, value in data.items() if isinstance(data, dict) else ():
        condition = _RIGHTS.get(str(key))
        if condition is None:
            yield from _rows(value, path, line_of, (*where, str(key)))
            continue
        table = mapping(data).get("table")
        named = str(mapping(table).get("name", table or ""))
        for index, one in enumerate(items(value)):
            permission = mapping(mapping(one).get("permission"))
            if condition not in permission:
                continue
            at = line_of((*where, str(key), index, "permission", condition)) or 1
            bound = sorted(bound_columns(permission[condition]))
            subject = f"{path} {named} {mapping(one).get('role', '?')} {key}"
            text = f"{condition}: {', '.join(bound) or 'every row'}"[:120]
            yield Width("covered", subject, at, text, members=bound)


def bound_columns(condition: object, depth: int = 0) -> set[str]:
    """Columns that must equal a variable of the session in each alternative of a condition."""
    found: set[str] = set()
    for key, value in mapping(condition).items() if depth < _DEEPEST else ():
        if key == "_and":
            found = found.union(*(bound_columns(one, depth + 1) for one in items(value)))
        elif key == "_or":
            each = [bound_columns(one, depth + 1) for one in items(value)]
            found |= set.intersection(*each) if each else set()
        elif not key.startswith("_") and any(
            operator in ("_eq", "_in") and "x-hasura-" in str(bound).lower()
            for operator, bound in mapping(value).items()
        ):
            found.add(key)
        elif not key.startswith("_"):
            found |= {f"{key}.{one}" for one in bound_columns(value, depth + 1)}
    return found
