"""Every AST rule finds exactly its marked lines, leaves its clean files alone, and nothing cries on
noise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gate.model.rule import Severity
from gate.prescreen.python_ast.rule import AstRule, ast_rules
from gate.prescreen.python_ast.scanner import hits, parse, severity_of
from tests.paths import REPOSITORY, TESTS

SAMPLES = TESTS / "rules" / "samples"
RULES_FOLDER = REPOSITORY / "gate" / "prescreen" / "rules"
RULES = {rule.meta.id: rule for rule in ast_rules()}
MARK = re.compile(r"# HIT(?:\[(\w+)\])?")


def _lines(rule: AstRule, file: Path) -> dict[int, str]:
    module = parse(_shown_path(file), file.read_bytes())
    return {
        getattr(hit.node, "lineno", 0): severity_of(module, found, hit).value
        for found, hit in hits(module, (rule,))
    }


def _shown_path(file: Path) -> str:
    """``hit__setup.py`` is shown to the rule as ``setup.py``; ``__`` inside stands for a folder."""
    _, sep, rest = file.stem.partition("__")
    return f"{rest.replace('__', '/').replace('INIT', '__init__')}.py" if sep else f"app/{file.name}"


def _files(kind: str) -> list[tuple[str, Path]]:
    return [(rule_id, file) for rule_id in RULES for file in sorted((SAMPLES / rule_id).glob(f"{kind}*.py"))]


@pytest.mark.parametrize("rule_id", sorted(RULES))
def test_rule_has_page_and_samples(rule_id: str) -> None:
    rule = RULES[rule_id]
    meta = rule.meta
    assert re.fullmatch(r"py\.[a-z0-9-]+", rule_id)
    assert (RULES_FOLDER / f"{rule_id.removeprefix('py.').replace('-', '_')}.py").is_file()
    assert meta.cwe, "every rule names its weakness"
    assert len(meta.help) > 30
    assert len(meta.remediation) > 15
    assert len(rule.page) > 80
    assert list((SAMPLES / rule_id).glob("hit*.py")), "needs a hit sample"
    assert list((SAMPLES / rule_id).glob("clean*.py")), "needs a clean sample"


def test_every_rule_file_is_loaded_and_every_sample_has_a_rule() -> None:
    files = {file.stem for file in RULES_FOLDER.glob("*.py") if file.stem != "__init__"}
    assert {rule_id.removeprefix("py.").replace("-", "_") for rule_id in RULES} == files
    assert {folder.name for folder in SAMPLES.iterdir() if folder.name.startswith("py.")} == set(RULES)


@pytest.mark.parametrize(("rule_id", "file"), _files("hit"), ids=lambda v: getattr(v, "name", v))
def test_hits_are_exactly_the_marked_lines(rule_id: str, file: Path) -> None:
    marks = {n: m for n, line in enumerate(file.read_text().splitlines(), 1) if (m := MARK.search(line))}
    found = _lines(RULES[rule_id], file)
    assert sorted(found) == sorted(marks)
    assert marks
    for line, mark in marks.items():
        if mark.group(1):
            assert found[line] == mark.group(1), f"line {line}"


@pytest.mark.parametrize(("rule_id", "file"), _files("clean"), ids=lambda v: getattr(v, "name", v))
def test_clean_files_have_no_hit(rule_id: str, file: Path) -> None:
    assert _lines(RULES[rule_id], file) == {}


@pytest.mark.parametrize("file", sorted((SAMPLES / "noise").glob("*.py")), ids=lambda f: f.name)
def test_harmless_code_has_nothing_at_medium_or_above(file: Path) -> None:
    module = parse(_shown_path(file), file.read_bytes())
    loud = [
        (rule.meta.id, getattr(hit.node, "lineno", 0))
        for rule, hit in hits(module)
        if severity_of(module, rule, hit).rank >= Severity.MEDIUM.rank
    ]
    assert loud == []
