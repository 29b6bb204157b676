"""The pure parts of the sandbox room: options, ownership, outcomes, budgets, the conversation."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from gate.errors import CouldNotLook, UsageError
from gate.model.change import Side
from gate.model.run import (
    Completeness,
    ExecutionPlan,
    Limits,
    Outcome,
    Phase,
    Probe,
    RunRecord,
    SandboxSpec,
)
from gate.sandbox import docker, images, reap
from gate.sandbox.backends import choose
from gate.sandbox.channel import End, Receiver, Started, Tracing
from gate.sandbox.execute import IDLE, execute
from gate.sandbox.parcel import Parcel, job_for, with_tree
from gate.sandbox.planning.patience import patient
from gate.sandbox.record import Seen, never_started, to_record

PROBE = Probe(id="p", phase="import", target="shop", path="shop.py", argv=("python3", "-c", "pass"))
END = End(
    status=0,
    completed=True,
    seconds=1.5,
    peak_memory=7,
    stdout_total=3,
    stderr_total=4,
    limits_hit=(),
    leftover_killed=0,
    tracer_ok=True,
    clock="real",
)


# -- images ---------------------------------------------------------------------------------------


def test_a_tag_follows_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = images.tag("sandbox")
    assert before.startswith("gate-sandbox:")
    changed = tmp_path / "Dockerfile"
    changed.write_text("FROM scratch")
    sources = dict(images._sources())
    monkeypatch.setattr(images, "_sources", lambda: sources | {"Dockerfile": changed})
    assert images.tag("sandbox") != before


def test_a_build_context_is_the_same_bytes_for_the_same_files() -> None:
    files = {"a/b/c.txt": b"x", "Dockerfile": b"FROM scratch\n"}
    whole = images.packed(files).getvalue()
    assert whole == images.packed(dict(reversed(files.items()))).getvalue()
    with tarfile.open(fileobj=io.BytesIO(whole)) as tar:
        held = {member.name: (member.mode, member.mtime, member.uid) for member in tar}
    folder, file = (0o755, 0, 0), (0o644, 0, 0)
    assert held == {"Dockerfile": file, "a": folder, "a/b": folder, "a/b/c.txt": file}


# -- ownership ------------------------------------------------------------------------------------


def test_an_owner_is_known_again() -> None:
    me = reap.Owner.me()
    assert reap.Owner.parse(str(me)) == me
    assert me.dead is False
    assert reap.Owner.of(os.getpid()) == me
    for text in ("", "1/2/3", "x/2/a/b", "1/2/a/b/c"):
        assert reap.Owner.parse(text) is None


def test_a_dead_owner_is_dead_and_a_stranger_is_unknown() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        owner = reap.Owner.of(child.pid)
        assert owner is not None
        assert [owner.dead] == [False]
        child.communicate(b"\n")
    assert owner.dead is True
    assert replace(reap.Owner.me(), start=1).dead is True, "the pid lives, but as another process"
    assert replace(owner, boot="another").dead is None
    assert replace(owner, namespace="pid:[1]").dead is None


def test_what_a_dead_gate_left_in_the_temporary_folder_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    name = reap.owned_name()
    assert not reap.left_behind(name)
    space, _, _, rest = name.split("-")
    dead = f"{space}-{os.getpid()}-1-{rest}"
    assert reap.left_behind(dead)
    assert not reap.left_behind(f"1-{os.getpid()}-1-{rest}")
    assert not reap.left_behind("something-else")
    for left in (f"gate-runs-{dead}", f"gate-runs-{name}", "gate-runs-x", "other"):
        (tmp_path / left).mkdir()
    with reap.run_folder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "trace").touch()
    assert {path.name for path in tmp_path.iterdir()} == {f"gate-runs-{name}", "gate-runs-x", "other"}


# -- outcomes -------------------------------------------------------------------------------------


def test_processes_of_a_gate_that_is_gone_are_ended_and_no_others() -> None:
    kind, pid, start, rest = reap.owned_name().split("-")
    names = {
        "gone": f"gate-test-{kind}-{pid}-{int(start) + 1}-{rest}",
        "living": f"gate-test-{kind}-{pid}-{start}-{rest}",
        "other": "gate-test-of-somebody",
    }
    started = {
        who: subprocess.Popen([sys.executable, "-c", "input()", name], stdin=subprocess.PIPE)
        for who, name in names.items()
    }
    try:
        assert reap.reap_processes("gate-test-") == 1
        assert started["gone"].wait(5) == -signal.SIGKILL
        assert started["living"].poll() is None
        assert started["other"].poll() is None
    finally:
        for process in started.values():
            process.kill()
            process.communicate()


def _heard(*, end: End | None = END, started: bool = True) -> Receiver:
    heard = Receiver(b"key")
    heard.started = Started(pid=1, t=0.0) if started else None
    heard.end = end
    return heard


SAID = Seen(ending="said", seconds=2.0)


def _end(**changes: object) -> End:
    return msgspec.structs.replace(END, **changes)


@pytest.mark.parametrize(
    ("heard", "seen", "outcome", "faulty"),
    [
        (_heard(), SAID, Outcome.COMPLETED, False),
        (_heard(end=_end(status=3)), SAID, Outcome.EXITED_NONZERO, False),
        (_heard(end=_end(status=-11)), SAID, Outcome.KILLED, False),
        (_heard(end=_end(status=-9, limits_hit=("wall",))), SAID, Outcome.TIMED_OUT, False),
        (_heard(end=_end(status=-9)), replace(SAID, out_of_memory=True), Outcome.OUT_OF_MEMORY, False),
        (_heard(end=None), replace(SAID, ending="deadline"), Outcome.TIMED_OUT, False),
        (_heard(end=None), replace(SAID, ending="closed", out_of_memory=True), Outcome.OUT_OF_MEMORY, False),
        (_heard(end=None), replace(SAID, ending="closed"), Outcome.KILLED, True),
        (_heard(end=None), replace(SAID, ending="stopped"), Outcome.KILLED, True),
        (_heard(end=_end(tracer_ok=False)), SAID, Outcome.COMPLETED, True),
        (_heard(), replace(SAID, fault="engine gone"), Outcome.COMPLETED, True),
        (_heard(end=None, started=False), replace(SAID, ending="closed"), Outcome.NEVER_STARTED, True),
        (_heard(end=None, started=False), replace(SAID, ending="deadline"), Outcome.NEVER_STARTED, True),
    ],
)
def test_outcomes_and_faults(heard: Receiver, seen: Seen, outcome: Outcome, faulty: bool) -> None:
    record = to_record(heard, seen, PROBE, "head", 1)
    assert (record.outcome, record.fault is not None) == (outcome, faulty)
    assert (record.probe, record.side, record.repeat) == (PROBE, "head", 1)


def test_a_record_carries_what_was_said() -> None:
    heard = _heard(end=_end(stdout_total=10))
    heard.stdout += b"abc"
    record = to_record(heard, replace(SAID, peak_memory=9), PROBE, "base", 0)
    assert (record.stdout, record.stdout_total, record.stderr_total) == (b"abc", 10, 4)
    assert (record.peak_memory, record.exit_code, record.completed, record.seconds) == (9, 0, True, 1.5)


def test_a_launcher_that_mutters_is_quoted() -> None:
    seen = replace(SAID, ending="closed", noise=b"x\nPermission denied\n")
    record = to_record(_heard(end=None, started=False), seen, PROBE, "head", 0)
    assert record.fault is not None
    assert "Permission denied" in record.fault


# -- the job --------------------------------------------------------------------------------------


def test_a_job_has_only_the_environment_that_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "x")
    probe = replace(PROBE, env={"A": "1"}, cwd="src")
    job = job_for(probe, SandboxSpec(env={"B": "2"}), tracer=Tracing(socket="/s"), in_cgroup=True)
    assert set(job.env) == {"A", "B", "PATH", "HOME", "LANG", "TMPDIR", "USER", "LOGNAME"}
    assert (job.cwd, job.memory, job.pids) == ("/work/tree/src", 0, 0)
    alone = job_for(probe, SandboxSpec(), tracer=Tracing(fd=3), in_cgroup=False)
    assert (alone.memory, alone.pids) == (1 << 30, 128)


def test_a_call_gets_less_memory_than_its_sandbox() -> None:
    called = job_for(replace(PROBE, phase="call"), SandboxSpec(), tracer=Tracing(socket="/s"), in_cgroup=True)
    assert 0 < called.soft_memory < SandboxSpec().limits.memory
    assert job_for(PROBE, SandboxSpec(), tracer=Tracing(socket="/s"), in_cgroup=True).soft_memory == 0


@pytest.mark.parametrize("cwd", ["/etc", "..", "a/../../b"])
def test_a_job_cannot_start_outside_its_tree(cwd: str) -> None:
    with pytest.raises(ValueError, match="leaves the tree"):
        job_for(replace(PROBE, cwd=cwd), SandboxSpec(), tracer=Tracing(fd=3), in_cgroup=True)


def test_a_large_tree_gets_room() -> None:
    parcels: dict[Side, Parcel] = {
        "base": Parcel(path=Path("b"), size=1),
        "head": Parcel(path=Path("h"), size=(10 << 20) + 1),
    }
    limits = with_tree(Limits(), parcels)
    assert limits.memory - Limits().memory == limits.scratch - Limits().scratch == 11 << 20


# -- a plan within its budget ---------------------------------------------------------------------


class Recording:
    """A session that notes what it was asked for."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.asked: list[tuple[str, str, int]] = []
        self.expected = 0
        self.aborted = False
        self._seconds = seconds

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        self.asked.append((probe.id, side, repeat))
        time.sleep(self._seconds)
        seen = Seen(ending="said", seconds=self._seconds, completeness=Completeness())
        return to_record(_heard(), seen, probe, side, repeat)

    def expect(self, runs: int) -> None:
        self.expected += runs

    def abort(self) -> None:
        self.aborted = True


