"""What would be told of real merged commits if nothing of them could be run. JSON on stdout.

``python -m bench.unrun [--commits 12] REPOSITORY...``

Of each repository (a clone, bare or not) the latest commits of its main line. Each is only read, on both
sides, as `gate check` reads it; nothing runs. So the figures are an upper bound of *unrun-sensitive* and
*unrun-unreadable*: of what runs, nothing is told.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from gate import process
from gate.change.git_range import open_range
from gate.errors import InconclusiveError, UsageError
from gate.model.run import ExecutionPlan
from gate.plan.source_readings import read_change
from gate.policy.unrun import unrun_findings
from gate.stages.exercised import exercised


def latest(repo: Path, count: int) -> list[str]:
    """Object names of the newest commits of the main line."""
    words: list[str | Path] = ["git", "-C", repo, "log", "--first-parent", "--min-parents=1"]
    return process.run([*words, f"-{count}", "--format=%H"], deadline=60).stdout.decode("ascii").split()


def told(repo: Path, commit: str) -> dict[str, Any]:
    """What of one commit is sensitive and new, or cannot be read."""
    start = time.monotonic()
    with open_range(repo, f"{commit}~1", commit) as opened:
        readings = read_change(opened.change.files, opened.base, opened.head)
        found = exercised(opened.change.files, readings, ExecutionPlan(probes=()), None)
    calls = [(file.path, call) for file in found.files for call in file.calls]
    return {
        "commit": commit,
        "lines": found.executable,
        "findings": len(unrun_findings(found)),
        "product": [f"{path}:{call.first} {call.kind.value}" for path, call in calls if not call.in_tests],
        "tests": [f"{path}:{call.first} {call.kind.value}" for path, call in calls if call.in_tests],
        "unreadable": [f"{file.path}: {file.unreadable}" for file in found.files if file.unreadable],
        "seconds": round(time.monotonic() - start, 2),
    }


def main() -> int:
    """Print one JSON object: the totals, and every commit that has something to be told."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=12)
    parser.add_argument("repositories", type=Path, nargs="+")
    args = parser.parse_args()
    totals: Counter[str] = Counter()
    shown = []
    for repo in args.repositories:
        for commit in latest(repo, args.commits):
            try:
                one = told(repo, commit)
            except (InconclusiveError, UsageError):
                totals["not read"] += 1  # a clone without all its objects
                continue
            totals["commits"] += 1
            totals.update(key for key in ("product", "tests", "unreadable") if one[key])
            totals["any"] += bool(one["findings"])
            if one["findings"]:
                shown.append(
                    {"repository": repo.parent.name if repo.name in (".git", "repo") else repo.name, **one}
                )
    json.dump({"totals": dict(totals), "commits": shown}, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
