"""What one call may use up: memory beyond its share fails inside the call, and the probe goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from gate.model.run import Outcome
from tests.contract.capabilities import capability
from tests.integration.launching import why_no_bwrap
from tests.integration.test_reach import look, reach

pytestmark = pytest.mark.skipif(bool(why_no_bwrap()), reason=why_no_bwrap() or "bubblewrap works")

GREEDY = (
    "def a_row():\n    return [bytes(8 << 20) for _ in range(200)]\n\n\n"
    "def b_block():\n    return bytearray(b'x') * (2 << 30)\n\n\n"
    f"def c_after():\n    {reach(3)}\n"
)


@pytest.mark.parametrize("backend", ["bubblewrap", pytest.param("docker", marks=pytest.mark.engine)])
def test_a_greedy_call_ends_by_itself(tmp_path: Path, backend: str) -> None:
    if not (found := capability(backend)).available:
        pytest.skip(found.reason)
    seen = look(tmp_path, {"src/pricing/tax.py": GREEDY}, backend=backend)
    calls = [run for run in seen.runs if run.probe.phase == "call" and run.side == "head"]
    assert [(run.outcome, run.completed) for run in calls] == [(Outcome.COMPLETED, True)]
    (item,) = cast("list[dict[str, Any]]", calls[0].driver_report["items"])
    told = dict(item["calls"])
    assert (told["a_row"], told["b_block"], told["c_after"]) == ("MemoryError", "MemoryError", "returned")
    assert [b.subject for b in seen.diff.new] == ["203.0.113.3:4444"]


def test_a_greedy_import_still_hits_the_limit(tmp_path: Path) -> None:
    seen = look(tmp_path, {"src/pricing/tax.py": "HELD = [b'x' * (8 << 20) for _ in range(200)]\n"})
    ended = {run.outcome for run in seen.runs if run.probe.phase == "import" and run.side == "head"}
    assert ended == {Outcome.OUT_OF_MEMORY}


def test_a_slow_installation_gets_more_time(tmp_path: Path) -> None:
    slow = (
        "import sys, time\nend = time.monotonic() + 4\n"
        "while '--version' in sys.argv and time.monotonic() < end:\n    pass\n"
    )
    pull = {"setup.py": f"{slow}{reach(4)}\n"}
    seen = look(tmp_path, pull, {"setup.py": "X = 1\n"}, deadline=6)
    heads = {run.repeat: run for run in seen.runs if run.probe.phase == "install" and run.side == "head"}
    assert (heads[9].outcome, heads[9].stopped != "") == (Outcome.TIMED_OUT, True)
    assert heads[0].outcome is Outcome.COMPLETED
    assert [b.subject for b in seen.diff.new] == ["203.0.113.4:4444"]
