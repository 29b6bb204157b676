"""Guards are called alike at base and at head, by the driver itself; the host compares what they answered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gate.change.git_range import open_range
from gate.model.change import Side
from gate.model.guard_calls import OpenedGuard
from gate.model.run import Probe, RunRecord
from gate.plan.probes import job_of
from gate.stages.guards import GuardLook, guards_of
from tests.e2e.pulls import Pull, build
from tests.unit.inside.driver.harness import drive, lay_tree
from tests.unit.signals.context import run
from tests.unit.stages.guard_samples import CLEAN, HITS, PLAIN, Sources


class Session:
    """Runs the driver on the trees of both sides. The code is ours and harmless."""

    def __init__(self, trees: dict[Side, Path]) -> None:
        self.trees = trees
        self.runs = 0

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        self.runs += 1
        driven = drive(self.trees[side], job_of(probe), environment=probe.env)
        assert driven.done, driven.stderr
        return replace(run("call"), probe=probe, side=side, driver_report=driven.report)

    def expect(self, runs: int) -> None:
        """Nothing is started ahead."""

    def abort(self) -> None:
        """Nothing runs long."""


def look(tmp_path: Path, sources: tuple[Sources, Sources]) -> tuple[tuple[OpenedGuard, ...], Session]:
    base = {"app/__init__.py": "", **sources[0]}
    head = {**base, **sources[1]}
    trees: dict[Side, Path] = {
        "base": lay_tree(tmp_path / "base", base),
        "head": lay_tree(tmp_path / "head", head),
    }
    session = Session(trees)
    repo = build(Pull(name="x", base=dict(base), head=dict(head), verdicts=()), tmp_path)
    with open_range(repo, "main", "head") as opened:
        looking = GuardLook(
            session=session,
            targets=guards_of(opened.change, opened.base, opened.head),
            change=opened.change,
            base=opened.base,
            head=opened.head,
            pace=1.0,
            note=lambda _: None,
        )
        return looking.look(), session


def told(
    names: list[str], samples: dict[str, tuple[Sources, Sources]], tmp_path: Path
) -> dict[str, list[bool]]:
    """Several samples in one tree, each in a package of its own; by name, which guards are told and how."""
    base: Sources = {}
    head: Sources = {}
    for number, name in enumerate(names):
        for sources, into in zip(samples[name], (base, head), strict=True):
            into |= {
                path.replace("app/", f"p{number}/"): text.replace("app.", f"p{number}.")
                for path, text in sources.items()
            }
        base[f"p{number}/__init__.py"] = ""
    found, _ = look(tmp_path, (base, head))
    return {
        name: [one.plain for one in found if one.target.path.startswith(f"p{number}/")]
        for number, name in enumerate(names)
    }


def groups(samples: dict[str, tuple[Sources, Sources]]) -> list[list[str]]:
    names = sorted(samples)
    return [names[n : n + 6] for n in range(0, len(names), 6)]


@pytest.mark.parametrize("names", groups(HITS), ids=" ".join)
def test_accepts_what_base_refuses(names: list[str], tmp_path: Path) -> None:
    found = told(names, HITS, tmp_path)
    assert [name for name in names if not found[name]] == [], "not told"
    assert [name for name in names if all(found[name])] == [], "told as if it were wider in so many words"


@pytest.mark.parametrize("names", groups(PLAIN), ids=" ".join)
def test_what_is_wider_in_so_many_words_weighs_less(names: list[str], tmp_path: Path) -> None:
    found = told(names, PLAIN, tmp_path)
    assert [name for name in names if not found[name]] == [], "not told"
    assert [name for name in names if not all(found[name])] == [], "more than a wider set"


@pytest.mark.parametrize("names", groups(CLEAN), ids=" ".join)
def test_lets_nobody_in(names: list[str], tmp_path: Path) -> None:
    assert told(names, CLEAN, tmp_path) == {name: [] for name in names}


def test_nothing_is_run_where_no_guard_is_reached(tmp_path: Path) -> None:
    before = "def total(rows):\n    return sum(rows)\n"
    sources = {"app/sums.py": before}, {"app/sums.py": before.replace("rows)\n", "rows) + 0\n")}
    found, session = look(tmp_path, sources)
    assert (found, session.runs) == ((), 0)
