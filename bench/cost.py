"""What a check of one real commit costs, in the same run beside what it is measured with. JSON on stdout.

``bench/cost.py REPO COMMIT [--runs 3] [--egress-allow PLACE ...]``

- ``cold`` the first check (dependencies may have to be installed), ``warm`` the same with them there,
  ``again`` the same once more with what is kept, ``push`` one more commit on top that changes one of its
  files by a line
- ``tools`` `semgrep scan` with our rules and `bandit`, one after the other, over the whole tree of head
- ``tests`` what the project's own affected tests took at base and head together, under the observer

Seconds of wall time and of processor time (of gate and what it starts; what a container engine runs is the
engine's). REPO is a clone of which nothing is checked out; nothing of the commit runs outside the sandbox.
Exit 0 when the goals are met (GOALS), 1 when one is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.prescreen import bandit_alone, semgrep_alone
from gate import process

GOALS: Final = {"again_seconds": 0.5, "warm_beyond_tests": 4.0, "warm_to_tools": 1.0}
"""The most there may be: seconds, seconds, and times as long."""
_MAIN: Final = "import sys; from gate.cli import main; sys.exit(main(sys.argv[1:]))"
_RULES: Final = Path(__file__).resolve().parent.parent / "rules" / "semgrep"
_NAMES: Final = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")


class Bench:
    """One repository, with a place for what is kept between checks."""

    def __init__(self, repo: Path, allowed: Sequence[str], folder: Path) -> None:
        self.folder = folder
        self.repo = folder / "clone.git"  # one commit is added to it
        words = ("git", "clone", "--quiet", "--bare", "--shared", repo.resolve(), self.repo)
        if not process.run(words, deadline=300).ok:
            raise SystemExit(f"{repo} cannot be cloned")
        self.allowed = [f"--egress-allow={place}" for place in allowed]

    def check(self, base: str, head: str, *, keeps: bool) -> dict[str, Any]:
        """One whole check in a process of its own. Raises SystemExit where it gives no report."""
        file = self.folder / "report.json"
        file.unlink(missing_ok=True)
        words: list[str | Path] = ["check", "--repo", self.repo, "--base", base, "--head", head, "-q"]
        words += ["--json", file, *self.allowed, *([] if keeps else ["--no-cache"])]
        home = {
            "HOME": str(Path.home()),
            "XDG_CACHE_HOME": str(self.folder),
            "XDG_STATE_HOME": str(self.folder),
        }
        before, start = _processor(), time.monotonic()
        done = process.run([sys.executable, "-c", _MAIN, *words], deadline=1800, env=home)
        seconds, used = time.monotonic() - start, _processor() - before
        if not file.exists():
            raise SystemExit(done.stderr.decode(errors="replace"))
        report = json.loads(file.read_text("utf-8"))
        runs = report["sandbox"]["runs"]
        told = report.get("exercised") or {}
        return {
            "seconds": round(seconds, 2),
            "processor": round(used, 2),
            "verdict": report["verdict"],
            "lines": [told.get("ran"), told.get("executable")],
            "stages": {s["name"]: round(s["seconds"], 2) for s in report["stages"] if ":" not in s["name"]},
            "runs": dict(Counter(f"{run['phase']} at {run['side']}" for run in runs)),
            "tests": round(sum(run["seconds"] for run in runs if run["phase"] == "test"), 2),
        }

    def git(self, *words: str | Path, stdin: bytes = b"") -> bytes:
        """What git says. Raises SystemExit."""
        done = process.run(["git", "-C", self.repo, *_NAMES, *words], deadline=120, stdin=stdin)
        if not done.ok:
            raise SystemExit(done.stderr.decode(errors="replace"))
        return done.stdout

    def pushed(self, commit: str) -> str | None:
        """A commit on top that changes one Python file of the commit by a line; None where there is none."""
        names = (
            self.git("diff", "--name-only", "--diff-filter=AM", f"{commit}^1", commit).decode().split("\n")
        )
        path = next((name for name in names if name.endswith(".py")), None)
        if path is None:
            return None
        blob = self.git(
            "hash-object", "-w", "--stdin", stdin=self.git("show", f"{commit}:{path}") + b"\n# .\n"
        )
        index = {"GIT_INDEX_FILE": str(self.folder / "index"), "HOME": str(Path.home())}
        entry = f"100644,{blob.decode().strip()},{path}"
        for words in (["read-tree", commit], ["update-index", "--cacheinfo", entry]):
            process.run(["git", "-C", self.repo, *words], deadline=120, env=index)
        tree = (
            process.run(["git", "-C", self.repo, "write-tree"], deadline=120, env=index)
            .stdout.decode()
            .strip()
        )
        return self.git("commit-tree", tree, "-p", commit, "-m", "One line").decode().strip()

    def tools(self, commit: str) -> float:
        """Seconds of `semgrep scan` and `bandit` over the tree: files as data, neither runs any of it."""
        with tempfile.TemporaryDirectory() as place:
            packed = Path(place, "tree.tar")
            packed.write_bytes(self.git("archive", commit))
            with tarfile.open(packed) as archive:
                archive.extractall(Path(place, "tree"), filter="data")
            return semgrep_alone(Path(place, "tree"), _RULES)[1] + bandit_alone(Path(place, "tree"))[1]


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def missed(found: dict[str, Any]) -> list[str]:
    """Every goal that is missed, in words."""
    warm, tests, tools = found["warm_seconds"], found["tests_seconds"], found["tools_seconds"]
    measured = {
        "again_seconds": found["again"]["seconds"],
        "warm_beyond_tests": warm - tests,
        "warm_to_tools": warm / tools,
    }
    return [
        f"{name}: {measured[name]:.2f} (goal: {most:g})"
        for name, most in GOALS.items()
        if measured[name] > most
    ]


def main() -> int:
    """Measure, print, and compare with the goals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repo", type=Path)
    parser.add_argument("commit")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--egress-allow", action="append", default=[])
    arguments = parser.parse_args()
    commit = arguments.commit
    with tempfile.TemporaryDirectory(prefix="gate-bench-") as folder:
        bench = Bench(arguments.repo, arguments.egress_allow, Path(folder))
        cold = bench.check(f"{commit}^1", commit, keeps=False)
        warm = [bench.check(f"{commit}^1", commit, keeps=False) for _ in range(arguments.runs)]
        bench.check(f"{commit}^1", commit, keeps=True)
        again = bench.check(f"{commit}^1", commit, keeps=True)
        further = bench.pushed(commit)
        push = bench.check(f"{commit}^1", further, keeps=True) if further else None
        tools = [bench.tools(commit) for _ in range(arguments.runs)]
    found = {
        "what": "one real commit: gate check, semgrep scan + bandit, the project's affected tests",
        "commit": commit,
        "gate": process.run(["git", "-C", Path(__file__).parent, "rev-parse", "HEAD"], deadline=10)
        .stdout.decode()
        .strip(),
        "processors": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 1),
        "warm_seconds": statistics.median(one["seconds"] for one in warm),
        "tools_seconds": round(statistics.median(tools), 2),
        "tests_seconds": statistics.median(one["tests"] for one in warm),
        "cold": cold,
        "warm": warm,
        "again": again,
        "push": push,
    }
    print(json.dumps(found | {"missed": missed(found)}, indent=2))
    return int(bool(missed(found)))


if __name__ == "__main__":
    sys.exit(main())
