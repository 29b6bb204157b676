"""The container backend on Podman's service: the same cases, the same limits, nothing left behind."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.errors import InconclusiveError
from gate.model.run import Limits, Outcome, SandboxSpec
from gate.sandbox.backends.container.docker import DockerBackend
from tests.contract.backend_contract import CASES, Case, probe, run_case
from tests.contract.leftovers import snapshot
from tests.contract.trees import DictTree
from tests.integration.private_podman import PrivatePodman

pytestmark = [pytest.mark.engine, pytest.mark.slow]
SOME = ("hello", "memory bomb", "extra files are planted")
LOOK = """
import json, os
status = dict(l.split(":\\t", 1) for l in open("/proc/self/status").read().splitlines() if ":\\t" in l)
def size(place):
    found = os.statvfs(place)
    return [found.f_blocks * found.f_frsize, found.f_files]
def flags(place):
    lines = [l.split() for l in open("/proc/self/mountinfo")]
    return [l[5] for l in lines if l[4] == place][-1].split(",")
def listed(place):
    try: return os.listdir(place)
    except OSError as error: return error.errno
print(json.dumps({
    "rights": [status[n].strip("0") for n in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
    "no_new": status["NoNewPrivs"], "seccomp": status["Seccomp"], "uid": os.getuid(),
    "sizes": {p: size(p) for p in ("/work", "/tmp")},
    "flags": {p: sorted({"nosuid", "nodev"} - set(flags(p))) for p in ("/work", "/tmp", "/run/gate")},
    "writable": [p for p in ("/", "/run", "/run/gate", "/var/tmp", "/etc", "/dev", "/sys/fs/cgroup")
                 if os.access(p, os.W_OK)],
    "groups": sorted({l.strip().rpartition(":")[2] for l in open("/proc/self/cgroup")}),
    "masked": [listed(p) for p in ("/sys/firmware", "/sys/module", "/sys/class", "/proc/acpi")],
    "cmdline": open("/proc/cmdline").read(), "sockets": listed("/run/gate"),
    "names": [open("/etc/hosts").read(), open("/etc/resolv.conf").read()],
    "links": os.listdir("/sys/class/net") if os.path.exists("/sys/class/net") else [],
}))
open("/tmp/seen-by-the-observer", "w").close()
"""


@pytest.fixture(scope="module")
def service() -> Iterator[PrivatePodman]:
    if shutil.which("podman") is None:
        pytest.skip("podman is not installed")
    if os.getuid() != 0:
        pytest.skip("a service of root's is what is tested")
    folder = Path(tempfile.mkdtemp(prefix="gp-", dir="/tmp"))
    podman = PrivatePodman(folder)
    try:
        podman.start()
        try:
            podman.load_images()
        except InconclusiveError as error:
            pytest.skip(f"the images come from the machine's own engine: {error.message}")
        yield podman
    finally:
        podman.stop()
        left = podman.mounts()
        shutil.rmtree(folder, ignore_errors=True)
    assert left == []
    assert not folder.exists()


@pytest.fixture
def backend(service: PrivatePodman, monkeypatch: pytest.MonkeyPatch) -> DockerBackend:
    monkeypatch.setenv("DOCKER_HOST", service.address)
    return DockerBackend()


@pytest.mark.parametrize("case", [c for c in CASES if c.name in SOME], ids=lambda case: case.name)
def test_the_contract_holds(backend: DockerBackend, case: Case) -> None:
    run_case(backend, case)


def test_the_backend_is_as_strong_and_the_run_is_traced(backend: DockerBackend) -> None:
    limits = Limits(scratch=32 << 20, scratch_inodes=500)
    tree = DictTree(files={"main.py": LOOK})
    found = backend.probe()
    assert found.available, found.reason
    before = snapshot()
    with backend.open(SandboxSpec(limits=limits), tree, tree) as session:
        record = session.run(probe("python3", "main.py"), "head")
        assert (record.outcome, record.fault) == (Outcome.COMPLETED, None), record.stderr
        assert record.trace is not None
        assert "/tmp/seen-by-the-observer" in Path(record.trace).read_text()
    seen = json.loads(record.stdout)
    assert seen.pop("names")[0].startswith("127.0.0.1\tlocalhost\n")
    sizes = seen.pop("sizes")
    assert all(32 << 20 <= size < 64 << 20 and inodes >= 500 for size, inodes in sizes.values()), sizes
    assert all(inodes < 5000 for _, inodes in sizes.values()), sizes
    assert seen == {
        "rights": [""] * 5,
        "no_new": "1",
        "seccomp": "2",
        "uid": 65532,
        "flags": {"/work": [], "/tmp": [], "/run/gate": []},
        "writable": [],
        "groups": ["/"],
        "masked": [[]] * 4,
        "cmdline": "",
        "sockets": 13,
        "links": [],
    }
    until = time.monotonic() + 5  # its monitors end a little later
    while snapshot() != before and time.monotonic() < until:
        time.sleep(0.1)
    assert snapshot() == before
