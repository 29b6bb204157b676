"""Guards of JavaScript and TypeScript are called alike at base and at head, by the driver and Node itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.inside.driver import harness
from tests.unit.inside.driver.javascript.job import node
from tests.unit.stages.script_guard_samples import CLEAN, HITS, PLAIN
from tests.unit.stages.test_guards import groups, look, told


@pytest.fixture(autouse=True)
def a_new_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks need a Node that is newer than what most machines have."""
    monkeypatch.setattr(harness, "PATH", f"{node().parent}:{harness.PATH}")


@pytest.mark.parametrize("names", groups(HITS), ids=" ".join)
def test_accepts_what_base_refuses(names: list[str], tmp_path: Path) -> None:
    found = told(names, HITS, tmp_path)
    assert [name for name in names if not found[name]] == [], "not told"
    assert [name for name in names if all(found[name])] == [], "told as if it were wider in so many words"


@pytest.mark.parametrize("names", groups(PLAIN), ids=" ".join)
def test_what_is_wider_in_so_many_words_weighs_less(names: list[str], tmp_path: Path) -> None:
    found = told(names, PLAIN, tmp_path)
    assert [name for name in names if not found[name]] == [], "not told"
    assert [name for name in names if not all(found[name])] == [], "more than a wider set"


@pytest.mark.parametrize("names", groups(CLEAN), ids=" ".join)
def test_lets_nobody_in(names: list[str], tmp_path: Path) -> None:
    assert told(names, CLEAN, tmp_path) == {name: [] for name in names}


def test_nothing_is_run_where_no_guard_is_reached(tmp_path: Path) -> None:
    before = "export const total = (rows) => rows.length;\n"
    sources = {"app/sums.js": before}, {"app/sums.js": before.replace("length", "length + 0")}
    found, session = look(tmp_path, sources)
    assert (found, session.runs) == ((), 0)
