"""What projects say of themselves, in every form of manifest, and which manifests count for a change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.supply.python import (
    declared,
    installed,
    poetry,
    project,
    requirements_files,
    runners,
    setup_script,
)
from gate.supply.python.declared import Declared
from gate.supply.python.interpreter import environment
from gate.supply.python.project import Files, Project, folders_of
from gate.supply.python.requirements import Requirements, checked, is_for_tests, with_imported
from tests.unit.supply.python.trees import DictTree

ENV = environment("3.11.2")


def _project(files: dict[str, str], folder: str = ".") -> Project:
    return project.read(folder, Files(DictTree(files)), ENV)


def _declared(name: str, text: str) -> Declared:
    return declared.read(name, name, text.encode())


def test_flit_before_there_was_a_project_table() -> None:
    found = _declared(
        "pyproject.toml",
        """
[tool.flit.metadata]
module = "shop"
dist-name = "shop-app"
requires = ["anyio>=4"]
dev-requires = ["ruff"]
requires-python = ">=3.10"
[tool.flit.metadata.requires-extra]
test = ["pytest"]
[tool.flit.scripts]
shop = "shop.cli:main"
""",
    )
    assert (found.name, found.requirements.python) == ("shop-app", ">=3.10")
    assert found.requirements.lines == ("anyio>=4",)
    assert set(found.requirements.tests) == {"pytest", "ruff"}
    assert found.entry_points == {"console_scripts": {"shop": "shop.cli:main"}}
    assert not _declared("pyproject.toml", "[tool.flit]\nx = 1\n[tool.black]\n").requirements.lines


def test_pyproject_with_extras_groups_and_entry_points() -> None:
    found = _declared(
        "pyproject.toml",
        """
[project]
name = "Shop-App"
version = "1.2"
requires-python = ">=3.10"
dependencies = ["anyio>=4", "tomli ; python_version < '3.11'", "-i https://x.example", "x @ file:///etc"]
[project.optional-dependencies]
test = ["pytest", "shop-app[fast]"]
fast = ["orjson"]
all = ["shop_app[fast,test]"]
[project.scripts]
shop = "shop.cli:main"
"bad name\\n" = "x:y"
[project.entry-points.pytest11]
shop = "shop.plugin"
[dependency-groups]
dev = [{include-group = "test"}, "ipython"]
test = ["hypothesis"]
docs = ["sphinx"]
""",
    )
    needs = found.requirements
    assert needs.lines == ("anyio>=4", 'tomli; python_version < "3.11"')
    assert set(needs.tests) == {"pytest", "hypothesis", "ipython"}
    assert needs.extras == ("orjson",)
    assert needs.python == ">=3.10"
    assert len(needs.left) == 2
    assert found.entry_points == {
        "console_scripts": {"shop": "shop.cli:main"},
        "pytest11": {"shop": "shop.plugin"},
    }


def test_poetry_tables() -> None:
    found = _declared(
        "pyproject.toml",
        """
[tool.poetry]
name = "shop"
version = "2.0"
[tool.poetry.dependencies]
python = "^3.9"
requests = "^2.31"
httpx = {version = "~0.27", extras = ["http2"]}
redis = {version = "*", optional = true}
mine = {git = "https://git.example/mine"}
pandas = [{version = "^1.0", python = "<3.9"}, {version = "^2.0", python = ">=3.9"}]
[tool.poetry.group.test.dependencies]
pytest = "8.*"
[tool.poetry.group.docs.dependencies]
mkdocs = "*"
[tool.poetry.dev-dependencies]
mypy = ">=1,<2"
[tool.poetry.plugins."shop.stores"]
disk = "shop.disk:Store"
""",
    )
    needs = found.requirements
    assert needs.lines == ("requests<3,>=2.31", "httpx[http2]<0.28,>=0.27", "pandas")
    assert needs.tests == ("mypy<2,>=1", "pytest==8.*")
    assert needs.extras == ("redis",)
    assert found.entry_points == {"shop.stores": {"disk": "shop.disk:Store"}}
    assert needs.left == (
        "pyproject.toml: 'mine @ https://git.example/mine': an address of what is no wheel",
    )


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("^1.2.3", "<2,>=1.2.3"),
        ("^0.2.3", "<0.3,>=0.2.3"),
        ("^0.0.3", "<0.0.4,>=0.0.3"),
        ("^0", "<1,>=0"),
        ("~1.2.3", "<1.3,>=1.2.3"),
        ("~1", "<2,>=1"),
        ("1.*", "==1.*"),
        ("1.2", "==1.2"),
        ("*", ""),
        (">=1.0 <2.0", "<2.0,>=1.0"),
        (">= 1.0, != 1.5", "!=1.5,>=1.0"),
        ("~=1.4", "~=1.4"),
        ("^1 || ^2", ""),
        ("nonsense", ""),
        ("^x", ""),
    ],
)
def test_poetrys_versions_as_pep_440(text: str, made: str) -> None:
    assert poetry.versions(text) == made


@given(st.text(max_size=30))
def test_every_text_is_a_version_or_none(text: str) -> None:
    assert checked(f"name{poetry.versions(text)}")[0]


def test_setup_cfg() -> None:
    found = _declared(
        "setup.cfg",
        """
