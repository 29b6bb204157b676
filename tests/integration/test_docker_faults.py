"""The engine missing, hanging, killed midway; containers killed under us; a gate that dies."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from docker import DockerClient

from gate.errors import InconclusiveError
from gate.model.run import Outcome, RunRecord, SandboxSpec
from gate.sandbox import reaper
from gate.sandbox.backends.container import engine
from gate.sandbox.backends.container.docker import DockerBackend
from gate.sandbox.backends.registry import choose
from gate.sandbox.images import engine_images
from tests.contract.backend_contract import probe
from tests.contract.trees import DictTree
from tests.integration.private_engine import PrivateEngine
from tests.paths import REPOSITORY

pytestmark = pytest.mark.engine
SLEEPER = DictTree(files={"main.py": "import time\nprint('begun', flush=True)\ntime.sleep(60)"})


@pytest.fixture(scope="module")
def client() -> Iterator[DockerClient]:
    found = DockerBackend().probe()
    if not found.available:
        pytest.skip(f"docker: {found.reason}")
    with contextlib.closing(engine.connect(timeout=300)) as connected:
        for target in engine_images.TARGETS:
            engine_images.ensure(connected, target)
        yield connected


def _ours(client: DockerClient, owner: str) -> list[str]:
    """Containers and volumes with that owner."""
    mine = {"label": [f"{reaper.OWNER}={owner}"]}
    found = [str(c["Id"]) for c in client.api.containers(all=True, filters=mine)]
    return found + [str(v["Name"]) for v in client.api.volumes(filters=mine).get("Volumes") or []]


def _disturbed(backend: DockerBackend, disturb: str, client: DockerClient) -> tuple[RunRecord, float]:
    """Run a sleeper and, once it runs, kill what carries ``disturb`` in its command.

    With the seconds from then to its end: how long a container takes to start is no matter here.
    """
    owner = str(reaper.Owner.me())
    killed: list[float] = []
    with backend.open(SandboxSpec(), SLEEPER, SLEEPER) as session:

        def later() -> None:
            until = time.monotonic() + 50
            while time.monotonic() < until:
                for container in client.api.containers(filters={"label": [f"{reaper.OWNER}={owner}"]}):
                    if disturb in container["Command"]:
                        time.sleep(1.0)
                        client.api.kill(container["Id"])
                        killed.append(time.monotonic())
                        return
                time.sleep(0.05)

        thread = threading.Thread(target=later)
        thread.start()
        record = session.run(probe("python3", "main.py", deadline=55), "head")
        ended = time.monotonic()
        thread.join()
    assert _ours(client, owner) == []
    assert killed, "it never came up"
    return record, ended - killed[0]


def test_a_container_killed_by_somebody_else_is_no_clean_look(client: DockerClient) -> None:
    record, seconds = _disturbed(DockerBackend(), "start.py", client)
    assert record.fault is not None
    assert not record.completed
    assert record.outcome is Outcome.KILLED
    assert seconds < 8


def test_an_observer_that_dies_ends_the_run_and_is_no_clean_look(client: DockerClient) -> None:
    record, seconds = _disturbed(DockerBackend(), "many.py", client)
    assert record.fault is not None
    assert not record.completeness.whole
    assert not record.completed
    assert seconds < 8


def test_an_engine_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    found = DockerBackend().probe()
    assert not found.available
    assert "/nonexistent/docker.sock" in found.reason
    assert "bubblewrap" in found.reason, "says what else to do"
    with pytest.raises(InconclusiveError) as caught:
        choose("docker", "process")
    assert "/nonexistent/docker.sock" in caught.value.message
    # A machine with QEMU and an image from an earlier run may still have the microVM; nothing else is left.
    with contextlib.suppress(InconclusiveError):
        assert choose("auto", "container")[1].backend == "microvm"
    with pytest.raises(InconclusiveError) as caught, DockerBackend().open(SandboxSpec(), SLEEPER, SLEEPER):
        pytest.fail("opened without an engine")
    assert caught.value.advice


def test_an_engine_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        server.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{folder}/s")
        start = time.monotonic()
        found = DockerBackend().probe()
        assert not found.available
        assert time.monotonic() - start < 10


_GATE = """
import signal, sys
from gate.model.run import ExecutionPlan, SandboxSpec
from gate.sandbox.backends.container.docker import DockerBackend
from gate.sandbox.execution import execute
from gate.sandbox.patience import Patience
from tests.contract.backend_contract import probe
from tests.contract.trees import DictTree
def stop(*_): raise SystemExit(143)
signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job starts with it ignored
tree = DictTree(files={"main.py": "import time; time.sleep(60)"})
plan = ExecutionPlan(probes=(probe("python3", "main.py", deadline=60),))
with DockerBackend().open(SandboxSpec(), tree, tree) as session:
    print("open", flush=True)
    execute(session, plan, patience=Patience(60), progress=lambda text: print(text, flush=True))
