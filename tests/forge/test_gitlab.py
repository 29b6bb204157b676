"""`gate note` against a stand-in for GitLab's API."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from gate.cli import main
from gate.errors import Exit
from gate.gitlab.note import MARKER, gitlab_markdown
from gate.model.report import Report
from gate.report.json_v1 import JsonReporter
from tests.forge.gitlab_standin import ME, PROJECT, STRANGER, TOKEN, Project, running
from tests.forge.telling import harmless, hostile, soft
from tests.paths import REPOSITORY

Note = Callable[..., int]


@pytest.fixture
def world() -> Iterator[Project]:
    made = Project()
    yield made
    assert made.strange == []


@pytest.fixture
def note(world: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Note]:
    with running(world) as url:
        told = {"CI_SERVER_URL": url, "GATE_GITLAB_TOKEN": TOKEN}
        for name, value in (told | {"CI_PROJECT_ID": str(PROJECT), "CI_MERGE_REQUEST_IID": "7"}).items():
            monkeypatch.setenv(name, value)

        def run(report: Report, *more: str, **fields: Any) -> int:
            file = tmp_path / "report.json"
            file.write_text(json.dumps(json.loads(JsonReporter().render(report)) | fields))
            return main(["note", "--report", str(file), *more])

        yield run


def test_a_blocked_change_gets_one_note_and_a_failed_status(note: Note, world: Project) -> None:
    assert note(hostile()) == Exit.BLOCKED
    assert note(hostile()) == Exit.BLOCKED
    (only,) = world.notes
    assert only["body"].startswith(MARKER)
    assert "https://gitlab.example/octo/shop/-/blob/" in only["body"]
    assert [status["state"] for status in world.statuses] == ["failed", "failed"]
    assert {status["name"] for status in world.statuses} == {"gate"}
    assert note(harmless()) == Exit.OK
    assert len(world.notes) == 1
    assert "Passed" in only["body"]
    assert world.statuses[-1]["state"] == "success"


def test_no_first_note_for_nothing(note: Note, world: Project) -> None:
    assert note(harmless()) == Exit.OK
    assert world.notes == []
    assert note(harmless(), "--always") == Exit.OK
    assert len(world.notes) == 1


def test_somebody_elses_marker_is_not_ours_and_ours_is_found_on_the_last_page(
    note: Note, world: Project
) -> None:
    echo = world.note(f"{MARKER}\nclick here", STRANGER)
    for number in range(250):
        world.note(f"words {number}", STRANGER)
    assert note(hostile()) == Exit.BLOCKED
    assert note(hostile()) == Exit.BLOCKED
    assert echo["body"].endswith("click here")
    assert len(world.notes) == 252
    assert world.notes[-1]["author"]["id"] == ME


@pytest.mark.parametrize("fields", [{"head": "1" * 40}, {"merge_base": "2" * 40}, {"unknown": 1}], ids=str)
def test_a_report_about_anything_else_is_refused(note: Note, world: Project, fields: dict[str, Any]) -> None:
    assert note(harmless(), **fields) == Exit.USAGE
    assert (world.notes, world.statuses) == ([], [])


def test_closed_or_pushed_meanwhile_hears_nothing(note: Note, world: Project) -> None:
    world.pushed = "3" * 40
    assert note(hostile()) == Exit.USAGE
    world.pushed, world.state = "", "merged"
    assert note(hostile()) == Exit.USAGE
    assert (world.notes, world.statuses) == ([], [])


@pytest.mark.parametrize(
    ("changed", "path", "believed"),
    [
        ([".gitlab-ci.yml"], None, False),
        ([".gitlab/ci/gate.yml"], None, False),
        (["ci/main.yml"], "ci/main.yml", False),
        (["a.py"] * 3_001, None, False),
        (["a.py"] * 150, None, True),
        ([".gitlab-ci.yml"], "gate.yml@octo/pipelines", True),
        ([".gitlab-ci.yml"], "https://ci.example/gate.yml", True),
    ],
    ids=lambda value: str(value)[:30],
)
def test_who_edits_the_pipeline_makes_no_green(
    note: Note, world: Project, changed: list[str], path: str | None, believed: bool
) -> None:
    world.changed, world.ci_config_path = changed, path
    assert note(harmless()) == (Exit.OK if believed else Exit.INCONCLUSIVE)
    assert world.statuses[-1]["state"] == ("success" if believed else "failed")
    if not believed:
        assert "cannot be believed" in world.notes[0]["body"]


def test_a_report_cannot_flatter_itself_and_base_rules(note: Note, world: Project) -> None:
    assert note(replace(hostile(), verdict=harmless().verdict, reasons=())) == Exit.BLOCKED
    world.files["gate.toml"] = b"nonsense = 1\n"
    assert note(harmless()) == Exit.USAGE
    assert note(soft()) == Exit.USAGE


@pytest.mark.parametrize("what", ["notes", "statuses", "/user"])
def test_what_gitlab_refuses_is_said_and_is_no_success(
    note: Note, world: Project, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    world.refuses = what
    assert note(harmless(), "--always") not in (Exit.OK, Exit.BUG)
    told = capsys.readouterr()
    assert "GitLab refused (403)" in told.err
    assert TOKEN not in told.err + told.out


def test_a_gitlab_that_cannot_be_reached_is_said_with_its_address(
    note: Note, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI_SERVER_URL", "http://127.0.0.1:1")
    assert note(harmless()) == Exit.INCONCLUSIVE
    told = capsys.readouterr().err
    assert "GitLab cannot be reached at http://127.0.0.1:1: ConnectionError" in told
    assert "CI_SERVER_URL" in told


def test_telling_on_gitlab_needs_nothing_of_github() -> None:
    program = (
        "import sys; sys.modules['github'] = None\n"
        "from gate.github.publishing.runner_context import read_report\n"
        "from gate.gitlab import merge_request, note\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [("GATE_GITLAB_TOKEN", ""), ("CI_SERVER_URL", "http://gitlab.example"), ("CI_PROJECT_ID", "a/b")],
)
def test_outside_a_pipeline_or_over_plain_http(
    note: Note, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert note(harmless()) == Exit.USAGE


def test_no_quick_action_and_no_reference() -> None:
    text = gitlab_markdown("/merge\n  /approve\nsee !12 ~bug %4 $7 `~bug $HOME` ``a ` !1`` 88 % of 1\n")
    assert not re.search(r"^\s*/", text, re.MULTILINE)
    assert not re.search(r"(?<!`)(?:!12|~bug |%4|\$7)", text)
    assert "`~bug $HOME` ``a ` !1`` 88 % of 1" in text


def test_the_pipeline_says_what_the_program_knows(capsys: pytest.CaptureFixture[str]) -> None:
    pipeline = yaml.safe_load((REPOSITORY / "examples/gitlab/gate.gitlab-ci.yml").read_text())
    for job, verb in (("gate", "check"), ("gate-note", "note")):
        (line,) = pipeline[job]["script"]
        words = shlex.split(line)
        assert words[:2] == ["gate", verb]
        assert main([verb, "--help"]) == Exit.OK
        known = capsys.readouterr().out
        assert all(f"{word} " in known for word in words if word.startswith("--"))
    written = set(pipeline["gate"]["artifacts"]["reports"].values()) | set(
        pipeline["gate"]["artifacts"]["paths"]
    )
    assert written <= set(shlex.split(pipeline["gate"]["script"][0]))
    note = pipeline["gate-note"]
    assert note["variables"]["GIT_STRATEGY"] == "none", "the job with the token fetches nothing of the change"
    assert "GATE_GITLAB_TOKEN" not in str(pipeline["gate"])
    for image in (pipeline[".gate"]["image"]["name"], *list(pipeline["gate"]["variables"].values())[2:]):
        assert re.search("@sha256:[0-9a-f]{64}$", image)
