"""A backend's trial start that is left to its opening: what fails there is no verdict, and no silent swap."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from docker import DockerClient

from gate.cli import main
from gate.errors import BackendFailedError, InconclusiveError
from gate.model.run import SandboxSpec
from gate.sandbox import reaper
from gate.sandbox.backends.bubblewrap.backend import BubblewrapBackend
from gate.sandbox.backends.container import docker, engine
from gate.sandbox.backends.container import options as container
from gate.sandbox.backends.container.attach import Attached
from gate.sandbox.backends.container.docker import DockerBackend
from gate.sandbox.backends.gvisor import observer
from gate.sandbox.backends.registry import choose
from gate.sandbox.images import engine_images
from gate.sandbox.sinkhole_host import link
from tests.contract.backend_contract import probe
from tests.contract.trees import DictTree
from tests.e2e.pulls import Pull, build

pytestmark = pytest.mark.engine
TREE = DictTree(files={"main.py": "print('hello')"})
PULL = Pull(
    name="one-function", verdicts=("pass",), head={"src/added.py": "def one() -> int:\n    return 1\n"}
)


@pytest.fixture(autouse=True)
def _engine() -> None:
    found = DockerBackend().probe()
    if not found.available or found.reason:
        pytest.skip(f"docker: {found.reason}")


def _fails(*_: object) -> None:
    raise InconclusiveError("the sandbox image does not run (exit 1)")


def _fails_at_once(*_: object, **__: object) -> None:
    raise InconclusiveError("the observer container did not start")


def test_the_trial_is_run_once_by_whoever_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    real = docker._trial

    def counted(client: DockerClient, image: str, runtime: str | None) -> None:
        ran.append("trial")
        real(client, image, runtime)

    monkeypatch.setattr(docker, "_trial", counted)
    backend, found, _ = choose("docker", "container")
    assert (found.available, ran) == (True, ["trial"])
    backend, found, _ = choose("docker", "container", defer=True)
    assert (found.available, ran) == (True, ["trial"])
    for _ in range(2):
        with backend.open(SandboxSpec(), TREE, TREE) as session:
            assert session.run(probe("python3", "main.py"), "head").stdout == b"hello\n"
    assert ran == ["trial", "trial"]


def test_a_trial_that_fails_at_the_opening_is_said_and_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker, "_trial", _fails)
    backend, found, _ = choose("docker", "container", defer=True)
    assert found.available
    with pytest.raises(BackendFailedError, match="does not run"), backend.open(SandboxSpec(), TREE, TREE):
        pytest.fail("opened")


def test_an_engine_that_starts_nothing_fails_as_a_backend_though_the_watchers_fail_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(docker, "_trial", _fails)
    monkeypatch.setattr(docker, "Observer", _fails_at_once)
    backend, _, _ = choose("docker", "container", defer=True)
    with pytest.raises(BackendFailedError, match="does not run"), backend.open(SandboxSpec(), TREE, TREE):
        pytest.fail("opened")


def test_a_backend_that_failed_is_not_chosen_again() -> None:
    with pytest.raises(InconclusiveError, match="it did not stand"):
        choose("docker", "container", failed={"docker": "it did not stand"})


@pytest.mark.parametrize("setup", ["none", "auto"])
def test_auto_takes_the_next_backend_and_the_report_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setup: str
) -> None:
    if not BubblewrapBackend().probe().available:
        pytest.skip("no bubblewrap to go on with")
    monkeypatch.setenv("GATE_SANDBOX_SETUP", setup)
    with tempfile.TemporaryDirectory(prefix="gate-layers-") as cache:  # nothing is known of its Python
        Path(cache).chmod(0o755)
        monkeypatch.setenv("GATE_CACHE", cache)
        _falls_back(tmp_path, monkeypatch)


def _falls_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker, "_trial", _fails)
    words = ["check", "--repo", str(build(PULL, tmp_path)), "--base", "main", "--head", "head", "-q"]
    code = main([*words, "--json", str(tmp_path / "r.json")])
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["sandbox"]["backend"] != "docker"
    assert (code, report["verdict"]) == (0, "pass")
    assert sum(stage["name"] == "sandbox" for stage in report["stages"]) == 1


def test_a_backend_asked_for_by_name_is_the_only_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker, "_trial", _fails)
    words = ["check", "--repo", str(build(PULL, tmp_path)), "--base", "main", "--head", "head", "-q"]
    code = main([*words, "--backend", "docker", "--json", str(tmp_path / "r.json")])
    report = json.loads((tmp_path / "r.json").read_text())
    assert (code, report["verdict"]) == (3, "inconclusive")
    assert any("does not run" in (stage["reason"] or "") for stage in report["stages"])


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(
            lambda image: container.observer_options(image=image, labels={}, sockets_volume="x"),
            id="observer",
        ),
        pytest.param(lambda image: link.options(image, {}), id="sinkhole"),
        pytest.param(lambda image: observer.observer_options(image, {}), id="gvisor"),
    ],
)
def test_the_watchers_have_a_network_of_their_own_with_nothing_in_it(
    options: Callable[[str], dict[str, Any]],
) -> None:
    tell = (
        "import os, socket; print(os.readlink('/proc/self/ns/net'), *(n for _, n in socket.if_nameindex()))"
    )
    with contextlib.closing(engine.connect()) as client:
        body = options(engine_images.ensure(client, "observer"))
        body["HostConfig"] |= {"Mounts": [], "Binds": []}
        body |= {
            "Entrypoint": ["python3", "-I", "-c", tell],
            "Cmd": [],
            "Tty": True,
            "Labels": reaper.labels(),
        }
        line = str(client.api.create_container_from_config(body)["Id"])
        try:
            with contextlib.closing(Attached(client, line)) as attached:  # docker-py leaves its socket
                client.api.start(line)
                client.api.wait(line, timeout=20)
                said = b"".join(iter(lambda: attached.socket.recv(4096), b""))
            namespace, *interfaces = said.decode().split()
        finally:
            reaper.remove_container(client, line)
    assert interfaces == ["lo"]
    assert namespace != os.readlink("/proc/self/ns/net")