def test_a_plan_runs_idle_then_all_sides_then_base_again() -> None:
    other = replace(PROBE, id="q", sides=("head",))
    session, said = Recording(), list[str]()
    records = execute(
        session, ExecutionPlan(probes=(PROBE, other)), budget=60, progress=said.append, workers=1
    )
    turns = [("idle", "base", 0), ("p", "base", 0), ("p", "head", 0), ("q", "head", 0), ("p", "base", 1)]
    assert session.asked == turns
    assert [(r.probe.id, r.side, r.repeat) for r in records] == turns
    assert records[0].probe == IDLE
    assert session.expected == len(said) == 5
    assert "shop at head: completed" in said[2]


@pytest.mark.parametrize(("where", "more"), [({"p"}, 1), ({"q"}, 0), (set(), 0)])
def test_base_is_repeated_only_where_the_sides_differ(where: set[str], more: int) -> None:
    session, asked = Recording(), list[int]()

    def told(runs: tuple[RunRecord, ...]) -> set[str]:
        asked.append(len(runs))
        return where

    plan = ExecutionPlan(probes=(PROBE,))
    records = execute(session, plan, budget=60, workers=1, differs=told)
    assert asked == [3]
    assert [r.repeat for r in records] == [0, 0, 0, 1][: 3 + more]
    assert session.expected == 3 + more


