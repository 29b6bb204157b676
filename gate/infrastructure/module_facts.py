"""Settings that say which file a module's name stands for: ``main``, ``imports`` and ``exports`` of
package.json, ``paths`` of tsconfig.json, import maps. One word there puts a test double, or another package,
in the place of a log-in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from gate.infrastructure.facts import Fact
from gate.languages.path_roles import is_aside, is_test_code

OWN: Final = "own-module"
STAND_IN: Final = "stand-in"
_PATHS: Final = (("compilerOptions", "paths"),)
_TABLES: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "package.json": (
        ("main",),
        ("module",),
        ("imports",),
        ("exports",),
        ("browser",),
        ("alias",),
        ("_moduleAliases",),
    ),
    "deno.json": (("imports",),),
    "tsconfig.json": _PATHS,
    "tsconfig.base.json": _PATHS,
    "jsconfig.json": _PATHS,
    "import_map.json": (("imports",),),
    "importmap.json": (("imports",),),
}
_DOUBLES: Final = frozenset({
    "doubles", "double", "mocks", "mock", "__mocks__", "fakes", "fake", "stubs", "stub", "fixtures",
    "dummies",
})  # fmt: skip
_TESTING: Final = frozenset({"test", "testing", "development", "types"})
"""Conditions of ``imports`` under which no user gets the file."""
_DEEPEST: Final = 6


def module_facts(found: Any, path: str, line_of: Callable[[tuple[str | int, ...]], int]) -> Iterator[Fact]:
    """For each name its file: a part of the product, or what stands in for one."""
    if is_test_code(path) or is_aside(path):
        return
    if (
        PurePosixPath(path).name == "package.json"
        and isinstance(found, dict)
        and found.get("private") is True
    ):
        yield Fact("guard", "unpublished", path, line_of(("private",)), '"private": true')
    for table in _TABLES.get(PurePosixPath(path).name, ()):
        where = found
        for key in table:
            where = where.get(key) if isinstance(where, dict) else None
        named = {table[-1]: f"./{where.removeprefix('./')}"} if isinstance(where, str) else where
        for name, value in named.items() if isinstance(named, dict) else ():
            for condition, target in _targets(value, "", 0):
                subject = f"{path} {table[-1]} {name}{condition}"
                line = line_of((name,))
                if _is_stand_in(name, target):
                    yield Fact("grant", STAND_IN, subject, line, target)
                elif target.startswith("."):
                    yield Fact("guard", OWN, subject, line, target)


def _targets(value: Any, condition: str, depth: int) -> Iterator[tuple[str, str]]:
    """Each file that a name can stand for, with the condition under which it does."""
    if isinstance(value, str):
        yield condition, value
    elif isinstance(value, list) and value:
        yield from _targets(value[0], condition, depth)  # the first one that is there
    elif isinstance(value, dict) and depth < _DEEPEST:
        for key, inner in value.items():
            if key not in _TESTING:
                yield from _targets(inner, f"{condition} {key}", depth + 1)


def _is_stand_in(name: str, target: str) -> bool:
    """True for a double, and for what is no file of the project; not where the name says so itself."""
    if "test" in name.lower() or not target:
        return False
    if target.startswith("."):
        parts = {part.lower() for part in PurePosixPath(target).parts[:-1]}
        return bool(parts & _DOUBLES) or is_test_code(target)
    return True
