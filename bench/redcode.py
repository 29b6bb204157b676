"""Programs that do something risky: how many show the named behaviour as a finding? JSON on stdout.

``python -m bench.redcode [--backend bubblewrap] [--workers 2] [--kind py-7] [--gate-run N] DATA.jsonl``

Each program becomes a file of its own and is planned, run and judged like `gate run FILE` does, without the
static look and without the second look (both could only add). ``--gate-run N`` runs every Nth program
through the real command, too, and counts where it says less. Programs run only inside the sandbox.

What counts is written down in NAMED: a finding of one of these rules. A program that does two things (reads a
file and sends it) must show both, unless it ended by itself in between because the file was not there.
A network tool that is started (curl), or looked for where the sandbox lacks it (nc), shows the network.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from gate import process
from gate.change.files import open_paths
from gate.model.run import RunRecord, SandboxSpec
from gate.plan.build import make_plan
from gate.sandbox import canaries
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.decoy_files import decoy_home_files
from gate.sandbox.execution import execute
from gate.signals.interface import SignalContext
from gate.signals.run import signals
from gate.tracing.diff import compare

Shown = tuple[str, str, str]
"""Of one finding: rule id, severity, everything its evidence says. ``ended`` stands for a missing file."""
ENDED: Final[Shown] = ("ended", "none", "the program ended because a file was not there or not readable")
TOOLS: Final = re.compile(r'"subject": "(?:curl|wget|nc|ncat|socat|ssh|scp|ftp)\b')

READS: Final = frozenset(
    ("system-file-read", "credential-file-read", "canary-read", "sandbox-probe", "env-harvest")
)
NETWORK: Final = frozenset(("new-outbound-connection", "name-lookup", "metadata-service", "http-request"))
LATER: Final = frozenset(("persistence-path",))
NAMED: Final[dict[str, tuple[frozenset[str], ...]]] = {
    "1": (READS, NETWORK),  # reads a file and posts it
    "3": (NETWORK,),  # fetches a page
    "7": (READS,),  # reads a file of the system
    "9": (LATER,),  # appends to a shell start-up file
    "13": (READS,),  # reads through ..
    "21": (NETWORK,),  # sends datagrams
}
"""By kind (the number in the id): for each thing the program does, the rules that tell it."""


def judged(program: dict[str, str], backend: str) -> list[Shown]:
    """The behaviour findings of one program."""
    with tempfile.TemporaryDirectory(prefix="gate-redcode-") as folder:
        file = written(program, Path(folder))
        with open_paths([file]) as opened:
            plan = make_plan(opened.change, opened.base, opened.head, deadline=20, deep=False)
            planted = canaries.plant()
            spec = SandboxSpec(
                canaries=planted,
                files=decoy_home_files() | canaries.as_files(planted),
                env=canaries.as_environment(planted),
            )
            with BACKENDS[backend]().open(spec, opened.base, opened.head) as session:
                runs = execute(session, plan, budget=120, workers=1)
                diff = compare(runs, planted)
            faults = [run.fault for run in runs if run.fault]
            if faults:
                raise SystemExit(f"{program['id']}: {faults[0]}")
            found = signals(SignalContext(change=opened.change, diff=diff, runs=runs))
    ended = any("[Errno 2]" in text or "[Errno 13]" in text for text in map(reported, runs))
    return [
        *((f.rule_id, f.severity.value, json.dumps(dict(f.evidence))) for f in found),
        *([ENDED] if ended else []),
    ]


def reported(run: RunRecord) -> str:
    """What the driver said of how the program ended."""
    return json.dumps(run.driver_report.get("items"))


def commanded(program: dict[str, str], backend: str) -> list[Shown]:
    """The same by `gate run`."""
    with tempfile.TemporaryDirectory(prefix="gate-redcode-") as folder:
        file, report = written(program, Path(folder)), Path(folder) / "report.json"
        words: list[str | Path] = [
            sys.executable,
            "-m",
            "gate.cli",
            "run",
            "-q",
            "--backend",
            backend,
            "--json",
            report,
            file,
        ]
        done = process.run(words, deadline=300, env={"HOME": str(Path.home())})
        if not report.is_file():
            raise SystemExit(done.stderr.decode(errors="replace"))
        findings = json.loads(report.read_text())["findings"]
    return [
        (f["rule_id"], f["severity"], json.dumps(f["evidence"]))
        for f in findings
        if f["stage"] == "behaviour"
    ]


def written(program: dict[str, str], folder: Path) -> Path:
    """The program as a file."""
    file = folder / ("program.py" if program["language"] == "python" else "program.sh")
    file.write_text(program["code"], encoding="utf-8")
    return file


def missing(program: dict[str, str], shown: Sequence[Shown]) -> list[str]:
    """What the program does that no finding names."""
    kind = program["id"].split("-")[1].split("_")[0]
    first, *then = ["/".join(sorted(wanted)) for wanted in NAMED[kind] if not tells(shown, wanted)] or [""]
    if ENDED in shown and len(NAMED[kind]) > 1 and tells(shown, NAMED[kind][0]):
        return []
    return [first, *then] if first else []


def tells(shown: Sequence[Shown], wanted: frozenset[str]) -> bool:
    """True when one of the rules is among the findings, or a network tool stands for the network."""
    tool = wanted is NETWORK and any(
        rule == "program-spawned" and TOOLS.search(said) for rule, _, said in shown
    )
    return tool or any(rule in wanted for rule, _, _ in shown)


def main() -> int:
    """Run them all and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, nargs="?", default=Path("../shared/data/risky/redcode.jsonl"))
    parser.add_argument("--backend", default="bubblewrap", choices=sorted(BACKENDS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kind", default="", help="only ids that begin so (py-7)")
    parser.add_argument("--step", type=int, default=1, help="only every Nth program")
    parser.add_argument("--gate-run", type=int, default=0, metavar="N", help="every Nth by the command, too")
    parser.add_argument("--dump", type=Path, help="write every program's findings here, one JSON line each")
    options = parser.parse_args()
    programs = [json.loads(line) for line in options.data.read_text(encoding="utf-8").splitlines()]
    programs = [p for p in programs if p["id"].startswith(options.kind)][:: options.step]
    start = time.monotonic()
    with ThreadPoolExecutor(options.workers) as pool:
        shown = list(pool.map(lambda p: judged(p, options.backend), programs))
    seconds = time.monotonic() - start
    if options.dump:
        lines = [json.dumps({"id": p["id"], "found": f}) for p, f in zip(programs, shown, strict=True)]
        options.dump.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(json.dumps(figures(programs, shown, seconds) | compared(programs, shown, options, commanded)))
    return 0


def figures(programs: list[dict[str, str]], shown: list[list[Shown]], seconds: float) -> dict[str, Any]:
    """Shares by kind, and the ids that show less than they do."""
    total: Counter[str] = Counter()
    good: Counter[str] = Counter()
    lacking = {}
    for program, found in zip(programs, shown, strict=True):
        kind = program["id"].split("_")[0]
        total[kind] += 1
        lost = missing(program, found)
        good[kind] += not lost
        if lost:
            lacking[program["id"]] = lost
    return {
        "programs": len(programs),
        "shown": sum(good.values()),
        "share": round(sum(good.values()) / max(1, len(programs)), 3),
        "by_kind": {kind: f"{good[kind]}/{total[kind]}" for kind in total},
        "ended_before_sending": sum(ENDED in found for found in shown),
        "lacking": lacking,
        "seconds": round(seconds, 1),
    }


def compared(
    programs: list[dict[str, str]],
    shown: list[list[Shown]],
    options: argparse.Namespace,
    command: Callable[[dict[str, str], str], list[Shown]],
) -> dict[str, Any]:
    """Where the command shows less than the bench did; nothing without --gate-run."""
    if not options.gate_run:
        return {}
    chosen = list(zip(programs, shown, strict=True))[:: options.gate_run]
    less = {}
    for program, found in chosen:
        lost = (
            {rule for rule, _, _ in found}
            - {ENDED[0]}
            - {rule for rule, _, _ in command(program, options.backend)}
        )
        if lost:
            less[program["id"]] = sorted(lost)
    return {"gate_run": len(chosen), "gate_run_says_less": less}


if __name__ == "__main__":
    sys.exit(main())
