"""Tests that have to do with a change: told from names and words in their text, never by importing."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final

from gate.languages.path_roles import is_test
from gate.model.change import Tree
from gate.plan.module_layout import Module, in_test_folder
from gate.regex import regex

_READ: Final = 1_500
"""Test files looked into."""
_BIGGEST: Final = 256 << 10
_WORD: Final = regex(rb"[A-Za-z_]\w{3,80}")
_NAMED, _IMPORTS, _SAYS, _NEAR = 6.0, 4.0, 3.0, 0.5
"""What counts: named after the module or something changed in it; imports the module; says a changed name
(shared by all tests that say it: rare words tell more); for each folder that it has in common with it."""
_EVERYWHERE: Final = 0.5
"""A word in more than this share of the tests tells nothing."""


def related_tests(
    tree: Tree,
    modules: Iterable[Module],
    changed: frozenset[str],
    *,
    most: int,
    names: Collection[str] = (),
) -> list[str]:
    """Test files of the tree that have to do with the modules, or with the functions and classes ``names`` of
    them that changed; nearest first. Changed test files are not among them (they are run anyway).
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
    score: defaultdict[str, float] = defaultdict(float)
    for entry in entries:
        if _subject(entry.path) in stems or _subject(entry.path) in names:
            score[entry.path] += _NAMED
    pattern = _imports(wanted)
    asked = frozenset(n.encode("utf-8", "surrogateescape") for n in names)
    said: dict[str, frozenset[bytes]] = {}
    for path, data in tree.read_many(tuple(e.path for e in entries[:_READ])):
        if pattern is not None and pattern.search(data):
            score[path] += _IMPORTS
        said[path] = asked & frozenset(_WORD.findall(data))
    for path, worth in _by_words(said).items():
        score[path] += worth
    if not any(score.values()):  # nothing names it: views are asked by their routes
        score.update({e.path: _SAYS for e in entries if _beside(e.path, wanted)})
    near = {path: value + _NEAR * _nearness(path, wanted) for path, value in score.items() if value}
    return sorted(near, key=lambda path: (-near[path], path))[:most]


def _by_words(said: Mapping[str, frozenset[bytes]]) -> dict[str, float]:
    """For each test what the changed names in it are worth."""
    holders = Counter(word for words in said.values() for word in words)
    telling = {w: _SAYS / n for w, n in holders.items() if n <= max(2, _EVERYWHERE * len(said))}
    return {path: sum(telling.get(word, 0) for word in words) for path, words in said.items()}


def _nearness(path: str, modules: Iterable[Module]) -> int:
    """How many folders it shares with the nearest of the modules."""
    here = PurePosixPath(path).parent.parts
    return max(_common(here, PurePosixPath(m.path).parent.parts) for m in modules)


def _common(some: tuple[str, ...], others: tuple[str, ...]) -> int:
    count = 0
    for one, other in zip(some, others, strict=False):
        if one != other:
            break
        count += 1
    return count


def _subject(path: str) -> str:
    """``cart`` for test_cart.py and cart_test.py."""
    return PurePosixPath(path).stem.removeprefix("tests_").removeprefix("test_").removesuffix("_test")


def _beside(path: str, modules: Iterable[Module]) -> bool:
    """Is it ``tests.py`` or in ``tests`` of a module's own folder, as Django's applications have it?"""
    here = PurePosixPath(path)
    homes = {here.parent} if here.name in ("tests.py", "test.py") else set()
    homes |= {here.parent.parent} if here.parent.name in ("test", "tests") else set()
    return any(PurePosixPath(m.path).parent in homes and m.path.count("/") for m in modules)


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
