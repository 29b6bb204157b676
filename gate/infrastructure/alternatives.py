"""Requirements of which one is enough: a new alternative lets in whom the others keep out.

Envoy's ``requires_any``, ``anyOf``, ``any``, ``oneOf`` and ``or`` of policies, ``security`` of OpenAPI. A
single requirement is a list of one, so that it is compared with the list that takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from gate.infrastructure.facts import Width
from gate.regex import regex

if TYPE_CHECKING:
    from gate.infrastructure.settings import Line

_ASKS: Final = regex(
    r"^(?:requires?|requirements?|security|authenticat\w+|authori[sz]\w+|require[_-]?(?:auth\w*|any)|access[_-]?rules?)$",
    2,
)
_ANY: Final = regex(r"^(?:requires?[_-]?any|any[_-]?of|any|or|one[_-]?of|or[_-]?rules|or[_-]?ids)$", 2)
_INSIDE: Final = ("requirements", "rules", "conditions", "ids")
_MISSING: Final = regex(
    r"^(?:allow[_-]?missing(?:[_-]or[_-]failed)?|allow[_-]?(?:anonymous|unauthenticated|guests?)|anonymous|public|noop"
    r"|unauthenticated|allow|permit[_-]?all)$",
    2,
)
_ALONE: Final = regex(r"^allow[_-]?missing(?:[_-]or[_-]failed)?$", 2)
_NOTHING: Final = (None, True, "true", "", "{}", "null")
_SCHEMA: Final = frozenset(("properties", "$defs", "definitions", "items", "patternProperties"))
_DEEPEST: Final = 60
_MOST: Final = 500


def alternative_widths(data: object, prefix: str, line_of: Line) -> Iterator[Width]:
    """Of every requirement below ``data``: how many ways there are to meet it, and ``*`` for one that asks
    nothing. What a single requirement asks is its own business.
    """
    for count, (path, spelt, value) in enumerate(_requirements(data, (), (), 0)):
        if count == _MOST:
            return
        ways = [*_ways(value, 0)]
        subject, said, at = f"{prefix}{'.'.join(spelt)}", " or ".join(ways)[:120], line_of(path) or 1
        nobody = [one for one in ways if one == "*"]
        yield Width("trusted", f"{subject} asks nothing", at, said, members=nobody)
        if not nobody:
            yield Width("weaker", f"{subject} ways", at, said, measure=float(max(1, len(ways))))


def _requirements(
    data: object, path: tuple[str | int, ...], spelt: tuple[str, ...], depth: int
) -> Iterator[tuple[tuple[str | int, ...], tuple[str, ...], object]]:
    if depth > _DEEPEST:
        return
    for key, value in data.items() if isinstance(data, dict) else ():
        name = str(key)
        if name in _SCHEMA:
            continue
        here, named = (*path, name), (*spelt, name)
        if _ASKS.search(name) and _is_requirement(value):
            yield here, named, value
        else:
            yield from _requirements(value, here, named, depth + 1)
    for index, value in enumerate(data if isinstance(data, list) else ()):
        yield from _requirements(value, (*path, index), (*spelt, _entry(value, index)), depth + 1)


def _is_requirement(value: object) -> bool:
    """A table of requirements, or OpenAPI's list of tables, each of which is a way in."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, dict) for one in value) and _is_security(value)
    return isinstance(value, dict)


def _is_security(rows: list[object]) -> bool:
    return all(isinstance(one, list) for row in rows if isinstance(row, dict) for one in row.values())


def _ways(value: object, depth: int) -> Iterator[str]:
    """The ways to meet a requirement, in its own words; deeper groups of alternatives are opened."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for one in value:
            yield from _ways(one, depth + 1)
        return
    if not isinstance(value, dict):
        yield str(value)[:120]
        return
    groups = [inner for key, inner in value.items() if _ANY.search(str(key))]
    if groups:
        for group in groups:
            inside = group
            if isinstance(group, dict):
                inside = next((group[name] for name in _INSIDE if name in group), group)
            yield from _ways(inside, depth + 1)
    elif _asks_nothing(value, grouped=depth > 0):
        yield "*"
    else:
        yield " and ".join(f"{key}: {_flat(one)}" for key, one in value.items())[:200]


def _asks_nothing(value: Mapping[str, object], *, grouped: bool) -> bool:
    """Is this met by everybody? Of a requirement alone only Envoy's own words say so."""
    if not value:
        return grouped
    said = {str(key) for key, one in value.items() if one in (*_NOTHING, {}, [])}
    return any((_MISSING if grouped else _ALONE).search(key) for key in said)


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key}={_flat(one)}" for key, one in value.items())
    return " ".join(map(_flat, value)) if isinstance(value, list) else str(value)


def _entry(value: object, index: int) -> str:
    """What finds an entry of a list again: what it is matched by or called, else its number."""
    if isinstance(value, dict):
        for key in ("match", "name", "path", "prefix", "route", "id"):
            if key in value:
                return f"[{_flat(value[key])[:80]}]"
    return f"[{index}]"
