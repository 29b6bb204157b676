"""The table of evasion attacks in docs/threat-model.md: every id is there, every test it names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ((?:EV|TR)-\d+) \|.*\| ([^|]*) \|$", PAGE, re.MULTILINE)


def test_every_attack_has_a_row() -> None:
    wanted = [f"EV-{n}" for n in range(1, 9)] + [f"TR-{n}" for n in range(1, 11)]
    assert [name for name, _ in ROWS] == wanted


def test_every_named_test_exists() -> None:
    sources = {path.name: path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/*.py")}
    named = 0
    for _, cell in ROWS:
        file = ""
        for text in re.findall(r"`([^`]+)`", cell):
            path, _, test = text.partition("::")
            file = path.rpartition("/")[2] or file if path.endswith(".py") else file
            if path.endswith(".py"):
                assert file in sources, text
            if test:
                named += 1
                start = "def " + test.removesuffix("*")
                assert start in sources[file], text
    assert named > 20
