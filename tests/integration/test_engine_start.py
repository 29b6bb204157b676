"""Set-up starts the engine again after everything of it was killed, as when a session ends."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from docker import DockerClient

from gate.sandbox.backends.container.engine import API_ERRORS
from gate.sandbox.images import engine_images
from tests.contract.backend_contract import working
from tests.integration.private_engine import PrivateEngine
from tests.paths import REPOSITORY

pytestmark = [
    pytest.mark.engine,
    pytest.mark.xdist_group("private-engine"),
    # docker-py leaves a socket behind when an engine that is just starting does not answer
    pytest.mark.filterwarnings(
        "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"
    ),
]


def _module() -> ModuleType:
    path = REPOSITORY / "scripts" / "engine_start.py"
    spec = importlib.util.spec_from_file_location("engine_start", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def engine(engine_data: Path) -> Iterator[PrivateEngine]:
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        pytest.skip("starting an engine of its own needs root and dockerd")
    working("docker")
    folder = Path(tempfile.mkdtemp(prefix="gate-e-", dir="/tmp"))  # sockets need short paths
    engine = PrivateEngine(folder, engine_data)
    try:
        engine.start()
        engine.load_images()
        yield engine
    finally:
        engine.stop()
        gc.collect()  # what docker-py left behind is told here, not in somebody else's test
        shutil.rmtree(folder, ignore_errors=True)


def _run_three(client: DockerClient) -> None:
    for _ in range(3):
        words = ["python3", "-c", "import time; time.sleep(600)"]
        client.containers.run(
            engine_images.tag("sandbox"), words, entrypoint=[], detach=True, network_mode="none"
        )


def test_killed_with_all_that_runs_and_started_again(engine: PrivateEngine) -> None:
    starting = _module()
    place = engine.folder / "exec"
    with contextlib.closing(engine.client()) as client:
        _run_three(client)
    for _, pid in starting.alive(place):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    engine.kill()
    until = time.monotonic() + 10
    while starting.alive(place) and time.monotonic() < until:
        time.sleep(0.05)
    (engine.folder / "pid").write_text("1")  # a process that is there, and is not the engine

    by_hand = starting.ByHand(
        run=place,
        pidfile=engine.folder / "pid",
        other_pidfiles=(),
        log=engine.folder / "log",
        command=tuple(engine.command[:-2]),
        seconds=30,
    )
    said: list[str] = []

    def answers() -> bool:
        with contextlib.suppress(*API_ERRORS), contextlib.closing(engine.client()) as client:
            return bool(client.ping())
        return False

    start = time.monotonic()
    daemon = by_hand.start(answers, said.append)
    assert daemon is not None, said
    engine.adopt(daemon)
    assert time.monotonic() - start < 25
    assert said == [], "at the first try"
    with contextlib.closing(engine.client()) as client:
        image = engine_images.tag("sandbox")
        out = client.containers.run(image, ["python3", "-c", "print(7)"], entrypoint=[], network_mode="none")
    assert out == b"7\n"


def test_nothing_is_cleared_under_a_living_engine(engine: PrivateEngine) -> None:
    starting = _module()
    place = engine.folder / "exec"
    before = sorted(path.name for path in (place / "containerd").iterdir())
    assert "containerd.pid" in before
    starting.ByHand(run=place, pidfile=engine.folder / "pid", other_pidfiles=()).forget()
    assert sorted(path.name for path in (place / "containerd").iterdir()) == before
    assert (engine.folder / "pid").exists()
