"""The mixture of real and only apparent weaknesses, and the short files: what the rules on the tree say."""

from __future__ import annotations

import ast

import pytest

from bench.labelled import INJECTION, by_tree, table
from tests.vulnerable.labelled import labelled


@pytest.mark.parametrize(("corpus", "seed"), [("mixed", 18), ("mixed", 4), ("small", 0)])
def test_holes_are_told_from_what_only_looks_like_one(corpus: str, seed: int) -> None:
    chosen = labelled(corpus, seed)
    found = table(chosen, by_tree(chosen))
    assert found["injection"]["score"] >= 0.95, found
    for name, row in found.items():
        if name in INJECTION and row["holes"] > 2:
            assert row["score"] >= 0.8, (name, row)


def test_what_was_written_afterwards_stays_found() -> None:
    """35 and 5 when it was measured first, before anything was mended for it."""
    chosen = labelled("fresh")
    found = table(chosen, by_tree(chosen))
    assert len({min(handler.cwes) for handler in chosen}) >= 12
    assert (found["all"]["holes"], found["all"]["twins"]) == (40, 40)
    assert found["all"]["found"] >= 39, found
    assert found["all"]["false"] <= 1, found


def test_the_corpus_is_as_large_as_it_says() -> None:
    made = labelled("all")
    assert sum(handler.hole for handler in made) >= 150
    assert len({min(handler.cwes) for handler in made}) >= 20
    assert len({handler.framework for handler in made}) >= 5
    for handler in made:
        for path, text in handler.files.items():
            if path.endswith(".py"):
                ast.parse(text)
