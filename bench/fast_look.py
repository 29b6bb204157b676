"""`gate check --fast` on one small changed Python file behind bubblewrap, beside the full look.

Prints one JSON object: wall seconds (median of RUNS, and all of them) of a whole process each, of the same
look in a process that is warm (a server's), of the interpreter alone and with gate's imports. The goal is 1 s
beyond the interpreter's start; ends in 1 when it is missed. Usage: bench/fast_look.py [RUNS]
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gate import api, process
from tests.e2e.pulls import Pull, build

GOAL = 1.0
PULL = Pull(
    name="one-small-file",
    verdicts=("warn",),
    head={
        "src/pricing/tax.py": (
            '"""Value added tax by country."""\n\n'
            'RATES = {"DE": 0.19, "FR": 0.20, "NL": 0.21, "BE": 0.21}\n\n\n'
            "def with_tax(net: float, country: str) -> float:\n"
            '    """Net plus tax; unknown countries pay none."""\n'
            "    return net * (1 + RATES.get(country, 0.0))\n"
        )
    },
)


def python(*words: str | Path) -> None:
    """One process, to its end. Raises SystemExit with what it said."""
    done = process.run([sys.executable, *words], deadline=300, env={"HOME": str(Path.home())})
    if done.code:
        raise SystemExit(done.stderr.decode(errors="replace"))


def timed(work: Callable[[], object], runs: int) -> dict[str, object]:
    """Wall seconds of each run, one more before them that does not count."""
    took = []
    for _ in range(runs + 1):
        start = time.monotonic()
        work()
        took.append(round(time.monotonic() - start, 2))
    return {"median": statistics.median(took[1:]), "all": took[1:]}


def main() -> int:
    """Measure, print, and compare with the goal."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        repo = build(PULL, Path(folder))
        which = ("--repo", repo, "--base", "main", "--head", "head")
        words = ("-m", "gate.cli", "check", *which, "-q", "--no-cache")
        fast, bubblewrap = {"sandbox.fast": True, "cache.enabled": False}, ("--backend", "bubblewrap")
        found: dict[str, object] = {
            "processors": len(os.sched_getaffinity(0)),
            "load": round(os.getloadavg()[0], 1),
            "interpreter": timed(lambda: python("-c", "pass"), runs),
            "imports": timed(lambda: python("-c", "import gate.check, gate.sandbox.session"), runs),
            "fast": timed(lambda: python(*words, "--fast"), runs),
            "fast, warm process": timed(lambda: api.check(repo, "main", "head", fast), runs),
            "static only, warm process": timed(
                lambda: api.check(repo, "main", "head", fast | {"sandbox.enabled": False}), runs
            ),
            "full": timed(lambda: python(*words, *bubblewrap), runs),
        }
    beyond = _median(found, "fast") - _median(found, "interpreter")
    print(json.dumps(found | {"beyond the interpreter": round(beyond, 2), "goal": GOAL}, indent=2))
    return int(beyond > GOAL)


def _median(found: dict[str, object], name: str) -> float:
    value = found[name]
    return float(value["median"]) if isinstance(value, dict) else 0.0


if __name__ == "__main__":
    sys.exit(main())
