"""Real merged commits through the whole of `gate check`, with its defaults. JSON on stdout.

``bench/real_commits.py FOLDER [--commits 200] [--done FILE] [--only NAME] [--load N] [--deadline 600]``

FOLDER holds clones of PROJECTS, bare or not (``owner+name/repo``, ``owner/name``, ``owner+name``,
``owner/name.git``, ``name`` or ``name.git``). Of the newest first-parent commits of each, a seeded sample is
judged, every commit against its first parent in a process of its own: a merge counts as the change that it
merged. ``--done`` names a file of JSON lines: what stands in it is not run again, what is run is added, so
that a long list can be done in parts. ``--load`` keeps that many busy processes beside it. ``--egress-allow``
is gate's own: for a machine on which the names of the package indexes lead to addresses that are not public.
Nothing of a commit runs outside the sandbox.

Exit 0 when every goal is met (GOALS), 1 when one is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gate import process
from gate.languages.path_roles import is_unshipped

PROJECTS: Final[dict[str, tuple[str, ...]]] = {
    "library": (
        "agronholm/anyio",
        "encode/httpx",
        "pallets/jinja",
        "pytest-dev/pluggy",
        "python-trio/trio",
        "scrapy/scrapy",
        "theskumar/python-dotenv",
        "tox-dev/tox",
    ),
    "application": (
        "CTFd/CTFd",  # Flask
        "Kozea/Radicale",  # WSGI
        "Netflix/dispatch",  # FastAPI
        "babybuddy/babybuddy",  # Django
        "beetbox/beets",  # command line
        "django/djangoproject.com",  # Django
        "healthchecks/healthchecks",  # Django
        "indico/indico",  # Flask
        "searxng/searxng",  # Flask
        "sissbruecker/linkding",  # Django
    ),
    "javascript": (
        "axios/axios",
        "colinhacks/zod",
        "honojs/hono",
        "koajs/koa",
        "open-cli-tools/concurrently",  # TypeScript
        "unjs/unstorage",  # TypeScript
        "yargs/yargs",
    ),
    "go": ("charmbracelet/bubbletea", "gin-gonic/gin", "go-chi/chi", "junegunn/fzf"),
}
"""Drawn from a longer list of each kind, fourteen with `random.Random(14)`, fifteen more with
`random.Random(1415)`; those whose clones lack their largest files were left out."""
SEED: Final = 14
NEWEST: Final = 300
"""First-parent commits of a project that the sample is drawn from."""
GOALS: Final = {"fail": 0.0, "inconclusive": 0.5, "warn": 3.0, "no verdict": 0.0}
"""Percent of the commits that may end so. ``no verdict``: an error of gate's, or past the deadline."""
RUN: Final = {
    "library": {"all": 95.0},
    "application": {"all": 90.0, "outside_tests": 85.0},
    "javascript": {"all": 75.0},
}
"""Least percent of the changed lines that run, of the languages that gate runs."""
_MAIN: Final = "import sys; from gate.cli import main; sys.exit(main(sys.argv[1:]))"
_SHOWN: Final = 12
"""Findings kept of a commit, worst first."""


def projects() -> tuple[str, ...]:
    """The projects of this bench."""
    return tuple(chain.from_iterable(PROJECTS.values()))


def repository(folder: Path, project: str) -> Path | None:
    """The clone of a project below ``folder``, None where it is not there."""
    owner, _, name = project.partition("/")
    places = (f"{owner}+{name}/repo", f"{owner}/{name}", f"{owner}+{name}", f"{owner}/{name}.git")
    for place in (*places, name, f"{name}.git"):
        path = folder / place
        if (path / "objects").is_dir() or (path / ".git").exists():
            return path
    return None


def sample(repo: Path, project: str, count: int) -> list[str]:
    """``count`` of the NEWEST first-parent commits (object names), drawn with SEED; the same ones each time.

    A larger count begins with the commits of a smaller one.
    """
    log = ("log", "--first-parent", "--min-parents=1", f"-{NEWEST}", "--format=%H")
    done = process.run(["git", "-C", repo, *log], deadline=60)
    commits = done.stdout.decode("ascii").split()
    random.Random(f"{SEED} {project}").shuffle(commits)  # noqa: S311 - a sample, no secret
    return commits[:count]


