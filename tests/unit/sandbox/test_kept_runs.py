"""Runs that are told again: never other than a run would be now. A small machine stands for the sandbox: it
follows links, lists folders and tells room as a kernel does, and writes the trace that the tracer would.
"""

from __future__ import annotations

import json
import posixpath
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.cache.active import in_use
from gate.cache.store import Store
from gate.model.canary import Canary
from gate.model.change import Side, TreeEntry
from gate.model.run import (
    Capability,
    Completeness,
    ExecutionPlan,
    Limits,
    Outcome,
    Probe,
    RunRecord,
    SandboxSpec,
)
from gate.sandbox.contract import BackendOptions
from gate.sandbox.kept_runs import KeptRuns, with_kept_runs
from gate.sandbox.side_tree import SideTree
from gate.tracing.codec import encode
from gate.tracing.events import Exec, Exit, Fork, Open, PathQuery, Process, Start, Summary

TREE = "/work/tree"
SPEC = SandboxSpec(canaries=(Canary(name="token", path="/work/home/.token", secrets=("s3cr3t-value-1",)),))
NAMES = ("a", "b", "d/a", "d/e/b", "c")
Ask = tuple[str, str]


@dataclass(frozen=True)
class Files:
    """A tree in memory: path → (mode, content); a link's content is where it leads."""

    held: Mapping[str, tuple[str, bytes]]
    oid: str | None = "tree"

    def entries(self) -> tuple[TreeEntry, ...]:
        return tuple(
            TreeEntry(path=path, mode=mode, blob=sha1(data).hexdigest(), size=len(data))
            for path, (mode, data) in sorted(self.held.items())
        )

    def read(self, path: str) -> bytes:
        return self.held[path][1]

    def read_many(self, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        return ((path, self.held[path][1]) for path in paths if path in self.held)

    def archive(self) -> Iterator[bytes]:
        raise NotImplementedError


@dataclass
class Machine:
    """Runs a list of questions about the tree and prints the answers. Implements contract.Session."""

    tree: Files
    asks: tuple[Ask, ...]
    folder: Path
    runs: int = 0
    changed: Mapping[str, Any] = field(default_factory=dict)
    more: bytes = b""

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        self.runs += 1
        events: list[Any] = [
            (Start, {"version": 1, "tracer": "unotify", "arch": "x", "wall": 1.0}),
            (Process, {"pid": 1, "ppid": 0, "exe": "/usr/bin/python3", "comm": "python3"}),
            (Exec, {"pid": 1, "call": "execve", "path": "/usr/bin/python3"}),
        ]
        answers = [self.answer(kind, name, events) for kind, name in self.asks]
        events.append((Exit, {"pid": 1, "code": 0}))
        calls = len(events) - 1
        ended = {"events": calls, "dropped": 0, "unparsed": 0, "calls": {}, "end": "exited"}
        events.append((Summary, ended))
        trace = self.folder / f"{self.runs}-{side}-{id(self)}.jsonl"
        lines = [encode(of(seq=n, t=0.0, **fields)) for n, (of, fields) in enumerate(events)]
        trace.write_bytes(b"".join(lines))
        made = RunRecord(
            probe=probe, side=side, outcome=Outcome.COMPLETED, exit_code=0, seconds=0.1, peak_memory=None,
            completed=False, trace=trace, completeness=Completeness(), touched=(), repeat=repeat,
            stdout=repr(answers).encode() + self.more,
        )  # fmt: skip
        return replace(made, **self.changed)

    def answer(self, kind: str, name: str, events: list[Any]) -> object:
        held = self.tree.held
        if kind == "room":  # statfs: no line of the trace tells it
            return sum(-(-len(data) // 4096) for _, data in held.values()), len(held)
        asked = posixpath.join(TREE, name)
        real = self.follow(name)
        query = {"pid": 1, "call": "newfstatat", "path": asked}
        opened = {"pid": 1, "call": "openat", "access": "r", "path": posixpath.join(TREE, real)}
        if kind == "stat":
            events.append((PathQuery, query))
            return (held[real][0], len(held[real][1])) if real in held else self.listed(real)
        events.append((Open, opened | ({"asked": asked} if real != name else {})))
        return held[real] if real in held else self.listed(real)

    def follow(self, name: str) -> str:
        for _ in range(5):
            for depth in range(1, name.count("/") + 2):
                first = "/".join(name.split("/")[:depth])
                mode, data = self.tree.held.get(first, ("", b""))
                if mode == "120000":
                    rest = name[len(first) :].lstrip("/")
                    name = posixpath.normpath(posixpath.join(posixpath.dirname(first), data.decode(), rest))
                    break
            else:
                return name
        return "nowhere"

    def listed(self, name: str) -> list[str]:
        return sorted(path for path in self.tree.held if path.startswith(f"{name}/"))

    def expect(self, runs: int) -> None: ...

    def abort(self) -> None: ...


PROBE = Probe(id="p", phase="script", target="t", path="a", argv=("python3", "a"), driver=False)


def keeping(store: Store, machine: Machine, place: Path, **told: Any) -> KeptRuns:
    side = SideTree.of(machine.tree)
    kept = KeptRuns(
        session=machine, store=store, spec=SPEC, circumstances=told, trees={"base": side, "head": side},
        folder=place / f"kept-{time.monotonic_ns()}", host=False,
    )  # fmt: skip
    kept.look_up(ExecutionPlan(probes=(replace(PROBE, sides=("head",)),)))
    return kept


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "store").mkdir()
    return Store(tmp_path / "store", b"k" * 32)


file = st.tuples(st.sampled_from(("100644", "100755")), st.sampled_from((b"one", b"two", b"x" * 5000)))
link = st.tuples(st.just("120000"), st.sampled_from((b"a", b"d", b"d/a", b"../c", b"nowhere")))
trees = st.dictionaries(st.sampled_from((*NAMES, "l", "d/l")), st.one_of(file, file, link), max_size=6)


def sound(held: Mapping[str, tuple[str, bytes]]) -> Files:
    """No file where another path needs a folder."""
    folders = {path[:at] for path in held for at, c in enumerate(path) if c == "/"}
    return Files({path: told for path, told in held.items() if path not in folders})


@st.composite
def pushes(draw: st.DrawFn) -> tuple[Files, Files, tuple[Ask, ...]]:
    """A tree, what a push makes of it (half of the time: other contents only), and what is asked."""
    before = sound(draw(trees))
    if draw(st.booleans()):
        texts = st.sampled_from((b"one", b"two", b"three"))
        held = {p: (m, d if m == "120000" else draw(texts)) for p, (m, d) in before.held.items()}
    else:
        gone = draw(st.sets(st.sampled_from(NAMES), max_size=2))
        held = {p: told for p, told in {**before.held, **draw(trees)}.items() if p not in gone}
    names = st.sampled_from((*before.held, *before.held, "a", "d", "l", "l/a", "d/l"))
    kinds = st.sampled_from(("open", "stat", "room"))
    return before, sound(held), tuple(draw(st.lists(st.tuples(kinds, names), max_size=4)))


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(push=pushes())
def test_what_is_told_again_is_what_a_run_would_say_now(
    tmp_path: Path, push: tuple[Files, Files, tuple[Ask, ...]]
) -> None:
    before, now, questions = push
    place = tmp_path / sha256(repr(push).encode()).hexdigest()
    place.mkdir(exist_ok=True)
    store = Store(place, b"k" * 32)
    keeping(store, Machine(before, questions, place), place).run(PROBE, "head")
    fresh = Machine(now, questions, place).run(PROBE, "head")
    told = keeping(store, Machine(now, questions, place), place).run(PROBE, "head")
    assert told.stdout == fresh.stdout


BEFORE = Files({
    "a": ("100644", b"one"), "b": ("100644", b"one"), "d/a": ("100644", b"one"), "l": ("120000", b"d"),
})  # fmt: skip


def ran_again(store: Store, place: Path, questions: tuple[Ask, ...], now: Files, **told: Any) -> bool:
    """Was it run for ``now``, after a run for BEFORE?"""
    keeping(store, Machine(BEFORE, questions, place), place).run(PROBE, "head")
    machine = Machine(now, questions, place)
    keeping(store, machine, place, **told).run(PROBE, "head")
    return machine.runs > 0


def edited(**files: tuple[str, bytes]) -> Files:
    return Files({**BEFORE.held, **{name.replace("_", "/"): told for name, told in files.items()}})


@pytest.mark.parametrize(
    ("questions", "now", "again"),
    [
        ((("open", "a"),), BEFORE, False),
        ((("open", "a"),), edited(b=("100644", b"two")), False),
        ((("open", "a"),), edited(a=("100644", b"two")), True),
        ((("stat", "a"),), edited(a=("100644", b"two")), True),
        ((("open", "a"),), edited(a=("100755", b"one")), True),
        ((("open", "a"),), edited(b=("100755", b"one")), True),
        ((("open", "a"),), edited(b=("100644", b"x" * 5000)), True),
        ((("open", "a"),), edited(c=("100644", b"new")), True),
        ((("open", "nowhere"),), edited(nowhere=("100644", b"new")), True),
        ((("open", "d"),), edited(d_new=("100644", b"new")), True),
        ((("open", "l/a"),), edited(b=("100644", b"two")), True),
        ((("open", "a"),), edited(l=("120000", b"e")), True),
        ((("open", "l/a"),), BEFORE, False),
    ],
)
def test_what_a_push_touches_is_run_again(
    store: Store, tmp_path: Path, questions: tuple[Ask, ...], now: Files, again: bool
) -> None:
    assert ran_again(store, tmp_path, questions, now) is again


def test_other_circumstances_are_another_run(store: Store, tmp_path: Path) -> None:
    assert ran_again(store, tmp_path, (("open", "a"),), BEFORE, limits=1)


def test_levels_of_trust_and_programs_share_nothing(store: Store, tmp_path: Path) -> None:
    keeping(store, Machine(BEFORE, (), tmp_path), tmp_path).run(PROBE, "head")
    for other in (replace(store, key=b"f" * 32), store.bound_to("another program")):
        machine = Machine(BEFORE, (), tmp_path)
        keeping(other, machine, tmp_path).run(PROBE, "head")
        assert machine.runs == 1


def test_a_changed_probe_is_run_again_and_a_slower_machine_is_not_another_probe(
    store: Store, tmp_path: Path
) -> None:
    keeping(store, Machine(BEFORE, (), tmp_path), tmp_path).run(PROBE, "head")
    for probe, runs in (
        (replace(PROBE, argv=("python3", "b")), 1), (replace(PROBE, env={"A": "1"}), 1),
        (replace(PROBE, cwd="d"), 1), (replace(PROBE, deadline=99.0), 0),
    ):  # fmt: skip
        machine = Machine(BEFORE, (), tmp_path)
        kept = keeping(store, machine, tmp_path)
        kept.found.clear()
        kept.look_up(ExecutionPlan(probes=(replace(probe, sides=("head",)),)))
        kept.run(probe, "head")
        assert machine.runs == runs, probe


@pytest.mark.parametrize(("side", "runs"), [("base", 0), ("head", 1)])
def test_which_lines_of_head_changed_is_no_matter_of_base(
    store: Store, tmp_path: Path, side: Side, runs: int
) -> None:
    for turn, lines in enumerate(([[1, 2]], [[1, 3]])):
        job = {"seconds": 9.0, "lines": {"a.py": lines}, "items": []}
        probe = replace(PROBE, driver=True, argv=("python3", "driver", json.dumps(job)), sides=(side,))
        machine = Machine(BEFORE, (), tmp_path, changed={"completed": True})
        kept = keeping(store, machine, tmp_path)
        kept.found.clear()
        kept.look_up(ExecutionPlan(probes=(probe,)))
        kept.run(probe, side)
        assert machine.runs == (runs if turn else 1)


@pytest.mark.parametrize(
    "changed",
    [
        {"fault": "no trace"}, {"stopped": "a canary was opened"}, {"outcome": Outcome.TIMED_OUT},
        {"completeness": Completeness(dropped=1)}, {"touched": None}, {"full": ("/tmp",)}, {"trace": None},
        {"stderr": b"token=s3cr3t-value-1"}, {"driver_report": {"x": ["s3cr3t-value-1"]}},
        {"heads": (("/tmp/f", b"czNjcjN0LXZhbHVlLTE="),)},
    ],
)  # fmt: skip
def test_what_was_no_whole_look_or_holds_a_secret_is_not_kept(
    store: Store, tmp_path: Path, changed: dict[str, Any]
) -> None:
    keeping(store, Machine(BEFORE, (), tmp_path, changed=changed), tmp_path).run(PROBE, "head")
    machine = Machine(BEFORE, (), tmp_path)
    keeping(store, machine, tmp_path).run(PROBE, "head")
    assert machine.runs == 1


def test_repeats_and_second_looks_always_run(store: Store, tmp_path: Path) -> None:
    machine = Machine(BEFORE, (), tmp_path)
    kept = keeping(store, machine, tmp_path)
    for _ in range(2):
        kept.run(PROBE, "head", repeat=1)
        kept.run(replace(PROBE, condition="90 days later"), "head")
        kept.run(replace(PROBE, planted=SPEC.canaries), "head")
        kept.run(replace(PROBE, phase="install"), "head")
    assert machine.runs == 8
    assert not list((tmp_path / "store").iterdir())


@pytest.mark.parametrize(("side", "runs"), [("base", 1), ("head", 2)])
def test_a_side_that_always_runs(store: Store, tmp_path: Path, side: Side, runs: int) -> None:
    machine = Machine(BEFORE, (), tmp_path)
    for _ in range(2):
        kept = replace(keeping(store, machine, tmp_path), found={}, told=set(), anew="head")
        kept.look_up(ExecutionPlan(probes=(replace(PROBE, sides=("base", "head")),)))
        kept.run(PROBE, side)
    assert machine.runs == runs


def test_a_fast_look_that_asks_twice_is_told_twice_and_no_sandbox_is_expected(
    store: Store, tmp_path: Path
) -> None:
    keeping(store, Machine(BEFORE, (), tmp_path), tmp_path).run(PROBE, "head")
    machine = Machine(BEFORE, (), tmp_path)
    kept = keeping(store, machine, tmp_path)
    asked: list[int] = []
    machine.expect = asked.append  # type: ignore[method-assign, assignment]
    kept.expect(2)  # with the idle one, which is not known
    assert kept.run(PROBE, "head").kept_at
    assert kept.run(PROBE, "head").kept_at
    kept.expect(1)
    assert machine.runs == 0
    assert asked == [1, 1]


def test_a_kept_run_brings_its_trace_and_says_when_it_was_made(store: Store, tmp_path: Path) -> None:
    first = keeping(store, Machine(BEFORE, (("open", "a"),), tmp_path), tmp_path).run(PROBE, "head")
    machine = Machine(BEFORE, (), tmp_path)
    told = keeping(store, machine, tmp_path).run(PROBE, "head")
    assert machine.runs == 0
    assert first.trace is not None
    assert told.trace is not None
    assert told.trace.read_bytes() == first.trace.read_bytes()
    assert first.kept_at == 0
    assert abs(told.kept_at - time.time()) < 100
    assert replace(told, trace=None, kept_at=0.0) == replace(first, trace=None)


def test_a_file_of_this_machine_that_changes_is_another_run(store: Store, tmp_path: Path) -> None:
    program = tmp_path / "usr-file"
    program.write_text("1")
    shown = Machine(BEFORE, (("open", str(program)),), tmp_path)

    def host(machine: Machine) -> KeptRuns:
        kept = replace(keeping(store, machine, tmp_path), host=True)
        kept.found.clear()
        kept.look_up(ExecutionPlan(probes=(replace(PROBE, sides=("head",)),)))
        return kept

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gate.sandbox.kept_runs._SYSTEM", (str(tmp_path),))
        host(shown).run(PROBE, "head")
        host(shown).run(PROBE, "head")
        assert shown.runs == 1
        program.write_text("2!")
        host(shown).run(PROBE, "head")
        assert shown.runs == 2
        program.unlink()
        host(shown).run(PROBE, "head")
        assert shown.runs == 3


def test_a_driver_that_forks_something_else_proves_nothing() -> None:
    from gate.tracing.reads import Reads

    reads = Reads(items=1)
    reads.hear(Process(seq=0, t=0, pid=1, ppid=0, exe="x", comm="x"))
    reads.hear(Fork(seq=1, t=0, pid=1, call="clone"))
    assert reads.ended() == ""
    reads.hear(Fork(seq=2, t=0, pid=1, call="clone"))
    assert reads.ended()


BOX = Capability(backend="docker", available=True, isolation="container", tracer="unotify")


class Ground:
    """What a backend says that it is made of."""

    options = BackendOptions()

    def install_cache_key(self) -> str:
        return "image 1"


@pytest.mark.parametrize(
    ("capability", "spec", "tree", "kept"),
    [
        (BOX, SPEC, BEFORE, True),
        (replace(BOX, backend="shop-gate.box"), SPEC, BEFORE, False),
        (replace(BOX, tracer="strace"), SPEC, BEFORE, False),
        (replace(BOX, backend="gvisor", tracer="seccheck"), SPEC, BEFORE, False),
        (BOX, replace(SPEC, runtimes=("javascript",)), BEFORE, False),
        (BOX, replace(SPEC, services="postgres"), BEFORE, False),
        (BOX, replace(SPEC, image="sha256:1"), BEFORE, False),
        (BOX, replace(SPEC, layers={"base": Path("/x/layer.tar")}), BEFORE, False),
        (BOX, replace(SPEC, layers={"base": Path(f"/x/{'a' * 64}.tar")}), BEFORE, True),
        (BOX, SPEC, Files({}, oid=None), False),
    ],
)
def test_where_not_everything_can_be_named_nothing_is_kept(
    store: Store, tmp_path: Path, capability: Capability, spec: SandboxSpec, tree: Files, kept: bool
) -> None:
    machine = Machine(tree, (), tmp_path)
    with in_use(store):
        made = with_kept_runs(
            machine, cast(Any, Ground()), capability, spec, {"base": tree, "head": tree}, folder=tmp_path
        )
    assert (made is not None) is kept
    nothing = with_kept_runs(machine, cast(Any, Ground()), capability, spec, {"head": tree}, folder=tmp_path)
    assert nothing is None, "no store is in use"


@pytest.mark.parametrize(
    "other",
    [
        replace(SPEC, limits=Limits(memory=1 << 30)),
        replace(SPEC, network="sinkhole"),
        replace(SPEC, on_canary="kill"),
        replace(SPEC, env={"MODE": "other"}),
        replace(SPEC, files={"/work/home/notes": b"other"}),
        replace(SPEC, canaries=()),
        replace(SPEC, layers={"head": Path(f"/x/{'b' * 64}.tar")}),
    ],
)
def test_another_sandbox_is_another_run(store: Store, tmp_path: Path, other: SandboxSpec) -> None:
    runs = []
    for spec in (SPEC, other, SPEC):
        machine = Machine(BEFORE, (("open", "a"),), tmp_path)
        with in_use(store):
            kept = with_kept_runs(
                machine, cast(Any, Ground()), BOX, spec, {"base": BEFORE, "head": BEFORE},
                folder=tmp_path / "kept",
            )  # fmt: skip
        assert kept is not None
        kept.look_up(ExecutionPlan(probes=(replace(PROBE, sides=("head",)),)))
        kept.run(PROBE, "head")
        runs.append(machine.runs)
    assert runs == [1, 1, 0]


def test_other_secrets_of_the_same_names_are_no_other_sandbox(store: Store, tmp_path: Path) -> None:
    runs = []
    for secret in ("first-secret-1", "second-secret2"):
        planted = (Canary(name="token", path="/work/home/.token", secrets=(secret,)),)
        machine = Machine(BEFORE, (), tmp_path)
        with in_use(store):
            kept = with_kept_runs(
                machine, cast(Any, Ground()), BOX, replace(SPEC, canaries=planted),
                {"base": BEFORE, "head": BEFORE}, folder=tmp_path / "kept",
            )  # fmt: skip
        assert kept is not None
        kept.look_up(ExecutionPlan(probes=(replace(PROBE, sides=("head",)),)))
        kept.run(PROBE, "head")
        runs.append(machine.runs)
    assert runs == [1, 0]
