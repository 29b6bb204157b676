"""A version's notes come out of the changelog, and none is published without."""

from __future__ import annotations

import sys

from gate import process
from tests.paths import REPOSITORY

SCRIPT = REPOSITORY / "scripts" / "release_notes.py"


def _notes(version: str) -> process.Done:
    return process.run([sys.executable, SCRIPT, version], deadline=30)


def test_a_section_is_found_and_a_missing_one_refused() -> None:
    assert _notes("Unreleased").stdout.startswith(b"Nothing is released yet")
    done = _notes("99.0.0")
    assert done.code == 1
    assert b"CHANGELOG.md has no section 99.0.0" in done.stderr


def test_only_its_own_section() -> None:
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("release_notes", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    text = "## Unreleased\n\n- x\n\n## 1.2.0 - 2026-12-01\n\n- a\n\n### Fixed\n- b\n\n## 1.1.0\n- c\n"
    assert module.notes(text, "1.2.0") == "- a\n\n### Fixed\n- b"
    assert module.notes(text, "1.1.0") == "- c"
    assert module.notes(text, "1.2") == ""
