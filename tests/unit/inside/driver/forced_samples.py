"""Guarded code: what it would do stands behind a condition that no probe meets. ``tool.act`` writes down what
it is given. The samples are data: forced_samples.toml.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

ADDRESS = "203.0.113.7:4444"
"""What every guarded sample must be seen to give to ``act``."""
_HEAD = "import hashlib, os, sys, time, datetime, socket, json, re, functools, argparse, enum, dataclasses\n"


@dataclass(frozen=True)
class Sample:
    """One module."""

    name: str
    source: str

    @property
    def line(self) -> int:
        """The number of the marked line."""
        return next(n for n, text in enumerate(self.source.split("\n"), 1) if "# HERE" in text)


def _read(kind: str) -> tuple[Sample, ...]:
    rows = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())[kind]
    return tuple(Sample(row["name"], f"{_HEAD}from tool import act\n{row['source']}") for row in rows)


GUARDED = _read("guarded")
HARMLESS = _read("harmless")
