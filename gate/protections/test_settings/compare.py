"""Base's settings of test runners against head's: which tests that are there run no more. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Final

from gate.dataclass import dataclass
from gate.protections.test_settings.facts import LeftOut, TestSettings
from gate.protections.vocabulary import family_of

_ORDINARY: Final = ("bench", "perf", "e2e", "node_modules", "integration", "network", "slow", "dist", "build")

_SHORT: Final = 4
"""Characters from which a part of a path means the files that have it (Jest's patterns)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Deselected:
    """One setting that base did not have. ``tests``: paths of tests that it leaves out."""

    path: str
    left: LeftOut
    tests: tuple[str, ...]
    guards: bool
    """Do the tests speak of who may do what?"""


def deselected(
    base: Mapping[str, TestSettings],
    head: Mapping[str, TestSettings],
    tests: tuple[str, ...],
    text_of: Callable[[str], str],
) -> Iterator[Deselected]:
    """What head's settings leave out and none of base's did. ``tests``: paths of head's tests."""
    had = {(one.kind, one.what) for settings in base.values() for one in settings.left_out}
    for path, settings in head.items():
        for one in settings.left_out:
            if (one.kind, one.what) in had:
                continue
            out = tuple(test for test in tests if _is_out(one, test, text_of))
            if one.kind == "answer":
                yield Deselected(path=path, left=one, tests=(), guards=True)
            elif out:
                names = (one.what, *(test.rpartition("/")[2] for test in out))
                yield Deselected(path=path, left=one, tests=out, guards=any(map(_is_guarding, names)))


def _is_out(one: LeftOut, test: str, text_of: Callable[[str], str]) -> bool:
    if one.kind == "name":
        return one.what.lower() in text_of(test).lower() or one.what.lower() in test.lower()
    what = one.what.partition("::")[0].replace("<rootDir>", "").strip("^$").replace("\\", "").strip("./")
    if not what or any(word in what.lower() for word in _ORDINARY):
        return False
    if any(mark in what for mark in "*?["):
        return fnmatchcase(test, what) or fnmatchcase(test.rpartition("/")[2], what)
    return f"/{what}/" in f"/{test}/" or (len(what) >= _SHORT and what in test)


def _is_guarding(name: str) -> bool:
    plain = name.rpartition(".")[0] or name
    words = plain.replace("-", "_").replace("*", "_").strip("_")
    return family_of(words) is not None or any(word in words for word in ("guard", "may_", "secur", "deny"))
