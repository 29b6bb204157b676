"""What the GitHub Action costs, step by step: `act` runs the shipped workflows on a real commit. JSON.

``bench/action_steps.py REPO COMMIT [--warm 2] [--egress-allow PLACE ...]``

The commit becomes pull request 7 of a stand-in for GitHub. `gate.yml` looks at it once *cold* (nothing is
kept; the project's dependencies are installed, too) and then *warm*: after a push that adds a line to a file
of the change, with the tool cache, gate's own cache (docs/cache.md) and the engine's images as the job before
left them. `gate-publish.yml` tells what gate-check left. Prebuilt sandbox images are there by digest, as
after a pull, and the action's own packages come from a folder: what a network adds is not in here.

Seconds of a step are wall time as act says; ``verdict_after``: from the start of the job to the end of the
step that looks and tells. ``--logs``: a folder for what act said of each run. Exit 1 where a goal (GOALS)
is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gate import process
from tests.e2e.acting import Bench, Ran
from tests.e2e.pulls import git
from tests.e2e.runner import Runner, nothing_left, runner
from tests.forge.standin.server import StandIn, running
from tests.forge.standin.world import OWNER, Pull, World
from tests.paths import REPOSITORY

GOALS: Final = {"warm": 20.0, "cold": 60.0, "publish_install": 5.0}
"""The most there may be, seconds."""
_CACHED: Final = '        with:\n          cache: "true"\n'
_PINNED: Final = "uses: gate-ci/gate@" + "0" * 40 + " # the release you trust\n"


class RealChange(Bench):
    """A commit of a real project as the pull request."""

    def __init__(self, folder: Path, github: StandIn, place: Runner, source: Path, commit: str) -> None:
        folder.mkdir()
        words = ("git", "clone", "--quiet", "--no-checkout", source.resolve(), folder / "repo")
        if not process.run(words, deadline=300).ok:
            raise SystemExit(f"{source} cannot be cloned")
        repo = folder / "repo"
        git(repo, "remote", "remove", "origin")
        git(repo, "checkout", "-q", "-B", "main", f"{commit}^1")
        self._with_workflows(repo)
        git(repo, "checkout", "-q", "-B", "head")
        git(repo, "cherry-pick", "--allow-empty", "-Xtheirs", commit)
        self._enter(folder, github, place, repo)

    def push(self, number: int) -> None:
        """A further commit of the pull request: another line in a file of the change."""
        names = git(self.repo, "diff", "--name-only", "--diff-filter=M", "main...head").splitlines()
        shipped = [name for name in names if name.endswith(".py") and "test" not in name] or names
        with (self.repo / shipped[-1]).open("a") as file:
            file.write(f"# push {number}\n")
        git(self.repo, "commit", "-qam", f"Push {number}")
        self.head = git(self.repo, "rev-parse", "head")
        self.world.pulls[7].head_sha = self.head
        self.world.trees[self.head] = (git(self.repo, "rev-parse", "head^{tree}"), (self.base,))

    @staticmethod
    def _with_workflows(repo: Path) -> None:
        place = repo / ".github/workflows"
        place.mkdir(parents=True, exist_ok=True)
        for name in ("gate.yml", "gate-check.yml", "gate-publish.yml"):
            text = (REPOSITORY / "examples/workflows" / name).read_text()
            cached = text.replace(_PINNED, _PINNED + _CACHED) if name != "gate-publish.yml" else text
            (place / name).write_text(cached.replace(_CACHED + "        with:\n", _CACHED))
        git(repo, "add", "-A", "-f", ".github")
        git(repo, "commit", "-qm", "The gate's workflows")


def _steps(ran: Ran) -> dict[str, Any]:
    """Seconds by step, and from the job's start to the end of each."""
    steps: dict[str, float] = {}
    started, ended = "", {}
    for line in ran.log.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if not started and entry.get("time") and entry.get("jobID"):
            started = entry["time"]
        if entry.get("stepResult") and entry.get("step"):
            within = "/".join(entry.get("stepID", [""])[1:])
            name = f"{entry.get('stage', 'Main')} {entry['step'].partition('@')[0]} {within}".strip()
            steps[name] = round(entry.get("executionTime", 0) / 1e9, 2)
            ended[name] = _seconds(started, entry["time"])
    return {"steps": steps, "ended": ended, "code": ran.code, "verdict": ran.outputs.get("verdict")}


