"""Holes in seven languages are told, and what only looks like them is not."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.injection_rules import BY_SINK
from gate.taint.facts import FileFlows
from gate.taint.link import flows
from gate.taint.project import Paths, Resolver
from gate.taint.reader import read
from tests.rules.injection import (
    csharp,
    fresh,
    go,
    java,
    javascript,
    left_away,
    pages,
    php,
    ruby,
    weak_checks,
)

FILES = {
    "a.js": [p for p in javascript.PAIRS if "@Controller" not in p[1]],
    "a.ts": [p for p in javascript.PAIRS if "@Controller" in p[1]],
    "a.go": go.PAIRS,
    "a.php": php.PAIRS,
    "A.java": java.PAIRS,
    "A.kt": java.KOTLIN_PAIRS,
    "app/controllers/a.rb": ruby.PAIRS,
    "A.cs": csharp.PAIRS,
}
ALL = [pytest.param(*pair, id=f"fresh-{n}-{pair[1]}") for n, pair in enumerate(fresh.PAIRS)]
ALL += [pytest.param(*pair, id=f"pages-{n}-{pair[0]}") for n, pair in enumerate(pages.PAIRS)]
ALL += [pytest.param(*pair, id=f"left-{n}-{pair[0]}") for n, pair in enumerate(left_away.PAIRS)]
ALL += [pytest.param(*pair, id=f"weak-{n}-{pair[0]}") for n, pair in enumerate(weak_checks.PAIRS)]
ALL += [
    pytest.param(path, *pair, id=f"{path}-{n}-{pair[0]}")
    for path, pairs in FILES.items()
    for n, pair in enumerate(pairs)
]


def told(path: str, text: str) -> set[str]:
    """The rules that a file alone hits, with certainty."""
    files: dict[str, FileFlows] = {path: read(path, text.encode(), {})}
    return {flow.rule for flow in flows(files, Resolver(files, Paths(files)))}


@pytest.mark.parametrize(("path", "rule", "hole", "twin"), ALL)
def test_hole_is_told_and_twin_is_not(path: str, rule: str, hole: str, twin: str) -> None:
    assert rule in BY_SINK
    assert rule in told(path, hole)
    assert rule not in told(path, twin)
