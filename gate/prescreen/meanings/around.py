"""Which unchanged lines a name that is taken is asked by, and modules that stand in another's place."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from gate.model.change import Tree
from gate.prescreen.meanings.facts import Meaning
from gate.regex import regex

_MOST: Final = 3_000
_LARGEST: Final = 1 << 19
_ORDINARY: Final = frozenset({"__init__", "__main__", "test", "this", "antigravity", "idlelib", "turtledemo"})
_IMPORTS: Final = r"(?m)^\s*(?:import|from)\s+{name}\b"
_SCRIPTS: Final = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte")
_COMMENT: Final = regex(r"^\s*(?://|#|\*|/\*)")


class Call(NamedTuple):
    """A line of base that asks for the name."""

    path: str
    line: int
    text: str


def calls_of(one: Meaning, path: str, base: Tree) -> list[Call]:
    """Lines of base that mean the name which this file takes: of its name space, or of its package."""
    space = one.asks
    folder = str(PurePosixPath(path).parent)
    is_php = path.endswith(".php")
    paths = [
        e.path
        for e in base.entries()
        if e.path.endswith(PurePosixPath(path).suffix)
        and e.size <= _LARGEST
        and (is_php or str(PurePosixPath(e.path).parent) == folder)
    ]
    named = re.compile(rf"namespace\s+{re.escape(space)}\s*[;{{]")
    called = re.compile(
        rf"(?<![\\>:.\w$])(?<!function )(?<!func )(?<!fun ){re.escape(one.name)}\s*{_asked(path)}",
        re.IGNORECASE if is_php else 0,
    )
    made = re.compile(rf"(?m)^ {{0,4}}(?:function|func|fun)\s+{re.escape(one.name)}\b", re.IGNORECASE)
    found: list[Call] = []
    for other, data in base.read_many(tuple(paths[:_MOST])):
        text = data.decode("utf-8", "replace")
        if is_php and not named.search(text):
            continue
        if made.search(text):
            return []
        for number, line in enumerate(text.split("\n"), 1):
            if called.search(line) and not _COMMENT.match(line):
                found.append(Call(other, number, line.strip()[:120]))
    return found


def _asked(path: str) -> str:
    """How a name is asked: a function is called, a class of Java stands before a point, too."""
    return r"[.(]" if path.endswith(".java") else r"\("


def patterns_asked(names: Collection[str], head: Tree) -> dict[str, Call]:
    """For each pattern that a module of the project exports, the first line of another that asks it."""
    if not names:
        return {}
    paths = [e.path for e in head.entries() if e.path.endswith(_SCRIPTS) and e.size <= _LARGEST]
    found: dict[str, Call] = {}
    for path, data in head.read_many(tuple(paths[:_MOST])):
        for name in [one for one in names if one not in found and one.encode() in data]:
            if (call := _asked_in(name, path, data.decode("utf-8", "replace"))) is not None:
                found[name] = call
    return found


def _asked_in(name: str, path: str, text: str) -> Call | None:
    asks = re.compile(rf"(?<![\w$])(?:\w+\.)?{re.escape(name)}\.test\(")
    called = re.escape(name)
    brings = re.compile(
        rf"(?:import\b|require\()[^;]{{0,400}}?\b{called}\b|\b{called}\b[^;\n]{{0,200}}=\s*require\("
        rf"|\b\w+\.{called}\.test\("
    )
    if not asks.search(text) or not brings.search(text) or f"{name}.lastIndex" in text:
        return None
    for number, line in enumerate(text.split("\n"), 1):
        if asks.search(line) and not _COMMENT.match(line) and "while" not in line:
            return Call(path, number, line.strip()[:120])
    return None


def stands_before(path: str, head: Tree, base: Tree) -> tuple[str, Call] | None:
    """A new module beside scripts, under a name of the standard library that one of them imports.

    A script's own folder is searched first. A folder with ``__init__.py`` is a package: its modules are
    imported by their whole name.
    """
    pure = PurePosixPath(path)
    folder, name = (
        (pure.parent.parent, pure.parent.name) if pure.name == "__init__.py" else (pure.parent, pure.stem)
    )
    if name not in sys.stdlib_module_names or name in _ORDINARY or name.startswith("_"):
        return None
    inside = "" if str(folder) == "." else f"{folder}/"
    if any(e.path == f"{inside}__init__.py" for e in head.entries()):
        return None
    beside = [e.path for e in base.entries() if str(PurePosixPath(e.path).parent) == str(folder)]
    if any(other in (f"{inside}{name}.py", f"{inside}{name}/__init__.py") for other in beside):
        return None
    imports = re.compile(_IMPORTS.format(name=re.escape(name)))
    scripts = tuple(one for one in beside if one.endswith(".py"))[:_MOST]
    for other, data in base.read_many(scripts):
        if match := imports.search(data.decode("utf-8", "replace")):
            line = data.decode("utf-8", "replace").count("\n", 0, match.end()) + 1
            return name, Call(other, line, match[0].strip())
    return None


def fresh(head: list[Meaning], base: list[Meaning]) -> Iterator[Meaning]:
    """What head has and base has not, by what it is and its name."""
    had = {(one.kind, one.name, one.asks) for one in base}
    for one in head:
        if (one.kind, one.name, one.asks) not in had:
            had.add((one.kind, one.name, one.asks))
            yield one
