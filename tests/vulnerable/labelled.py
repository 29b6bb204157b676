"""Labelled handlers for the static look: the made-up mixture (mixed/) and the short files (small/)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

from tests.paths import TESTS
from tests.vulnerable.mixed.generate import Handler, handlers

SMALL = TESTS / "vulnerable" / "small"


def small() -> Iterator[Handler]:
    """The short files: a hole and its twin, one after the other."""
    for file in sorted(SMALL.glob("*.toml")):
        for pair in tomllib.loads(file.read_text())["pair"]:
            for hole in (True, False):
                text = pair["hole" if hole else "secure"].lstrip("\n")
                yield Handler(
                    name=f"{pair['name']}-{'hole' if hole else 'secure'}",
                    weakness=pair["class"],
                    cwes=frozenset(pair["cwe"]),
                    hole=hole,
                    framework="",
                    how=pair["name"],
                    main="app.py",
                    files={"app.py": text},
                )


def labelled(corpus: str, seed: int = 18, per_class: int = 12) -> list[Handler]:
    """``mixed``, ``small`` or both, by name."""
    made = list(handlers(seed, per_class)) if corpus in ("mixed", "all") else []
    return made + (list(small()) if corpus in ("small", "all") else [])
