"""Opaque files and changes to what judges changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.model.change import Change
from gate.prescreen.interface import PrescreenRequest
from gate.prescreen.scanners import governance, opaque
from gate.prescreen.scanners.governance import Governance
from gate.prescreen.scanners.opaque import Opaque
from tests.prescreen_support import DictTree, make_change, make_request

ELF = b"\x7fELF\x02\x01\x01" + bytes(60)
OPAQUE_HITS: dict[str, list[tuple[str, bytes, str]]] = {
    "opaque.program": [
        ("pkg/_speed.so", ELF, "100644"),
        ("data/readme.txt", ELF, "100644"),
        ("tool.exe", b"MZ" + bytes(600), "100644"),
        ("pkg/__pycache__/a.cpython-311.pyc", b"\xa7\r\r\n\0\0\0\0" + bytes(40), "100644"),
        ("x.wasm", b"\0asm\1\0\0\0", "100644"),
    ],
    "opaque.pickle": [
        ("model.pkl", b"\x80\x04\x95\x10\0\0\0\0\0\0\0", "100644"),
        ("m.pt", b"PK\x03\x04" + bytes(90), "100644"),
    ],
    "opaque.archive": [
        ("vendor/x.zip", b"PK\x03\x04" + bytes(90), "100644"),
        ("dist/a.tar.gz", b"\x1f\x8b\x08", "100644"),
    ],
    "opaque.masked": [
        ("logo.png", b"import os\nos.system('id')\n", "100644"),
        ("font.woff2", b"#!/bin/sh\n", "100644"),
        ("font.ttf", b"#!/bin/sh\n", "100644"),
    ],
    "opaque.link": [
        ("etc", b"/etc/passwd", "120000"),
        ("a/b/up", b"../../../outside", "120000"),
        ("hook", b".git/hooks/pre-commit", "120000"),
    ],
    "opaque.submodule": [("third_party", b"", "160000")],
}
OPAQUE_CLEAN: dict[str, list[tuple[str, bytes, str]]] = {
    "opaque.program": [("a.py", b"x = 1\n", "100755"), ("notes.txt", b"MZ is a header\n", "100644")],
    "opaque.pickle": [("model.json", b"{}", "100644")],
    "opaque.archive": [("a.txt", b"PK\n", "100644")],
    "opaque.masked": [
        ("logo.png", b"\x89PNG\r\n\x1a\n" + bytes(20), "100644"),
        ("font.ttf", b"\0\1\0\0" + bytes(20), "100644"),
        ("big.png", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "100644"),
    ],
    "opaque.link": [("docs/latest", b"../README.md", "120000")],
    "opaque.submodule": [("third_party/a.py", b"x = 1\n", "100644")],
}


@pytest.mark.parametrize(
    ("rule", "path", "data", "mode"), [(r, *case) for r, cases in OPAQUE_HITS.items() for case in cases]
)
def test_opaque_hit(rule: str, path: str, data: bytes, mode: str) -> None:
    result = Opaque().scan(make_request({path: data}, modes={path: mode}))
    assert rule in {f.rule_id for f in result.findings}


@pytest.mark.parametrize(
    ("rule", "path", "data", "mode"), [(r, *case) for r, cases in OPAQUE_CLEAN.items() for case in cases]
)
def test_opaque_clean(rule: str, path: str, data: bytes, mode: str) -> None:
    result = Opaque().scan(make_request({path: data}, modes={path: mode}))
    assert rule not in {f.rule_id for f in result.findings}


GOVERNANCE_HITS: dict[str, list[str]] = {
    "governance.workflow": [
        ".github/workflows/ci.yml",
        "action.yml",
        ".gitlab-ci.yml",
        "Jenkinsfile",
        ".github/dependabot.yml",
    ],
    "governance.gate-settings": ["gate.toml", ".gate/allow.txt", "Gate.toml"],
    "governance.owners": ["CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS"],
    "governance.tool-settings": [
        ".bandit",
        ".pre-commit-config.yaml",
        ".semgrepignore",
        ".gitattributes",
        ".github/zizmor.yml",
    ],
    "governance.agent-instructions": [
        "CLAUDE.md",
        ".cursor/rules/a.mdc",
        ".github/copilot-instructions.md",
        ".github/instructions/python.instructions.md",
        "pkg/AGENTS.md",
        ".windsurf/rules/a.md",
        ".mcp.json",
    ],
    "governance.startup-file": ["sitecustomize.py", "src/usercustomize.py", "home/.bashrc"],
}
GOVERNANCE_CLEAN = [
    "src/workflows/ci.py",
    "gate.py",
    "docs/owners.md",
    "README.md",
    "src/action.py",
    "claude.py",
]


@pytest.mark.parametrize(("rule", "path"), [(r, p) for r, paths in GOVERNANCE_HITS.items() for p in paths])
@pytest.mark.parametrize("how", ["added", "modified", "deleted", "renamed-away"])
def test_governance_hit(rule: str, path: str, how: str) -> None:
    base = {} if how == "added" else {path: "a\n"}
    head: dict[str, str] = {} if how == "deleted" else {path: "b\n"}
    renames = None
    if how == "renamed-away":
        base, head, renames = {path: "a\n"}, {"old/unused.txt": "a\n"}, {"old/unused.txt": path}
    if rule == "governance.startup-file" and how in ("deleted", "renamed-away"):
        return
    result = Governance().scan(make_request(head, base, renames=renames))
    assert rule in {f.rule_id for f in result.findings}


@pytest.mark.parametrize("path", GOVERNANCE_CLEAN)
def test_governance_clean(path: str) -> None:
    assert Governance().scan(make_request({path: "x = 1\n"})).findings == ()


def test_pth_files_count_only_when_they_run_code() -> None:
    def rules(text: str) -> set[str]:
        return {f.rule_id for f in Governance().scan(make_request({"x.pth": text})).findings}

    assert rules("../src\nimport os; os.system('id')\n") == {"governance.startup-file"}
    assert rules("../src\n") == set()


def test_the_gates_table_in_pyproject_is_told_apart_from_the_rest() -> None:
    def rules(head: str, base: str) -> set[str]:
        request = make_request({"pyproject.toml": head}, {"pyproject.toml": base})
        return {f.rule_id for f in Governance().scan(request).findings}

    table = "[tool.gate.bands]\nfail = 99\n"
    assert rules("[project]\nname = 'gate'\n" + table, "[project]\nname = 'gate'\n") == {
        "governance.gate-settings"
    }
    assert rules("[project]\nname = 'b'\n" + table, "[project]\nname = 'a'\n" + table) == set()
    assert rules("[tool.gate\n", "") == {"governance.gate-settings"}


def test_every_rule_has_fixtures() -> None:
    assert {r.id for r in opaque.RULES} == set(OPAQUE_HITS) == set(OPAQUE_CLEAN)
    assert {r.id for r in governance.RULES} == {
        *GOVERNANCE_HITS,
        "governance.runs-by-itself",
        "governance.agent-told",
        "governance.agent-tools",
    }


def test_nothing_changed_nothing_said(tmp_path: Path) -> None:
    tree = DictTree({"CODEOWNERS": "* @a\n"})
    change: Change = make_change(tree, tree)
    request = PrescreenRequest(change=change, base=tree, head=tree, scratch=tmp_path)
    assert Governance().scan(request).findings == ()