@pytest.mark.parametrize(
    ("budget", "begun"),
    [
        (600, ["install", "test", "call", "idle", "import"]),  # all fits: the long ones first
        (1, ["idle", "import", "call", "test", "install"]),  # it may not: what matters more first
    ],
)
def test_what_takes_long_is_begun_first_where_all_of_it_fits(budget: float, begun: list[str]) -> None:
    phases: tuple[Phase, ...] = ("import", "call", "test", "install")
    probes = tuple(replace(PROBE, id=phase, phase=phase, sides=("head",)) for phase in phases)
    session = Recording()
    records = execute(session, ExecutionPlan(probes=probes), budget=budget, workers=1)
    assert [name for name, *_ in session.asked] == begun
    assert [record.probe.phase for record in records] == ["idle", *phases], "told in the plan's order"


def test_an_empty_plan_runs_nothing() -> None:
    session = Recording()
    assert execute(session, ExecutionPlan(probes=()), budget=60) == ()
    assert session.asked == []


def test_what_a_spent_budget_leaves_out_is_said() -> None:
    session = Recording(seconds=0.06)
    records = execute(session, ExecutionPlan(probes=(PROBE,)), budget=0.1, workers=1)
    assert [(r.probe.id, r.side, r.repeat) for r in records] == [
        ("idle", "base", 0),
        ("p", "base", 0),
        ("p", "head", 0),
    ]
    assert records[2].outcome is Outcome.NEVER_STARTED
    assert records[2].fault is not None
    assert "budget" in records[2].fault


