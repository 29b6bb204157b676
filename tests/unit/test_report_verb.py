"""`gate report`: a stored report in another format, and in the browser; it judges nothing."""

from __future__ import annotations

import json
import stat
import webbrowser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from gate.cli import main
from tests.e2e.pulls import Pull, build

Said = pytest.CaptureFixture[str]


@pytest.fixture
def stored(tmp_path: Path, capsys: Said) -> Path:
    repo = build(Pull(name="r", head={"run.py": "import os\nos.system('id')\n"}, verdicts=()), tmp_path)
    file = tmp_path / "report.json"
    words = ["check", "--repo", str(repo), "--base", "main", "--head", "head", "--no-sandbox", "-q"]
    assert main([*words, "--json", str(file)]) == 0
    capsys.readouterr()
    return file


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []

    def show(address: str) -> bool:
        seen.append(address)
        return len(seen) == 1

    monkeypatch.setattr(webbrowser, "open", show)
    return seen


def test_without_a_format_it_is_the_terminals(stored: Path, capsys: Said) -> None:
    assert main(["report", str(stored)]) == 0
    assert "bandit-b605" in capsys.readouterr().out


@pytest.mark.parametrize("style", ["markdown", "sarif", "html", "codequality", "sast", "junit"])
def test_every_format_can_be_made_of_it(style: str, stored: Path, tmp_path: Path, capsys: Said) -> None:
    file = tmp_path / style
    assert main(["report", str(stored), f"--{style}", str(file)]) == 0
    assert "run.py" in file.read_text()
    assert capsys.readouterr().out == ""


def test_json_of_it_is_the_same_json(stored: Path, capsys: Said) -> None:
    assert main(["report", str(stored), "--json", "-"]) == 0
    again, first = json.loads(capsys.readouterr().out), json.loads(stored.read_text())
    assert {key for key in first if again[key] != first[key]} <= {"incidents"}


def test_a_blocked_report_is_told_with_exit_code_0(stored: Path) -> None:
    told = json.loads(stored.read_text()) | {"verdict": "fail", "score": 80}
    stored.write_text(json.dumps(told))
    assert main(["report", str(stored), "-q"]) == 0


def test_open_shows_a_private_file_or_the_one_that_was_asked_for(
    stored: Path, tmp_path: Path, opened: list[str], capsys: Said
) -> None:
    assert main(["report", str(stored), "--open"]) == 0
    shown = Path(unquote(urlsplit(opened[0]).path))
    assert "<html" in shown.read_text()
    assert stat.S_IMODE(shown.parent.stat().st_mode) == 0o700
    out = capsys.readouterr().out
    assert out.strip() == opened[0]
    mine = tmp_path / "mine.html"
    assert main(["report", str(stored), "--open", "--html", str(mine)]) == 0
    assert opened[1] == mine.resolve().as_uri()
    assert "no browser could be started" in capsys.readouterr().err


def test_what_is_no_report_is_refused(tmp_path: Path, capsys: Said) -> None:
    assert main(["report", str(tmp_path / "gone.json")]) == 2
    (tmp_path / "other.json").write_text('{"a": 1}')
    assert main(["report", str(tmp_path / "other.json"), "--open"]) == 2
    assert "not a version 1 report" in capsys.readouterr().err
