"""Tests that have to do with a change: told from names and import lines, never by importing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

from gate.model.change import Tree
from gate.sandbox.planning.layout import Module, in_test_folder, is_test

_READ: Final = 400
"""Test files looked into."""
_BIGGEST: Final = 256 << 10


def related_tests(tree: Tree, modules: Iterable[Module], changed: frozenset[str], *, most: int) -> list[str]:
    """Test files of the tree that are named after a module or import it, nearest first. Changed
    test files are not among them (they are run anyway).
    """
    wanted = list(modules)
    entries = [
        e
        for e in tree.entries()
        if e.mode.startswith("100") and is_test(e.path) and e.path not in changed and e.size <= _BIGGEST
    ]
    if not entries or not wanted:
        return []
    stems = {PurePosixPath(m.path).stem for m in wanted} - {"__init__", "__main__"}
    named = [e.path for e in entries if _subject(e.path) in stems]
    pattern = _imports(wanted)
    importing = []
    if pattern is not None and len(named) < most:
        paths = tuple(e.path for e in entries[:_READ])
        importing = [path for path, data in tree.read_many(paths) if pattern.search(data)]
    return list(dict.fromkeys([*named, *importing]))[:most]


def _subject(path: str) -> str:
    """``cart`` for test_cart.py and cart_test.py."""
    return PurePosixPath(path).stem.removeprefix("test_").removesuffix("_test")


def _imports(modules: Iterable[Module]) -> re.Pattern[bytes] | None:
    """Matches a line that imports one of the modules, or the package it is in by name."""
    words = []
    for module in modules:
        if module.name is None or in_test_folder(module.path):
            continue
        words.append(rf"^[ \t]*(?:from|import)[ \t].*\b{re.escape(module.name)}\b")
        package, _, last = module.name.rpartition(".")
        if package:
            words.append(rf"^[ \t]*from[ \t]+{re.escape(package)}[ \t]+import\b[^\n#]*\b{re.escape(last)}\b")
    return re.compile("|".join(words).encode("utf-8", "surrogateescape"), re.MULTILINE) if words else None
