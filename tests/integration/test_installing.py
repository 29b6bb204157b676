"""Installing for real, inside sandboxes: what arrives, what is refused, and every way of failing."""

from __future__ import annotations

import functools
import io
import os
import socket
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.model.run import Outcome, RunRecord, SandboxSpec
from gate.sandbox import canaries
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.dependencies import layer_mounts
from gate.sandbox.dependencies.index import Index, configured_host, read
from gate.sandbox.dependencies.install import InstallContext, Installed, Means, install
from gate.sandbox.dependencies.layer_store import LayerStore
from gate.sandbox.dependencies.requirements import RequirementSet
from gate.sandbox.egress.rules import Allowed, ConfiguredHost
from gate.sandbox.egress.upstream import Upstreams
from gate.tracing.behaviour.reduction import behaviours
from gate.tracing.codec import read_trace
from tests.contract.capabilities import capability
from tests.package_index import PackageIndex, serving

BACKEND_NAMES = ["docker", "gvisor", "bubblewrap", "microvm"]
pytestmark = pytest.mark.slow


@functools.cache
def _why_not(name: str) -> str:
    found = capability(name)
    if found.reserve and not os.environ.get("GATE_TEST_SLOW_BACKENDS"):
        return f"{found.reserve}; GATE_TEST_SLOW_BACKENDS=1 runs it"
    return "" if found.available else found.reason


@pytest.fixture
def index() -> Iterator[PackageIndex]:
    with serving() as running:
        running.add("plumbline", "1.0", {"plumbline.py": "LEVEL = 1\n"})
        yield running


class Room:
    """One backend, one index, one cache."""

    def __init__(self, folder: Path, index: PackageIndex, backend: str) -> None:
        if _why_not(backend):
            pytest.skip(_why_not(backend))
        self.backend = BACKENDS[backend]()
        self.folder = folder
        self.index = Index(url=index.url)
        self.own = [configured_host(index.place, inside=True)]
        self.cache = folder / "cache"
        self.cache.mkdir()

    def means(self, **other: object) -> Means:
        allowed = Allowed.of([], [443], [*self.own, *self.index.hosts()])
        return Means(index=self.index, allowed=allowed, upstream=Upstreams({}), **other)  # type: ignore[arg-type]

    def install(self, text: str, spec: SandboxSpec | None = None, **other: object) -> Installed:
        wanted = RequirementSet(roots=("requirements.txt",), files={"requirements.txt": text.encode()})
        context = InstallContext(
            backend=self.backend,
            spec=spec or SandboxSpec(),
            means=self.means(**other),
            store=LayerStore(self.cache),
            traces=self.folder,
        )
        return install(context, wanted, "head", path="requirements.txt")


@pytest.fixture(params=BACKEND_NAMES)
def room(tmp_path: Path, index: PackageIndex, request: pytest.FixtureRequest) -> Room:
    return Room(tmp_path, index, str(request.param))


@pytest.fixture
def quick(tmp_path: Path, index: PackageIndex) -> Room:
    """For what does not depend on the backend."""
    return Room(
        tmp_path,
        index,
        next((backend for backend in ("bubblewrap", "docker") if not _why_not(backend)), "docker"),
    )


def _run_of(installed: Installed) -> RunRecord:
    """Its run: there was one."""
    assert installed.record is not None
    return installed.record


def _said(done: Installed) -> str:
    return f"{done.problem} {_run_of(done).stderr.decode(errors='replace')[-1500:]} {_run_of(done).refused}"


def test_a_wheel_and_what_it_needs_arrive_once(room: Room, index: PackageIndex) -> None:
    digest = index.add(
        "rooftop", "2.0", {"rooftop/__init__.py": "", "rooftop/data.txt": "x"}, ("plumbline>=1",)
    )
    done = room.install("rooftop\n")
    assert done.layer is not None, _said(done)
    assert [str(d) for d in done.layer.distributions] == ["plumbline 1.0", "rooftop 2.0"]
    assert [d.modules for d in done.layer.distributions] == [("plumbline",), ("rooftop",)]
    with tarfile.open(done.layer.tar) as tar:
        names = tar.getnames()
    assert [n for n in names if n.endswith("site-packages/rooftop/data.txt")], names
    assert _run_of(done).trace is None
    assert digest
    asked = len(index.asked)
    again = room.install("rooftop\n")
    assert again.layer is not None
    assert again.layer.cached
    assert again.layer.tar == done.layer.tar
    assert len(index.asked) == asked
    assert _run_of(again).outcome is Outcome.COMPLETED


