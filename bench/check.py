"""Whole `gate check` on a range of three small changed Python files, with warm images.

Prints one JSON object: wall seconds (median of runs), each stage's seconds, the ratio of the whole to the
slowest single stage, peak memory of gate's own process, and `gate --help`. Usage: bench/check.py [RUNS]
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gate import process
from tests.e2e.pulls import Pull, build

PULL = Pull(
    name="three-small-files",
    verdicts=("pass",),
    head={
        "src/pricing/tax.py": (
            '"""Value added tax by country."""\n\n'
            'RATES = {"DE": 0.19, "FR": 0.20, "NL": 0.21, "BE": 0.21}\n\n\n'
            "def with_tax(net: float, country: str) -> float:\n"
            '    """Net plus tax; unknown countries pay none."""\n'
            "    return net * (1 + RATES.get(country, 0.0))\n"
        ),
        "src/pricing/discount.py": (
            '"""Volume discounts."""\n\nimport os\n\n\n'
            "def discount(count: int, price: float) -> float:\n"
            '    """Ten per cent off from ten pieces on."""\n'
            '    return price * 0.9 if count >= int(os.environ.get("VOLUME", "10")) else price\n'
        ),
        "tests/test_discount.py": (
            "from pricing.discount import discount\n\n\n"
            "def test_discount() -> None:\n    assert discount(10, 1.0) == 0.9\n"
        ),
    },
)

# The child reports its own peak memory: getrusage(RUSAGE_SELF) without its children, in KiB.
CHILD = (
    "import resource, sys; from gate.cli import main; code = main(sys.argv[1:]);"
    "print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
)


def run_once(repo: Path, file: Path) -> dict[str, object]:
    """One whole check in a process of its own."""
    start = time.monotonic()
    done = process.run(
        [sys.executable, "-c", CHILD, "check", "--repo", repo, "--base", "main", "--head", "head", "-q",
         "--no-cache", "--json", file],
        deadline=300,
        env={"HOME": str(Path.home())},
    )  # fmt: skip
    seconds = time.monotonic() - start
    if done.code:
        raise SystemExit(done.stderr.decode(errors="replace"))
    code, peak = done.stdout.split()
    report = json.loads(file.read_text())
    stages = {stage["name"]: stage["seconds"] for stage in report["stages"]}
    return {
        "seconds": seconds,
        "verdict": report["verdict"],
        "exit": int(code),
        "peak_mib": int(peak) / 1024,
        "stages": stages,
        "runs": len(report["sandbox"]["runs"]),
        "backend": report["sandbox"]["backend"],
        "ratio_to_slowest_stage": seconds / max(stages.values()),
    }


def help_seconds() -> float:
    """`gate --help`, median of five."""
    times = []
    for _ in range(5):
        start = time.monotonic()
        process.run([Path(sys.executable).parent / "gate", "--help"], deadline=20)
        times.append(time.monotonic() - start)
    return statistics.median(times)


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        repo = build(PULL, Path(folder))
        run_once(repo, Path(folder) / "warm.json")
        runs = [run_once(repo, Path(folder) / "r.json") for _ in range(count)]
    print(
        json.dumps(
            {
                "what": "gate check, three small changed Python files, warm",
                "runs": count,
                "median_seconds": statistics.median(r["seconds"] for r in runs),  # type: ignore[type-var]
                "median_ratio_to_slowest_stage": statistics.median(
                    r["ratio_to_slowest_stage"]
                    for r in runs  # type: ignore[type-var]
                ),
                "peak_mib": max(r["peak_mib"] for r in runs),  # type: ignore[type-var]
                "help_seconds": help_seconds(),
                "each": runs,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
