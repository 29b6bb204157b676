"""JavaScript's packages, for real: a sandbox, our own registry, what modules find, what is said."""

from __future__ import annotations

import io
import json
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from gate.model.change import Change, ChangedFile, Side
from gate.model.run import Probe, RunRecord, SandboxSpec
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.dependencies import resolve_manifest
from gate.sandbox.dependencies.index import Index, configured_host
from gate.sandbox.dependencies.install import Means
from gate.sandbox.dependencies.javascript import NpmContext, set_up_javascript
from gate.sandbox.dependencies.layer_store import LayerStore
from gate.sandbox.dependencies.registry import Registry
from gate.sandbox.dependencies.setup import SetUp
from gate.sandbox.dependencies.tree_links import LinkedTree
from gate.sandbox.egress.rules import Allowed
from gate.sandbox.egress.upstream import Upstreams
from gate.sandbox.images import runtimes
from tests.contract.capabilities import capability
from tests.npm_registry import NpmRegistry, archive, integrity, serving
from tests.unit.supply.python.trees import DictTree

pytestmark = pytest.mark.slow
MAIN = "lib/main.js"


class Tree(DictTree):
    """A tree that can be sent into a sandbox."""

    def archive(self) -> Iterator[bytes]:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            for path, data in self.files.items():
                member = tarfile.TarInfo(path)
                member.size, member.mode = len(data), 0o644
                tar.addfile(member, io.BytesIO(data))
        yield out.getvalue()


def changed(path: str) -> ChangedFile:
    return ChangedFile(
        path=path, old_path=None, status="modified", language="javascript", hunks=(), old_mode="100644",
        new_mode="100644", old_blob="1", new_blob="2", binary=False, size=9,
    )  # fmt: skip


def change(*paths: str) -> Change:
    files = tuple(changed(path) for path in paths)
    return Change(repo="", base=None, head=None, merge_base=None, commits=(), files=files)


def lock(packages: Mapping[str, object], **own: object) -> str:
    return json.dumps({"lockfileVersion": 3, "packages": {"": own, **packages}})


@pytest.fixture
def registry() -> Iterator[NpmRegistry]:
    with serving() as running:
        yield running


