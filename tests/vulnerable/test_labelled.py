"""The mixture of real and only apparent weaknesses, and the short files: what the rules on the tree say."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import pytest

from bench.labelled import INJECTION, Rows, table
from gate.prescreen.python_ast.scanner import hits, parse, severity_of
from tests.vulnerable.labelled import labelled
from tests.vulnerable.mixed.generate import Handler


def _rows(chosen: Iterable[Handler]) -> Rows:
    rows: Rows = {}
    for n, handler in enumerate(chosen):
        module = parse(handler.main, handler.files[handler.main].encode())
        module.others = {
            path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): text
            for path, text in handler.files.items()
            if path != handler.main
        }
        rows[n] = [
            (severity_of(module, rule, hit).value, set(rule.meta.cwe), rule.meta.id)
            for rule, hit in hits(module)
        ]
    return rows


@pytest.mark.parametrize(("corpus", "seed"), [("mixed", 18), ("mixed", 4), ("small", 0)])
def test_holes_are_told_from_what_only_looks_like_one(corpus: str, seed: int) -> None:
    chosen = labelled(corpus, seed)
    found = table(chosen, _rows(chosen))
    assert found["injection"]["score"] >= 0.95, found
    for name, row in found.items():
        if name in INJECTION and row["holes"] > 2:
            assert row["score"] >= 0.8, (name, row)


def test_the_corpus_is_as_large_as_it_says() -> None:
    made = labelled("all")
    assert sum(handler.hole for handler in made) >= 150
    assert len({min(handler.cwes) for handler in made}) >= 20
    assert len({handler.framework for handler in made}) >= 5
    for handler in made:
        for path, text in handler.files.items():
            if path.endswith(".py"):
                ast.parse(text)
