"""The table of evasion attacks in docs/threat-model.md: every id is there, every test it names exists."""

from __future__ import annotations

import re

from tests.paths import REPOSITORY

PAGE = (REPOSITORY / "docs" / "threat-model.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ((?:EV|TR)-\d+) \|.*\| ([^|]*) \|$", PAGE, re.MULTILINE)


def test_every_attack_has_a_row() -> None:
    wanted = [f"EV-{n}" for n in range(1, 9)] + [f"TR-{n}" for n in range(1, 11)]
    assert [name for name, _ in ROWS] == wanted


def test_every_named_test_exists() -> None:
    """A file is named by its name, or by as much of its path as tells it from others of that name."""
    sources = {
        "/" + path.relative_to(REPOSITORY).as_posix(): path for path in REPOSITORY.glob("tests/**/*.py")
    }
    named = 0
    for _, cell in ROWS:
        source = ""
        for text in re.findall(r"`([^`]+)`", cell):
            path, _, test = text.partition("::")
            if path.endswith(".py"):
                matching = [name for name in sources if name.endswith("/" + path)]
                assert len(matching) == 1, f"{text}: {matching}"
                source = sources[matching[0]].read_text(encoding="utf-8")
            if test:
                named += 1
                assert "def " + test.removesuffix("*") in source, text
    assert named > 20
