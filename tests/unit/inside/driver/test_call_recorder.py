"""Calls that can act are told one by one: a line that ran in part made none of those in its other part."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from gate.languages.sensitive_calls.parse import read_one
from gate.model.sensitive import SensitiveCall, SensitiveKind
from gate.plan.coverage import unreached
from tests.unit.inside.driver.harness import imported, lay_tree
from tests.unit.plan.planned import planned
from tests.unit.plan.test_coverage import record

KNOWN = sys.version_info >= (3, 11)
pytestmark = pytest.mark.skipif(not KNOWN, reason="instructions tell no columns before Python 3.11")

HIDDEN = [
    "def f(): os.environ.get('LIVE') and os.system('true')",
    "def f(): return len([lambda: os.system('true')])",
    "def f(): return os.system('true') if os.environ.get('LIVE') else 0",
    "if os.environ.get('LIVE'): os.system('true')",
    "def f():\n    if os.environ.get('LIVE'): os.system('true')",
    "def f(): return [os.system('true') for name in () if name]",
    "def f():\n    def inner(): os.system('true')\n    return 1",
    "def f(): os.system(os.environ['LIVE'])",
    "def f(): int('x'); os.system('true')",
    "def f(): return 1 > 2 > os.system('true')",
    "def f(): os.system('true') if 0 else os.system(\n    [][1])",
]


def told(folder: Path, source: str) -> list[tuple[str, str]]:
    text = "import os\n" + source + "\n"
    tree = lay_tree(folder / "t", {"shop/__init__.py": "", "shop/cart.py": text})
    calls = [c for c in read_one("shop/cart.py", text.encode(), {}).calls if c.kind is SensitiveKind.PROCESS]
    seen = imported(
        tree, "shop.cart", ["f"] if "def f" in source else [], lines={"shop/cart.py": [[1, 20]]},
        acts={"shop/cart.py": [[*call.place, call.way] for call in calls]},
    )  # fmt: skip
    acts = {"shop/cart.py": tuple((call.first, call.last, call.kind.text) for call in calls)}
    entries = unreached([record(seen.report)], acts, asked={"shop/cart.py": calls})
    return [(entry.target, entry.reason) for entry in entries if "can " in entry.reason]


@pytest.mark.parametrize("source", HIDDEN)
@pytest.mark.slow
def test_a_part_that_did_not_run_is_told(tmp_path: Path, source: str) -> None:
    line = 2 + source[: source.index("os.system")].count("\n")
    assert told(tmp_path, source) == [(f"line {line}", "can start a process, and no probe reached it")]


@pytest.mark.parametrize(
    "source",
    [
        "def f(): os.environ.get('LIVE') or os.system('true')",
        "def f(): return (lambda: os.system('true'))()",
        "def f(): return [os.system(name) for name in ('true',)]",
        "def f():\n    os.system(\n        'true'\n    )",
        "def f(): os.system(*['true'])",
        "def f(): os.system(**{'command': 'true'})",
        "os.popen('true').read().strip()",
        "def f():\n    with os.popen('true') as out: out.read()",
    ],
)
def test_calls_that_were_made_are_not(tmp_path: Path, source: str) -> None:
    assert told(tmp_path, source) == []


def test_the_plan_says_where_they_stand(tmp_path: Path) -> None:
    head = {"shop/__init__.py": "", "shop/cart.py": "import os\nif len('x') > 3: os.system('true')\n"}
    plan = planned(tmp_path, head)
    jobs: list[Any] = [probe.argv[-1] for probe in plan.probes if probe.phase == "import"]
    assert any('"acts": {"shop/cart.py": [[2, 17, 2, 34, "call"]]}' in job for job in jobs)


def test_where_calls_are_not_counted_lines_have_to_do() -> None:
    acts = {"a.py": ((1, 2, "start a process"), (4, 4, "start a process"))}
    report = {"items": [{"path": "a.py", "lines": {"a.py": [2]}}]}
    assert [entry.target for entry in unreached([record(report)], acts)] == ["line 4"]
    report = {"items": [{"path": "a.py", "lines": {"a.py": [1, 2, 4]}, "acted": {"a.py": [1]}}]}
    asked = {
        "a.py": [SensitiveCall(first=n, last=n, kind=SensitiveKind.PROCESS, call="os.system") for n in (1, 4)]
    }
    assert [entry.target for entry in unreached([record(report)], acts, asked=asked)] == ["line 1"]
