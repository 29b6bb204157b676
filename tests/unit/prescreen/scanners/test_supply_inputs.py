"""Pairs of versions of locks and manifests: hostile ones are told with the reason, updates are not."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gate.languages.limited_child import FileResult, Reader
from gate.model.rule import Severity
from gate.prescreen.interface import Prescreened
from gate.prescreen.scanners import dependencies, supply_inputs
from gate.prescreen.scanners.dependencies import Dependencies
from tests.prescreen_support import make_request

FOLDER = Path(__file__).parent / "supply_pairs"


@dataclass(frozen=True)
class Pair:
    name: str
    path: str
    base: str
    head: str
    others: dict[str, str] = field(default_factory=dict)
    rule: str = ""
    level: str = ""
    says: str = ""
    instead: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.name}"


def edited(text: str, edits: Sequence[Sequence[str]]) -> str:
    for old, new in edits:
        assert text.count(old) >= 1, f"does not apply: {old}"
        text = text.replace(old, new, 1)
    return text


def pairs(kind: str) -> list[Pair]:
    found = []
    for file in sorted(FOLDER.glob("*.toml")):
        table = tomllib.loads(file.read_text("utf-8"))
        for row in table.get(kind, []):
            origin = table if "base" not in row else {**table, **row}
            rule, level, says = row.get("tells", ("", "", ""))
            base = edited(origin["base"], row.get("base_edits", []))
            head = edited(origin["base"], row.get("edits", []))
            assert base != head, row["name"]
            others = origin.get("others", {})
            found.append(
                Pair(
                    row["name"], origin["path"], base, head, others, rule, level, says, row.get("instead", "")
                )
            )
    return found


def in_process(reader: Reader, files: Any, **_options: object) -> list[FileResult[Any]]:
    """What the limited child does, without one: hundreds of pairs are read."""
    module, _, attribute = reader.function.partition(":")
    read = getattr(importlib.import_module(module), attribute)
    return [FileResult(path=path, outcome="done", value=read(path, data, {})) for path, data in files]


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supply_inputs, "scan_isolated", in_process)
    monkeypatch.setattr(dependencies, "scan_isolated", in_process)


def scan(pair: Pair) -> Prescreened:
    head, base = {**pair.others, pair.path: pair.head}, {**pair.others, pair.path: pair.base}
    return Dependencies().scan(make_request(head, base))


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("pair", pairs("hostile"), ids=str)
def test_hostile(pair: Pair) -> None:
    found = scan(pair).findings
    told = {(f.rule_id, f.severity.value): f.evidence.get("told", "") for f in reversed(found)}
    if pair.instead:
        assert pair.instead in {f.rule_id for f in found}, told
        return
    assert (pair.rule, pair.level) in told, told
    assert pair.says in told[pair.rule, pair.level]


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("pair", pairs("harmless"), ids=str)
def test_harmless(pair: Pair) -> None:
    result = scan(pair)
    loud = [(f.rule_id, dict(f.evidence)) for f in result.findings if f.severity.rank > Severity.LOW.rank]
    assert not loud
    assert result.stages[0].reason == ""


def test_the_limited_child_reads_the_same() -> None:
    """One pair of every file through the real child."""
    seen = set()
    for pair in pairs("hostile"):
        if pair.path not in seen and not pair.instead:
            seen.add(pair.path)
            assert pair.rule in {f.rule_id for f in scan(pair).findings}, pair
    assert seen


@pytest.mark.usefixtures("_quick")
def test_nothing_is_told_twice() -> None:
    """One hostile edit has one finding above low, of one rule or the other."""
    for pair in pairs("hostile"):
        loud = [f.rule_id for f in scan(pair).findings if f.severity.rank > Severity.LOW.rank]
        assert len(loud) <= 2, (pair.name, loud)
