"""Lock files of every kind, as their tools write them: which versions, with which hashes, for one Python."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.supply.python import locks
from gate.supply.python.interpreter import environment, fits
from gate.supply.python.requirements import Requirements, with_imported

ENV = environment("3.11.2")
A, B = "a" * 64, "b" * 64


def _read(name: str, text: str, version: str = "3.11.2") -> Requirements:
    return locks.read(name, name, text.encode(), environment(version))


def _names(found: Requirements) -> list[str]:
    return [line.partition(" --hash")[0] for line in found.lines]


UV = f"""
version = 1
revision = 3
requires-python = ">=3.10"

[[package]]
name = "shop"
version = "1.0"
source = {{ editable = "." }}
dependencies = [
    {{ name = "anyio" }},
    {{ name = "tomli", marker = "python_full_version < '3.11'" }},
    {{ name = "numpy", version = "1.26.4", source = {{ registry = "https://pypi.org/simple" }}, marker = "python_full_version < '3.12'" }},
    {{ name = "numpy", version = "2.1.0", source = {{ registry = "https://pypi.org/simple" }}, marker = "python_full_version >= '3.12'" }},
    {{ name = "httpx", extra = ["http2"] }},
    {{ name = "shop-core" }},
    {{ name = "private" }},
]

[package.optional-dependencies]
redis = [{{ name = "redis" }}]

[package.dev-dependencies]
dev = [{{ name = "pytest" }}]
docs = [{{ name = "sphinx" }}]

[[package]]
name = "shop-core"
version = "0.1"
source = {{ editable = "packages/core" }}
dependencies = [{{ name = "click" }}]

[[package]]
name = "anyio"
version = "4.0.0"
source = {{ registry = "https://pypi.org/simple" }}
sdist = {{ url = "https://files.example/anyio-4.0.0.tar.gz", hash = "sha256:{A}", size = 9 }}
wheels = [{{ url = "https://files.example/anyio-4.0.0-py3-none-any.whl", hash = "sha256:{B}", size = 9 }}]

[[package]]
name = "numpy"
version = "1.26.4"
source = {{ registry = "https://pypi.org/simple" }}
resolution-markers = ["python_full_version < '3.12'"]

[[package]]
name = "numpy"
version = "2.1.0"
source = {{ registry = "https://pypi.org/simple" }}
resolution-markers = ["python_full_version >= '3.12'"]

[[package]]
name = "httpx"
version = "0.27.0"
source = {{ registry = "https://pypi.org/simple" }}
[package.optional-dependencies]
http2 = [{{ name = "h2" }}]

[[package]]
name = "private"
version = "1.0"
source = {{ git = "https://git.example/private?rev=main#0000" }}

