"""Set-up without configuration, for real: uv in a sandbox, our own index, what is said."""

from __future__ import annotations

import io
import os
import socket
import tarfile
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from gate.change.interface import OpenChange
from gate.model.change import Change, ChangedFile
from gate.model.run import Probe, RunRecord, SandboxSpec
from gate.plan.python_source import imported_modules
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.dependencies import installer_files
from gate.sandbox.dependencies.automatic import SetUpRequest, set_up_automatically
from gate.sandbox.dependencies.index import Index, configured_host
from gate.sandbox.dependencies.install import InstallContext, Means
from gate.sandbox.dependencies.layer_store import LayerStore
from gate.sandbox.dependencies.setup import SetUp
from gate.sandbox.egress.rules import Allowed, ConfiguredHost
from gate.sandbox.egress.upstream import Upstreams
from gate.sandbox.tree_archive import NoTree
from gate.settings import SandboxSettings
from gate.stages.setup import prepare
from gate.supply.python.project import Project
from tests.package_index import PackageIndex, serving
from tests.unit.supply.python.trees import DictTree

pytestmark = pytest.mark.slow
CHANGED = ChangedFile(
    path="src/shop/cart.py",
    old_path=None,
    status="modified",
    language="python",
    hunks=(),
    old_mode="100644",
    new_mode="100644",
    old_blob="1",
    new_blob="2",
    binary=False,
    size=9,
)
CHANGE = Change(repo="", base=None, head=None, merge_base=None, commits=(), files=(CHANGED,))
PROJECT = (
    '[project]\nname = "shop"\nversion = "1.4"\n[project.entry-points."shop.stores"]\ndisk = "shop.cart"\n'
)


@cache
def _why_not(name: str) -> str:
    found = BACKENDS[name]().probe()
    return "" if found.available and not found.reserve else found.reason or found.reserve


