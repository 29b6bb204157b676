"""Which side gets which packages, what is probed for them, and what is said where that was not possible."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.model.change import Change, ChangedFile, TreeEntry
from gate.model.run import Completeness, Outcome, Probe, RunRecord, SandboxSpec
from gate.sandbox.dependencies import setup as room
from gate.sandbox.dependencies.install import InstallContext, Installed, Problem
from gate.sandbox.dependencies.layer_store import Layer, LayerStore
from gate.sandbox.dependencies.result_archive import Distribution
from gate.sandbox.dependencies.setup import Order, SetUp, asks_otherwise, set_up

ONE = Distribution(name="one", version="1.0", modules=("one",))
TWO = Distribution(name="two", version="2.0", modules=("two", "two_more"), at_start=True)
NEWER = Distribution(name="One", version="1.1", modules=("one",))


class Tree:
    def __init__(self, text: str | None) -> None:
        self.files = {} if text is None else {"requirements.txt": text.encode()}

    def entries(self) -> tuple[TreeEntry, ...]:
        return tuple(TreeEntry(path=p, mode="100644", blob="0", size=len(d)) for p, d in self.files.items())

    def read(self, path: str) -> bytes:
        return self.files[path]


CHANGED = ChangedFile(
    path="requirements.txt",
    old_path=None,
    status="modified",
    language=None,
    hunks=(),
    old_mode="100644",
    new_mode="100644",
    old_blob="1",
    new_blob="2",
    binary=False,
    size=9,
)
CHANGE = Change(repo="", base=None, head=None, merge_base=None, commits=(), files=(CHANGED,))


def _record(side: str) -> RunRecord:
    probe = Probe(id="install-dependencies", phase="install", target="install", path=None, argv=("pip",))
    return RunRecord(
        probe=probe,
        side=side,  # type: ignore[arg-type]
        outcome=Outcome.COMPLETED,
        exit_code=0,
        seconds=1.0,
        peak_memory=None,
        completed=True,
        trace=None,
        completeness=Completeness(),
    )


def _set_up(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    base: str | None,
    head: str | None,
    results: dict[str, tuple[Distribution, ...] | Problem],
    order: Order | None = None,
) -> SetUp:
    """With an installation that gives what ``results`` says, by what is asked for."""

    def install(context: object, wanted: Any, side: str, **_: object) -> Installed:
        result = results[wanted.files["requirements.txt"].decode()]
        if isinstance(result, Problem):
            return Installed(record=_record(side), problem=result)
        names = "-".join(map(str, result)).replace(" ", "")
        return Installed(record=_record(side), layer=Layer(tar=tmp_path / names, distributions=result))

    monkeypatch.setattr(room, "install", install)
    context = InstallContext(
        backend=None,  # type: ignore[arg-type]
        spec=SandboxSpec(),
        means=None,  # type: ignore[arg-type]
        store=LayerStore(tmp_path),
        traces=tmp_path,
    )
    return set_up(
        context,
        CHANGE,
        Tree(base),  # type: ignore[arg-type]
        Tree(head),  # type: ignore[arg-type]
        order=order or Order(setup="requirements"),
    )


def test_equal_needs_are_installed_once_and_serve_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = _set_up(tmp_path, monkeypatch, "one", "one", {"one": (ONE,)})
    assert done.layers["base"] == done.layers["head"]
    assert [r.side for r in done.runs] == ["base", "head"]
    assert (done.probes, done.problems, done.not_exercised) == ((), (), ())
    assert done.summary == "1 package for base"


def test_what_head_adds_is_head_s_and_probed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = _set_up(tmp_path, monkeypatch, "one", "one two", {"one": (ONE,), "one two": (ONE, TWO)})
    assert done.layers["base"] != done.layers["head"]
    (probe,) = done.probes
    assert (probe.dependency, probe.sides, probe.path) == ("two 2.0", ("head",), "requirements.txt")
    items = json.loads(probe.argv[-1])["items"]
    assert [i.get("module") for i in items] == [None, "two", "two_more"]  # its .pth first
    assert "new: two 2.0" in done.summary


def test_an_update_is_probed_on_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = _set_up(tmp_path, monkeypatch, "one", "newer", {"one": (ONE,), "newer": (NEWER,)})
    assert [(p.dependency, p.sides) for p in done.probes] == [("One 1.1", ("base", "head"))]


def test_without_leave_head_s_additions_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order = Order(setup="requirements", head=False)
    done = _set_up(tmp_path, monkeypatch, "one", "one two", {"one": (ONE,)}, order)
    assert done.layers["head"] == done.layers["base"]
    assert "setup_head" in done.not_exercised[0].reason
    assert not done.problems


def test_what_head_asks_for_in_vain_is_not_exercised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(text="needs two", ours=False)
    done = _set_up(tmp_path, monkeypatch, "one", "one two", {"one": (ONE,), "one two": problem})
    assert done.layers["head"] == done.layers["base"]
    assert [(n.path, n.reason) for n in done.not_exercised] == [("requirements.txt", "needs two")]
    assert not done.problems


@pytest.mark.parametrize("ours", [True, False])
def test_what_base_asks_for_in_vain_is_no_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ours: bool
) -> None:
    done = _set_up(tmp_path, monkeypatch, "one", "one", {"one": Problem(text="no way", ours=ours)})
    assert done.problems == ("dependencies of base: no way",)
    assert not done.layers


def test_when_we_fail_at_head_it_is_no_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(text="cannot be reached", ours=True)
    done = _set_up(tmp_path, monkeypatch, "one", "one two", {"one": (ONE,), "one two": problem})
    assert done.problems == ("dependencies of head: cannot be reached",)


def test_a_head_without_needs_runs_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = _set_up(tmp_path, monkeypatch, "one", None, {"one": (ONE,)})
    assert set(done.layers) == {"base"}
    done = _set_up(tmp_path, monkeypatch, None, None, {})
    assert (done.layers, done.runs, done.summary) == ({}, (), "nothing to install")


def test_lines_that_are_left_out_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = _set_up(tmp_path, monkeypatch, "one", "one\n-e .\n", {"one": (ONE,), "one\n": (ONE,)})
    assert [n.reason for n in done.not_exercised] == ["not installed: -e ."]


def test_a_change_of_needs_counts_without_code() -> None:
    order = Order(setup="requirements")
    assert asks_otherwise(CHANGE, Tree("one"), Tree("two"), order)  # type: ignore[arg-type]
    assert not asks_otherwise(CHANGE, Tree("one"), Tree("one"), order)  # type: ignore[arg-type]
