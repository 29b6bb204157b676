"""Kinds of sources in which guards are looked for: which files they are, and how their names are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from gate.languages.naming import snake
from gate.languages.path_roles import is_javascript_test, is_test_code
from gate.plan.guard_names import REFUSING, is_guard, is_named_guard
from gate.plan.javascript.definitions import default_of, read_script_facts, written_as
from gate.plan.python_source import Facts, read_facts
from gate.regex import regex

JAVASCRIPT: Final = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_HOOK: Final = regex(r"^use[A-Z]")
"""Names of hooks of React."""
_WHOSE: Final = regex(r"(?:owner|tenant)(?:_id)?|is_owner|owned_by")
_STATUS: Final = regex(r"UNAUTHORI[SZ]ED|FORBIDDEN")
_STEPS: Final = 4
_COMMON: Final = frozenset({"src", "app", "server", "packages", "apps"})
_NOT_OURS: Final = frozenset({"node_modules", "dist", "vendor"})


class SourceKind(NamedTuple):
    """``is_module`` by a path; ``read`` gives the facts of texts; ``written_as`` a pattern for how one of
    their names stands in others; ``is_guard`` by its name and what it uses; ``linked`` those that import a
    changed module, by what is known of them.
    """

    is_module: Callable[[str], bool]
    read: Callable[[Mapping[str, bytes]], dict[str, Facts | None]]
    written_as: Callable[[str], bytes]
    is_guard: Callable[[str, Collection[str]], bool]
    linked: Callable[[Collection[str], Mapping[str, Facts]], dict[str, Facts]]


def _is_python(path: str) -> bool:
    return path.endswith(".py") and not is_test_code(path) and PurePosixPath(path).name != "setup.py"


def _is_script(path: str) -> bool:
    if not path.endswith(JAVASCRIPT) or path.endswith((".d.ts", ".d.mts", ".d.cts", ".min.js")):
        return False
    return not (is_test_code(path) or is_javascript_test(path) or _NOT_OURS & {*PurePosixPath(path).parts})


def _word(name: str) -> bytes:
    return rb"\b" + re.escape(name.encode()) + rb"\b"


def _is_script_guard(name: str, uses: Collection[str]) -> bool:
    """By its name, or where it refuses, or looks whose something is: every second function of a server names
    a user or a session. What draws a page guards nothing.
    """
    if _HOOK.search(name.rpartition(".")[2]):
        return False
    return is_named_guard(name) or any(
        REFUSING.fullmatch(one) or _WHOSE.fullmatch(snake(one)) for one in uses
    )


def _every(_: Collection[str], around: Mapping[str, Facts]) -> dict[str, Facts]:
    return dict(around)


def _importing(changed: Collection[str], around: Mapping[str, Facts]) -> dict[str, Facts]:
    """Directly, or through others of them. An address names a file, or a folder above it."""
    found = {path: facts for path, facts in around.items() if path in changed}
    named = {name for path in changed for name in _addressed(path)}
    for _ in range(_STEPS):
        more = {
            path: facts
            for path, facts in around.items()
            if path not in found and not named.isdisjoint(facts.imports)
        }
        if not more:
            break
        found |= more
        named |= {name for path in more for name in _addressed(path)}
    return found


def _addressed(path: str) -> set[str]:
    folders = PurePosixPath(path).parts[:-1]
    return {default_of(path), *(default_of(folder) for folder in folders if folder not in _COMMON)}


KINDS: Final = (
    SourceKind(_is_python, read_facts, _word, is_guard, _every),
    SourceKind(_is_script, read_script_facts, written_as, _is_script_guard, _importing),
)
