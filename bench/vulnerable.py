"""Changes with a hole and their secure twins, attacked in real sandboxes: per weakness proven, not, wrong.

    python bench/vulnerable.py [FILE.toml ...] [--only WEAKNESS] [--labelled mixed|small|fresh] [--seconds N]

Without files the pairs of tests/vulnerable; files of the same form add further corpora. ``proven`` of
``holes`` were shown by a request or a call; ``wrong`` is a proof where there is no new hole of that
weakness; ``not_run`` could not be attacked to the end, and says nothing. ``score`` is the share of the
holes proven less the share of the secure changes proven, as benchmarks of scanners count. Exit code 1 where
something is wrong or was not run.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.vulnerable.labelled import attacked
from tests.vulnerable.running import Result, cases, run_all, why_not


def main() -> int:
    """Attack every case, print JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--only", metavar="WEAKNESS")
    parser.add_argument("--labelled", choices=("mixed", "small", "fresh"), help="as bench/labelled.py")
    parser.add_argument("--seconds", type=float, help="begin no further case after so many")
    arguments = parser.parse_args()
    if reason := why_not():
        print(f"bench: {reason}", file=sys.stderr)
        return 1
    every = attacked(arguments.labelled) if arguments.labelled else cases(*arguments.files)
    wanted = [c for c in every if arguments.only in (None, c.weakness)]
    start = time.monotonic()
    found: list[Result] = []
    for result in run_all(wanted):
        found.append(result)
        print(f"bench: {result.case.id}: {_outcome(result)}", file=sys.stderr, flush=True)
        if arguments.seconds and time.monotonic() - start > arguments.seconds:
            break
    table = _table(found)
    print(
        json.dumps(
            {"cases": len(found), "of": len(wanted), "seconds": round(time.monotonic() - start, 1), **table},
            indent=1,
        )
    )
    return int(bool(table["all"]["wrong"] or table["all"]["not_run"]))


def _outcome(result: Result) -> str:
    """For people: what came of it, and of a hole that was not proven, what became of each target."""
    if result.attacks.problems:
        return f"not run: {'; '.join(result.attacks.problems)}"
    out = f"{result.case.right}, {result.verdict}"
    if result.case.right != "proven" and result.new:
        told = sorted(f"{p.weakness} {p.entry}" for p in result.attacks.proofs)
        return f"{out} [proven: {', '.join(told)}]"
    if result.case.right == "proven" and result.verdict == "not":
        aims = {f"{t.path}: {t.name}": "/".join(t.classes) for t in result.targets}
        why = [f"{name} ({aims.get(name, '?')}): {what}" for name, what in result.attacks.tried]
        out += f" [{', '.join(why) or 'no target'}; proven: {', '.join(sorted(result.new)) or 'nothing'}]"
    return out


def _table(found: list[Result]) -> dict[str, dict[str, float]]:
    counts: dict[str, dict[str, float]] = defaultdict(
        lambda: dict.fromkeys(("holes", "proven", "not", "secure", "wrong", "not_run"), 0)
    )
    for result in found:
        case = result.case
        for name in (case.weakness, "all"):
            row = counts[name]
            row["holes" if case.right == "proven" else "secure"] += 1
            if result.attacks.problems:
                row["not_run"] += 1
            elif case.right == "proven" or result.verdict == "wrong":
                row[result.verdict] += 1
    for row in counts.values():
        holes, secure = max(1.0, row["holes"]), max(1.0, row["secure"])
        row["score"] = round(row["proven"] / holes - row["wrong"] / secure, 3)
    return dict(sorted(counts.items()))


if __name__ == "__main__":
    sys.exit(main())