[metadata]
name = shop
version = attr: shop.__version__
[options]
package_dir =
    = src
python_requires = >=3.8
install_requires =
    requests>=2 ; python_version > "3"
    attrs
[options.extras_require]
tests = pytest
    coverage
docs =
    sphinx
[options.entry_points]
console_scripts =
    shop = shop.cli:main
""",
    )
    needs = found.requirements
    assert needs.lines == ('requests>=2; python_version > "3"', "attrs")
    assert (needs.tests, needs.extras, needs.python) == (("pytest", "coverage"), ("sphinx",), ">=3.8")
    assert (found.version, found.sources) == ("", ("src",))
    assert found.entry_points == {"console_scripts": {"shop": "shop.cli:main"}}


SETUP_PY = """
import os
from setuptools import setup, find_packages
TESTS = ["pytest>=7", "mock"]
extras = {"test": TESTS, "docs": ["sphinx"] + ["furo"]}
options = dict(python_requires=">=3.7")
with open("README.md") as f:
    long = f.read()
setup(
    name="sh" "op",
    version=os.environ.get("VERSION"),
    package_dir={"": "src"},
    packages=find_packages("src"),
    install_requires=["six", *open("requirements.txt").read().split(), "attrs" + ">=20"],
    extras_require=extras,
    entry_points={"console_scripts": ["shop=shop:main"]},
    long_description=long,
    **options,
)
raise SystemExit("this must never run")
"""


def test_setup_py_is_read_and_never_run() -> None:
    found = _declared("setup.py", SETUP_PY)
    needs = found.requirements
    assert (found.name, found.version, found.sources) == ("shop", "", ("src",))
    assert needs.lines == ("six", "attrs>=20")
    assert needs.tests == ("pytest>=7", "mock")
    assert needs.extras == ("sphinx", "furo")
    assert needs.python == ">=3.7"
    assert found.entry_points == {"console_scripts": {"shop": "shop:main"}}


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("setup(install_requires=read('requirements.txt').split())", ("requirements.txt",)),
        ("here = Path(__file__).parent\nR = (here / 'reqs' / 'base.in').read_text()\nsetup(install_requires=R)",
         ("reqs/base.in",)),
        (("with open(os.path.join(H, 'requirements', 'main.txt')) as f:\n    need = f.readlines()\n"
         "setup(install_requires=need)"), ("requirements/main.txt",)),
        ("setup(extras_require=load('dev.txt'))", ("dev.txt",)),
        ("setup(install_requires=load('../../etc/requirements.txt'))", ()),
        ("setup(install_requires=NEEDS['base'])", ()),
    ],
)  # fmt: skip
def test_what_a_setup_py_reads_from_files_is_read_there_and_else_told(
    text: str, files: tuple[str, ...]
) -> None:
    found = declared.read("setup.py", "setup.py", text.encode())
    assert found.files == files
    assert bool(files) != any("has to be run" in line for line in found.requirements.left)


def test_a_setup_py_that_doubles_itself_ends() -> None:
    lines = ["a0 = ['x'] * 1", *(f"a{n} = [*a{n - 1}, *a{n - 1}]" for n in range(1, 60))]
    text = "\n".join(lines) + "\nsetup(install_requires=a59, name='x')\n"
    assert setup_script.keywords(text)["install_requires"] == []
    deep = "x = " + "+".join(["['a']"] * 100) + "\nsetup(install_requires=x)\n"
    assert setup_script.keywords(deep) == {}
    with pytest.raises(ValueError, match="no Python"):
        setup_script.keywords("(" * 100_000)


@given(st.sampled_from(["pyproject.toml", "setup.cfg", "setup.py"]), st.text(max_size=200))
def test_any_text_is_read_or_refused(name: str, text: str) -> None:
    try:
        found = _declared(name, text)
    except ValueError:
        return
    assert isinstance(found.requirements, Requirements)


def test_requirements_files_flattened() -> None:
    files = {
        "requirements/dev.txt": "-r base.txt\n-c ../limits.txt\npytest==8.0  # tests\n-e .\n--index-url https://x.example\n",
        "requirements/base.txt": "flask==3.0 \\\n    --hash=sha256:"
        + "a" * 64
        + "\ngit+https://git.example/x\n-r dev.txt\n",
        "limits.txt": "werkzeug<4\n",
    }
    found = requirements_files.read("requirements/dev.txt", Files(DictTree(files)).get)
    assert found.lines == ("flask==3.0 --hash=sha256:" + "a" * 64, "pytest==8.0")
    assert found.constraints == ("werkzeug<4",)
    assert len(found.left) == 2
    assert not found.locked
    assert found.paths == ("requirements/dev.txt", "requirements/base.txt", "limits.txt")


@given(st.text(max_size=300))
def test_no_line_of_a_requirements_file_becomes_an_option(text: str) -> None:
    found = requirements_files.read("r.txt", lambda _: text.encode("utf-8", "replace"))
    assert all(line[0].isalnum() and line.isprintable() for line in found.lines)


def test_tox_nox_and_conda() -> None:
    tox, files = runners.read(
        "tox.ini",
        "tox.ini",
        b"[testenv]\ndeps =\n  pytest\n  py311: mock>=1\n  -rrequirements/ci.txt\n  {[x]y}\n[testenv:docs]\ndeps = sphinx\n",
    )
    assert (tox.tests, files) == (("pytest", "mock>=1"), ("requirements/ci.txt",))
    base = b"[base]\ndeps =\n  attrs\n  {[testenv]deps}\n  {[more]deps}\n  {[more]deps}\n[more]\ndeps = pexpect >= 4 # x\n"
    tox, _ = runners.read("tox.ini", "tox.ini", base + b"[testenv]\ndeps =\n  {[base]deps}\n  pytest\n")
    assert tox.tests == ("attrs", "pexpect>=4", "pytest")
    nox, files = runners.read(
        "noxfile.py",
        "noxfile.py",
        b'def tests(session):\n    session.install("-r", "dev.txt", "pytest", ".[x]", "-e", ".")\ndef lint(session):\n    session.install("ruff")\n',
    )
    assert (nox.tests, files) == (("pytest",), ("dev.txt",))
    conda, _ = runners.read(
        "environment.yml",
        "environment.yml",
        b"dependencies:\n- python=3.11\n- numpy=1.26\n- conda-forge::pandas>=2\n- pip:\n  - flask==3.0\n  - -e .\n",
    )
    assert conda.extras == ("numpy==1.26.*", "pandas>=2", "flask==3.0")
    with pytest.raises(ValueError, match="no YAML"):
        runners.read("environment.yml", "environment.yml", b"a: [")


@given(st.sampled_from(["tox.ini", "noxfile.py", "environment.yml"]), st.text(max_size=200))
def test_any_tools_text_is_read_or_refused(name: str, text: str) -> None:
    try:
        found, _ = runners.read(name, name, text.encode("utf-8", "replace"))
    except ValueError:
        return
    assert all(line[0].isalnum() for line in found.tests)


def test_the_nearest_projects_of_a_monorepo() -> None:
    files = Files(
        DictTree(
            {
                "pyproject.toml": "[project]\nname='root'\n",
                "services/api/pyproject.toml": "[project]\nname='api'\n",
                "services/api/src/api/x.py": "",
                "services/web/requirements.txt": "flask\n",
                "tools/readme.txt": "x",
            }
        )
    )
    assert folders_of(["services/api/src/api/x.py", "services/web/a/b.py"], files) == (
        "services/api",
        "services/web",
        ".",
    )
    assert folders_of(["tools/x.py"], files) == (".",)
    assert folders_of(["x.py"], Files(DictTree({"x.py": ""}))) == ()


def test_a_members_lock_is_the_workspaces() -> None:
    lock = (
        'version = 1\n[[package]]\nname = "api"\nversion = "0"\nsource = { editable = "services/api" }\n'
        'dependencies = [{ name = "six" }]\n'
        '[[package]]\nname = "six"\nversion = "1.16.0"\nsource = { registry = "https://pypi.org/simple" }\n'
    )
    files = {
        "uv.lock": lock,
        "services/api/pyproject.toml": "[project]\nname='api'\nversion='1'\ndependencies=['six', 'other']\n",
        "stray/pyproject.toml": "[project]\nname='stray'\nversion='1'\ndependencies=['click']\n",
    }
    found = _project(files, "services/api")
    assert (found.requirements.lines, found.requirements.locked) == (("six==1.16.0",), True)
    stray = _project(files, "stray")
    assert (stray.requirements.lines, stray.requirements.locked) == (("click",), False)


def test_without_a_lock_files_for_tests_and_production_count() -> None:
    found = _project(
        {
            "setup.py": "setup(name='x', install_requires=['attrs'])",
            "requirements.txt": "flask==3.0\n",
            "requirements-dev.txt": "pytest\n",
            "requirements-docs.txt": "sphinx\n",
            "requirements/test.txt": "mock\n",
            "requirements/lint.txt": "ruff\n",
            "notes.txt": "nothing\n",
        }
    )
    needs = found.requirements
    assert set(needs.lines) == {"attrs", "flask==3.0"}
    assert set(needs.tests) == {"pytest", "mock"}
    assert not needs.locked
    assert needs.aside == {"sphinx": ("sphinx",), "ruff": ("ruff",)}
    assert with_imported(needs, ["sphinx", "flask", "os"]).tests == (*needs.tests, "sphinx")


def test_groups_that_are_not_for_tests_stand_aside_by_the_modules_distribution() -> None:
    pyproject = """
