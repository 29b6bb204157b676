"""Forced execution in the driver: what stands behind a condition is reached and told from made-up values."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.inside.driver.forced_samples import ADDRESS, GUARDED, HARMLESS, Sample
from tests.unit.inside.driver.harness import drive, lay_tree

_TOOL = """
import os
def act(*args):
    with open({out!r} + str(os.getpid()), "a") as file:
        file.write(repr(args) + "\\n")
"""
_MARK = "gforced"


def forced(sample: Sample, folder: Path) -> tuple[list[str], list[set[str]]]:
    """How far the driver says that it came, and what the sample did, for both seeds: each in a process."""
    out = folder / "out-"
    tree = lay_tree(folder / "tree", {"tool.py": _TOOL.format(out=str(out))})
    (tree / "shop.py").write_text(sample.source)
    item = {"do": "force", "path": "shop.py", "module": "shop", "targets": [[sample.line]]}
    driven = drive(tree, {"items": [{**item, "seed": n} for n in (0, 1)], "nap": 0.05, "grace": 0.1})
    told = [item["forced"][0][1] for item in driven.report["items"]]
    return told, [set(file.read_text().splitlines()) for file in folder.glob("out-*")]


@pytest.mark.parametrize("sample", GUARDED, ids=lambda s: s.name)
def test_guarded_code_shows_what_it_would_do(sample: Sample, tmp_path: Path) -> None:
    told, seen = forced(sample, tmp_path)
    assert "not reached" not in told
    assert len(seen) == 2, told
    assert all(any(ADDRESS in act for act in acts) for acts in seen), (told, seen)


@pytest.mark.parametrize("sample", HARMLESS, ids=lambda s: s.name)
def test_what_its_caller_decides_is_no_fact(sample: Sample, tmp_path: Path) -> None:
    told, seen = forced(sample, tmp_path)
    assert len(seen) == 2, told
    assert [act for act in seen[0] & seen[1] if _MARK not in act] == []
