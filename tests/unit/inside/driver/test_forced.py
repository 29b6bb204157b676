"""Forced execution in the driver: what stands behind a condition is reached and told from made-up values."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.inside.driver.forced_samples import ADDRESS, GUARDED, HARMLESS, Sample
from tests.unit.inside.driver.harness import Driven, drive, lay_tree

_TOOL = """
import pathlib
def act(*args):
    with open({out!r}, "a") as file:
        file.write(repr(args) + "\\n")
"""
_MARK = "gforced"


def forced(sample: Sample, folder: Path, seed: int) -> tuple[Driven, list[str]]:
    """The driver's word and what the sample did, a line for each act."""
    out = folder / f"out-{seed}"
    tree = lay_tree(folder / f"tree-{seed}", {"tool.py": _TOOL.format(out=str(out))})
    (tree / "shop.py").write_text(sample.source)
    targets = [[sample.line]]
    item = {"do": "force", "path": "shop.py", "module": "shop", "targets": targets, "seed": seed}
    driven = drive(tree, {"items": [item], "nap": 0.05, "grace": 0.1})
    return driven, out.read_text().splitlines() if out.exists() else []


@pytest.mark.parametrize("sample", GUARDED, ids=lambda s: s.name)
def test_guarded_code_shows_what_it_would_do(sample: Sample, tmp_path: Path) -> None:
    for seed in (0, 1):
        driven, acts = forced(sample, tmp_path, seed)
        assert driven.item["forced"][0][1] != "not reached", driven
        assert any(ADDRESS in act for act in acts), (acts, driven)


@pytest.mark.parametrize("sample", HARMLESS, ids=lambda s: s.name)
def test_what_its_caller_decides_is_no_fact(sample: Sample, tmp_path: Path) -> None:
    first, second = (set(forced(sample, tmp_path, seed)[1]) for seed in (0, 1))
    assert first or second, "it was not even reached"
    assert [act for act in first & second if _MARK not in act] == []
