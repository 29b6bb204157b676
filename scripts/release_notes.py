"""What changed in a version, out of CHANGELOG.md: ``scripts/release_notes.py VERSION``, on standard output.

Exit code 1 where the changelog says nothing of it: no version is published without.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

CHANGELOG: Final = Path(__file__).resolve().parents[1] / "CHANGELOG.md"


def notes(text: str, version: str) -> str:
    """The section ``## VERSION`` (a date may follow) without its heading; empty where there is none."""
    heading = rf"^## \[?{re.escape(version)}\]?(?: [^\n]*)?\n"
    found = re.search(heading + r"(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    return found[1].strip() if found else ""


def main(argv: list[str]) -> int:
    """Print them."""
    if len(argv) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    said = notes(CHANGELOG.read_text(encoding="utf-8"), argv[0])
    if not said:
        print(f"CHANGELOG.md has no section {argv[0]}: rename Unreleased, with the date", file=sys.stderr)
        return 1
    print(said)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
