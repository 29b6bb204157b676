"""The backends' self-test: real attempts to get out, made inside each sandbox, with the evidence."""

from __future__ import annotations

from pathlib import Path


def inside_folder() -> Path:
    """Where the programs lie that are sent into sandboxes."""
    return Path(__file__).resolve().parent / "inside"