def judged(
    repo: Path,
    project: str,
    commit: str,
    deadline: float,
    *,
    allowed: Sequence[str] = (),
    reports: Path | None = None,
) -> dict[str, Any]:
    """`gate check` on one commit, in a process of its own: verdict, seconds, reasons, share of lines run.

    ``allowed``: places that installations may reach as well. ``reports``: a folder for the whole reports.
    """
    with tempfile.TemporaryDirectory(prefix="gate-bench-") as folder:
        file = Path(folder) / "report.json"
        words: list[str | Path] = ["check", "--repo", repo, "--base", f"{commit}^1", "--head", commit]
        words += ["--no-cache", *(f"--egress-allow={place}" for place in allowed)]
        done = process.run(
            [sys.executable, "-c", _MAIN, *words, "-q", "--json", file],
            deadline=deadline,
            env={"HOME": str(Path.home()), "TMPDIR": folder},
        )
        report: dict[str, Any] = {}
        with contextlib.suppress(OSError, ValueError):
            report = json.loads(file.read_text("utf-8"))
        if reports is not None and file.exists():
            reports.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, reports / f"{project.replace('/', '+')}-{commit[:12]}.json")
    told = done.stderr.decode("utf-8", "replace").strip().splitlines()
    verdict = "no verdict" if done.timed_out else report.get("verdict", "no verdict")
    return {
        "project": project,
        "commit": commit,
        "verdict": verdict,
        "exit": None if done.timed_out else done.code,
        "score": report.get("score"),
        "seconds": round(done.seconds, 1),
        "reasons": report.get("reasons", told[-2:]) if not done.timed_out else ["past the deadline"],
        "lines": lines_run(report),
        "parts": parts_run(report),
        "unrun": unrun(report),
        "findings": [
            [f.get("severity"), f.get("rule_id"), f"{f.get('path')}:{f.get('line')}", f.get("message")]
            for f in report.get("findings", [])[:_SHOWN]
        ],
        "blind": [s["reason"] for s in report.get("stages", []) if s["outcome"] in ("degraded", "failed")],
        "backend": (report.get("sandbox") or {}).get("backend"),
    }


def lines_run(report: dict[str, Any]) -> dict[str, int] | None:
    """Of the report's ``exercised``: how many changed lines ran, of how many. None where it has none."""
    told = report.get("exercised") or {}
    ran, lines = told.get("ran"), told.get("executable")
    return {"ran": ran, "lines": lines} if isinstance(ran, int) and isinstance(lines, int) else None


