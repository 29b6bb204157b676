"""The pure parts of the sandbox room: options, ownership, outcomes, budgets, the conversation."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from gate.errors import InconclusiveError, UsageError
from gate.model.change import Side
from gate.model.run import (
    Limits,
    Outcome,
    Probe,
    SandboxSpec,
)
from gate.sandbox import reaper
from gate.sandbox.backends.container import docker
from gate.sandbox.backends.registry import choose
from gate.sandbox.images import engine_images, recipe
from gate.sandbox.protocol import End, Receiver, Tracing
from gate.sandbox.run_record import RunObservation, never_started, to_record
from gate.sandbox.tree_archive import TreeArchive, job_for, with_tree
from tests.unit.sandbox.records import END, heard

PROBE = Probe(id="p", phase="import", target="shop", path="shop.py", argv=("python3", "-c", "pass"))


# -- images ---------------------------------------------------------------------------------------


def test_a_tag_follows_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = engine_images.tag("sandbox")
    assert before.startswith("gate-sandbox:")
    changed = tmp_path / "Dockerfile"
    changed.write_text("FROM scratch")
    sources = dict(recipe.sources())
    monkeypatch.setattr(recipe, "sources", lambda: sources | {"Dockerfile": changed})
    assert engine_images.tag("sandbox") != before


def test_a_build_context_is_the_same_bytes_for_the_same_files() -> None:
    files = {"a/b/c.txt": b"x", "Dockerfile": b"FROM scratch\n"}
    whole = engine_images.packed(files).getvalue()
    assert whole == engine_images.packed(dict(reversed(files.items()))).getvalue()
    with tarfile.open(fileobj=io.BytesIO(whole)) as tar:
        held = {member.name: (member.mode, member.mtime, member.uid) for member in tar}
    folder, file = (0o755, 0, 0), (0o644, 0, 0)
    assert held == {"Dockerfile": file, "a": folder, "a/b": folder, "a/b/c.txt": file}


# -- ownership ------------------------------------------------------------------------------------


def test_an_owner_is_known_again() -> None:
    me = reaper.Owner.me()
    assert reaper.Owner.parse(str(me)) == me
    assert me.dead is False
    assert reaper.Owner.of(os.getpid()) == me
    for text in ("", "1/2/3", "x/2/a/b", "1/2/a/b/c"):
        assert reaper.Owner.parse(text) is None


def test_a_dead_owner_is_dead_and_a_stranger_is_unknown() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        owner = reaper.Owner.of(child.pid)
        assert owner is not None
        assert [owner.dead] == [False]
        child.communicate(b"\n")
    assert owner.dead is True
    assert replace(reaper.Owner.me(), start=1).dead is True, "the pid lives, but as another process"
    assert replace(owner, boot="another").dead is None
    assert replace(owner, namespace="pid:[1]").dead is None


def test_what_a_dead_gate_left_in_the_temporary_folder_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    name = reaper.owned_name()
    assert not reaper.left_behind(name)
    space, _, _, rest = name.split("-")
    dead = f"{space}-{os.getpid()}-1-{rest}"
    assert reaper.left_behind(dead)
    assert not reaper.left_behind(f"1-{os.getpid()}-1-{rest}")
    assert not reaper.left_behind("something-else")
    for left in (f"gate-runs-{dead}", f"gate-runs-{name}", "gate-runs-x", "other"):
        (tmp_path / left).mkdir()
    with reaper.run_folder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "trace").touch()
    assert {path.name for path in tmp_path.iterdir()} == {f"gate-runs-{name}", "gate-runs-x", "other"}


def test_two_gates_remove_the_folder_of_a_third_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "gate-runs-dead").mkdir()

    def gone(name: str) -> bool:
        (tmp_path / f"gate-runs-{name}").rmdir()
        return True

    monkeypatch.setattr(reaper, "left_behind", gone)
    with reaper.run_folder() as folder:
        assert [path.name for path in tmp_path.iterdir()] == [folder.name]


# -- outcomes -------------------------------------------------------------------------------------


def test_processes_of_a_gate_that_is_gone_are_ended_and_no_others() -> None:
    kind, pid, start, rest = reaper.owned_name().split("-")
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
        assert reaper.reap_processes("gate-test-") == 1
        assert started["gone"].wait(5) == -signal.SIGKILL
        assert started["living"].poll() is None
        assert started["other"].poll() is None
    finally:
        for process in started.values():
            process.kill()
            process.communicate()


SAID = RunObservation(ending="said", seconds=2.0)


def _end(**changes: object) -> End:
    return msgspec.structs.replace(END, **changes)


@pytest.mark.parametrize(
    ("heard", "seen", "outcome", "faulty"),
    [
        (heard(), SAID, Outcome.COMPLETED, False),
        (heard(end=_end(status=3)), SAID, Outcome.EXITED_NONZERO, False),
        (heard(end=_end(status=-11)), SAID, Outcome.KILLED, False),
        (heard(end=_end(status=-9, limits_hit=("wall",))), SAID, Outcome.TIMED_OUT, False),
        (heard(end=_end(status=-9)), replace(SAID, out_of_memory=True), Outcome.OUT_OF_MEMORY, False),
        (heard(end=None), replace(SAID, ending="deadline"), Outcome.TIMED_OUT, False),
        (heard(end=None), replace(SAID, ending="closed", out_of_memory=True), Outcome.OUT_OF_MEMORY, False),
        (heard(end=None), replace(SAID, ending="closed"), Outcome.KILLED, True),
        (heard(end=None), replace(SAID, ending="stopped"), Outcome.KILLED, True),
        (heard(end=_end(tracer_ok=False)), SAID, Outcome.COMPLETED, True),
        (heard(), replace(SAID, fault="engine gone"), Outcome.COMPLETED, True),
        (heard(end=None, started=False), replace(SAID, ending="closed"), Outcome.NEVER_STARTED, True),
        (heard(end=None, started=False), replace(SAID, ending="deadline"), Outcome.NEVER_STARTED, True),
    ],
)
def test_outcomes_and_faults(heard: Receiver, seen: RunObservation, outcome: Outcome, faulty: bool) -> None:
    record = to_record(heard, seen, PROBE, "head", 1)
    assert (record.outcome, record.fault is not None) == (outcome, faulty)
    assert (record.probe, record.side, record.repeat) == (PROBE, "head", 1)


def test_a_record_carries_what_was_said() -> None:
    said = heard(end=_end(stdout_total=10))
    said.stdout += b"abc"
    record = to_record(said, replace(SAID, peak_memory=9), PROBE, "base", 0)
    assert (record.stdout, record.stdout_total, record.stderr_total) == (b"abc", 10, 4)
    assert (record.peak_memory, record.exit_code, record.completed, record.seconds) == (9, 0, True, 1.5)


def test_a_launcher_that_mutters_is_quoted() -> None:
    seen = replace(SAID, ending="closed", noise=b"x\nPermission denied\n")
    record = to_record(heard(end=None, started=False), seen, PROBE, "head", 0)
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
    tree_archives: dict[Side, TreeArchive] = {
        "base": TreeArchive(path=Path("b"), size=1),
        "head": TreeArchive(path=Path("h"), size=(10 << 20) + 1),
    }
    limits = with_tree(Limits(), tree_archives)
    assert limits.memory - Limits().memory == limits.scratch - Limits().scratch == 11 << 20


# -- a plan within its budget ---------------------------------------------------------------------


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
    with pytest.raises(InconclusiveError) as caught:
        choose("bubblewrap", "vm")
    assert "bubblewrap" in caught.value.message
    assert caught.value.advice


def test_a_run_that_never_began_is_a_fault() -> None:
    record = never_started(PROBE, "head", 0, "no engine")
    assert (record.outcome, record.fault, record.trace) == (Outcome.NEVER_STARTED, "no engine", None)
    assert not record.completeness.whole
