"""The rule that CONTRIBUTING.md shows works as it stands there, and documents name only rules that exist."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.prescreen.python_ast.rule import AstRule, rule
from gate.prescreen.python_ast.scanner import hits, parse
from gate.settings import Config
from gate.stages.rule_index import rulebook
from gate.verbs.parser import build_parser
from tests.paths import REPOSITORY

_BLOCK = re.compile(r"`(\w+\.py)`:\n\n```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PAGE = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = dict(_BLOCK.findall(_PAGE))
"""Python blocks of the page by the name of the file they are to stand in."""
IDS = {meta.id for meta in rulebook().all()}
ROOMS = sorted({rule_id.partition(".")[0] for rule_id in IDS if "." in rule_id})
_DOTTED = re.compile(
    rf"(?<![\w./-])(?:{'|'.join(ROOMS)})\.(?!(?:md|py|typed)\b)[a-z0-9]+(?:-[a-z0-9]+)*(?![\w./(-])"
)
_EXPLAINED = re.compile(r"gate explain ([a-z0-9][\w.-]*)")


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AstRule:
    """The example, loaded as the folder of rules is."""
    folder = tmp_path / "rules_of_contributing"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "hard_sleep.py").write_text(FILES["hard_sleep.py"])
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    (loaded,) = rule.in_folder(folder.name)
    return loaded


def _lines(example: AstRule, text: str) -> list[int]:
    return [getattr(hit.node, "lineno", 0) for _, hit in hits(parse("app/x.py", text.encode()), (example,))]


def test_the_example_reports_exactly_the_marked_lines(example: AstRule) -> None:
    marked = [n for n, line in enumerate(FILES["hit.py"].splitlines(), 1) if "# HIT" in line]
    assert len(marked) == 2
    assert _lines(example, FILES["hit.py"]) == marked


def test_the_example_leaves_ordinary_and_broken_calls_alone(example: AstRule) -> None:
    assert "time.sleep()\n" in FILES["clean.py"]
    assert _lines(example, FILES["clean.py"]) == []


def test_the_example_has_what_every_rule_must_have(example: AstRule) -> None:
    assert example.meta.id == "py.hard-sleep"
    assert example.meta.languages == ("python",)
    assert "py.hard-sleep" in example.page
    assert len(example.meta.help) > 30
    assert len(example.meta.remediation) > 15
    assert example.meta.id not in IDS, "an example is no rule of gate's"


def _documents() -> Iterator[tuple[str, str]]:
    for page in [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]:
        yield page.relative_to(REPOSITORY).as_posix(), page.read_text(encoding="utf-8")


def _helps() -> Iterator[tuple[str, str]]:
    parser = build_parser()
    yield "gate --help", parser.format_help()
    for action in parser._actions:
        if isinstance(action.choices, dict):
            for verb, sub in action.choices.items():
                yield f"gate {verb} --help", sub.format_help()


def _settings() -> set[str]:
    """Keys of settings look like rule ids: ``attribution.deep``."""
    config = Config()
    return {
        f"{table}.{key}"
        for table in config.__struct_fields__
        for key in getattr(getattr(config, table), "__struct_fields__", ())
    }


@pytest.mark.parametrize(("place", "text"), [*_documents(), *_helps()], ids=lambda value: value[:40])
def test_every_rule_that_is_named_exists(place: str, text: str) -> None:
    known = IDS | _settings() | {"build.sbt", "build.sc"}  # files
    if place == "CONTRIBUTING.md":
        known |= set(re.findall(r'@rule\(\n    "([^"]+)"', text))
    assert {*_DOTTED.findall(text), *_EXPLAINED.findall(text)} - known == set()


def test_named_rules_are_found_where_they_stand() -> None:
    assert _EXPLAINED.findall(dict(_helps())["gate --help"])
    assert _DOTTED.findall("see `py.no-such-rule`, `py.typed`, [a](exploit.md), py.x/y and ruff.py") == [
        "py.no-such-rule"
    ]


def test_the_table_of_behaviours_names_only_rules_that_exist() -> None:
    text = (REPOSITORY / "docs" / "behaviours.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in row.split("|")] for row in text.splitlines() if row.startswith("|")]
    assert "by the rule" in rows[0]
    cells = [row[rows[0].index("by the rule")] for row in rows if len(row) == len(rows[0])]
    named = {name.strip() for cell in cells for name in cell.split(",")} - {"by the rule", "---", ""}
    assert len(named) > 20
    assert named - IDS == set()
