"""Recorded real traces (bubblewrap, Python 3.11) and what they come to, line by line.

Record anew after a change of the trace's vocabulary; look at every changed line of behaviours.json.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from gate.tracing.behaviour.reduction import behaviours
from tests.paths import TESTS
from tests.unit.signals.context import run

FOLDER = TESTS / "golden" / "traces"
EXPECTED = json.loads((FOLDER / "behaviours.json").read_text())


@pytest.mark.parametrize("name", sorted(p.name.removesuffix(".jsonl.gz") for p in FOLDER.glob("*.jsonl.gz")))
def test_recorded(name: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_bytes(gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes()))
    seen = [
        f"{b.kind.value} {b.subject} by {b.actor} x{b.count}" for b in behaviours(run("script", trace=trace))
    ]
    assert seen == EXPECTED[name]
