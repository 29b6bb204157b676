"""gVisor missing, of another version, hanging; its observer killed; many sandboxes, and what they leave."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from docker import DockerClient

from gate.errors import InconclusiveError
from gate.model.run import Outcome, RunRecord, SandboxSpec
from gate.sandbox import reaper
from gate.sandbox.backends.container import engine
from gate.sandbox.backends.gvisor import setup
from gate.sandbox.backends.gvisor.backend import GvisorBackend
from gate.sandbox.session import START_SECONDS
from gate.sandbox.sinkhole_host import session as sinking
from gate.tracing.codec import read_trace
from gate.tracing.readers.gvisor import session as seccheck_session
from tests.contract.backend_contract import probe
from tests.contract.leftovers import snapshot
from tests.contract.trees import DictTree
from tests.integration.private_engine import PrivateEngine

pytestmark = [pytest.mark.backend, pytest.mark.slow]
HELLO = DictTree(files={"main.py": "print('hi')"})
SLEEPER = DictTree(files={"main.py": "import time\nprint('begun', flush=True)\ntime.sleep(60)"})
BUSY = DictTree(files={"main.py": "while True: open('/etc/hostname').close()"})


@pytest.fixture
def backend() -> GvisorBackend:
    backend = GvisorBackend()
    found = backend.probe()
    if not found.available:
        pytest.skip(f"gvisor: {found.reason}")
    return backend


@pytest.fixture
def client() -> Iterator[DockerClient]:
    with contextlib.closing(engine.connect(timeout=60)) as connected:
        yield connected


def test_without_its_runtimes_it_says_how_to_get_them(
    backend: GvisorBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "PREFIX", "gate-nobody-registered-")
    found = backend.probe()
    assert not found.available
    assert "doctor --fix" in found.reason
    with (
        pytest.raises(InconclusiveError, match="no gVisor runtime"),
        backend.open(SandboxSpec(), HELLO, HELLO),
    ):
        pass


def test_runtimes_of_another_version_are_not_used(
    backend: GvisorBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They report other things than the reader takes for granted: that would be a quiet hole."""
    monkeypatch.setattr(seccheck_session, "digest", lambda: "0" * 8)
    assert "another version" in backend.probe().reason
    with pytest.raises(InconclusiveError, match="another version"), backend.open(SandboxSpec(), HELLO, HELLO):
        pass


def test_without_a_tun_device_it_has_no_simulated_network_and_says_so(
    backend: GvisorBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert backend.probe().networks == ("none", "sinkhole")
    monkeypatch.setattr(sinking, "_TUN", "/dev/net/no-tun-here")
    found = backend.probe()
    assert found.available
    assert found.networks == ("none",)
    assert "no simulated network" in found.reason
    assert "tun" in found.reason


class _WithHangingRuntime(PrivateEngine):
    @property
    def command(self) -> list[str]:
        return [*super().command, f"--config-file={self.folder}/daemon.json"]

    def describe(self) -> None:
        """A runtime that never answers, registered as ours are."""
        script = self.folder / "exec-hangs"  # what is found by the folder "exec" is ended with the engine
        script.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(300)\n")
        script.chmod(0o755)
        runtimes = {
            setup.runtime(slot): {"path": str(script), "runtimeArgs": setup.arguments(slot)}
            for slot in range(2)
        }
        (self.folder / "daemon.json").write_text(json.dumps({"runtimes": runtimes}))


# a request that timed out leaves its connection to the garbage collector
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.xdist_group("private-engine")
def test_a_runtime_that_hangs_ends_by_the_deadline(
    backend: GvisorBackend, monkeypatch: pytest.MonkeyPatch, engine_data: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("an engine of its own needs root")
    with tempfile.TemporaryDirectory(prefix="gv-") as folder:
        private = _WithHangingRuntime(Path(folder), engine_data)
        private.describe()
        try:
            private.start()
            private.load_images()
            monkeypatch.setenv("DOCKER_HOST", private.address)
            with backend.open(SandboxSpec(), HELLO, HELLO) as session:
                begun = time.monotonic()
                record = session.run(probe("python3", "main.py", deadline=3), "head")
                took = time.monotonic() - begun
        finally:
            private.stop()
    assert record.outcome is Outcome.NEVER_STARTED
    assert "did not start" in (record.fault or "")
    assert took < START_SECONDS + 5


def _without_observer(backend: GvisorBackend, tree: DictTree, client: DockerClient) -> RunRecord:
    """Run, and kill the container that takes the reports in the middle."""
    mine = {"label": [f"{reaper.OWNER}={reaper.Owner.me()}"]}
    with backend.open(SandboxSpec(), tree, tree) as session:

        def later() -> None:
            time.sleep(3)
            for container in client.api.containers(filters=mine):
                if "sinks.py" in container["Command"]:
                    client.api.kill(container["Id"])

        thread = threading.Thread(target=later)
        thread.start()
        record = session.run(probe("python3", "main.py", deadline=8), "head")
        thread.join()
    return record


@pytest.mark.parametrize("tree", [SLEEPER, BUSY], ids=["sleeping", "busy"])
def test_reports_that_nobody_takes_are_no_clean_look(
    backend: GvisorBackend, client: DockerClient, tree: DictTree
) -> None:
    before = snapshot() | {"descriptors": set()}  # the client of this test keeps connections
    begun = time.monotonic()
    record = _without_observer(backend, tree, client)
    assert time.monotonic() - begun < 40
    assert record.fault or not record.completeness.whole, record
    assert snapshot() | {"descriptors": set()} == before


def test_what_its_kernel_could_not_report_is_counted(
    backend: GvisorBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentry's own count of lost packets comes with the packets; here it says that there were some."""
    from gate.tracing.readers.gvisor import wire

    split = wire.split
    monkeypatch.setattr(wire, "split", lambda packet: (split(packet)[0], 7, split(packet)[2]))
    with backend.open(SandboxSpec(), HELLO, HELLO) as session:
        record = session.run(probe("python3", "main.py"), "head")
        assert record.trace is not None
        completeness = read_trace(record.trace)[0]
    assert record.outcome is Outcome.COMPLETED
    assert completeness.dropped == record.completeness.dropped == 7


def test_many_sandboxes_leave_nothing(backend: GvisorBackend) -> None:
    """20 one after another, 8 at once."""
    with backend.open(SandboxSpec(), HELLO, HELLO) as session:  # what a process keeps of its first session
        session.run(probe("python3", "main.py"), "head")
    before = snapshot()
    with backend.open(SandboxSpec(), HELLO, HELLO) as session:
        session.expect(28)
        records = [session.run(probe("python3", "main.py", deadline=20), "head") for _ in range(20)]
        with ThreadPoolExecutor(8) as pool:
            records += pool.map(
                lambda _: session.run(probe("python3", "main.py", deadline=30), "base"), range(8)
            )
    for record in records:
        assert (record.outcome, record.fault, record.stdout) == (Outcome.COMPLETED, None, b"hi\n"), record
        assert record.completeness.whole
    assert snapshot() == before
