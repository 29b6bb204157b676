"""Modules that are imported when something of them is first used."""

import subprocess
import sys

import pytest

from gate.late import late_module
from tests.paths import REPOSITORY as ROOT

UNUSED = ("asyncio", "importlib.metadata", "packaging.pylock", "packaging.dependency_groups", "yaml", "git")
"""What a check of a small change has no use for."""


def said(program: str) -> str:
    """What it prints, or why it ended."""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60)
    return done.stdout.strip() or done.stderr


def test_is_imported_at_first_use() -> None:
    program = (
        "import sys; from gate.late import late_module; m = late_module('colorsys'); "
        "print('colorsys' in sys.modules, m.rgb_to_hsv(0, 0, 0), 'colorsys' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "False (0.0, 0.0, 0) True", done.stderr


def test_what_is_not_there_is_told_as_usual() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        late_module("no_such_module_at_all").anything  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(AttributeError):
        late_module("math").no_such_name  # type: ignore[attr-defined] # noqa: B018


def test_a_check_imports_nothing_that_it_has_no_use_for() -> None:
    program = (
        "import sys, gate.check, gate.sandbox.backends.bubblewrap.backend; "
        f"print([name for name in {UNUSED!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]", done.stderr
