"""A forced call of a method of a stand-in: the project's own class that has the method plays the object."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.inside.driver.harness import drive

REPORT = """
import os
OUT = {out!r}

class Reporter:
    def __init__(self, name, retries=2):
        self.name = name
        self.retries = retries

    def report(self, title, **fields):
        with open(OUT, "a") as file:
            file.write(repr((title, self.retries)) + "\\n")

    async def push(self, title):
        self.report(title)

    class Inner:
        def report(self, title, **fields):
            with open(OUT, "a") as file:
                file.write("inner " + title + "\\n")
"""
LATE = """
import signal

def install(reporter):
    def on_signal(number, frame):
        reporter.report("stalled", signal=number)
    signal.signal(signal.SIGUSR1, on_signal)

class Watch:
    def __init__(self, pool):
        self.pool = pool

    async def run(self):
        while self.pool.open == "never":
            await self.pool.metrics.push("hourly")

class Own:
    def report(self, title):
        return title

def mine():
    Own().report("own")
"""


@pytest.mark.parametrize(
    ("line", "receivers", "done"),
    [
        (6, {"report": [["report", "Reporter"]]}, "('stalled', 2)"),
        (15, {"push": [["report", "Reporter"]]}, "('hourly', 2)"),
        (
            6,
            {"report": [["gone", "Reporter"], ["report", "None"], ["report", "Reporter.Inner"]]},
            "inner stalled",
        ),
        (6, {}, ""),
        (6, {"push": [["report", "Reporter"]]}, ""),
        (22, {"report": [["report", "Reporter"]]}, ""),
    ],
)
def test_the_object_is_played(line: int, receivers: dict[str, Any], done: str, tmp_path: Path) -> None:
    out, tree = tmp_path / "out", tmp_path / "tree"
    tree.mkdir()
    (tree / "report.py").write_text(REPORT.format(out=str(out)))
    (tree / "late.py").write_text(LATE)
    item = {"do": "force", "path": "late.py", "module": "late", "targets": [[line]], "receivers": receivers}
    driven = drive(tree, {"items": [{**item, "seed": 0}], "nap": 0.05, "grace": 0.1, "seconds": 50})
    (told,) = driven.report["items"]
    assert told["forced"][0][1].startswith("reached")
    assert (out.read_text().splitlines()[:1] if out.exists() else []) == ([done] if done else [])
