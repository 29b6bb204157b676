"""Forced execution in the driver: what stands behind a condition is reached and told from made-up values."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.inside.driver.forced_samples import GUARDED, HARMLESS, Sample
from tests.unit.inside.driver.harness import drive, lay_tree

_TOOL = """
import pathlib
def act(*args):
    with open({out!r}, "a") as file:
        file.write(repr(args) + "\\n")
"""
MARK = "gforced"


def seen(samples: tuple[Sample, ...], folder: Path) -> dict[str, set[str]]:
    """What each sample did alike with both seeds and without a mark, as text."""
    found: dict[str, list[set[str]]] = {}
    for seed in (0, 1):
        for number, sample in enumerate(samples):
            out = folder / f"out-{seed}-{number}"
            tree = lay_tree(folder / f"tree-{seed}-{number}", {"tool.py": _TOOL.format(out=str(out))})
            (tree / "shop.py").write_text(sample.source)
            line = next(n for n, text in enumerate(sample.source.split("\n"), 1) if "# HERE" in text)
            item = {"do": "force", "path": "shop.py", "module": "shop", "targets": [[line]], "seed": seed}
            driven = drive(tree, {"items": [item], "nap": 0.05, "grace": 0.1})
            lines = set(out.read_text().splitlines()) if out.exists() else set()
            assert driven.item["outcome"] in ("completed", "missing"), (sample.name, driven)
            found.setdefault(sample.name, []).append(lines)
    return {
        name: {line for line in first & second if MARK not in line and "gate-args" not in line}
        for name, (first, second) in found.items()
    }


@pytest.mark.parametrize("sample", GUARDED, ids=lambda s: s.name)
def test_guarded_code_shows_what_it_would_do(sample: Sample, tmp_path: Path) -> None:
    # One seed's text is enough for the destination: marks stand beside it.
    assert sample.fact is not None
    facts = set()
    for seed in (0, 1):
        out = tmp_path / f"out-{seed}"
        tree = lay_tree(tmp_path / f"tree-{seed}", {"tool.py": _TOOL.format(out=str(out))})
        (tree / "shop.py").write_text(sample.source)
        line = next(n for n, text in enumerate(sample.source.split("\n"), 1) if "# HERE" in text)
        item = {"do": "force", "path": "shop.py", "module": "shop", "targets": [[line]], "seed": seed}
        driven = drive(tree, {"items": [item], "nap": 0.05, "grace": 0.1})
        assert driven.item["forced"][0][1] != "not reached", driven
        facts.add(sample.fact in (out.read_text() if out.exists() else ""))
    assert facts == {True}


@pytest.mark.parametrize("sample", HARMLESS, ids=lambda s: s.name)
def test_what_its_caller_decides_is_no_fact(sample: Sample, tmp_path: Path) -> None:
    assert seen((sample,), tmp_path) == {sample.name: set()}