@pytest.fixture
def index() -> Iterator[PackageIndex]:
    with serving() as running:
        running.add("plumbline", "1.0", {"plumbline.py": "LEVEL = 1\n"})
        running.add("rooftop", "2.0", {"rooftop/__init__.py": "import plumbline\n"}, ("plumbline>=1",))
        running.add("pytest", "9.0", {"pytest.py": "MADE_UP = True\n"})
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
        self.cache.mkdir(mode=0o755)

    def set_up(self, base: dict[str, str], head: dict[str, str] | None = None, **other: object) -> SetUp:
        common = {"src/shop/cart.py": "import rooftop\n"}
        means = Means(
            index=self.index,
            allowed=Allowed.of([], [443], [*self.own, *self.index.hosts()]),
            upstream=Upstreams({}),
            **other,  # type: ignore[arg-type]
        )
        context = InstallContext(
            backend=self.backend,
            spec=SandboxSpec(),
            means=means,
            store=LayerStore(self.cache),
            traces=self.folder,
        )
        trees = DictTree(base | common), DictTree((base if head is None else head) | common)
        request = SetUpRequest(undeclared=imported_modules)
        return set_up_automatically(context, CHANGE, *trees, request=request)

    def run(self, done: SetUp, code: str) -> RunRecord:
        probe = Probe(
            id="x", phase="call", target="x", path=None, argv=("python3", "-B", "-c", code), driver=False
        )
        with self.backend.open(replace(SandboxSpec(), layers=done.layers), NoTree(), NoTree()) as session:
            return session.run(probe, "head")


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that root's bubblewrap, which becomes another user, can read."""
    with tempfile.TemporaryDirectory(prefix="gate-layers-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(params=["docker", "bubblewrap"])
def room(place: Path, index: PackageIndex, request: pytest.FixtureRequest) -> Room:
    return Room(place, index, str(request.param))


@pytest.fixture
def quick(place: Path, index: PackageIndex) -> Room:
    return Room(place, index, "docker" if _why_not("bubblewrap") else "bubblewrap")


def _said(done: SetUp) -> str:
    return f"{done.summary} {done.problems} {done.not_exercised} {[(r.stdout, r.stderr) for r in done.runs]}"


def _lock(*packages: tuple[str, str, str]) -> str:
    """A uv.lock of (name, version, sha256)."""
    edges = ", ".join(f'{{ name = "{name}" }}' for name, _, _ in packages)
    text = (
        f'version = 1\n[[package]]\nname = "shop"\nsource = {{ editable = "." }}\ndependencies = [{edges}]\n'
    )
    for name, version, digest in packages:
        text += (
            f'[[package]]\nname = "{name}"\nversion = "{version}"\n'
            'source = { registry = "https://index.example/simple" }\n'
            f'wheels = [{{ url = "https://index.example/x.whl", hash = "sha256:{digest}" }}]\n'
        )
    return text


def test_a_locked_project_is_there_with_its_metadata(room: Room, index: PackageIndex) -> None:
    assert installer_files.uv()[0], "uv is a dependency of gate"
    one = index.add("plumbline", "1.0", {"plumbline.py": "LEVEL = 1\n"})
    two = index.add("rooftop", "2.0", {"rooftop/__init__.py": "import plumbline\n"}, ("plumbline>=1",))
    index.add("rooftop", "3.0", {"rooftop/__init__.py": "NEWER = 1\n"})
    files = {"pyproject.toml": PROJECT, "uv.lock": _lock(("plumbline", "1.0", one), ("rooftop", "2.0", two))}
    done = room.set_up(files)
    assert set(done.layers) == {"base", "head"}, _said(done)
    assert (done.problems, done.not_exercised, done.probes) == ((), (), ()), _said(done)
    assert "3 packages for base" in done.summary  # and pytest
    code = (
        "import rooftop, importlib.metadata as m; print(m.version('rooftop'), m.version('shop'), "
        "[e.value for e in m.entry_points(group='shop.stores')])"
    )
    record = room.run(done, code)
    assert record.stdout.decode().strip() == "2.0 1.4 ['shop.cart']", record.stderr
    index.asked.clear()
    start = time.monotonic()
    again = room.set_up(files)
    assert (again.layers, index.asked) == (done.layers, [])
    assert time.monotonic() - start < 30  # 0.3 s on a machine that does nothing else


def test_a_package_that_is_not_what_its_hash_names_is_left_out(quick: Room, index: PackageIndex) -> None:
    good = index.add("plumbline", "1.0", {"plumbline.py": "LEVEL = 1\n"})
    done = quick.set_up(
        {
            "pyproject.toml": PROJECT,
            "uv.lock": _lock(("plumbline", "1.0", good), ("rooftop", "2.0", "0" * 64)),
        }
    )
    (left,) = done.not_exercised
    assert "rooftop==2.0: what the index gives is not what its hash names" in left.reason, _said(done)
    assert "plumbline" in done.summary or "packages" in done.summary
    assert not done.problems
    record = quick.run(done, "import plumbline\ntry: import rooftop\nexcept ImportError: print('without')")
    assert record.stdout == b"without\n", record.stderr


def test_what_cannot_be_had_is_named_and_the_rest_is_there(quick: Room, index: PackageIndex) -> None:
    index.add("fussy", "1.0", {"fussy.py": ""}, ("nosuchthing>=3",))
    done = quick.set_up(
        {"requirements.txt": "rooftop\nmissing-thing==4\nfussy\n", "requirements-dev.txt": "pytest\n"}
    )
    reasons = sorted(n.reason for n in done.not_exercised)
    assert len(reasons) == 2, _said(done)
    assert reasons[0].startswith("dependency missing: fussy: "), reasons
    assert reasons[1].startswith("dependency missing: missing-thing==4: the index does not have"), reasons
    assert quick.run(done, "import rooftop, pytest; print(pytest.MADE_UP)").stdout == b"True\n", _said(done)


def test_without_a_manifest_well_known_packages_are_told_from_imports(
    quick: Room, index: PackageIndex
) -> None:
    index.add("pyyaml", "6.0", {"yaml.py": "HERE = 1\n"})
    index.add("flask", "3.0", {"flask.py": "HERE = 1\n"})
    base = {"app.py": "import os, yaml, rooftop, shop\n"}
    done = quick.set_up(base)
    assert set(done.layers) == {"base", "head"}, _said(done)
    assert "told from imports: no manifest" in done.summary
    code = "import yaml\ntry: import rooftop\nexcept ImportError: print('only', yaml.HERE)"
    assert quick.run(done, code).stdout == b"only 1\n", _said(done)  # rooftop is nobody's that many know
    more = quick.set_up(base, {"app.py": "import yaml, flask\n"})
    assert [p.dependency for p in more.probes] == ["flask 3.0"]
    assert more.layers["base"] != more.layers["head"]
    assert not quick.set_up(base | {"requirements.txt": "# nothing\n"}).layers  # it says what it needs
    named = '[project]\nname = "rooftop"\nversion = "1"\n'
    assert "told from imports" not in quick.set_up(base | {"pyproject.toml": named}).summary
    tools = quick.set_up(base | {"pyproject.toml": "[tool.ruff]\nline-length = 110\n"})
    assert "told from imports: no manifest" in tools.summary, _said(tools)


def test_what_head_adds_is_heads_alone_and_probed(quick: Room, index: PackageIndex) -> None:
    base = {"pyproject.toml": '[project]\nname="shop"\nversion="1"\ndependencies=["plumbline"]\n'}
    head = {"pyproject.toml": '[project]\nname="shop"\nversion="2"\ndependencies=["plumbline", "rooftop"]\n'}
    done = quick.set_up(base, head)
    assert done.layers["base"] != done.layers["head"], _said(done)
    assert [p.dependency for p in done.probes] == ["rooftop 2.0"]
    only_version = {"pyproject.toml": base["pyproject.toml"].replace('"1"', '"2"')}
    same = quick.set_up(base, only_version)
    assert same.layers["base"] == same.layers["head"]


def test_without_an_index_nothing_is_installed_and_it_is_said(quick: Room) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    quick.index = Index(url=f"http://127.0.0.1:{port}/simple")
    quick.own = [ConfiguredHost.of(f"http://127.0.0.1:{port}", inside=True)]
    done = quick.set_up({"requirements.txt": "rooftop\n"})
    assert not done.layers
    assert "cannot be reached" in done.problems[0], _said(done)
    assert "cannot be reached" in done.not_exercised[0].reason


def test_a_machine_without_an_index_goes_on(
    quick: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{port}/simple")
    monkeypatch.setenv("GATE_CACHE", str(tmp_path / "gate"))
    tree = DictTree({"requirements.txt": "rooftop\n", "src/shop/cart.py": ""})
    opened = OpenChange(change=CHANGE, base=tree, head=tree, config=tree)
    capability = quick.backend.probe()
    wanted = SandboxSettings(egress_allow=(f"http://127.0.0.1:{port}",))
    done = prepare(opened, wanted, quick.backend, capability, SandboxSpec(), traces=tmp_path / "traces")
    assert not done.problems
    assert "dependencies were not installed" in done.summary
    told = prepare(
        opened,
        wanted,
        quick.backend,
        replace(capability, layers=False),
        SandboxSpec(),
        traces=tmp_path / "t2",
    )
    assert (told.problems, told.layers) == ((), {})
    assert "cannot hold installed dependencies" in told.summary


def _sdist(name: str, setup: str) -> bytes:
    out = io.BytesIO()
    toml = '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for path, text in {
            f"{name}-1.0/own.py": setup,
            f"{name}-1.0/pyproject.toml": toml,
            f"{name}-1.0/PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        }.items():
            member = tarfile.TarInfo(path)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()


BACKEND = """
import os, zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "mortar-1.0-py3-none-any.whl"
    info = "mortar-1.0.dist-info"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as out:
        out.writestr("mortar.py", "BUILT = True\\n")
        out.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: mortar\\nVersion: 1.0\\n")
        out.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        out.writestr(info + "/RECORD", "mortar.py,,\\n")
    return name
"""


def test_what_has_no_wheel_is_built_where_base_needs_it_too(quick: Room, index: PackageIndex) -> None:
    index.files["mortar-1.0.tar.gz"] = _sdist("mortar", BACKEND)
    done = quick.set_up({"requirements.txt": "plumbline\nmortar\n"}, builds=True)
    assert quick.run(done, "import mortar; print(mortar.BUILT)").stdout == b"True\n", _said(done)
    assert not done.not_exercised, _said(done)
    only_head = quick.set_up(
        {"requirements.txt": "plumbline\n"}, {"requirements.txt": "plumbline\nmortar\n"}, builds=True
    )
    assert "sandbox.setup_builds" in only_head.not_exercised[0].reason, _said(only_head)
    assert not [run for run in only_head.runs if run.trace is not None]


def test_a_built_layer_is_made_anew_for_a_comparison(quick: Room, index: PackageIndex) -> None:
    index.files["mortar-1.0.tar.gz"] = _sdist("mortar", BACKEND)
    base = {"requirements.txt": "mortar\n"}
    quick.set_up(base, builds=True)
    again = quick.set_up(base, builds=True)
    assert "kept from before" in again.summary
    differs = quick.set_up(base, {"requirements.txt": "mortar>=1\n", "x.txt": ""}, builds=True)
    assert [run.trace is not None for run in differs.runs] == [True, True], _said(differs)


FAILING = "def build_wheel(folder, config_settings=None, metadata_directory=None):\n    raise OSError\n"


def test_a_version_without_a_wheel_gives_way_to_the_nearest_newer_one(
    quick: Room, index: PackageIndex
) -> None:
    index.files["mortar-1.0.tar.gz"] = _sdist("mortar", FAILING)
    index.add("mortar", "1.1", {"mortar.py": "VERSION = 1.1\n"})
    index.add("mortar", "2.0", {"mortar.py": "VERSION = 2.0\n"})
    done = quick.set_up({"requirements.txt": "plumbline\nmortar==1.0\n"}, builds=True)
    record = quick.run(done, "import mortar, plumbline; print(mortar.VERSION)")
    assert record.stdout == b"1.1\n", _said(done)
    (told,) = done.not_exercised
    assert told.reason.startswith("mortar 1.1 instead of 1.0: there is no wheel"), _said(done)
    assert not [run for run in done.runs if run.trace is not None]  # nothing was built
    index.asked.clear()
    again = quick.set_up({"requirements.txt": "plumbline\nmortar==1.0\n"}, builds=True)
    assert (again.layers, again.not_exercised) == (done.layers, done.not_exercised)
    assert not index.asked


def test_what_cannot_be_built_is_not_tried_again(quick: Room, index: PackageIndex) -> None:
    index.files["mortar-1.0.tar.gz"] = _sdist("mortar", FAILING)
    index.add("mortar", "2.0", {"mortar.py": "VERSION = 2.0\n"})
    base = {"requirements.txt": "plumbline\nmortar==1.0\n"}
    done = quick.set_up(base, builds=True)
    assert quick.run(done, "import mortar; print(mortar.VERSION)").stdout == b"2.0\n", _said(done)
    (told,) = done.not_exercised
    assert told.reason == "mortar 2.0 instead of 1.0: it could not be built", _said(done)
    assert [run for run in done.runs if run.trace is not None]
    index.asked.clear()
    again = quick.set_up(base, builds=True)
    assert (again.layers, again.not_exercised) == (done.layers, done.not_exercised)
    assert not index.asked


def test_a_version_with_a_hash_is_never_replaced(quick: Room, index: PackageIndex) -> None:
    good = index.add("plumbline", "1.0", {"plumbline.py": "LEVEL = 1\n"})
    index.files["mortar-1.0.tar.gz"] = _sdist("mortar", FAILING)
    index.add("mortar", "1.1", {"mortar.py": ""})
    lock = _lock(("plumbline", "1.0", good), ("mortar", "1.0", "0" * 64))
    done = quick.set_up({"pyproject.toml": PROJECT, "uv.lock": lock})
    (told,) = done.not_exercised
    assert told.reason.startswith("dependency missing: mortar==1.0: there is no wheel"), _said(done)
    record = quick.run(done, "import plumbline\ntry: import mortar\nexcept ImportError: print('without')")
    assert record.stdout == b"without\n", _said(done)


def test_a_runner_that_does_not_start_gives_way_to_a_newer_one(quick: Room, index: PackageIndex) -> None:
    index.add("pytest", "6.0", {"pytest.py": "import py\n"}, ("py>=1",))
    index.add("py", "1.0", {"py.py": "raise AttributeError('__spec__')\n"})
    index.add("py", "1.1", {"py.py": ""})
    index.add("pytest", "6.1", {"pytest.py": ""})
    base = {"requirements.txt": "plumbline==1.0\n", "requirements-dev.txt": "pytest==6.0\npy==1.0\n"}
    done = quick.set_up(base)
    record = quick.run(done, "import pytest, plumbline, importlib.metadata as m; print(m.version('pytest'))")
    assert record.stdout == b"6.0\n", (record.stderr, _said(done))
    (told,) = done.not_exercised
    assert told.reason == "py 1.1 instead of 1.0: pytest did not start: AttributeError: __spec__", _said(done)


def test_nothing_but_metadata_needs_no_run(quick: Room, index: PackageIndex) -> None:
    done = quick.set_up({"pyproject.toml": PROJECT})
    assert not done.runs
    assert quick.run(done, "import importlib.metadata as m; print(m.version('shop'))").stdout == b"1.4\n"
    assert not index.asked


def test_a_layer_is_verified_after_it_was_touched(quick: Room, index: PackageIndex) -> None:
    files = {"requirements.txt": "plumbline\n"}
    done = quick.set_up(files)
    tar = done.layers["base"]
    before = tar.stat()
    data = bytearray(tar.read_bytes())
    data[600] ^= 1
    tar.write_bytes(bytes(data))
    os.utime(tar, ns=(before.st_atime_ns, before.st_mtime_ns))  # what an attacker can put back
    index.asked.clear()
    quick.set_up(files)
    assert index.asked


def test_projects_survive_their_note() -> None:
    import msgspec

    project = Project(folder=".")
    assert msgspec.json.decode(msgspec.json.encode((project,)), type=tuple[Project, ...]) == (project,)