def test_a_hash_that_names_another_file_is_no_look(quick: Room, index: PackageIndex) -> None:
    good = index.add("rooftop", "2.0", {"rooftop.py": ""})
    done = quick.install(f"rooftop==2.0 --hash=sha256:{good}\n")
    assert done.layer is not None, _said(done)
    done = quick.install(f"rooftop==2.0 --hash=sha256:{'0' * 64}\n")
    assert done.problem is not None
    assert done.problem.ours
    assert "hash" in done.problem.text


def test_a_package_that_is_not_there_lies_in_what_was_asked_for(quick: Room) -> None:
    done = quick.install("nosuchthing==9\n")
    assert done.problem is not None, _said(done)
    assert (done.problem.ours, "needs nosuchthing==9" in done.problem.text) == (False, True), _said(done)


def test_an_index_that_cannot_be_reached_is_no_look(quick: Room) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    quick.index = Index(url=f"http://127.0.0.1:{port}/simple")
    quick.own = [ConfiguredHost.of(f"http://127.0.0.1:{port}", inside=True)]
    done = quick.install("plumbline\n")
    assert done.problem is not None
    assert done.problem.ours, _said(done)
    assert "cannot be reached" in done.problem.text


def test_an_index_that_hangs_costs_its_deadline(quick: Room) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        quick.index = Index(url=f"http://127.0.0.1:{port}/simple")
        quick.own = [ConfiguredHost.of(f"http://127.0.0.1:{port}", inside=True)]
        done = quick.install("plumbline\n", deadline=8.0)
    assert done.problem is not None
    assert done.problem.ours, _said(done)
    assert _run_of(done).outcome is Outcome.TIMED_OUT
    assert _run_of(done).seconds < 20


def test_too_much_is_not_fetched(quick: Room, index: PackageIndex) -> None:
    index.files["rooftop-2.0-py3-none-any.whl"] = bytes(6 << 20)
    done = quick.install("rooftop\n", most=4 << 20)
    assert done.problem is not None
    assert done.problem.ours, _said(done)
    assert "sandbox.setup_mb" in done.problem.text


def test_what_grows_too_large_inside_is_not_kept(quick: Room, index: PackageIndex) -> None:
    index.add("rooftop", "2.0", {f"rooftop/{n}.txt": "x" * (1 << 20) for n in range(9)})
    # stored, not packed: fetched is as much as installed, so both limits are near
    done = quick.install("rooftop\n", most=8 << 20)
    assert done.problem is not None
    assert done.problem.ours, _said(done)
    assert not list(quick.cache.glob("*.tar"))


