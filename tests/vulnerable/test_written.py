"""A test that `--write-tests` makes of a real proof fails on the hole and passes on its secure twin."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.report.exploit_tests import written_tests
from tests.vulnerable import running
from tests.vulnerable.labelled import attacked

pytestmark = [pytest.mark.backend, pytest.mark.slow, pytest.mark.sandboxed]
PAIRS = ("order-report", "greeting-card", "not-found-page", "attachment-by-header", "bearer-claims")
"""Of tests/vulnerable/fresh, Flask's: what this environment has."""


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    if running.why_not():
        pytest.skip(running.why_not())
    with running.frameworks() as tar:
        yield tar


def outcome(folder: Path, files: dict[str, str], name: str, text: str) -> int:
    """How pytest ends on these files with that test beside them."""
    folder.mkdir()
    for path, content in {**files, name: text}.items():
        (folder / path).write_text(content)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), name]
    return subprocess.run(words, cwd=folder, capture_output=True, check=False, timeout=120).returncode


@pytest.mark.parametrize("pair", PAIRS)
def test_a_written_test_fails_on_the_hole_and_passes_on_its_twin(
    pair: str, installed: Path, tmp_path: Path
) -> None:
    hole, secure = [case for case in attacked("fresh") if case.name.startswith(pair)]
    result = running.run(hole, tmp_path, installed)
    proofs = tuple(p for p in result.attacks.proofs if p.weakness in hole.also)
    written = list(written_tests(proofs))
    assert written, result.attacks
    for number, (name, text) in enumerate(written):
        assert outcome(tmp_path / f"hole{number}", hole.head, name, text) == 1
        assert outcome(tmp_path / f"fixed{number}", secure.head, name, text) == 0
