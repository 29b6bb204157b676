"""Semgrep through its own command line: the fallback when the engine cannot be called directly."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gate import process
from gate.errors import InconclusiveError

if TYPE_CHECKING:
    from gate.prescreen.scanners.semgrep import Matches, ScanTarget


def by_front(targets: Sequence[ScanTarget], rules: Path, scratch: Path, deadline: float) -> Matches:
    """``semgrep scan`` over the same neutral files. Slower by seconds; ``paths:`` filters are not applied.

    Raises InconclusiveError when Semgrep is missing or ends in any other way than "scanned".
    """
    from gate.prescreen.scanners.semgrep import PER_RULE, Match, Matches

    home = scratch / "home"
    home.mkdir(exist_ok=True, mode=0o700)
    files = sorted({str(t.file) for t in targets})
    beside = Path(sys.executable).with_name("semgrep")
    program = str(beside) if beside.exists() else "semgrep"
    quiet = ("--metrics=off", "--disable-version-check", "--quiet", "--no-rewrite-rule-ids")
    everything = ["--disable-nosem", "--no-git-ignore", "--scan-unknown-extensions"]
    everything += ["--max-target-bytes", "0", "--x-ignore-semgrepignore-files"]
    limits = ("--timeout", str(max(1, round(PER_RULE))), "--timeout-threshold", "1")
    done = process.run(
        [program, "scan", "--json", "--config", rules, *quiet, *everything, *limits, *files],
        deadline=deadline,
        cwd=scratch,
        env={"HOME": str(home), "SEMGREP_SEND_METRICS": "off", "SEMGREP_ENABLE_VERSION_CHECK": "0"},
        cap=256 << 20,
    )
    try:
        answer = json.loads(done.stdout)
        scanned = set(answer["paths"]["scanned"])
        if done.code not in (0, 1):
            raise ValueError(done.code)
    except (ValueError, KeyError, TypeError) as error:
        why = "took longer than its deadline" if done.timed_out else f"ended with {done.code}"
        raise InconclusiveError(f"semgrep scan {why}", advice="`gate doctor` tries it alone.") from error
    gave_up = {file: "Semgrep did not scan it" for file in files if file not in scanned}
    for row in answer["errors"]:
        if row.get("path") in files and "Timeout" in str(row.get("type")):
            gave_up[row["path"]] = "Semgrep gave up (Timeout)"
    matches = tuple(
        Match(
            rule=row["check_id"],
            file=row["path"],
            first=row["start"]["line"],
            last=max(row["start"]["line"], row["end"]["line"]),
            ignored=False,
        )
        for row in answer["results"]
    )
    return Matches(matches=matches, gave_up=gave_up)
