"""What the cache saves: a change of ten modules looked at, told again, and after a push that changes one.

Prints one JSON object: for each the wall and processor seconds (of gate and all that it starts), how many
runs were made and how many told again. The goal: the same change again in 0.5 s. Ends in 1 when it is missed.
Usage: bench/kept_checks.py [BACKEND]
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gate import process
from tests.e2e.pulls import git

GOAL = 0.5
WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@shop.example")


def looked(repo: Path, home: Path, backend: str) -> dict[str, object]:
    """One whole `gate check`."""
    report = home / "report.json"
    words = ["check", "--repo", str(repo), "--base", "main", "--head", "head", "--backend", backend]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("GATE_", "XDG_"))}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = process.run(
        [Path(sys.executable).with_name("gate"), *words, "--quiet", "--json", report],
        deadline=600,
        env=env | {"HOME": str(home), "GATE_SANDBOX_SETUP": "none"},
    )
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.code not in (0, 1):
        raise SystemExit(done.stderr.decode(errors="replace"))
    runs = json.loads(report.read_text())["sandbox"]["runs"]
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    kept = sum(1 for run in runs if run["kept_at"])
    return {
        "wall": round(wall, 2),
        "processor": round(used, 2),
        "runs_made": len(runs) - kept,
        "runs_kept": kept,
    }


def push(repo: Path, **files: str) -> None:
    """One more commit that appends to these modules."""
    for name, text in files.items():
        with (repo / "shop" / f"{name}.py").open("a") as file:
            file.write(text)
    git(repo, "add", "-A")
    git(repo, *WHO, "commit", "-qm", "More")


def main() -> int:
    """Measure, print, and compare with the goal."""
    backend = sys.argv[1] if len(sys.argv) > 1 else "bubblewrap"
    with tempfile.TemporaryDirectory() as folder:
        repo, home = Path(folder) / "repo", Path(folder) / "home"
        (repo / "shop").mkdir(parents=True)
        home.mkdir()
        git(repo, "init", "-q", "-b", "main")
        modules = [f"m{number}" for number in range(10)]
        push(repo, __init__="", **dict.fromkeys(modules, "def price(n: int) -> int:\n    return n\n"))
        git(repo, "checkout", "-q", "-b", "head")
        push(repo, **dict.fromkeys(modules, "\n\ndef twice(n: int) -> int:\n    return 2 * n\n"))
        told: dict[str, dict[str, object]] = {}
        told["first"] = looked(repo, home, backend)
        told["again"] = looked(repo, home, backend)
        push(repo, m3="\nX = 1\n")
        told["after_a_push"] = looked(repo, home, backend)
    print(json.dumps({"backend": backend, "goal": GOAL, **told}, indent=2))
    return int(float(str(told["again"]["wall"])) > GOAL)


if __name__ == "__main__":
    raise SystemExit(main())
