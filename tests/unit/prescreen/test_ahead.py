"""What is imported ahead is what the scanners ask for."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import pytest

from gate.languages import warm_child
from gate.model.change import ChangedFile
from gate.prescreen import ahead
from tests.paths import REPOSITORY


def changed(path: str, language: str | None) -> ChangedFile:
    return ChangedFile(
        path=path,
        old_path=None,
        status="added",
        language=language,
        hunks=(),
        old_mode=None,
        new_mode="100644",
        old_blob=None,
        new_blob="0" * 40,
        binary=False,
        size=1,
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    told: list[Sequence[str]] = []
    monkeypatch.setattr(warm_child, "prepare", told.append)
    return told


def test_by_language(asked: list[Sequence[str]]) -> None:
    ahead.prepare([changed("a.py", "python"), changed("b.py", "python"), changed("README", None)])
    ahead.prepare([changed("README", None)])
    ahead.prepare([changed("a.js", "javascript"), changed("a.ts", "typescript")])
    ahead.prepare([])
    assert asked == [
        (*ahead.ALWAYS, *ahead.READERS["python"]),
        ahead.ALWAYS,
        (*ahead.ALWAYS, *ahead.READERS["javascript"]),
    ]


@pytest.mark.parametrize("module", sorted({*ahead.ALWAYS, *(m for ms in ahead.READERS.values() for m in ms)}))
def test_each_is_a_reader_that_is_asked_for(module: str) -> None:
    importlib.import_module(module)
    sources = (file.read_text() for file in (REPOSITORY / "gate").rglob("*.py"))
    assert any(f'"{module}:' in text for text in sources)
