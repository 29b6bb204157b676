"""Modules that are imported while git is waited for."""

import importlib
import subprocess
import sys
import threading

import pytest

from gate import early_imports
from gate.early_imports import _names
from tests.paths import REPOSITORY as ROOT


def test_names_are_modules_that_a_check_imports() -> None:
    names = [*_names()]
    assert len(names) > 50
    program = f"import sys, gate.check; print(len([n for n in {names!r} if n not in sys.modules]))"
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert int(done.stdout) <= 2, "what only some checks need; more would be in vain"


def test_ends_after_the_module_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    first, go_on = threading.Event(), threading.Event()
    seen = []

    def slow(name: str) -> object:
        seen.append(name)
        first.set()
        assert go_on.wait(30)
        return importlib.import_module("gate")

    monkeypatch.setattr(early_imports, "import_module", slow)
    with early_imports.early_imports():
        assert first.wait(30)
        threading.Timer(0.2, go_on.set).start()
    assert len(seen) == 1


def test_what_goes_wrong_is_left_to_who_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(early_imports, "import_module", broken)
    with early_imports.early_imports():
        pass
    with pytest.raises(KeyError), early_imports.early_imports():
        raise KeyError
    assert "early-imports" not in {thread.name for thread in threading.enumerate()}