[project]
name = "shop"
[dependency-groups]
tests = ["pytest"]
typing = ["mypy", "PyYAML>=6"]
broken = [{include-group = "broken"}]
[tool.poetry.group.docs.dependencies]
mkdocs = "^1.6"
"""
    needs = _project({"pyproject.toml": pyproject}).requirements
    assert sorted(needs.aside) == ["mkdocs", "mypy", "pyyaml"]
    assert with_imported(needs, ["yaml"]).tests == ("pytest", "PyYAML>=6")


def test_a_manifest_that_cannot_be_read_is_said() -> None:
    found = _project({"pyproject.toml": "= =", "uv.lock": "= =", "requirements.txt": "six\n"})
    assert found.requirements.lines == ("six",)
    assert [line.partition(":")[0] for line in found.requirements.left] == ["pyproject.toml", "uv.lock"]


@pytest.mark.parametrize(
    "name", ["test", "dev-dependencies", "unit_tests", "CI", "requirements-dev.txt", "x.testing"]
)
def test_names_that_are_for_tests(name: str) -> None:
    assert is_for_tests(name)
    assert not is_for_tests(name.translate(str.maketrans("tcdTCD", "zzzzzz")))


def test_the_project_as_an_editable_install_leaves_it() -> None:
    toml = """
