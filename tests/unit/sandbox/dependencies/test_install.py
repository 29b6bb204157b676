"""What decides about an installation before anything is run, and what is believed of its result."""

from __future__ import annotations

import configparser
import io
import json
import os
import tarfile
import time
from pathlib import Path

import pytest

from gate.errors import InconclusiveError, UsageError
from gate.model.change import TreeEntry
from gate.model.run import Refused
from gate.sandbox.dependencies import index, layer_mounts, layers, result_archive
from gate.sandbox.dependencies.install import Means, _probe, configuration
from gate.sandbox.dependencies.layer_store import FRESH, Layer, LayerStore
from gate.sandbox.dependencies.requirements import GENERATED, read_requirements
from gate.sandbox.egress.rules import Allowed
from gate.sandbox.egress.upstream import Upstreams
from gate.settings import load


class Tree:
    """Files of a dictionary."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = {path: text.encode() for path, text in files.items()}

    def entries(self) -> tuple[TreeEntry, ...]:
        return tuple(
            TreeEntry(path=path, mode="100644", blob="0" * 40, size=len(data))
            for path, data in self.files.items()
        )

    def read(self, path: str) -> bytes:
        return self.files[path]


def _wanted(files: dict[str, str], *named: str, setup: str = "requirements"):  # type: ignore[no-untyped-def]
    return read_requirements(Tree(files), setup, named)  # type: ignore[arg-type]


def test_requirements_files_at_the_root_with_what_they_include() -> None:
    found = _wanted(
        {
            "requirements.txt": "-r deps/base.txt\nshiny==1 \\\n  --hash=sha256:00\n",
            "requirements.in": "shiny\n",
            "requirements-dev.txt": "-c constraints.txt\npytest\n",
            "deps/base.txt": "--requirement=../other.txt\ndull\n",
            "other.txt": "plain\n",
            "constraints.txt": "pytest<9\n",
            "docs/requirements.txt": "sphinx\n",
            "requirements.toml": "x",
        }
    )
    assert found.roots == ("requirements-dev.txt", "requirements.txt")
    assert set(found.files) == {*found.roots, "deps/base.txt", "other.txt", "constraints.txt"}
    assert not found.left
    assert found


def test_named_files_only() -> None:
    files = {"requirements.txt": "a\n", "ci/need.txt": "b\n"}
    assert _wanted(files, "ci/need.txt").roots == ("ci/need.txt",)
    assert not _wanted(files, "gone.txt")
    assert not _wanted({"requirements.txt": "# nothing\n\n"})


@pytest.mark.parametrize(
    "line",
    [
        "-e .",
        "--editable=./pkg",
        ".",
        "./pkg",
        "../other",
        ".[test]",
        "/opt/pkg",
        "file:///etc",
        "--no-binary :all:",
        "--no-binary=:all:",
        "--no-b :all:",
        "--pre --no-binary :all:",
        "--only-binary :none:",
        "--config-settings=x",
        "--proxy http://proxy.example",
        "--cert x",
        "-v",
        "--index-url 'x",
        "thing @ https://packages.example/thing-1.tar.gz",
        "thing[extra]@git+https://packages.example/thing.git#egg=x.whl",
        "https://packages.example/thing-1.zip",
        "git+ssh://packages.example/thing",
    ],
)
def test_lines_that_build_or_configure_are_left_out_and_told(line: str) -> None:
    found = _wanted({"requirements.txt": f"a\n{line}\nb\n"})
    assert found.files["requirements.txt"] == b"a\nb\n"
    assert found.left == (f"requirements.txt: {line}",)


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://packages.example/simple",
        "-i https://packages.example",
        "--extra-index-url=https://packages.example  # ours",
        "--find-links https://packages.example",
        "--trusted-host packages.example",
        "--require-hashes",
        "--pre",
        "thing @ https://packages.example/thing-1-py3-none-any.whl#sha256=00",
        "https://packages.example/thing-1-py3-none-any.whl",
        "thing[extra]>=1; python_version > '3'",
    ],
)
def test_what_the_proxy_decides_about_is_handed_on(line: str) -> None:
    found = _wanted({"requirements.txt": f"{line}\n"})
    assert found.files["requirements.txt"] == f"{line}\n".encode()
    assert not found.left


def test_where_building_is_allowed_addresses_are_handed_on() -> None:
    line = "thing @ https://packages.example/thing-1.tar.gz\n"
    tree = Tree({"requirements.txt": line})
    assert read_requirements(tree, "requirements", builds=True).files["requirements.txt"] == line.encode()  # type: ignore[arg-type]


def test_pyproject_dependencies_are_requirements_and_never_options() -> None:
    needs = """["a>=1", " b ; python_version > '3'", "-i https://x.example", "c\\n-i y", 7]"""
    toml = f'[project]\nname = "x"\ndependencies = {needs}\n'
    found = _wanted({"pyproject.toml": toml}, setup="pyproject")
    assert found.files == {GENERATED: b"a>=1\nb ; python_version > '3'\n"}
    assert len(found.left) == 2
    assert found.paths == ("pyproject.toml",)
    assert not _wanted({"pyproject.toml": "= ="}, setup="pyproject")
    assert _wanted({"pyproject.toml": "= ="}, setup="pyproject").left
    assert not _wanted({}, setup="pyproject")


def test_the_machines_own_index_counts() -> None:
    lines = [
        "global.index-url='https://one.example/simple'",
        "install.index-url='http://two.example:8080/simple'",
        "global.extra-index-url='file:///srv/wheels https://more.example/simple'",
        "wrong line",
    ]
    found = index.from_lines(lines, {})
    assert found.url == "http://two.example:8080/simple"
    assert found.more == ("https://more.example/simple",)
    assert found.endpoints == "two.example:8080 more.example:443"
    assert [p.plain for p in found.hosts()] == [True, False]
    assert not any(p.inside for p in found.hosts())
    assert (
        index.from_lines([*lines, ":env:.index-url='https://env.example/x'"], {}).url
        == "https://env.example/x"
    )
    assert index.from_lines([], {}).url == index.USUAL


def test_uvs_variables_name_an_index_where_pip_has_none() -> None:
    environ = {
        "UV_DEFAULT_INDEX": "mine=https://uv.example/simple",
        "UV_INDEX": "torch=https://torch.example/whl https://more.example/s",
        "UV_EXTRA_INDEX_URL": "file:///srv",
    }
    found = index.from_lines([], environ)
    assert (found.url, found.more) == (
        "https://uv.example/simple",
        ("https://torch.example/whl", "https://more.example/s"),
    )
    assert index.from_lines([], {"UV_INDEX_URL": "https://old.example/s"}).url == "https://old.example/s"
    pips = index.from_lines(["global.index-url='https://pip.example/simple'"], environ)
    assert (pips.url, pips.more) == ("https://pip.example/simple", ())


def test_a_password_in_an_index_is_not_told() -> None:
    found = index.from_lines(["global.index-url='https://me:secret@one.example/simple'"], {})
    assert found.has_secret
    assert found.endpoints == "one.example:443"
    with pytest.raises(UsageError) as error:
        index.configured_host("https://me:secret@x_y/simple", inside=False)
    assert "secret" not in error.value.message


def test_a_password_is_in_pips_configuration_only() -> None:
    secret = index.Index(
        url="https://me:secret@one.example/simple",
        more=("http://two.example:8080/s", "https://three.example/s"),
    )
    means = Means(index=secret, allowed=Allowed.of([], [443]), upstream=Upstreams({}))
    probe = _probe(_wanted({"requirements.txt": "a\n"}), "requirements.txt", means)
    assert "secret" not in f"{probe.argv} {probe.env}"
    parser = configparser.RawConfigParser()
    parser.read_string(configuration(secret).decode())
    table = parser["global"]
    assert table["index-url"] == secret.url
    assert table["extra-index-url"].split() == list(secret.more)
    assert table["trusted-host"].split() == ["two.example"]


def test_an_index_that_is_a_folder_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InconclusiveError):
        index.from_lines([f"global.index-url='file://{tmp_path}'"], {})
    with pytest.raises(InconclusiveError):
        index.from_lines([f"global.cert='{tmp_path}/none.pem'"], {})


def test_pip_itself_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert index.read({"PIP_INDEX_URL": "https://here.example/simple"}).url == "https://here.example/simple"


def test_the_tree_may_not_say_where_installations_go() -> None:
    with pytest.raises(UsageError, match="whoever runs gate"):
        load(base=Tree({"gate.toml": '[sandbox]\negress_allow = ["10.0.0.8"]\n'}), environ={})  # type: ignore[arg-type]
    told = load(environ={"GATE_SANDBOX_EGRESS_ALLOW": '["10.0.0.8"]'})
    assert told.config.sandbox.egress_allow == ("10.0.0.8",)


SITE = "lib/python3.11/site-packages"


def _tar(path: Path, members: dict[str, bytes | tarfile.TarInfo]) -> Path:
    with tarfile.open(path, "w") as tar:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                content.name = name
                tar.addfile(content)
                continue
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.uid, member.uname = len(content), 0o4777, 0, "root"
            tar.addfile(member, io.BytesIO(content))
    return path


def test_what_comes_home_is_made_plain(tmp_path: Path) -> None:
    record = (
        "thing/__init__.py,,\nthing/sub.py,,\nlone.py,,\nspace/part/__init__.py,,\nx.pth,,\nodd-name.py,,\n"
    )
    raw = _tar(
        tmp_path / "raw",
        {
            f"{SITE}/thing/__init__.py": b"",
            f"{SITE}/x.pth": b"import os\n",
            f"{SITE}/My_Thing-1.0.dist-info/RECORD": record.encode(),
            "bin/run": b"#!/bin/sh\n",
        },
    )
    (found,) = result_archive.clean(raw, tmp_path / "made.tar")
    assert (str(found), found.key, found.at_start) == ("My-Thing 1.0", "my-thing", True)
    assert found.modules == ("lone", "space.part", "thing")
    with tarfile.open(tmp_path / "made.tar") as tar:
        members = tar.getmembers()
    assert {m.mode for m in members if m.isfile()} == {0o755}
    assert all(m.uid == 0 and not m.uname and m.mode < 0o1000 for m in members)
    assert [m.name for m in members if m.isdir()][:2] == ["lib", "lib/python3.11"]
    folder = layer_mounts.unpacked(tmp_path / "made.tar")
    assert (folder / "bin/run").stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out", "a//b", "./a", "a/./b", f"{'x' * 1001}"])
def test_a_name_that_leaves_is_damage(tmp_path: Path, name: str) -> None:
    with pytest.raises(InconclusiveError):
        result_archive.clean(_tar(tmp_path / "raw", {name: b"x"}), tmp_path / "made.tar")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_what_is_no_file_is_damage(tmp_path: Path, kind: bytes) -> None:
    member = tarfile.TarInfo()
    member.type, member.linkname = kind, "/etc/passwd"
    with pytest.raises(InconclusiveError):
        result_archive.clean(_tar(tmp_path / "raw", {"a": member}), tmp_path / "made.tar")


def test_damage_of_every_kind_ends_in_words(tmp_path: Path) -> None:
    whole = _tar(tmp_path / "raw", {f"{SITE}/a.py": b"x" * 3000}).read_bytes()
    for cut in (0, 100, 700, 2000):
        raw = tmp_path / f"raw{cut}"
        raw.write_bytes(whole[:cut])
        with pytest.raises(InconclusiveError):
            result_archive.clean(raw, tmp_path / f"made{cut}.tar")


def _kept(store: LayerStore, key: str = "k" * 32) -> Layer:
    with store.scratch() as room:
        _tar(room / "clean.tar", {"a.py": b"x"})
        layer = Layer(tar=room, refused=(Refused(asked="x.example:443", why="no"),))
        return store.add(room / "clean.tar", layer, key)


def test_a_layer_is_found_again_only_as_it_was(tmp_path: Path) -> None:
    store = LayerStore(tmp_path)
    layer = _kept(store)
    found = store.find("k" * 32)
    assert found is not None
    assert (found.tar, found.refused, found.cached) == (layer.tar, layer.refused, True)
    assert store.find("o" * 32) is None
    layer.tar.write_bytes(layer.tar.read_bytes()[:-1] + b"!")
    assert store.find("k" * 32) is None


def test_an_old_layer_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LayerStore(tmp_path)
    _kept(store)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + FRESH + 1)
    assert store.find("k" * 32) is None


@pytest.mark.parametrize("text", ["", "{}", '{"version": 1, "tar": "../../etc/passwd"}', "[]", "\xff"])
def test_an_entry_that_does_not_add_up_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "k.json").write_text(text)
    assert LayerStore(tmp_path).find("k") is None


def test_what_nobody_used_is_swept(tmp_path: Path) -> None:
    store = LayerStore(tmp_path)
    layer = _kept(store)
    layer_mounts.unpacked(layer.tar)
    store.sweep()
    assert store.find("k" * 32) is not None
    for path in tmp_path.iterdir():
        os.utime(path, (1, 1))
    store.sweep()
    assert not list(tmp_path.iterdir())


def test_both_sides_share_what_they_have_in_common(tmp_path: Path) -> None:
    from gate.model.run import SandboxSpec

    one, two = tmp_path / "one.tar", tmp_path / "two.tar"
    same = SandboxSpec(layers={"base": one, "head": one})
    assert list(layers.mounts(same)) == [("/opt/deps/base", one)]
    assert layers.environment(same, "head", driver=True) == {"GATE_DEPS": "/opt/deps/base"}
    other = SandboxSpec(layers={"base": one, "head": two})
    assert [place for place, _ in layers.mounts(other)] == ["/opt/deps/base", "/opt/deps/head"]
    assert layers.environment(other, "head", driver=False)["PYTHONUSERBASE"] == "/opt/deps/head"
    assert layers.environment(SandboxSpec(layers={"head": two}), "base", driver=True) == {}
    assert json.dumps(layers.environment(SandboxSpec(), "base", driver=True)) == "{}"