def parts_run(report: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Changed lines of the languages that gate runs, and how many ran: of all, and of those outside tests."""
    parts = {"all": {"ran": 0, "lines": 0}, "outside_tests": {"ran": 0, "lines": 0}}
    for file in (report.get("exercised") or {}).get("files", []):
        if any(each["reason"] == "language-not-run" for each in file["unrun"]):
            continue
        for name in ("all",) if is_unshipped(file["path"]) else ("all", "outside_tests"):
            parts[name]["ran"] += file["ran"]
            parts[name]["lines"] += file["executable"]
    return parts


def unrun(report: dict[str, Any]) -> list[Any]:
    """Of the report's ``exercised``, the files with lines that did not run."""
    told = report.get("exercised") or {}
    return [each for each in told.get("files", []) if each["ran"] != each["executable"]][:_SHOWN]


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """``count`` processes that do nothing but take processor time, until the block ends."""
    running = [subprocess.Popen([sys.executable, "-Ic", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def figures(done: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Verdicts, seconds and the share of changed lines that ran, of some judged commits."""
    verdicts = Counter(each["verdict"] for each in done)
    seconds = sorted(each["seconds"] for each in done)
    lines = [each["lines"] for each in done if each["lines"]]
    ran, total = sum(each["ran"] for each in lines), sum(each["lines"] for each in lines)
    return {
        "commits": len(done),
        "verdicts": dict(verdicts.most_common()),
        "seconds_median": statistics.median(seconds) if seconds else None,
        "seconds_p90": seconds[math.ceil(0.9 * len(seconds)) - 1] if seconds else None,
        "lines": total,
        "percent_of_lines_run": round(100 * ran / total, 1) if total else None,
        "percent_run": {name: percent(done, name) for name in ("all", "outside_tests")},
    }


def percent(done: Sequence[dict[str, Any]], part: str) -> float | None:
    """Of the changed lines of a part (`parts_run`), how many percent ran. None where there were none."""
    parts = [each["parts"][part] for each in done if each.get("parts")]
    lines = sum(each["lines"] for each in parts)
    return round(100 * sum(each["ran"] for each in parts) / lines, 1) if lines else None


def kinds(done: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The figures of each kind of project, and the mean over its projects of what ran."""
    told: dict[str, Any] = {}
    for kind, names in PROJECTS.items():
        there = [[each for each in done if each["project"] == name] for name in names]
        shares = [share for share in (percent(each, "all") for each in there) if share is not None]
        mean = round(statistics.fmean(shares), 1) if shares else None
        told[kind] = figures(list(chain.from_iterable(there))) | {"mean_over_projects": mean}
    return told


def missed(done: Sequence[dict[str, Any]]) -> list[str]:
    """Every goal that these commits miss, in words."""
    verdicts = Counter(each["verdict"] for each in done)
    shares = {verdict: 100 * verdicts[verdict] / max(1, len(done)) for verdict in GOALS}
    told = [f"{v}: {shares[v]:.1f} % (goal: {most:g} %)" for v, most in GOALS.items() if shares[v] > most]
    for kind, goals in RUN.items():
        there = [each for each in done if each["project"] in PROJECTS[kind]]
        for part, least in goals.items():
            share = percent(there, part)
            if share is not None and share < least:
                told.append(f"{kind}, lines run, {part.replace('_', ' ')}: {share} % (goal: {least:g} %)")
    return told if done else ["no commit was judged"]


def document(done: Sequence[dict[str, Any]], absent: Sequence[str], load: int) -> dict[str, Any]:
    """All figures as one JSON object."""
    names = sorted({each["project"] for each in done})
    return {
        "what": "gate check with defaults: merged commits of public projects, against their first parents",
        "load": load,
        "total": figures(done),
        "kinds": kinds(done),
        "projects": {name: figures([e for e in done if e["project"] == name]) for name in names},
        "not_there": list(absent),
        "goals_missed": missed(done),
        "not_passed": [each for each in done if each["verdict"] != "pass"],
    }


def _read(path: Path | None) -> list[dict[str, Any]]:
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _todo(folder: Path, names: Sequence[str], commits: int) -> tuple[list[tuple[str, Path, str]], list[str]]:
    """Project by project in turn, so that a part of the list is a fair part; and the projects not there."""
    repos = {name: repository(folder, name) for name in names}
    there = {name: repo for name, repo in repos.items() if repo is not None}
    each = math.ceil(commits / max(1, len(there)))
    rows = [[(name, repo, commit) for commit in sample(repo, name, each)] for name, repo in there.items()]
    turns = chain.from_iterable(zip_longest(*rows))
    return [row for row in turns if row is not None][:commits], [n for n in names if n not in there]


def main(argv: Sequence[str] | None = None) -> int:
    """Judge what is left to judge and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="where the clones are")
    parser.add_argument("--commits", type=int, default=200, help="in all (default: 200)")
    parser.add_argument("--only", action="append", metavar="OWNER/NAME", help="of this project only")
    parser.add_argument("--done", type=Path, metavar="FILE", help="JSON lines of commits already judged")
    parser.add_argument("--deadline", type=float, default=600.0, help="seconds for one commit (default: 600)")
    parser.add_argument(
        "--stop-after", type=float, default=math.inf, help="begin no commit past that, seconds"
    )
    parser.add_argument("--load", type=int, default=0, metavar="N", help="keep N busy processes beside it")
    parser.add_argument("--egress-allow", action="append", metavar="HOST", default=[], help="as gate's own")
    parser.add_argument("--reports", type=Path, metavar="FOLDER", help="keep the whole reports there")
    parser.add_argument("--list", action="store_true", help="print the projects and end")
    options = parser.parse_args(argv)
    names = tuple(options.only or projects())
    if options.list or options.folder is None:
        print("\n".join(names))
        return 0 if options.list else 2
    until = time.monotonic() + options.stop_after
    todo, absent = _todo(options.folder, names, options.commits)
    wanted = {(project, commit) for project, _, commit in todo}
    done = [each for each in _read(options.done) if (each["project"], each["commit"]) in wanted]
    known = {(each["project"], each["commit"]) for each in done}
    with busy(options.load):
        for project, repo, commit in todo:
            if (project, commit) in known or time.monotonic() > until:
                continue
            each = judged(
                repo, project, commit, options.deadline, allowed=options.egress_allow, reports=options.reports
            )
            print(
                f"{project} {commit[:10]} {each['verdict']} {each['seconds']} s", file=sys.stderr, flush=True
            )
            done.append(each)
            if options.done is not None:
                with options.done.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(each) + "\n")
    print(json.dumps(document(done, absent, options.load), indent=1))
    return 1 if missed(done) else 0


if __name__ == "__main__":
    sys.exit(main())
