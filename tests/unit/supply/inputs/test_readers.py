"""Readers of what is taken from elsewhere: no text makes them raise or hang; what is ambiguous is refused."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.languages.limited_child import Reader, scan_isolated
from gate.supply import settings_files
from gate.supply.inputs.difference import InputContext, compare
from gate.supply.inputs.model import Inputs, UnreadableInputError
from gate.supply.inputs.places import is_usual, place, split
from gate.supply.inputs.readers import read, reader_of
from gate.supply.manifests import read as read_manifest
from tests.paths import TESTS

PATHS = (
    *("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pylock.toml", "requirements.txt"),
    *("pyproject.toml", "Pipfile", "package-lock.json", "package.json", "pnpm-lock.yaml", "yarn.lock"),
    *("bun.lock", "Cargo.lock", "Cargo.toml", "go.mod", "go.sum", "Gemfile.lock", "composer.lock"),
    *("Dockerfile", "compose.yml", ".gitmodules", ".pre-commit-config.yaml", "Chart.yaml", "main.tf"),
    *(".terraform.lock.hcl", ".devcontainer/devcontainer.json", "pubspec.lock", "pubspec.yaml"),
    *("requirements.yml", "Package.resolved", "Podfile.lock"),
)
SETTINGS = (*settings_files.READERS, "pip.conf", "pyproject.toml")
_PAIRS = TESTS / "unit" / "prescreen" / "scanners" / "supply_pairs"
REAL = {
    row.get("path", table["path"]): row.get("base", table["base"])
    for file in sorted(Path(_PAIRS).glob("*.toml"))
    for table in [tomllib.loads(file.read_text("utf-8"))]
    for row in table["hostile"]
}


@pytest.mark.parametrize("path", PATHS)
@given(data=st.binary(max_size=400))
@settings(max_examples=40, deadline=None)
def test_any_bytes_are_read_or_refused(path: str, data: bytes) -> None:
    assert isinstance(read(path, data, {}), Inputs)


@pytest.mark.parametrize("path", sorted(REAL))
@given(cut=st.data())
@settings(max_examples=60, deadline=None)
def test_a_real_file_with_parts_cut_and_doubled_is_read_or_refused(path: str, cut: st.DataObject) -> None:
    text = REAL[path]
    start = cut.draw(st.integers(0, len(text)))
    end = cut.draw(st.integers(start, min(len(text), start + 60)))
    other = cut.draw(st.sampled_from(["", text[start:end] * 2, "{", "[", '"', "\n", "\x00", "9" * 5000]))
    head = text[:start] + other + text[end:]
    old, new = read(path, text.encode(), {}), read(path, head.encode(), {})
    assert new.refused or isinstance(new.inputs, tuple)
    around = InputContext(known=frozenset, asks=lambda _: False)
    assert all(one.level in ("low", "medium", "high", "critical") for one in compare(old, new, around))


@pytest.mark.parametrize("path", SETTINGS)
@given(text=st.text(max_size=300))
@settings(max_examples=40, deadline=None)
def test_any_settings_are_read_or_refused(path: str, text: str) -> None:
    read_manifest(path, text.encode("utf-8", "replace"), {})


@pytest.mark.parametrize("path", sorted(set(PATHS)))
def test_every_path_has_a_reader(path: str) -> None:
    assert reader_of(path)
    assert reader_of(f"a/b/{path}")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package-lock.json", '{"packages": {"node_modules/a": {"version": "1", "version": "2"}}}'),
        ("package.json", '{"dependencies": {}, "dependencies": {"a": "1"}}'),
        ("pnpm-lock.yaml", "lockfileVersion: '9.0'\npackages:\n  a@1.0.0: {}\n  a@1.0.0: {x: y}\n"),
        ("yarn.lock", 'a@1:\n  version "1.0.0"\n\na@1:\n  version "2.0.0"\n'),
        ("yarn.lock", 'a@1:\n  version "1.0.0"\n  version "2.0.0"\n'),
        ("bun.lock", '{"workspaces": {"": {}}, "packages": {"a": ["a@1"], "a": ["b@1"],}}'),
        ("uv.lock", "[[package]]\nname = 'a'\nname = 'b'\n"),
        ("Cargo.lock", "[[package]]\nname = 'a'\nname = 'b'\n"),
        (".gitmodules", '[submodule "a"]\nurl = x\n[submodule "a"]\nurl = y\n'),
    ],
)
def test_what_parsers_read_differently_is_refused(path: str, text: str) -> None:
    found = read(path, text.encode(), {})
    assert found.ambiguous
    assert found.refused == "a key occurs twice"


NONSENSE = ("[" * 100_000, '{"a":' * 100_000, "9" * 5000, '{"packages": 3}', "[]", "")


def test_nesting_and_nonsense_end() -> None:
    files = [(path, text.encode()) for text in NONSENSE for path in PATHS]
    results = scan_isolated(Reader("gate.supply.inputs.readers:read", Inputs), files)
    assert [result.outcome for result in results] == ["done"] * len(files)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://registry.npmjs.org/a/-/a-1.tgz", "https://registry.yarnpkg.com/a/-/a-1.tgz"),
        ("https://pypi.org/simple", "https://files.pythonhosted.org/packages/a/b/c-1.whl"),
        ("https://PyPI.org:443/simple/", "https://user:pass@pypi.org/simple"),
        ("https://download.pytorch.org/whl/cpu", "https://download-r2.pytorch.org/whl/cu121"),
        ("https://index.crates.io/", "https://github.com/rust-lang/crates.io-index"),
    ],
)
def test_one_registry_has_several_names(one: str, other: str) -> None:
    assert place("registry", one) == place("registry", other)
    assert is_usual(place("registry", one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://pypi.org/simple", "http://pypi.org/simple"),
        ("https://pypi.org/simple", "https://pypi.org.example/simple"),
        ("https://pypi.org/simple", "https://pypi.org@files.example/simple"),
        ("https://github.com/a/b/releases/1.tgz", "https://github.com/c/b/releases/1.tgz"),
        ("https://github.com/rust-lang/crates.io-index", "https://github.com/rust-lang/crates.io-index2"),
        (
            "https://gitlab.com/api/v4/projects/1/packages/pypi",
            "https://gitlab.com/api/v4/projects/2/packages/pypi",
        ),
        ("https://npm.example/one/", "https://npm.example/two/"),
    ],
)
def test_places_that_are_not_the_same(one: str, other: str) -> None:
    assert place("registry", one) != place("registry", other)
    assert not is_usual(place("registry", other)) or is_usual(place("registry", one))


@pytest.mark.parametrize(
    ("address", "host", "path"),
    [
        ("git+ssh://git@github.com/a/b.git#1", "github.com", "a/b.git"),
        ("git@github.com:a/b.git", "github.com", "a/b.git"),
        ("github:a/b", "github.com", "a/b"),
        ("../a", "", "../a"),
        ("oci://docker.io/library/python", "docker.io", "library/python"),
    ],
)
def test_addresses_are_split(address: str, host: str, path: str) -> None:
    assert split(address) == (host, path)


def test_the_error_says_whether_parsers_differ() -> None:
    assert UnreadableInputError("x", ambiguous=True).ambiguous
    assert not UnreadableInputError("x").ambiguous
