"""Finds the files that travel with the program: its rules, and the programs that run inside sandboxes."""

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


def examples_dir() -> Path:
    """The folder of example workflows, which `gate init` copies."""
    package = Path(__file__).resolve().parent
    found = package / "_examples"
    return found if found.is_dir() else package.parent / "examples"


def inside_dir() -> Path:
    """The programs that run inside or beside a sandbox: one folder each, standard library only."""
    return Path(__file__).resolve().parent / "inside"