def test_a_full_disk_is_told(quick: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: object, piece: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gate.sandbox.dependencies.result_archive.Arriving.keep", full)
    done = quick.install("plumbline\n")
    assert done.problem is not None
    assert done.problem.ours
    assert "No space left" in done.problem.text


def _sdist(name: str, version: str, setup: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for path, text in {
            f"{name}-{version}/setup.py": setup,
            f"{name}-{version}/PKG-INFO": f"Metadata-Version: 1.0\nName: {name}\nVersion: {version}\n",
        }.items():
            member = tarfile.TarInfo(path)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()


SETUP = "import os\nopen(os.path.expanduser('~/.aws/credentials')).read()\nraise SystemExit('no')\n"


def test_nothing_is_built_unless_asked(quick: Room, index: PackageIndex) -> None:
    index.files["rooftop-2.0.tar.gz"] = _sdist("rooftop", "2.0", SETUP)
    done = quick.install("rooftop\n")
    assert done.problem is not None, _said(done)
    assert "as a wheel" in done.problem.text
    assert _run_of(done).trace is None


def test_code_that_runs_in_an_installation_is_seen(room: Room, index: PackageIndex) -> None:
    """By an address of its own a source distribution is built even where only wheels are asked for."""
    index.files["rooftop-2.0.tar.gz"] = _sdist("rooftop", "2.0", SETUP)
    _backend(index)
    planted = canaries.plant()
    spec = SandboxSpec(
        canaries=planted, files=canaries.as_files(planted), env=canaries.as_environment(planted)
    )
    done = room.install(f"rooftop @ {index.place}/files/rooftop-2.0.tar.gz\n", spec, builds=True)
    assert done.problem is not None
    trace = _run_of(done).trace
    assert trace is not None, _said(done)
    completeness, _ = read_trace(trace)
    assert completeness.whole
    seen = {b.detail.get("canary") for b in behaviours(_run_of(done), planted) if b.kind.value == "canary"}
    assert "aws-credentials" in seen, _said(done)
    assert not list(room.cache.glob("*.json"))


def _backend(index: PackageIndex) -> None:
    """A stand-in for the build backend that pip asks for: runs setup.py when it is asked what it needs."""
    code = (
        "import runpy\n\n\nclass Backend:\n"
        "    def get_requires_for_build_wheel(self, config_settings=None):\n"
        "        runpy.run_path('setup.py')\n        return []\n\n\n__legacy__ = Backend()\n"
    )
    meta = "setuptools/build_meta/__init__.py"
    index.add("setuptools", "70.0", {"setuptools/__init__.py": "", meta: code})
    index.add("wheel", "0.43", {"wheel/__init__.py": ""})


def test_no_route_but_the_proxy(room: Room, index: PackageIndex) -> None:
    """Neither the index itself nor anything else can be reached around the proxy."""
    done = room.install(
        f"--index-url http://127.0.0.1:{index.port + 1}/simple\n--extra-index-url https://10.0.0.8/simple\n"
        "--extra-index-url https://169.254.169.254/simple\nplumbline\n"
    )
    assert done.layer is None
    assert {r.asked for r in _run_of(done).refused} == {
        f"127.0.0.1:{index.port + 1}",
        "10.0.0.8:443",
        "169.254.169.254:443",
    }
    assert not index.asked


def test_layers_unpack_to_plain_files(quick: Room) -> None:
    done = quick.install("plumbline\n")
    assert done.layer is not None, _said(done)
    folder = layer_mounts.unpacked(done.layer.tar)
    (module,) = folder.rglob("plumbline.py")
    assert module.read_text() == "LEVEL = 1\n"
    assert layer_mounts.unpacked(done.layer.tar) == folder


def test_two_installations_at_once_do_not_meet(quick: Room) -> None:
    done: list[Installed] = []
    threads = [threading.Thread(target=lambda: done.append(quick.install("plumbline\n"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [d.layer is not None for d in done] == [True, True]
    assert len(list(quick.cache.glob("*.tar"))) == 1


@pytest.mark.parametrize("backend", BACKEND_NAMES)
def test_a_real_package_arrives_from_this_machines_index(
    backend: str, tmp_path: Path, index: PackageIndex
) -> None:
    room = Room(tmp_path, index, backend)
    room.index = read()
    rules = Allowed.load()
    for place in room.index.hosts():
        with_network = _reachable(place.host, place.port)
        if not with_network:
            pytest.skip("no package index can be reached here")
    # on a machine whose network answers for public names at private addresses, its operator says so
    room.own = [
        ConfiguredHost(host=host, port=443, inside=True) for host in rules.hosts if not host.startswith("*")
    ]
    room.own += [
        ConfiguredHost(host=p.host, port=p.port, inside=True, plain=p.plain) for p in room.index.hosts()
    ]
    done = room.install("iniconfig==2.0.0\n")
    if done.problem is not None and "cannot be reached" in done.problem.text:
        pytest.skip(done.problem.text)
    assert done.layer is not None, _said(done)
    assert [str(d) for d in done.layer.distributions] == ["iniconfig 2.0.0"]
    assert not _run_of(done).refused


def _reachable(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=5):
            return True
    except OSError:
        return False
