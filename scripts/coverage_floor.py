"""Compares measured test coverage with a floor for each package; exit code 1 where one is below its floor.

Reads the files that `pytest -p tests.coverage_plugin` left. A package is a folder or a file directly below
``gate``. Its figure is the share of statements and branches that ran, in percent. The floors are
in a TOML table (`"gate/policy" = 100.0`). A package without a floor, and a floor without a package, are
errors, so that
a renamed package does not lose its floor unnoticed. ``--raise`` writes higher floors where they are exceeded.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import slipcover

REPOSITORY: Final = Path(__file__).resolve().parents[1]
FLOORS: Final = REPOSITORY / "tests" / "coverage_floor.toml"
HEAD: Final = """\
# The least test coverage of each package: percent of statements and branches together, measured by the
# tests that start no sandbox (`make test`). 100: every statement and every branch. All others: a percent
# below what was measured, rounded down. Only ever raised: `python scripts/coverage_floor.py --raise`.
"""
MARGIN: Final = 1.0
"""Percent points below the measured figure at which a floor is set: a little depends on the machine."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Counts of statements and branches of one package; ``missing``: where, as ``path:line[->line]``."""

    covered: int
    total: int
    missing: tuple[str, ...] = ()

    @property
    def percent(self) -> float:
        """0 to 100; 100 for a package without statements."""
        return 100.0 * self.covered / self.total if self.total else 100.0


_COUNTS: Final = ("covered_lines", "missing_lines", "covered_branches", "missing_branches")


def package_of(path: str) -> str:
    """``gate/policy/points.py`` -> ``gate/policy``; ``gate/cli.py`` -> ``gate/cli.py``."""
    return "/".join(Path(path).parts[:2])


def figures(files: Mapping[str, Any]) -> dict[str, Figure]:
    """Each package's figure, from ``files`` of SlipCover's JSON, by their paths."""
    sums: dict[str, Figure] = {}
    for path, file in sorted(files.items()):
        summary = file["summary"]
        before = sums.get(package_of(path), Figure(0, 0))
        lines = [f"{path}:{line}" for line in file["missing_lines"]]
        lines += [f"{path}:{start}->{end}" for start, end in file.get("missing_branches", ())]
        sums[package_of(path)] = Figure(
            before.covered + summary["covered_lines"] + summary.get("covered_branches", 0),
            before.total + sum(summary.get(name, 0) for name in _COUNTS),
            (*before.missing, *lines),
        )
    return sums


def shortfalls(measured: Mapping[str, Figure], floors: Mapping[str, float]) -> list[str]:
    """One line for each package below its floor, and for each that only one of the two knows."""
    out = []
    for package in sorted({*measured, *floors}):
        if package not in floors:
            out.append(f"{package}: no floor (it has {measured[package].percent:.1f} %)")
        elif package not in measured:
            out.append(f"{package}: has a floor and was not measured")
        elif measured[package].percent < floors[package]:
            figure = measured[package]
            shown = ", ".join(figure.missing[:10]) if floors[package] == 100.0 else ""
            out.append(f"{package}: {figure.percent:.1f} %, floor {floors[package]} % {shown}".rstrip())
    return out


def raised(measured: Mapping[str, Figure], floors: Mapping[str, float]) -> dict[str, float]:
    """Floors for what was measured: a margin below it, never below the floor that is there."""
    new = {}
    for package, figure in measured.items():
        reached = 100.0 if figure.percent == 100.0 else max(0.0, math.floor(figure.percent - MARGIN))
        new[package] = max(reached, floors.get(package, 0.0))
    return new


def measure(folder: Path) -> dict[str, Figure]:
    """Figures from the files in ``folder``; what no process imported counts as not run. Only that is compiled
    here: who imported a file knows all its lines.
    """
    told = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    known = {str(Path(path).resolve()) for one in told for path in one["files"]}
    source = [str(REPOSITORY / "gate")]
    everything = slipcover.Slipcover(branch=True, source=source, omit=sorted(known)).get_coverage()
    for one in told:
        slipcover.merge_coverage(everything, one)
    files = {
        str(Path(path).resolve().relative_to(REPOSITORY)): _without_declarations(Path(path), file)
        for path, file in everything["files"].items()
    }
    return figures(files)


def _without_declarations(path: Path, file: dict[str, Any]) -> dict[str, Any]:
    """A method of a protocol is no code: nothing runs the ``...`` that is its body."""
    lines = path.read_text(encoding="utf-8").splitlines()
    missing = [line for line in file["missing_lines"] if lines[line - 1].strip() != "..."]
    return {**file, "missing_lines": missing, "summary": {**file["summary"], "missing_lines": len(missing)}}


def main(argv: list[str]) -> int:
    """Compare, or raise the floors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raise", action="store_true", dest="higher", help="write the floors that now hold")
    parser.add_argument("--data", type=Path, default=REPOSITORY / ".coverage.d", help="the plugin's folder")
    parser.add_argument("--floors", type=Path, default=FLOORS)
    options = parser.parse_args(argv)
    if not any(options.data.glob("*.json")):
        print(f"coverage: nothing was measured: {options.data} has no file")
        return 1
    measured = measure(options.data)
    floors = tomllib.loads(options.floors.read_text(encoding="utf-8")) if options.floors.exists() else {}
    if options.higher:
        lines = [f'"{name}" = {floor}\n' for name, floor in sorted(raised(measured, floors).items())]
        options.floors.write_text(HEAD + "".join(lines), encoding="utf-8")
        return 0
    below = shortfalls(measured, floors)
    whole = Figure(sum(f.covered for f in measured.values()), sum(f.total for f in measured.values()))
    print(f"coverage: {whole.percent:.1f} % of statements and branches, {len(floors)} floors")
    print("".join(f"coverage: below its floor: {line}\n" for line in below), end="")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