[project]
name = "Shop.App"
dynamic = ["version"]
[project.scripts]
shop = "shop.cli:main"
evil = "x:y();import os"
[project.entry-points.pytest11]
shop = "shop.plugin"
[tool.setuptools_scm]
version_file = "src/shop/_version.py"
"""
    made = installed.files(
        [_project({"pyproject.toml": toml})], "/work/tree", "site", {"src/shop": None, "tests": None}
    )
    info = "site/shop_app-9999.0.dist-info"
    assert b"Name: Shop.App\nVersion: 9999.0\n" in made[f"{info}/METADATA"]
    assert made[f"{info}/entry_points.txt"].count(b"shop = ") == 2
    assert b"import os" not in made[f"{info}/entry_points.txt"]
    assert set(made) >= {"bin/shop", f"{info}/RECORD", "site/_gate_generated.py"}
    assert "bin/evil" not in made
    assert made["site/__editable__.gate.pth"] == b"/work/tree/src\nimport _gate_generated\n"
    compile(made["site/_gate_generated.py"], "x", "exec")
    compile(made["bin/shop"], "x", "exec")


def test_metadata_is_found_by_the_standard_library(tmp_path: object) -> None:
    import importlib.metadata
    import sys
    from pathlib import Path

    folder = Path(str(tmp_path))
    toml = '[project]\nname="shop"\nversion="1.4"\n[project.entry-points."shop.stores"]\ndisk="shop.disk:Store"\n'
    for name, data in installed.files([_project({"pyproject.toml": toml})], "/t", ".", {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    found = next(iter(importlib.metadata.distributions(path=[str(folder)])))
    assert (found.metadata["Name"], found.version) == ("shop", "1.4")
    assert [e.value for e in found.entry_points.select(group="shop.stores")] == ["shop.disk:Store"]
    assert sys.path


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_no_entry_point_breaks_its_file(group: str, name: str, place: str) -> None:
    for made, entries in declared.entry_points({group: {name: place}}).items():
        for key, value in entries.items():
            assert "\n" not in f"{made}{key}{value}"
            assert "]" not in made
            assert "=" not in key


def test_rye_keeps_its_versions_in_requirements_files_of_another_name() -> None:
    manifest = '[project]\nname = "a"\ndependencies = ["httpx"]\n[tool.rye]\ndev-dependencies = ["respx", "pyright"]\n'
    lock = "# generated by rye\n-e file:.\nhttpx==0.28.1\npyright==1.1.399\nrespx==0.22.0\n"
    found = _project({
        "pyproject.toml": manifest,
        "requirements-dev.lock": lock,
        "requirements.lock": "-e file:.\nhttpx==0.28.1\n",
    }).requirements  # fmt: skip
    assert "respx==0.22.0" in found.tests
    assert "pyright==1.1.399" not in found.tests
    assert "httpx==0.28.1" in found.lines
    alone = _project({"pyproject.toml": manifest}).requirements
    assert "respx" in alone.tests
