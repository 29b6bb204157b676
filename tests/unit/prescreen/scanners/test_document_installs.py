"""Commands in documents: a package that reads like the project's own is told, other ones are not."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.document_installs import document_findings
from tests.prescreen_support import make_request

PACKAGE = '{"name": "@acorn/cli"}'
NPM = "```sh\nnpm install --global {}\n```\n"


def told(base: str, head: str, manifest: str = PACKAGE, then: str = "") -> list[str]:
    old = {"README.md": base, "package.json": manifest}
    new = {"README.md": head, "package.json": then or manifest}
    return [one.evidence["now"] for one in document_findings(make_request(new, old))]


@pytest.mark.parametrize(
    ("base", "head", "name"),
    [
        (NPM.format("@acorn/cli"), NPM.format("acorn-cli   # or once: npx acorn-cli push"), "acorn-cli"),
        ("# Acorn\n", "Run `npx acorn-cli@2 push`\n", "acorn-cli"),
        ("pip install acorn-tools\n", "pip install 'acom-tools[all]>=1'\n", "acom-tools"),
        (
            "go install github.com/acorn/x/cmd/x@v1\n",
            "go install github.com/accorn/x/cmd/x@v1\n",
            "github.com/accorn/x",
        ),
        ("    cargo install acornctl\n", "    cargo install acomctl\n", "acomctl"),
    ],
)
def test_a_name_that_reads_like_the_own(base: str, head: str, name: str) -> None:
    assert told(base, head) == [name]
    assert told(head, head) == []


@pytest.mark.parametrize(
    ("base", "head"),
    [
        (NPM.format("@acorn/cli"), NPM.format("@acorn/cli@2")),
        (NPM.format("@acorn/cli"), NPM.format("typescript")),
        ("pip install acorn_tools\n", "pip install -U acorn-tools\n"),
        ("# Acorn\n", "Write acorn-cli in prose; npm install reads the lock.\n"),
    ],
)
def test_other_names(base: str, head: str) -> None:
    assert told(base, head) == []


def test_a_project_that_is_renamed() -> None:
    assert told(NPM.format("@acorn/cli"), NPM.format("acorn-cli"), then='{"name": "acorn-cli"}') == []
