"""Which changed files are tests, and which are examples: told by their paths."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

_TESTS: Final = frozenset({"test", "tests", "testing", "__tests__", "e2e", "spec"})
_EXAMPLES: Final = frozenset({"example", "examples", "demo", "demos", "docs", "doc", "samples", "benchmarks"})

_PACKAGES: Final = frozenset({"java", "kotlin", "scala", "groovy", "com", "org", "io", "net"})
"""Folders below which names are a package's."""


def is_test_path(path: str) -> bool:
    """Is it collected by a test runner, or does it stand below a folder of tests?"""
    at = PurePosixPath(path)
    stem = at.name.partition(".")[0].lower()
    named = stem.startswith("test_") or stem.endswith("_test") or stem in ("test", "tests", "conftest")
    return named or ".test." in at.name or ".spec." in at.name or _below(at, _TESTS)


def is_example(path: str) -> bool:
    """Does it stand below a folder of examples or documentation? A package's name is none."""
    at = PurePosixPath(path)
    source = next((i for i, part in enumerate(at.parts) if part.lower() in _PACKAGES), len(at.parts))
    return _below(PurePosixPath(*at.parts[:source], at.name), _EXAMPLES)


def _below(at: PurePosixPath, names: frozenset[str]) -> bool:
    return not names.isdisjoint(part.lower() for part in at.parts[:-1])
