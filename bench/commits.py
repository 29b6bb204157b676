"""Real merged commits through the dynamic part: behaviour findings on code that people trust. JSON on stdout.

``python -m bench.commits [--backend bubblewrap] [--commits 15] [--workers 2] REPOSITORY...``

Of each repository (a clone, bare or not) the latest commits with one parent that change Python code. Each is
planned, run at base and head and judged as `gate check` does, without the static and the second look.
Nothing of a commit runs outside the sandbox.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from gate import proc
from gate.change.git import open_range
from gate.model.rule import Severity
from gate.model.run import SandboxSpec
from gate.sandbox import canaries
from gate.sandbox.backends import BACKENDS
from gate.sandbox.execute import execute
from gate.sandbox.plan import make_plan
from gate.signals.interface import SignalContext
from gate.signals.run import signals
from gate.trace.diff import compare

BUDGET: Final = 180.0


def latest(repo: Path, count: int) -> list[str]:
    """Object names of the newest commits with one parent that touch a Python file."""
    words: list[str | Path] = ["git", "-C", repo, "log", "--no-merges", "--min-parents=1"]
    words += [f"-{count}", "--format=%H", "--", "*.py"]
    return proc.run(words, deadline=60).stdout.decode("ascii").split()


def judged(repo: Path, commit: str, backend: str) -> dict[str, Any]:
    """Behaviour findings of one commit, and whether everything could be looked at."""
    start = time.monotonic()
    with open_range(repo, f"{commit}~1", commit) as opened:
        plan = make_plan(opened.change, opened.base, opened.head, deadline=20, deep=False)
        planted = canaries.plant()
        spec = SandboxSpec(
            canaries=planted, files=canaries.as_files(planted), env=canaries.as_environment(planted)
        )
        with BACKENDS[backend]().open(spec, opened.base, opened.head) as session:
            runs = execute(session, plan, budget=BUDGET, workers=1)
            diff = compare(runs, planted)
        found = signals(SignalContext(change=opened.change, diff=diff, runs=runs))
    return {
        "commit": f"{repo.parent.name}@{commit[:10]}",
        "runs": len(runs),
        "faults": sorted({run.fault for run in runs if run.fault}),
        "findings": [
            [f.severity.value, f.rule_id, f.primary.path, str(f.evidence.get("subject", ""))[:120]]
            for f in found
        ],
        "seconds": round(time.monotonic() - start, 1),
    }


def main() -> int:
    """Run them all and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repositories", type=Path, nargs="+")
    parser.add_argument("--backend", default="bubblewrap", choices=sorted(BACKENDS))
    parser.add_argument("--commits", type=int, default=15, help="of each repository")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    todo = [(repo, commit) for repo in options.repositories for commit in latest(repo, options.commits)]
    with ThreadPoolExecutor(options.workers) as pool:
        done = list(pool.map(lambda pair: judged(pair[0], pair[1], options.backend), todo))
    counts = Counter(severity for each in done for severity, *_ in each["findings"])
    grave = [
        [each["commit"], *finding]
        for each in done
        for finding in each["findings"]
        if Severity(finding[0]).rank >= Severity.HIGH.rank
    ]
    figures = {
        "commits": len(done),
        "runs": sum(each["runs"] for each in done),
        "with_faults": [each["commit"] for each in done if each["faults"]],
        "findings_by_severity": dict(counts),
        "commits_with_high": len({commit for commit, *_ in grave}),
        "high": grave,
        "seconds": round(sum(each["seconds"] for each in done), 1),
        "each": done,
    }
    print(json.dumps(figures))
    return 1 if grave else 0


if __name__ == "__main__":
    sys.exit(main())