[[package]]
name = "unreached"
version = "1.0"
source = {{ registry = "https://pypi.org/simple" }}
""" + "".join(
    f'[[package]]\nname = "{name}"\nversion = "1.0"\nsource = {{ registry = "https://pypi.org/simple" }}\n'
    for name in ("tomli", "redis", "pytest", "sphinx", "click", "h2")
)


def test_uv_lock_gives_what_the_project_and_its_tests_reach() -> None:
    found = _read("uv.lock", UV)
    assert sorted(_names(found)) == sorted(
        [
            "anyio==4.0.0",
            "numpy==1.26.4",
            "httpx==0.27.0",
            "h2==1.0",
            "click==1.0",
            "pytest==1.0",
            "redis==1.0",
        ]
    )
    assert f"anyio==4.0.0 --hash=sha256:{B} --hash=sha256:{A}" in found.lines
    assert (found.locked, found.python, found.members) == (True, ">=3.10", (".", "packages/core"))
    assert found.left == ("uv.lock: private comes from git, not from an index",)


def test_what_a_group_for_documentation_locks_is_there_for_files_that_import_it() -> None:
    needs = 'name = "sphinx"\nversion = "1.0"\n'
    more = UV.replace(needs, needs + 'dependencies = [{ name = "unreached" }, { name = "h2" }]\n')
    found = _read("uv.lock", more)
    assert found.aside == {
        "sphinx": ("sphinx==1.0", "unreached==1.0", "h2==1.0"),
        "unreached": ("unreached==1.0",),
    }
    assert with_imported(found, ["os", "anyio"]) == found
    assert _names(with_imported(found, ["sphinx", "anyio"])) == [
        *_names(found),
        "sphinx==1.0",
        "unreached==1.0",
    ]


def test_uv_lock_forks_by_the_interpreter() -> None:
    assert "numpy==2.1.0" in _names(_read("uv.lock", UV, "3.13.1"))
    assert "tomli==1.0" in _names(_read("uv.lock", UV, "3.10.4"))


def test_pylock_by_markers_groups_and_extras() -> None:
    def package(name: str, marker: str = "") -> str:
        says = f"marker = {json.dumps(marker)}\n" if marker else ""
        return (
            f'[[packages]]\nname = "{name}"\nversion = "1.0"\n{says}'
            f'wheels = [{{ name = "{name}-1.0-py3-none-any.whl", '
            f'url = "https://files.example/{name}-1.0-py3-none-any.whl", hashes = {{ sha256 = "{A}" }} }}]\n'
        )

    text = (
        'lock-version = "1.0"\ncreated-by = "somebody"\nrequires-python = ">=3.11"\n'
        'extras = ["fast"]\ndependency-groups = ["test", "docs"]\ndefault-groups = []\n'
        + package("attrs")
        + package("speedups", "'fast' in extras")
        + package("pytest", "'test' in dependency_groups")
        + package("sphinx", "'docs' in dependency_groups")
        + package("colorama", "sys_platform == 'win32'")
        + '[[packages]]\nname = "tool"\nvcs = { type = "git", url = "https://git.example/x", commit-id = "0" }\n'
    )
    found = _read("pylock.toml", text)
    assert _names(found) == ["attrs==1.0", "speedups==1.0", "pytest==1.0"]
    assert found.lines[0].endswith(f"--hash=sha256:{A}")
    assert found.left == ("pylock.toml: tool comes from no index",)
    assert found.python == ">=3.11"


POETRY = f"""
[[package]]
name = "requests"
version = "2.32.0"
groups = ["main"]
files = [{{file = "requests-2.32.0-py3-none-any.whl", hash = "sha256:{A}"}}]

[[package]]
name = "pytest"
version = "8.0.0"
groups = ["dev", "main"]
markers = {{dev = "python_version < '4'", main = "extra == 'x'"}}
files = []

[[package]]
name = "appnope"
version = "0.1.4"
groups = ["main"]
markers = "sys_platform == 'darwin'"
files = []

[[package]]
name = "ipywidgets"
version = "8.1"
groups = ["main"]
optional = true
markers = "extra == 'jupyter'"
files = []

[[package]]
name = "mkdocs"
version = "1.0"
groups = ["docs"]
files = []

[[package]]
name = "mine"
version = "1.0"
groups = ["main"]
files = []
[package.source]
type = "git"
url = "https://git.example/mine"

[extras]
jupyter = ["ipywidgets"]

[metadata]
lock-version = "2.1"
python-versions = "^3.9"
content-hash = "0"
"""


def test_poetry_lock() -> None:
    found = _read("poetry.lock", POETRY)
    assert _names(found) == ["requests==2.32.0", "pytest==8.0.0", "ipywidgets==8.1"]
    assert found.lines[0].endswith(f"--hash=sha256:{A}")
    assert fits(found.python, "3.11.2")
    assert not fits(found.python, "4.0.0")
    assert found.left == ("poetry.lock: mine comes from git, not from an index",)


def test_poetry_lock_of_version_1_keeps_its_hashes_at_the_end() -> None:
    text = (
        '[[package]]\nname = "six"\nversion = "1.16.0"\ncategory = "main"\n'
        '[[package]]\nname = "nose"\nversion = "1.3"\ncategory = "dev"\n'
        f'[metadata]\npython-versions = "*"\n[metadata.files]\nsix = [{{file = "six.whl", hash = "sha256:{A}"}}]\nnose = []\n'
    )
    assert _read("poetry.lock", text).lines == (f"six==1.16.0 --hash=sha256:{A}", "nose==1.3")


def test_pdm_lock() -> None:
    text = f"""
