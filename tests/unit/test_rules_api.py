"""What the declaration of a rule makes, and which folders of rules are refused."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from gate.model.rule import Confidence, FindingStage, Severity
from gate.rules_api import Rule, RuleKind

KIND = RuleKind[str, int](FindingStage.PRESCREEN, languages=("python",))
BY_CHECK = RuleKind[str, int](FindingStage.BEHAVIOUR, page="check")
_NUMBERS = itertools.count()
_FILE = '''"""Page of {id}."""
from tests.unit.test_rules_api import {kind}

@{kind}("{id}", "T", severity="low", confidence="high", topic="t", why="W.", fix="F.")
def check(text):
    """What the check does."""
    yield len(text), check.meta.id
'''


@BY_CHECK(
    "a-rule",
    "A rule",
    severity="critical",
    confidence="low",
    topic="exec",
    cwe=(78,),
    attack=("T1059",),
    why="Why.",
    fix="Fix.",
    languages=("shell",),
    weakness=False,
)
def counted(text: str) -> Iterator[int]:
    """The page.

    With a second paragraph.
    """
    yield len(text) + len(counted.meta.id)


Folder = Callable[..., str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """Makes a package of these files and gives its name."""

    def make(**files: str) -> str:
        package = tmp_path / f"rules_made_{next(_NUMBERS)}"
        package.mkdir()
        for name, text in {"__init__": "", **files}.items():
            (package / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        importlib.invalidate_caches()
        return package.name

    return make


def test_a_declared_rule_says_all_it_was_given() -> None:
    meta = counted.meta
    assert (meta.id, meta.title, meta.stage) == ("a-rule", "A rule", FindingStage.BEHAVIOUR)
    assert (meta.severity, meta.confidence) == (Severity.CRITICAL, Confidence.LOW)
    assert (meta.help, meta.remediation, meta.topic) == ("Why.", "Fix.", "exec")
    assert (meta.cwe, meta.attack, meta.languages) == ((78,), ("T1059",), ("shell",))
    assert counted.page == "The page.\n\nWith a second paragraph."
    assert not counted.weakness
    assert list(counted.check("four")) == [10]


def test_a_rule_is_a_value() -> None:
    assert hash(counted) == hash(Rule(counted.meta, counted.check, counted.page, weakness=False))
    with pytest.raises(FrozenInstanceError):
        counted.page = ""  # type: ignore[misc]


def test_a_folder_gives_its_rules_by_id_with_the_pages_of_their_modules(folder: Folder) -> None:
    name = folder(one=_FILE.format(id="z-last", kind="KIND"), two=_FILE.format(id="a-first", kind="KIND"))
    first, last = KIND.in_folder(name)
    assert (first.meta.id, last.meta.id) == ("a-first", "z-last")
    assert first.page == "Page of a-first."
    assert first.meta.languages == ("python",)
    assert first.weakness
    assert list(last.check("abc")) == [(3, "z-last")]


def test_a_rule_that_a_file_only_imports_is_not_its_own(folder: Folder) -> None:
    borrowed = "from tests.unit.test_rules_api import counted\n"
    name = folder(one=_FILE.format(id="own", kind="KIND") + borrowed)
    assert [rule.meta.id for rule in KIND.in_folder(name)] == ["own"]
    with pytest.raises(TypeError, match="only"):
        KIND.in_folder(folder(only=borrowed))


def test_two_rules_of_one_id_are_refused(folder: Folder) -> None:
    twin = _FILE.format(id="twin", kind="KIND")
    with pytest.raises(ValueError, match="two prescreen rules are called twin"):
        KIND.in_folder(folder(one=twin, two=twin))


@pytest.mark.parametrize(
    "text",
    [
        '"""No rule."""\n',
        _FILE.format(id="other-stage", kind="BY_CHECK"),
        _FILE.format(id="one", kind="KIND") + _FILE.format(id="two", kind="KIND").replace("check", "again"),
    ],
    ids=["none", "another stage", "two"],
)
def test_a_file_that_does_not_declare_one_rule_of_its_kind_is_refused(folder: Folder, text: str) -> None:
    with pytest.raises(TypeError, match="does not declare one prescreen rule"):
        KIND.in_folder(folder(odd=text))


def test_a_word_that_is_no_level_is_refused() -> None:
    with pytest.raises(ValueError, match="grave"):
        KIND.meta("x", "X", severity="grave", confidence="low", topic="t", why="W.", fix="F.")  # type: ignore[typeddict-item]
