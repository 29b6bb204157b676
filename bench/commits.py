"""Real merged commits through the dynamic part: behaviour findings on code that people trust. JSON on stdout.

``python -m bench.commits [--backend bubblewrap] [--commits 15] [--workers 2] [--done FILE] REPOSITORY...``

Of each repository (a clone, bare or not) the latest commits with one parent that change Python code. Each is
planned, run at base and head, looked at again under every other condition (as with ``--deep``) and
judged as `gate check` does, without the static look. ``--done`` names a file of JSON lines: what stands in
it is not run again, what is run is added, so that a long list can be done in parts. Nothing of a commit runs
outside the sandbox.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gate import process
from gate.change.git_range import open_range
from gate.model.rule import Severity
from gate.model.run import SandboxSpec
from gate.plan.build import make_plan
from gate.sandbox import canaries
from gate.sandbox.backends.registry import BACKENDS
from gate.stages.behaviour import LookRequest, compare_behaviour


def latest(repo: Path, count: int) -> list[str]:
    """Object names of the newest commits with one parent that touch a Python file."""
    words: list[str | Path] = ["git", "-C", repo, "log", "--no-merges", "--min-parents=1"]
    words += [f"-{count}", "--format=%H", "--", "*.py"]
    return process.run(words, deadline=60).stdout.decode("ascii").split()


def judged(repo: Path, commit: str, backend: str, budget: float) -> dict[str, Any]:
    """Behaviour findings of one commit, and whether everything could be looked at."""
    start = time.monotonic()
    with open_range(repo, f"{commit}~1", commit) as opened:
        plan = make_plan(opened.change, opened.base, opened.head, deadline=20, deep=False)
        planted = canaries.plant()
        spec = SandboxSpec(
            canaries=planted,
            files=canaries.as_files(planted),
            env=canaries.as_environment(planted),
            network="sinkhole",
        )
        with BACKENDS[backend]().open(spec, opened.base, opened.head) as session:
            looked = compare_behaviour(
                session,
                plan,
                opened.change,
                planted,
                request=LookRequest(
                    budget=budget,
                    deep=True,
                    suspects=set,
                    settled=lambda _: False,
                    note=lambda _: None,
                ),
            )
    runs, found = looked.runs, looked.findings
    return {
        "commit": _named(repo, commit),
        "runs": len(runs),
        "second_look": sum(bool(run.probe.condition) for run in runs),
        "holes": sum(not run.completeness.whole for run in runs),
        "faults": sorted({run.fault for run in runs if run.fault}),
        "findings": [
            [f.severity.value, f.rule_id, f.primary.path, str(f.evidence.get("subject", ""))[:120]]
            for f in found
        ],
        "seconds": round(time.monotonic() - start, 1),
    }


def _named(repo: Path, commit: str) -> str:
    return f"{repo.parent.name}@{commit[:10]}"


def _read(path: Path | None) -> list[dict[str, Any]]:
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> int:
    """Run them all and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repositories", type=Path, nargs="+")
    parser.add_argument("--backend", default="bubblewrap", choices=sorted(BACKENDS))
    parser.add_argument("--commits", type=int, default=15, help="of each repository")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--budget", type=float, default=180.0, help="seconds for one commit")
    parser.add_argument("--done", type=Path, help="JSON lines of commits already run; new ones are added")
    options = parser.parse_args()
    done = _read(options.done)
    known = {each["commit"] for each in done}
    todo = [(repo, commit) for repo in options.repositories for commit in latest(repo, options.commits)]
    todo = [(repo, commit) for repo, commit in todo if _named(repo, commit) not in known]
    with ThreadPoolExecutor(options.workers) as pool:
        for each in pool.map(lambda pair: judged(pair[0], pair[1], options.backend, options.budget), todo):
            done.append(each)
            if options.done is not None:
                with options.done.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(each) + "\n")
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
        "second_look": sum(each["second_look"] for each in done),
        "with_holes": [each["commit"] for each in done if each["holes"]],
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
