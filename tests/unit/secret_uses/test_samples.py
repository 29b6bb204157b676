"""The samples of the scanner's tests, read in this process, where coverage sees the readers."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from gate.secret_uses.facts import FileUses
from gate.secret_uses.reader import packed, read
from tests.unit.prescreen.scanners import (
    test_secret_uses,
    test_secret_uses_forms,
    test_secret_uses_languages,
    test_secret_uses_unnamed,
)

_LANGUAGES = {**test_secret_uses_languages.HOSTILE, **test_secret_uses_languages.ORDINARY}
_PROGRAMS: dict[str, dict[str, str]] = {
    **{name: dict([one]) for name, one in {**_LANGUAGES, **test_secret_uses_forms.FORMS}.items()},
    **{f"python: {name}": {"a.py": text} for name, (text, _) in test_secret_uses.HOSTILE_PY.items()},
    **{f"unnamed: {name}": dict(head) for name, (_, head) in test_secret_uses_unnamed.HOSTILE.items()},
    **{f"ordinary: {name}": dict(head) for name, head in test_secret_uses_unnamed.ORDINARY.items()},
}


@pytest.fixture(autouse=True, scope="module")
def deep() -> Iterator[None]:
    """As the reader sets it, so that Hypothesis finds it unchanged."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


def uses(path: str, text: str, **options: object) -> FileUses:
    python = [path] if path.endswith(".py") else []
    return read(path, text.encode(), {"python": python, **options})


@pytest.mark.parametrize("name", _PROGRAMS)
def test_each_file_is_read_and_its_outlines_are_understood_elsewhere(name: str) -> None:
    for path, text in _PROGRAMS[name].items():
        alone = uses(path, text)
        assert not alone.unreadable
        again = uses(path, text, elsewhere=packed(alone.outlines))
        assert {use.secret for use in alone.uses} <= {use.secret for use in again.uses}


@pytest.mark.parametrize("name", test_secret_uses_languages.HOSTILE)
def test_a_hostile_sample_has_a_use(name: str) -> None:
    path, text = test_secret_uses_languages.HOSTILE[name]
    assert uses(path, text).uses
