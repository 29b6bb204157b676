"""Every command in the documents: known to the program, and those of README and how-to really run."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml

from gate.cli import main
from gate.verbs.parser import build_parser
from tests.paths import REPOSITORY

PAGES: Final = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")])
RUN: Final = ("README.md", "docs/how-to.md")
LEFT_TO_SANDBOXES: Final = "doctor --python"
LEFT: Final = {
    "deploy": "asks GitHub: tests/unit/deploy",
    "isolation": "tries 150 ways out of every sandbox, for minutes: tests/integration has its own",
    "doctor --fix": "changes the machine",
    LEFT_TO_SANDBOXES: "fills every backend, for minutes: tests/integration/test_doctor_commands.py",
    "mcp": "serves until its client goes: tests/unit/mcp",
    "lsp": "serves until its client goes: tests/unit/lsp",
}
"""Commands that are not run here, and why."""


def commands(page: Path) -> Iterator[list[str]]:
    """The words of every command of gate in a page's shell blocks; lines with an ellipsis are no command."""
    for block in re.findall(
        r"^```(?:sh|bash|console)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE
    ):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            part = re.split(r"\s(?:\||&&|\|\||>|<)\s", line.removeprefix("exec ").strip())[0]
            if part.startswith("gate ") and " ..." not in part:
                yield shlex.split(part, comments=True)[1:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_is_one(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in commands(page):
        code = 0
        try:
            build_parser().parse_args(words)
        except SystemExit as end:
            code = int(end.code or 0)
        assert code == 0, f"{page.name}: gate {' '.join(words)}: {capsys.readouterr().err}"


OTHER: Final = sorted((REPOSITORY / "examples/other").iterdir())


@pytest.mark.parametrize("file", OTHER, ids=lambda file: file.name)
def test_the_examples_for_other_systems_say_what_the_program_knows(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One command a file, its names from outside in quotes; JUnit is written where it is read from."""
    text = file.read_text()
    if file.suffix == ".yml":
        assert isinstance(yaml.safe_load(text), dict)
    (line,) = re.findall(r"gate check .*?(?=$|')", text, re.MULTILINE)
    words = shlex.split(line)
    try:
        build_parser().parse_args(words[1:])
    except SystemExit:
        pytest.fail(f"gate {line}: {capsys.readouterr().err}")
    assert "$" not in re.sub('"[^"]*"', "", line), "a name from outside stands in quotes"
    written = words[words.index("--junit") + 1]
    assert written.startswith("test-results/") or text.count(written) >= 2 or file.name == "gitea.yml"
    assert f"../examples/other/{file.name}" in (REPOSITORY / "docs/gitlab.md").read_text()


def _git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@shop.example"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a reader has: a repository with a branch, something staged, and files."""
    origin, folder = tmp_path_factory.mktemp("origin"), tmp_path_factory.mktemp("shop") / "shop"
    _git(origin, "init", "-q", "--bare", "-b", "main")
    _git(origin.parent, "clone", "-q", str(origin), str(folder))
    _git(folder, "checkout", "-q", "-B", "main")
    (folder / "price.py").write_text("def net(price):\n    return price\n")
    _git(folder, "add", ".")
    _git(folder, "commit", "-qm", "Prices")
    _git(folder, "push", "-q", "origin", "main")
    _git(folder, "checkout", "-qb", "feature")
    (folder / "price.py").write_text("def net(price):\n    return price * 0.81\n")
    _git(folder, "commit", "-qam", "Net\n\nCo-authored-by: Claude <noreply@anthropic.com>")
    (folder / "staged.py").write_text("VALUE = 1\n")
    _git(folder, "add", "staged.py")
    (folder / "downloaded_script.py").write_text("print('hello')\n")
    return folder


@pytest.mark.slow
@pytest.mark.xdist_group("docs-commands")
@pytest.mark.parametrize("page", RUN)
def test_what_a_reader_types_works(
    page: str, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the page's order, without a sandbox (so that it is quick): nothing ends as wrong usage or a bug."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("GATE_SANDBOX_ENABLED", "false")
    monkeypatch.setenv("BROWSER", "true")
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    seen: list[tuple[str, ...]] = []
    if not (project / "report.json").exists():
        assert main(["check", "--json", "report.json", "-q"]) == 0
    for words in commands(REPOSITORY / page):
        if tuple(words) in seen or any(" ".join(words).startswith(left) for left in LEFT):
            continue
        seen.append(tuple(words))
        code = main(words)
        assert code in (0, 1, 3), f"gate {' '.join(words)} ended with {code}: {capsys.readouterr().err}"
        if words[0] == "check":
            assert code == 0, words
    assert len(seen) > 5