def _seconds(start: str, end: str) -> float:
    return round((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds(), 2)


def _verdict_after(told: dict[str, Any]) -> float:
    return max(
        (s for name, s in told["ended"].items() if name.endswith("gate-ci/gate gate")),
        default=0.0,
    )


def measure(
    source: Path, commit: str, settings: dict[str, str], warm: int, folder: Path, logs: Path | None
) -> dict[str, Any]:
    """All runs, as a table that JSON can hold."""
    world = World()
    world.pulls[7] = Pull(number=7)
    world.roles[OWNER] = "admin"
    world.job(issues="write", pull_requests="write", checks="write", contents="read", actions="read")
    made = runner()
    tools = folder / "tools"
    tools.mkdir()
    place = Runner(image=made.image, wheels=made.wheels, builders=made.builders, tools=tools)
    inside = "/opt/hostedtoolcache/gate-wheels"
    settings = settings | {"GATE_CACHE": f"{inside}/cache", "GATE_CACHE_KEY": secrets.token_hex(16)}
    if authorities := os.environ.get("SSL_CERT_FILE"):  # this machine's way to an index is the job's, too
        shutil.copy(authorities, tools / "authorities.pem")
        settings["SSL_CERT_FILE"] = f"{inside}/authorities.pem"
    found: dict[str, Any] = {"load_before": os.getloadavg(), "processors": os.cpu_count()}
    with nothing_left(), running(world) as github:
        bench = RealChange(folder / "bench", github, place, source, commit)
        for number in range(1 + warm):
            if number:
                bench.push(number)
            ran = bench.act("pull_request", "gate.yml", bench.payload(), settings=settings)
            told = _steps(ran)
            told["verdict_after"] = _verdict_after(told)
            if logs:
                (logs / f"{number}.json").write_text(ran.log)
            if told["verdict"] is None:
                sys.stderr.write(ran.log[-6_000:])
            found[f"warm {number}" if number else "cold"] = told
            print(json.dumps(told), file=sys.stderr, flush=True)
        found["publish"] = _published(bench, settings)
    found["kept_megabytes"] = round(sum(f.stat().st_size for f in tools.rglob("*") if f.is_file()) / 1e6, 1)
    return found


def _published(bench: RealChange, settings: dict[str, str]) -> dict[str, Any]:
    """The two halves of the fork-safe form: what the second took."""
    looked = bench.act("pull_request", "gate-check.yml", bench.payload(), "nothing", settings)
    if not (bench.artifacts / "gate-report").is_file():
        sys.stderr.write(looked.log[-8_000:])
        return {"steps": {}, "ended": {}, "code": looked.code, "verdict": None}
    run = {"id": bench.uploaded(), "event": "pull_request"}
    event = {"action": "completed", "workflow_run": run, **bench.place()}
    ran = bench.act("workflow_run", "gate-publish.yml", event, settings={})
    if ran.code:
        sys.stderr.write(ran.log[-6_000:])
    told = _steps(ran)
    return told | {"verdict_after": _verdict_after(told)}


def main(words: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repo", type=Path)
    parser.add_argument("commit")
    parser.add_argument("--warm", type=int, default=2)
    parser.add_argument("--egress-allow", action="append", default=[])
    parser.add_argument("--logs", type=Path)
    told = parser.parse_args(words)
    settings = {"GATE_SANDBOX_EGRESS_ALLOW": json.dumps(told.egress_allow)} if told.egress_allow else {}
    with tempfile.TemporaryDirectory(prefix="gate-bench-", dir=os.environ.get("GATE_BENCH_DIR")) as folder:
        found = measure(told.repo, told.commit, settings, told.warm, Path(folder), told.logs)
    print(json.dumps(found, indent=2))
    best = min((found[f"warm {n}"]["verdict_after"] for n in range(1, told.warm + 1)), default=0.0)
    return int(best > GOALS["warm"] or found["cold"]["verdict_after"] > GOALS["cold"])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
