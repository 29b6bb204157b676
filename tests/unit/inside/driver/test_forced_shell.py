"""Forced shell scripts: what stands behind a condition is reached, and told from made-up values."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from gate.languages.forcing.copies import make_copies
from tests.unit.inside.driver.harness import drive

ADDRESS = "203.0.113.7:4444"
_MARK = "gforced"
_HEAD = 'act() { echo "$(basename "$0")|$*" >> "$(dirname "$0")/out"; }; export -f act\n'
_SAMPLES: dict[str, list[dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("forced_shell_samples.toml").read_text()
)
_ALL = [row for rows in _SAMPLES.values() for row in rows]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[set[str]]]:
    """What each sample did, once for each seed: all samples by one driver."""
    done: dict[str, list[set[str]]] = {row["name"]: [set(), set()] for row in _ALL}
    for seed in (0, 1):
        tree = tmp_path_factory.mktemp("forced") / "tree"
        tree.mkdir()
        items = []
        for row in _ALL:
            text = _HEAD + row["source"]
            (tree / row["name"]).write_text(text)
            line = next(n for n, one in enumerate(text.split("\n"), 1) if "HERE" in one)
            column = text.split("\n")[line - 1].index("act ")
            options = {"targets": {row["name"]: [[line, column]]}, "shell": [row["name"]]}
            (copy,) = make_copies(row["name"], text.encode(), options)
            force = {"edits": copy.ways[0], "seed": seed, "mark": _MARK}
            items.append({"do": "shell", "path": row["name"], "force": force})
        driven = drive(tree, {"items": items, "grace": 0.1, "seconds": 60}, seconds=90)
        odd = [i for i in driven.report["items"] if i["outcome"] != "completed"]
        assert driven.done, (odd, driven.stderr)
        for told in (tree / "out").read_text().splitlines():
            name, _, words = told.partition("|")
            done[name][seed].add(words)
    return done


@pytest.mark.parametrize("name", [row["name"] for row in _SAMPLES["hostile"]])
def test_guarded_code_shows_what_it_would_do(name: str, seen: dict[str, list[set[str]]]) -> None:
    assert all(ADDRESS in acts for acts in seen[name]), seen[name]


@pytest.mark.parametrize("name", [row["name"] for row in _SAMPLES["harmless"]])
def test_what_its_caller_decides_is_no_fact(name: str, seen: dict[str, list[set[str]]]) -> None:
    first, second = seen[name]
    assert first
    assert second
    assert [act for act in first & second if _MARK not in act] == []
