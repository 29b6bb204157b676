"""Pairs of holes and twins in JavaScript, attacked in a sandbox: proven, not, wrong. JSON on stdout.

``bench/javascript_pairs.py [FILE ...] [--only NAME]``

FILE: pairs as in ``tests/vulnerable/javascript/*.toml`` (all of them by default): ``base``, then ``hole`` or
``twin`` on top of it, and the packages that both need, which the npm client installs. Bubblewrap, the
simulated network. Exit 0 when nothing is proven of a twin, of whatever weakness.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.javascript_attacks import attacked, proven
from tests.paths import TESTS

PAIRS: Final = TESTS / "vulnerable" / "javascript"


def outcome(case: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """One side of a pair, attacked: what was proven, in how many seconds."""
    common = any("require(" in text for side in ("base", kind) for text in case.get(side, {}).values())
    module = {"name": "shop", "private": True, "type": "commonjs" if common else "module"}
    base = {"package.json": json.dumps(module), **case.get("base", {})}
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="gate-pairs-") as folder:
        found = proven(attacked(Path(folder), base, case[kind], *case["packages"].split(), seconds=30))
    told = any(weakness == case["weakness"] for weakness, _ in found)
    verdict = ("proven" if told else "not") if kind == "hole" else ("wrong" if found else "right")
    return {
        "name": f"{case['name']}.{kind}",
        "weakness": case["weakness"],
        "verdict": verdict,
        "told": sorted(map(list, found)),
        "seconds": round(time.monotonic() - began, 1),
    }


def _sides(files: list[Path], only: str) -> Iterator[tuple[dict[str, Any], str]]:
    for file in files:
        for case in tomllib.loads(file.read_text("utf-8"))["case"]:
            if only in ("", case["name"]):
                yield from ((case, kind) for kind in ("hole", "twin") if kind in case)


def main() -> int:
    """Attack every pair and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE")
    parser.add_argument("--only", default="", metavar="NAME", help="the pair of this name alone")
    options = parser.parse_args()
    done = []
    for case, kind in _sides(options.files or sorted(PAIRS.glob("*.toml")), options.only):
        done.append(outcome(case, kind))
        print(done[-1]["name"], done[-1]["verdict"], done[-1]["seconds"], file=sys.stderr, flush=True)
    kinds = ("proven", "not", "right", "wrong")
    count = {kind: sum(one["verdict"] == kind for one in done) for kind in kinds}
    print(json.dumps({"figures": count, "cases": done}, indent=1))
    return 1 if count["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
