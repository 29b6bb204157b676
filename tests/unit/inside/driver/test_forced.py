"""Forced execution in the driver: what stands behind a condition is reached and told from made-up values."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.unit.inside.driver.forced_samples import ADDRESS, GUARDED, HARMLESS, Sample
from tests.unit.inside.driver.harness import drive

_TOOL = """
import os
def act(*args):
    with open({out!r} + str(os.getpid()), "a") as file:
        file.write(repr(args) + "\\n")
"""
_MARK = "gforced"
_SEEDS = (0, 1)


@dataclass(frozen=True)
class Seen:
    """By sample: how far the driver says that it came, and what was done, for both seeds."""

    told: dict[str, list[str]]
    done: dict[str, list[set[str]]]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """All samples in one driver, each with each seed in a process of its own, as the driver does it."""
    folder = tmp_path_factory.mktemp("forced")
    files, items = {}, []
    for number, sample in enumerate((*GUARDED, *HARMLESS)):
        tool, module = f"tool{number}", f"shop{number}"
        files[f"{tool}.py"] = _TOOL.format(out=str(folder / f"out{number}-"))
        files[f"{module}.py"] = sample.source.replace("from tool import", f"from {tool} import")
        item = {"do": "force", "path": f"{module}.py", "module": module, "targets": [[sample.line]]}
        items += [{**item, "seed": seed} for seed in _SEEDS]
    tree = folder / "tree"
    tree.mkdir()
    for name, text in files.items():
        (tree / name).write_text(text)
    driven = drive(tree, {"items": items, "nap": 0.05, "grace": 0.1, "seconds": 170}, seconds=180)
    told: dict[str, list[str]] = {}
    done: dict[str, list[set[str]]] = {}
    for number, sample in enumerate((*GUARDED, *HARMLESS)):
        ran = driven.report["items"][number * len(_SEEDS) : (number + 1) * len(_SEEDS)]
        told[sample.name] = [item.get("forced", [[0, str(item)]])[0][1] for item in ran]
        out = sorted(folder.glob(f"out{number}-*"))
        done[sample.name] = [{*file.read_text().splitlines()} for file in out]
    return Seen(told, done)


@pytest.mark.parametrize("sample", GUARDED, ids=lambda s: s.name)
def test_guarded_code_shows_what_it_would_do(sample: Sample, seen: Seen) -> None:
    told, done = seen.told[sample.name], seen.done[sample.name]
    assert "not reached" not in told
    assert len(done) == len(_SEEDS), told
    assert all(any(ADDRESS in act for act in acts) for acts in done), (told, done)


@pytest.mark.parametrize("sample", HARMLESS, ids=lambda s: s.name)
def test_what_its_caller_decides_is_no_fact(sample: Sample, seen: Seen) -> None:
    told, done = seen.told[sample.name], seen.done[sample.name]
    assert len(done) == len(_SEEDS), told
    assert [act for act in done[0] & done[1] if _MARK not in act] == []