def test_an_interrupt_aborts_the_session() -> None:
    class Interrupted(Recording):
        def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
            raise KeyboardInterrupt

    session = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        execute(session, ExecutionPlan(probes=(PROBE,)), budget=60, workers=1)
    assert session.aborted


# -- the choice, and what is used -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "path"), [("Docker/20.10 (linux)", False), ("Libpod/4.3.1 (linux)", True)]
)
def test_podman_gets_the_profile_by_its_path(program: str, path: bool) -> None:
    client: Any = SimpleNamespace(program=program)
    told = docker.seccomp_profile(client)
    assert Path(told).is_file() if path else json.loads(told)["defaultAction"] == "SCMP_ACT_ERRNO"


def test_unknown_names_are_the_users_mistake() -> None:
    with pytest.raises(UsageError):
        choose("chroot", "process")
    with pytest.raises(UsageError):
        choose("auto", "steel")


def test_nothing_is_as_strong_as_a_virtual_machine_here() -> None:
    with pytest.raises(CouldNotLook) as caught:
        choose("bubblewrap", "vm")
    assert "bubblewrap" in caught.value.message
    assert caught.value.advice


def test_a_run_that_never_began_is_a_fault() -> None:
    record = never_started(PROBE, "head", 0, "no engine")
    assert (record.outcome, record.fault, record.trace) == (Outcome.NEVER_STARTED, "no engine", None)
    assert not record.completeness.whole


class Slow(Recording):
    """Runs out of time on the named sides unless it is given ``needs`` seconds."""

    def __init__(self, *sides: str, needs: float) -> None:
        super().__init__()
        self.sides = sides
        self.needs = needs
        self.deadlines: list[float] = []

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        record = super().run(probe, side, repeat=repeat)
        self.deadlines.append(probe.deadline)
        if side in self.sides and probe.deadline < self.needs:
            return replace(record, outcome=Outcome.TIMED_OUT, completed=False)
        return record


def _slow(phase: Phase, *sides: str, needs: float = 50, budget: float = 500) -> tuple[Slow, list[RunRecord]]:
    session = Slow(*sides, needs=needs)
    probe = replace(PROBE, phase=phase, deadline=20, driver=False, sides=("base", "head"))
    return session, list(execute(session, ExecutionPlan(probes=(probe,)), budget=budget, workers=1))


@pytest.mark.parametrize("side", ["base", "head"])
def test_an_installation_that_one_side_cannot_finish_gets_more_time(side: str) -> None:
    session, records = _slow("install", side)
    assert session.asked[-1] == ("p", side, 0)
    assert session.deadlines[-1] == 60
    (last,) = [r for r in records if r.side == side and r.repeat == 0 and r.probe.id == "p"]
    assert (last.outcome, last.probe.deadline) == (Outcome.COMPLETED, 20)
    (first,) = [r for r in records if r.stopped]
    assert (first.side, first.outcome, first.repeat) == (side, Outcome.TIMED_OUT, 9)


def test_time_that_is_still_too_short_is_told() -> None:
    session, records = _slow("script", "head", needs=1000)
    assert session.deadlines[-1] == 60
    assert [r.outcome for r in records if r.side == "head" and not r.repeat] == [Outcome.TIMED_OUT]


@pytest.mark.parametrize(
    ("phase", "sides", "budget"),
    [("install", ("base", "head"), 500.0), ("import", ("head",), 500.0), ("install", ("head",), 30.0)],
)
def test_no_second_chance(phase: Phase, sides: tuple[str, ...], budget: float) -> None:
    session, records = _slow(phase, *sides, budget=budget)
    assert len(session.asked) == 4
    assert not any(r.stopped for r in records)


def test_the_steps_of_a_patient_driver_get_more_time_too() -> None:
    probe = replace(PROBE, argv=("python3", "/d", '{"items": [], "seconds": 17}'), deadline=20)
    longer = patient(probe, 60)
    assert longer.deadline == 60
    assert json.loads(longer.argv[-1]) == {"items": [], "seconds": 57.0, "each_script": 15.0}
