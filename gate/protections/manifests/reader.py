"""Which files the names of a package stand for: ``imports``, ``exports`` and ``browser`` of package.json.

A name that stood for the program's own file and now stands for a test's double takes every check away that
the file had, and no line of code changes. Runs in the limited child, at base and at head.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from gate.protections.facts import FileFacts, Unit
from gate.protections.traits import lapse
from gate.protections.vocabulary import family_of

NAMES: Final = ("package.json", "tsconfig.json", "jsconfig.json", "tsconfig.base.json", "deno.json")
_TABLES: Final = ("imports", "exports", "browser", "main", "module", "_moduleAliases", "paths", "alias")
_DOUBLES: Final = frozenset({
    "test", "tests", "__tests__", "mock", "mocks", "__mocks__", "stub", "stubs", "double", "doubles", "fake",
    "fakes", "fixture", "fixtures", "spec", "testing", "dummy",
})  # fmt: skip
_DEEP: Final = 6


def read(path: str, data: bytes, options: Mapping[str, object]) -> FileFacts:  # noqa: ARG001
    """For scan_isolated. Raises what the parser raises; settings with comments are no JSON, and not read."""
    text = data.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except ValueError:
        if path.endswith("package.json"):
            raise
        return FileFacts()
    tables = [value, value.get("compilerOptions", {})] if isinstance(value, dict) else []
    pairs = [
        pair
        for table in tables
        if isinstance(table, dict)
        for name in _TABLES
        for pair in _targets(name, table.get(name), 0)
    ]
    weak = [
        lapse(family_of(name) or "other", f"{name} is {target}", f"{name}: {target}", _line(text, target),
              needs=(name,))
        for name, target in pairs
        if _is_double(target)
    ]  # fmt: skip
    own = tuple(sorted({name for name, target in pairs if not _is_double(target)}))
    return FileFacts(units=(Unit(name="", kind="module", line=1, weaknesses=tuple(weak), mentions=own),))


def _targets(name: str, value: object, deep: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict) and deep < _DEEP:
        for key, inner in value.items():
            condition = deep > 0 and not str(key).startswith((".", "#", "@"))
            yield from _targets(name if condition else str(key), inner, deep + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _targets(name, inner, deep)


def _is_double(target: str) -> bool:
    parts = target.replace("\\", "/").lower().split("/")
    words = {word for part in parts for word in part.split(".")}
    return not words.isdisjoint(_DOUBLES)


def _line(text: str, target: str) -> int:
    at = text.find(json.dumps(target))
    return text.count("\n", 0, max(at, 0)) + 1