"""


@contextlib.contextmanager
def _gate_at_work() -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Another gate in the middle of a run, and its owner label."""
    with subprocess.Popen(
        [sys.executable, "-c", _GATE],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as gate:
        assert gate.stdout is not None
        assert gate.stdout.readline() == b"open\n"
        assert b"nothing at base" in gate.stdout.readline()
        owner = reaper.Owner.of(gate.pid)
        assert owner is not None
        try:
            yield gate, str(owner)
        finally:
            gate.kill()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=lambda s: s.name)
def test_an_interrupt_leaves_nothing_and_does_not_wait(client: DockerClient, sent: signal.Signals) -> None:
    with _gate_at_work() as (gate, owner):
        assert _ours(client, owner)
        start = time.monotonic()
        gate.send_signal(sent)
        gate.wait(10)
        assert gate.returncode != 0
        assert time.monotonic() - start < 8
        assert _ours(client, owner) == []


def test_a_killed_gate_is_cleaned_up_after_and_nobody_else_is_touched(client: DockerClient) -> None:
    with _gate_at_work() as (victim, dead), _gate_at_work() as (living, alive):
        foreign = client.api.create_container(engine_images.tag("sandbox"), labels={"somebody": "else"})["Id"]
        odd = client.api.create_container(
            engine_images.tag("sandbox"), labels={reaper.LABEL: "sandbox", reaper.OWNER: "not understood"}
        )["Id"]
        try:
            victim.kill()
            victim.wait()
            assert _ours(client, dead), "a killed gate cannot clean up"
            others = _ours(client, alive)
            assert others
            assert reaper.reap(client) >= 1
            assert _ours(client, dead) == []
            assert set(others) <= set(_ours(client, alive))
            assert living.poll() is None
            left = {c["Id"] for c in client.api.containers(all=True)}
            assert {foreign, odd} <= left
        finally:
            for container in (foreign, odd):
                client.api.remove_container(container, force=True)


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.xdist_group("private-engine")
@pytest.mark.parametrize("how", ["killed", "frozen"])
def test_an_engine_that_fails_midway(
    client: DockerClient, monkeypatch: pytest.MonkeyPatch, engine_data: Path, how: str
) -> None:
    if os.geteuid() != 0 or not shutil.which("dockerd"):
        pytest.skip("needs root and dockerd for an engine that may be killed")
    with tempfile.TemporaryDirectory(prefix="gd-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        own = PrivateEngine(Path(folder), engine_data)
        try:
            own.start()
            own.load_images()
            monkeypatch.setenv("DOCKER_HOST", own.address)
            start = 0.0
            with DockerBackend().open(SandboxSpec(), SLEEPER, SLEEPER) as session:
                end = threading.Timer(1.5, own.kill if how == "killed" else own.freeze)
                end.start()
                start = time.monotonic()
                record = session.run(probe("python3", "main.py", deadline=3), "head")
                end.join()
                took = time.monotonic() - start
                if how == "killed":
                    after = session.run(probe("python3", "main.py", deadline=3), "head")
                    assert after.outcome is Outcome.NEVER_STARTED
                    assert after.fault is not None
            assert took < 3 + 15, "no waiting for an engine that does not answer"
            assert record.seconds < 3 + 5
            assert record.fault is not None
            assert not record.completed
            assert not DockerBackend().probe().available
        finally:
            own.stop()
            gc.collect()
