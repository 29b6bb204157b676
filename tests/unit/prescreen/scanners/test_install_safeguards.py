"""Settings that keep packages from being replaced: which changes take one away, and which do not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.model.finding import Finding
from gate.prescreen.scanners.dependencies import Dependencies
from gate.prescreen.scanners.supply_rules import SAFEGUARD
from gate.supply.install_safeguards import READERS, read
from tests.prescreen_support import Files, make_request

UV = """\
[project]
name = "ledger"
dependencies = ["acme-auth>=1"]
[tool.uv.sources]
acme-auth = { index = "acme" }
[[tool.uv.index]]
name = "acme"
url = "https://pypi.acme.example/simple"
explicit = true
"""
NPMRC = "@acme:registry=https://npm.acme.example/\nignore-scripts=true\nfund=false\n"
RENOVATE = {"extends": ["config:recommended"], "minimumReleaseAge": "7 days"}
HOOKS = """\
repos:
  - repo: https://github.com/pre-commit/mirrors-mypy
    rev: v1.10.0
    hooks:
      - id: mypy
"""
MORE = "        additional_dependencies: [{}]\n"
LOST: dict[str, tuple[Files, Files]] = {
    "a package is no longer bound to its index": (
        {"pyproject.toml": UV},
        {"pyproject.toml": UV.replace('acme-auth = { index = "acme" }\n', "")},
    ),
    "an index gives every name": (
        {"pyproject.toml": UV},
        {"pyproject.toml": UV.replace("explicit = true\n", "")},
    ),
    "the best version of any index": (
        {"pyproject.toml": UV},
        {"pyproject.toml": UV + '[tool.uv]\nindex-strategy = "unsafe-best-match"\n'},
    ),
    "a scope has no registry of its own": (
        {".npmrc": NPMRC},
        {".npmrc": "ignore-scripts=true\nfund=false\n"},
    ),
    "scripts run again": ({".npmrc": NPMRC}, {".npmrc": NPMRC.replace("ignore-scripts=true", "")}),
    "the settings are deleted": ({".npmrc": NPMRC, "package.json": "{}"}, {"package.json": "{}"}),
    "yarn's scope": (
        {".yarnrc.yml": "npmScopes:\n  acme:\n    npmRegistryServer: https://npm.acme.example\n"},
        {".yarnrc.yml": "nodeLinker: node-modules\n"},
    ),
    "yarn takes any content": ({".yarnrc.yml": "a: b\n"}, {".yarnrc.yml": "checksumBehavior: update\n"}),
    "pnpm lets all packages build": (
        {"pnpm-workspace.yaml": "onlyBuiltDependencies: [esbuild]\n"},
        {"pnpm-workspace.yaml": "dangerouslyAllowAllBuilds: true\n"},
    ),
    "no waiting time": (
        {"renovate.json": json.dumps(RENOVATE)},
        {"renovate.json": json.dumps({"extends": ["config:recommended"]})},
    ),
    "updates without tests": (
        {"renovate.json": json.dumps(RENOVATE)},
        {"renovate.json": json.dumps(RENOVATE | {"packageRules": [{"ignoreTests": True}]})},
    ),
    "somebody else's settings": (
        {"renovate.json": json.dumps(RENOVATE)},
        {"renovate.json": json.dumps(RENOVATE | {"extends": ["github>jw-tools/presets"]})},
    ),
    "dependabot's cooldown": (
        {".github/dependabot.yml": "updates:\n  - package-ecosystem: npm\n    cooldown: {default-days: 7}\n"},
        {".github/dependabot.yml": "updates:\n  - package-ecosystem: npm\n"},
    ),
    "Go's checksums, in a Makefile": (
        {"Makefile": "build:\n\tgo build ./...\n"},
        {"Makefile": "export GONOSUMDB := *\nbuild:\n\tgo build ./...\n"},
    ),
    "Go's checksums, in an image": (
        {"Dockerfile": "FROM golang\n"},
        {"Dockerfile": "FROM golang\nENV GOSUMDB=off\n"},
    ),
    "hashes of requirements": (
        {"requirements.txt": "--require-hashes\na==1 --hash=sha256:aa\n"},
        {"requirements.txt": "a==1 --hash=sha256:aa\n"},
    ),
    "a stranger's package in a hook": (
        {".pre-commit-config.yaml": HOOKS},
        {".pre-commit-config.yaml": HOOKS + MORE.format("httpx-typed-stubs==0.3.1")},
    ),
    "a file that nothing can read holds nothing": (
        {"pyproject.toml": UV},
        {"pyproject.toml": UV + "[tool.uv]\nindex-strategy = 1\n[tool.uv]\nindex-strategy = 2\n"},
    ),
}  # fmt: skip
KEPT: dict[str, tuple[Files, Files]] = {
    "another address of the same scope": (
        {".npmrc": NPMRC},
        {".npmrc": NPMRC.replace("npm.acme", "packages.acme")},
    ),
    "moved to another file": (
        {".npmrc": "ignore-scripts=true\n", ".yarnrc.yml": "a: b\n"},
        {".npmrc": "fund=false\n", ".yarnrc.yml": "enableScripts: false\n"},
    ),
    "npm is given up": ({".npmrc": NPMRC, "package.json": "{}"}, {"README.md": "a\n"}),
    "more of them": ({".npmrc": "fund=false\n"}, {".npmrc": NPMRC}),
    "a new file": ({}, {"pyproject.toml": UV}),
    "another dependency": (
        {"pyproject.toml": UV},
        {"pyproject.toml": UV.replace('"acme-auth>=1"', '"acme-auth>=2", "httpx"')},
    ),
    "Renovate's own presets": (
        {"renovate.json": json.dumps(RENOVATE)},
        {"renovate.json": json.dumps(RENOVATE | {"extends": ["config:best-practices", ":semanticCommits"]})},
    ),
    "a known package in a hook": (
        {".pre-commit-config.yaml": HOOKS},
        {".pre-commit-config.yaml": HOOKS + MORE.format("pydantic==2.7.1, types-PyYAML")},
    ),
    "private modules of Go": (
        {"Makefile": "a:\n"},
        {"Makefile": "export GONOSUMDB := github.com/acme\na:\n"},
    ),
    "in a test": ({}, {"tests/Dockerfile": "FROM golang\nENV GOSUMDB=off\n"}),
}  # fmt: skip


def told(base: Files, head: Files) -> list[Finding]:
    found = Dependencies().scan(make_request(head, base)).findings
    return [f for f in found if f.rule_id == SAFEGUARD.id]


@pytest.mark.parametrize("case", LOST.values(), ids=LOST)
def test_one_that_is_gone_is_told(case: tuple[Files, Files]) -> None:
    (one, *_) = told(*case)
    assert one.severity.value == "medium"


@pytest.mark.parametrize("case", KEPT.values(), ids=KEPT)
def test_what_stays_safe_is_not(case: tuple[Files, Files]) -> None:
    assert told(*case) == []


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(sorted(READERS)), st.text(max_size=200) | st.sampled_from([UV, NPMRC, HOOKS]))
def test_no_text_crashes_a_reader(name: str, text: str) -> None:
    read(name, text.encode(errors="surrogatepass"), {})