class Room:
    """One backend, one registry, one cache."""

    def __init__(self, folder: Path, registry: NpmRegistry, backend: str) -> None:
        found = capability(backend)
        if not found.available or found.reserve:
            pytest.skip(found.reason or found.reserve)
        self.backend = BACKENDS[backend]()
        self.folder = folder
        self.registry = Registry(url=registry.url)
        self.own = [configured_host(registry.url, inside=True)]
        self.cache = folder / "cache"
        self.cache.mkdir(mode=0o755)

    def set_up(self, base: dict[str, str], head: dict[str, str] | None = None, **other: object) -> SetUp:
        means = Means(
            index=Index(),
            allowed=Allowed.of([], [443], self.own),
            upstream=Upstreams({}),
            **other,  # type: ignore[arg-type]
        )
        installer = NpmContext(
            backend=self.backend,
            spec=SandboxSpec(),
            means=means,
            registry=self.registry,
            store=LayerStore(self.cache),
            traces=self.folder,
        )
        self.trees = Tree(base), Tree(base if head is None else head)
        paths = [path for path in self.trees[1].files if path.endswith(("main.js", "package.json"))]
        return set_up_javascript(installer, change(*paths), *self.trees, head_too=True)

    def run(self, done: SetUp, code: str, side: Side = "head") -> RunRecord:
        script = (
            "const node = require('node:fs'); process.chdir('/work/tree');"
            f"const req = require('node:module').createRequire('/work/tree/{MAIN}');"
        )
        runner = "/opt/runtime/node"
        probe = Probe(
            id="x", phase="script", target="x", path=None, argv=(runner, "-e", script + code), driver=False
        )
        base = LinkedTree(self.trees[0], done.links.get("base", ()))
        head = LinkedTree(self.trees[1], done.links.get("head", ()))
        spec = replace(SandboxSpec(), modules=done.modules, runtimes=("javascript",))
        with self.backend.open(spec, base, head) as session:
            return session.run(probe, side)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that root's bubblewrap, which becomes another user, can read."""
    with tempfile.TemporaryDirectory(prefix="gate-modules-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(params=["bubblewrap", pytest.param("docker", marks=pytest.mark.engine)])
def room(place: Path, registry: NpmRegistry, request: pytest.FixtureRequest) -> Room:
    return Room(place, registry, str(request.param))


@pytest.fixture
def quick(place: Path, registry: NpmRegistry) -> Room:
    return Room(place, registry, "bubblewrap")


needs_node = pytest.mark.skipif(runtimes.find_node() is None, reason="no Node of a wheel on this machine")


@needs_node
def test_modules_are_found_where_the_lock_puts_them(room: Room, registry: NpmRegistry) -> None:
    files = {"index.js": "exports.level = require('plumb').level + 1;"}
    tree = {
        "package.json": json.dumps({"workspaces": ["packages/*"], "dependencies": {"roof": "1"}}),
        "packages/own/package.json": json.dumps({"name": "@shop/own"}),
        "packages/own/index.js": "exports.own = true;",
        MAIN: "",
    }
    tree["package-lock.json"] = lock(
        {
            "packages/own": {"name": "@shop/own"},
            "node_modules/@shop/own": {"resolved": "packages/own", "link": True},
            "node_modules/roof": registry.add("roof", "1.0.0", files, dependencies={"plumb": "1"}),
            "node_modules/roof/node_modules/plumb": registry.add(
                "plumb", "1.0.0", {"index.js": "exports.level = 1;"}
            ),
            "node_modules/plumb": registry.add("plumb", "2.0.0", {"index.js": "exports.level = 20;"}),
        },
        dependencies={"roof": "1", "plumb": "2", "@shop/own": "*"},
    )
    done = room.set_up(tree)
    assert done.summary == "3 modules for base"
    assert not done.not_exercised
    said = room.run(done, "console.log(req('roof').level, req('plumb').level, req('@shop/own').own)")
    assert said.stdout == b"2 20 true\n", said.stderr
    refused = room.run(done, "node.writeFileSync('/work/tree/node_modules/roof/index.js', '')")
    assert b"EROFS" in refused.stderr or b"EACCES" in refused.stderr
    room.run(done, "node.mkdirSync('/work/tree/node_modules/.vite')")
    again = room.set_up(tree)
    assert again.summary == "3 modules for base, kept from before"
    assert again.modules == done.modules


@needs_node
def test_what_head_adds_is_there_for_head_only(quick: Room, registry: NpmRegistry) -> None:
    one = registry.add("one", "1.0.0", {"index.js": ""})
    two = registry.add("two", "1.0.0", {"index.js": ""})
    manifest = json.dumps({"dependencies": {"one": "1"}})
    base = {
        "package.json": manifest,
        MAIN: "",
        "package-lock.json": lock({"node_modules/one": one}, dependencies={"one": "1"}),
    }
    head = base | {
        "package-lock.json": lock(
            {"node_modules/one": one, "node_modules/two": two}, dependencies={"one": "1", "two": "1"}
        )
    }
    done = quick.set_up(base, head)
    assert done.summary == "1 module for base; 2 modules for head; new: two 1.0.0"
    assert b"MODULE_NOT_FOUND" in quick.run(done, "req('two')", "base").stderr
    assert quick.run(done, "req('two')").exit_code == 0


def test_nothing_of_a_package_is_run(quick: Room, registry: NpmRegistry) -> None:
    act = "node -e \"require('fs').writeFileSync('/work/out/acted', '')\"; touch /work/out/acted"
    entry = registry.add(
        "acting", "1.0.0", {"index.js": ""}, scripts={"preinstall": act, "install": act, "postinstall": act}
    )
    tree = {
        "package.json": "{}",
        MAIN: "",
        "package-lock.json": lock({"node_modules/acting": entry}, dependencies={"acting": "1"}),
    }
    done = quick.set_up(tree)
    with tarfile.open(done.modules["base"]) as tar:
        names = {member.name for member in tar if member.isreg()}
    assert names == {"node_modules/acting/index.js", "node_modules/acting/package.json"}


def test_another_archive_than_the_lock_names_is_refused(quick: Room, registry: NpmRegistry) -> None:
    good = registry.add("good", "1.0.0", {"index.js": ""})
    bad = registry.add("bad", "1.0.0", {"index.js": "1"})
    registry.files["/bad/-/bad-1.0.0.tgz"] = archive({"index.js": "2"})
    bare = {**registry.add("bare", "1.0.0", {"index.js": ""}), "integrity": "md5-1B2M2Y8AsgTpgAmY7PhCfg=="}
    packages = {"node_modules/good": good, "node_modules/bad": bad, "node_modules/bare": bare}
    tree = {
        "package.json": "{}",
        MAIN: "",
        "package-lock.json": lock(packages, dependencies=dict.fromkeys(("good", "bad", "bare"), "1")),
    }
    done = quick.set_up(tree)
    assert {(entry.target, entry.reason) for entry in done.not_exercised} == {
        ("a dependency", "dependency missing: bad 1.0.0: what the registry gives is not what its hash names"),
        ("a dependency", "dependency missing: bare 1.0.0: nothing says what its hash is"),
    }
    assert [place for place, _ in done.links["head"]] == ["node_modules/.bin", "node_modules/good"]


def test_an_archive_with_links_and_names_that_leave_it_stays_inside(
    quick: Room, registry: NpmRegistry
) -> None:
    entry = registry.add("odd", "1.0.0", {})
    files = {
        "index.js": "",
        "../../../escaped.js": "1",
        "a/../../b.js": "1",
        "types.d.ts": "",
        "README.md": "",
    }
    content = archive(files, links={"link": "/etc/passwd", "index2.js": "../../../out"})
    registry.files["/odd/-/odd-1.0.0.tgz"] = content
    entry["integrity"] = integrity(content)
    tree = {
        "package.json": "{}",
        MAIN: "",
        "package-lock.json": lock({"node_modules/odd": entry}, dependencies={"odd": "1"}),
    }
    done = quick.set_up(tree)
    with tarfile.open(done.modules["base"]) as tar:
        assert [m.name for m in tar if not m.isdir()] == ["node_modules/odd/index.js"]


def test_a_registry_that_does_not_answer_is_said_and_no_more(quick: Room, registry: NpmRegistry) -> None:
    entry = registry.add("one", "1.0.0", {"index.js": ""})
    tree = {
        "package.json": "{}",
        MAIN: "",
        "package-lock.json": lock({"node_modules/one": entry}, dependencies={"one": "1"}),
    }
    quick.registry = Registry(url="http://127.0.0.1:9")
    quick.own = [configured_host("http://127.0.0.1:9", inside=True)]
    done = quick.set_up(tree)
    assert not done.modules
    assert done.summary.startswith("modules of base were not installed: ")
    assert [entry.target for entry in done.not_exercised] == ["dependencies"]


def test_a_place_that_the_rules_do_not_allow_is_not_asked(quick: Room, registry: NpmRegistry) -> None:
    entry = {
        **registry.add("one", "1.0.0", {"index.js": ""}),
        "resolved": "https://packages.example/one-1.0.0.tgz",
    }
    other = registry.add("two", "1.0.0", {"index.js": ""})
    packages = {"node_modules/one": entry, "node_modules/two": other}
    tree = {
        "package.json": "{}",
        MAIN: "",
        "package-lock.json": lock(packages, dependencies={"one": "1", "two": "1"}),
    }
    done = quick.set_up(tree)
    assert [entry.reason for entry in done.not_exercised] == [
        "dependency missing: one 1.0.0: packages.example is none of the registries that are allowed"
    ]
    assert {place for place, _ in done.links["head"]} == {"node_modules/.bin", "node_modules/two"}


@needs_node
@pytest.mark.skipif(not resolve_manifest._npm(), reason="no npm on this machine")
def test_without_a_lock_npm_chooses_the_versions(quick: Room, registry: NpmRegistry) -> None:
    registry.add("plumb", "1.0.0", {"index.js": "exports.level = 1;"})
    registry.add("plumb", "1.4.0", {"index.js": "exports.level = 14;"})
    registry.add("plumb", "2.0.0", {"index.js": "exports.level = 20;"})
    registry.add(
        "roof",
        "1.0.0",
        {"index.js": "exports.level = require('plumb').level;"},
        dependencies={"plumb": "^1.0.0"},
    )
    tree = {
        "package.json": json.dumps({"dependencies": {"roof": "^1.0.0", "g": "git+ssh://git@host.invalid/g"}}),
        MAIN: "",
    }
    done = quick.set_up(tree)
    assert done.summary == "2 modules for base", done.not_exercised
    assert quick.run(done, "console.log(req('roof').level)").stdout == b"14\n"
    before = len(registry.asked)
    assert quick.set_up(tree).summary == "2 modules for base, kept from before"
    assert len(registry.asked) == before


@needs_node
@pytest.mark.skipif(not resolve_manifest._npm(), reason="no npm on this machine")
def test_what_the_registry_lacks_gives_way(quick: Room, registry: NpmRegistry) -> None:
    """A mirror is behind: the newest that it has is taken, and the rest is installed all the same."""
    registry.add("sink", "1.0.0", {"index.js": "exports.level = 1;"})
    registry.add(
        "pipe", "1.0.0", {"index.js": "exports.level = require('sink').level;"}, dependencies={"sink": "^2"}
    )
    registry.add("tap", "1.0.0", {"index.js": ""})
    wants = {"pipe": "^1.0.0", "tap": "^3.0.0", "never-made": "^1.0.0"}
    done = quick.set_up({"package.json": json.dumps({"dependencies": wants}), MAIN: ""})
    assert done.summary == "3 modules for base", done.not_exercised
    assert quick.run(done, "console.log(req('pipe').level)").stdout == b"1\n"
    said = sorted(each.reason for each in done.not_exercised)
    assert said == [
        "not installed: never-made ^1.0.0: the registry lacks it",
        "not installed: sink ^2: the registry lacks it, its newest was taken",
        "not installed: tap ^3.0.0: the registry lacks it, its newest was taken",
    ]


def test_a_node_modules_of_the_tree_itself_stays_as_it_is(quick: Room, registry: NpmRegistry) -> None:
    entry = registry.add("one", "1.0.0", {"index.js": ""})
    tree = {
        "package.json": "{}", MAIN: "", "node_modules/one/index.js": "1",
        "package-lock.json": lock({"node_modules/one": entry}, dependencies={"one": "1"}),
    }  # fmt: skip
    assert quick.set_up(tree).links == {"base": (), "head": ()}
