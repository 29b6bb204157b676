"""Every Semgrep rule on its own test file, in Semgrep's own layout (``ruleid:`` and ``ok:`` comments).

One run of the engine over all files; a rule's matches must be exactly the lines after its ``ruleid:``
comments.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gate.model.rule import RuleMeta
from gate.prescreen.scanners.semgrep import ANALYZERS, ScanTarget, run_engine
from gate.prescreen.scanners.semgrep_rules import merged_rules, semgrep_rules
from gate.resources import rules_dir

FOLDER = rules_dir() / "semgrep"
RULES = sorted(FOLDER.rglob("*.yaml"))
MARK = re.compile(r"(?:#|//|<!--|;|\*)\s*(ruleid|ok):\s*([\w-]+)")
LANGUAGE = {
    "js": "javascript",
    "ts": "typescript",
    "sh": "shell",
    "py": "python",
    "dockerfile": "dockerfile",
    "yml": "yaml",
    "json": "json",
}


def _test_file(rule: Path) -> Path:
    others = [p for p in rule.parent.glob(f"{rule.stem}.*") if p != rule]
    assert len(others) == 1, f"{rule.name} needs exactly one test file beside it"
    return others[0]


def _shown(file: Path) -> str:
    """The path a rule's ``paths:`` is matched with; a comment ``path:`` in the first line sets it."""
    first = file.read_text().split("\n", 1)[0]
    found = re.search(r"path: (\S+)", first)
    return f"/{found[1]}" if found else f"/src/{file.name}"


@cache
def _found(scratch: Path) -> Counter[tuple[str, str, int]]:
    targets = []
    for rule in RULES:
        file = _test_file(rule)
        language = LANGUAGE.get(file.suffix[1:], "")
        analyzers = (*ANALYZERS.get(language, ())[:1], "regex", "generic")
        targets += [ScanTarget(file=file, project_path=_shown(file), analyzer=name) for name in analyzers]
    result = run_engine(targets, scratch, 120.0)
    assert not result.gave_up
    return Counter((Path(m.file).name, m.rule, m.first) for m in result.matches)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Counter[tuple[str, str, int]]:
    return _found(tmp_path_factory.mktemp("semgrep"))


@pytest.mark.parametrize("rule", RULES, ids=lambda p: p.stem)
def test_rule_matches_exactly_its_marked_lines(rule: Path, found: Counter[tuple[str, str, int]]) -> None:
    file = _test_file(rule)
    marks: dict[str, set[int]] = {"ruleid": set(), "ok": set()}
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if (mark := MARK.search(line)) and mark[2] == rule.stem:
            marks[mark[1]].add(number + 1)
    assert marks["ruleid"], "needs a hit"
    assert marks["ok"], "needs a clean line"
    lines = {line for name, rule_id, line in found if name == file.name and rule_id == rule.stem}
    assert lines == marks["ruleid"]


@pytest.mark.parametrize("rule", RULES, ids=lambda p: p.stem)
def test_rule_says_what_it_is(rule: Path) -> None:
    meta: RuleMeta = semgrep_rules()[rule.stem]
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]*", meta.id)
    assert meta.cwe
    assert len(meta.help) > 30
    assert len(meta.remediation) > 15
    assert meta.topic != "weakness"


def test_one_rule_a_file_and_all_are_loaded() -> None:
    rules: list[dict[str, Any]] = json.loads(merged_rules())["rules"]
    assert sorted(r["id"] for r in rules) == sorted(p.stem for p in RULES)
