"""Finds the files that travel with the program: `rules/` in a checkout, `gate/_rules` in a wheel."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def rules_dir() -> Path:
    """The folder that holds policy.toml, semgrep/ and the rest. Never a path of the tree under test."""
    package = Path(__file__).resolve().parent
    for candidate in (package / "_rules", package.parent / "rules"):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError("gate was installed without its rules folder; reinstall it")