[metadata]
groups = ["default", "test", "docs"]
lock_version = "4.5.0"
[[metadata.targets]]
requires_python = ">=3.9"
[[package]]
name = "idna"
version = "3.7"
groups = ["default"]
files = [{{file = "idna-3.7-py3-none-any.whl", hash = "sha256:{A}"}}]
[[package]]
name = "pytest"
version = "8.0"
groups = ["test"]
[[package]]
name = "mkdocs"
version = "1.0"
groups = ["docs"]
[[package]]
name = "colorama"
version = "0.4"
groups = ["default"]
marker = "sys_platform == 'win32'"
[[package]]
name = "me"
version = "0"
path = "."
"""
    found = _read("pdm.lock", text)
    assert found.lines == (f"idna==3.7 --hash=sha256:{A}", "pytest==8.0")
    assert found.python == ">=3.9"


def test_pipfile_lock() -> None:
    table = {
        "_meta": {"requires": {"python_version": "3.11"}},
        "default": {
            "flask": {"version": "==3.0.0", "hashes": [f"sha256:{A}"], "markers": "python_version >= '3.8'"},
            "mine": {"editable": True, "path": "."},
            "other": {"git": "https://git.example/x", "ref": "0"},
            "pywin32": {"version": "==306", "markers": "sys_platform == 'win32'"},
        },
        "develop": {"pytest": {"version": "==8.0.0"}, "Flask": {"version": "==2.0.0"}},
    }
    found = _read("Pipfile.lock", json.dumps(table))
    assert found.lines == (f"flask==3.0.0 --hash=sha256:{A}", "pytest==8.0.0")
    assert found.left == ("Pipfile.lock: other comes from no index",)
    assert fits(found.python, "3.11.2")
    assert not fits(found.python, "3.12.0")


@pytest.mark.parametrize("name", locks.READERS)
@pytest.mark.parametrize("text", ["= =", "[" * 5000, "\xff\x00", '{"a": '])
def test_text_that_is_no_lock_is_refused(name: str, text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        _read(name, text)


@pytest.mark.parametrize(
    "version", ["1.0 --index-url https://evil.example", "1.0\n--pre", "", "*", "1.0;x", "../../etc"]
)
def test_no_version_becomes_an_option(version: str) -> None:
    for name, text in (
        ("uv.lock", UV.replace('"4.0.0"', json.dumps(version))),
        ("poetry.lock", POETRY.replace('"2.32.0"', json.dumps(version))),
    ):
        lines = _read(name, text).lines
        assert not [
            line for line in lines if "evil" in line or "\n" in line or "--pre" in line or ".." in line
        ]


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
_PACKAGE = st.dictionaries(
    st.sampled_from(["name", "version", "source", "dependencies", "groups", "markers", "files", "hashes", "wheels"]),
    _VALUES,
    max_size=6,
)  # fmt: skip


@given(st.dictionaries(st.text(max_size=10), _PACKAGE, max_size=5), _VALUES)
def test_a_hostile_pipfile_lock_gives_lines_or_is_refused(packages: dict[str, object], meta: object) -> None:
    text = json.dumps({"_meta": meta, "default": packages, "develop": packages})
    try:
        found = _read("Pipfile.lock", text)
    except ValueError:
        return
    for line in found.lines:
        assert line.isprintable()
        assert line[0].isalnum()


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps("" if value is None else value)


@given(st.sampled_from(["uv.lock", "poetry.lock", "pdm.lock"]), st.lists(_PACKAGE, max_size=4))
def test_a_hostile_toml_lock_gives_lines_or_is_refused(name: str, packages: list[object]) -> None:
    try:
        found = _read(name, f"package = {_toml(packages)}\n")
    except ValueError:
        return
    assert all(line.isprintable() and line[0].isalnum() for line in found.lines)
