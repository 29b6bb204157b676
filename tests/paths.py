"""Where the tests find the repository and their own data, wherever a test file lies."""

from __future__ import annotations

from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).resolve().parent
"""The folder of all tests; data lies in folders of it."""
REPOSITORY: Final = TESTS.parent
"""The checkout: ``gate``, ``docs``, ``scripts``, ``pyproject.toml``."""
