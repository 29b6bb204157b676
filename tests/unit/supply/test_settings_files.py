"""Indexes and registries that settings of other tools name."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.dependencies import Dependencies
from gate.supply.settings_files import READERS
from tests.prescreen_support import make_request

HERE = "https://pypi.invalid/simple"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tox.ini", f"[testenv]\nsetenv =\n    PIP_INDEX_URL = {HERE}\n"),
        ("Dockerfile", f"FROM python:3.12\nENV UV_DEFAULT_INDEX={HERE}\n"),
        ("Dockerfile", f"FROM python:3.12\nENV PIP_EXTRA_INDEX_URL {HERE}\n"),
        ("compose.yaml", f"services:\n  web:\n    environment:\n      PIP_INDEX_URL: '{HERE}'\n"),
        ("Makefile", f"export npm_config_registry={HERE}\n"),
        (".envrc", f'export GOPROXY="{HERE}"\n'),
        ("renovate.json", f'{{"packageRules": [{{"registryUrls": ["{HERE}"]}}]}}'),
        (
            ".github/dependabot.yml",
            f"version: 2\nregistries:\n  x:\n    type: python-index\n    url: {HERE}\n",
        ),
        ("renovate.json", f'{{// ours\n"registryUrls": ["{HERE}"],}}'),
        ("renovate.json", f"{{registryUrls: ['{HERE}']}}"),
        (".github/dependabot.yml", f"registries:\n  x:\n    url: {HERE}\nupdates: []\nupdates: []\n"),
        (".lfsconfig", f"[lfs]\n\turl = {HERE}\n"),
    ],
)
def test_a_new_index_is_told(path: str, text: str) -> None:
    found = Dependencies().scan(make_request({path: text}, {path: ""})).findings
    assert [(f.rule_id, f.severity.value) for f in found] == [("dependency.index", "high")]
    assert Dependencies().scan(make_request({path: text + "\n"}, {path: text})).findings == ()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tox.ini", "[testenv]\ncommands = pytest\nsetenv = PIP_INDEX_URL=https://pypi.org/simple\n"),
        ("tox.ini", f"[testenv]\n# PIP_INDEX_URL = {HERE}\n"),
        ("Dockerfile", "FROM python:3.12\nARG PIP_INDEX_URL\nRUN pip install .\n"),
        ("renovate.json", '{\n  // comments\n  "extends": ["config:base"],\n}'),
        (".github/dependabot.yml", "version: 2\nupdates: []\nupdates: []\n"),
        ("Makefile", "all:\n\tmake -C src\n"),
    ],
)
def test_ordinary_settings_are_not(path: str, text: str) -> None:
    assert Dependencies().scan(make_request({path: text}, {path: ""})).findings == ()


def test_every_reader_takes_an_empty_text() -> None:
    for name, reader in READERS.items():
        try:
            assert list(reader("")) == [], name
        except ValueError:
            assert name in ("composer.json", "vcpkg.json", "vcpkg-configuration.json")
