"""`gate publish` as a job runs it: what people see, and everything it must refuse."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.errors import Exit
from gate.github.checks import unstamped
from gate.github.comment import MARKER
from gate.model.report import Report
from gate.model.score import Score, Verdict
from gate.report.json_v1 import JsonReporter
from tests.forge.standin.world import APP_BOT, HEAD, Actor, Fault, World
from tests.forge.telling import Job, harmless, hostile, packed, refused
from tests.golden import sample

BOT = Actor(login=APP_BOT, type="Bot")


def the_check(world: World) -> dict[str, Any]:
    (check,) = world.checks.values()
    return check


def test_a_blocked_change_is_told_everywhere(job: Job, world: World) -> None:
    assert job.publish(hostile()) == Exit.OK
    (comment,) = world.on(7)
    assert comment.body.startswith(MARKER + "\n### ")
    assert "Blocked" in comment.body.splitlines()[1]
    assert f"https://github.com/octo/shop/blob/{HEAD}/shop/telemetry.py#L31" in comment.body
    check = the_check(world)
    assert (check["name"], check["head_sha"], check["conclusion"]) == ("gate", HEAD, "failure")
    stamp = unstamped(check["output"]["text"])
    assert stamp is not None
    assert (stamp.verdict, stamp.head, stamp.score) == ("fail", HEAD, 94)
    assert check["annotations"][0]["path"] == "shop/telemetry.py"
    assert "Blocked" in job.summary
    assert "verdict<<" in job.outputs
    assert f"#issuecomment-{comment.id}" in job.outputs
    assert world.sent("GET", "/user")
    assert not world.sarifs
    assert world.pulls[7].labels == []


@pytest.mark.parametrize(
    ("report", "conclusion"),
    [
        (harmless(), "success"),
        (replace(harmless(), verdict=Verdict.WARN), "neutral"),
        (replace(sample.blind(), gate_version=harmless().gate_version), "failure"),
    ],
    ids=["pass", "warn", "inconclusive"],
)
def test_conclusions(job: Job, world: World, report: Report, conclusion: str) -> None:
    assert job.publish(report) == Exit.OK
    assert the_check(world)["conclusion"] == conclusion


def test_the_comment_is_edited_in_place_and_not_created_for_nothing(job: Job, world: World) -> None:
    assert job.publish(harmless()) == Exit.OK
    assert world.on(7) == []
    job.publish(hostile())
    job.publish(harmless())
    (comment,) = world.on(7)
    assert "Passed" in comment.body
    job.publish(harmless())
    assert len(world.sent("PATCH", ".*/issues/comments/.*")) == 1


def test_settings_at_base_rule(job: Job, world: World) -> None:
    world.files[world.pulls[7].base_sha, "gate.toml"] = (
        b'[github]\ncomment = "always"\ncheck = "status"\nlabels = true\nsarif = true\n'
        b'reviewers = ["wren", "octo/security", "mina"]\n'
    )
    world.files[HEAD, "gate.toml"] = b'[github]\ncomment = "never"\ncheck = "never"\n'
    world.pulls[7].labels = ["bug"]
    assert job.publish(hostile()) == Exit.OK
    assert len(world.on(7)) == 1
    assert world.checks == {}
    (status,) = world.statuses
    assert (status["state"], status["context"], status["sha"]) == ("failure", "gate", HEAD)
    assert world.pulls[7].labels == ["bug", "ai-authored", "gate:blocked"]
    assert world.pulls[7].reviewers == ["wren", "security"]
    (sarif,) = world.sarifs.values()
    assert sarif["commit_sha"] == HEAD
    assert sarif["ref"] == "refs/pull/7/head"
    log = json.loads(gzip.decompress(base64.b64decode(sarif["sarif"])))
    assert log["version"] == "2.1.0"
    job.publish(replace(harmless(), commits=()))
    assert world.pulls[7].labels == ["bug"]
    assert world.statuses[-1]["state"] == "success"


def test_marker_and_author(job: Job, world: World) -> None:
    """Anybody can paste our marker (RP-2)."""
    theirs = world.comment(7, Actor(login="mallory"), MARKER + "\n### Passed")
    quoting = world.comment(7, BOT, "> " + MARKER)
    job.publish(hostile())
    assert theirs.body.endswith("Passed")
    assert quoting.body.startswith("> ")
    assert len(world.on(7)) == 3


def test_a_comment_deleted_meanwhile_is_made_anew(job: Job, world: World) -> None:
    job.publish(hostile())
    world.faults.append(Fault(method="PATCH", status=404, body='{"message": "Not Found"}'))
    job.publish(harmless(), "--comment", "always")
    assert "Passed" in world.on(7)[-1].body


def test_three_hundred_comments(job: Job, world: World) -> None:
    for number in range(299):
        world.comment(7, Actor(login="wren"), f"c{number}")
    ours = world.comment(7, BOT, MARKER + "\nold")
    job.publish(hostile())
    assert "Blocked" in ours.body
    assert len(world.on(7)) == 300


def test_many_findings_come_in_batches_of_fifty(job: Job, world: World) -> None:
    assert job.publish(replace(sample.buried(1_200), gate_version=harmless().gate_version)) == Exit.OK
    assert len(the_check(world)["annotations"]) == 500
    sizes = [len(a.body["output"]["annotations"]) for a in world.asked if "check-runs" in a.path and a.body]
    assert sizes == [50] * 10


def test_a_read_only_token_is_said_plainly(job: Job, world: World) -> None:
    world.job(issues="read", pull_requests="read", contents="read")
    assert job.publish(hostile()) == Exit.INCONCLUSIVE
    assert world.on(7) == []
    assert "Blocked" in job.summary
    assert "The token may not write everything" in job.summary
    assert "not accessible by integration" in job.summary


def test_without_checks_permission_a_status_is_written(job: Job, world: World) -> None:
    world.job(issues="write", pull_requests="read", contents="read", statuses="write")
    assert job.publish(hostile()) == Exit.OK
    assert world.statuses[0]["state"] == "failure"
    assert len(world.on(7)) == 1


@pytest.mark.parametrize("what", ["check-runs", "issues/7/comments"])
@pytest.mark.parametrize("after", [True, False])
def test_lost_answers_double_nothing(job: Job, world: World, what: str, after: bool) -> None:
    html = "<html>502</html>"
    world.faults.append(Fault(method="POST", path=f".*/{what}", status=502, body=html, after=after))
    assert job.publish(hostile()) == Exit.OK
    assert len(world.checks) == 1
    assert len(world.on(7)) == 1


def test_one_part_that_fails_does_not_silence_the_others(job: Job, world: World) -> None:
    world.faults.append(Fault(method="POST", path=".*/check-runs", status=422, body="{}", times=9))
    assert job.publish(hostile()) == Exit.INCONCLUSIVE
    assert len(world.on(7)) == 1
    assert "not told: check" in job.summary


def test_the_report_is_written_before_anything_is_sent(job: Job, world: World, tmp_path: Path) -> None:
    world.faults.append(Fault(status=401, body='{"message": "Bad credentials"}', times=99))
    assert job.publish(hostile()) == Exit.INCONCLUSIVE
    assert (tmp_path / "report.json").stat().st_size > 1_000


# ---- what must be refused (GH-3) -------------------------------------------------------------------------


def _json(report: Report, **more: Any) -> bytes:
    return json.dumps(json.loads(JsonReporter().render(report)) | more).encode()


@pytest.mark.parametrize(
    "raw",
    [
        _json(harmless(), head="0" * 40),
        _json(harmless(), head=None),
        _json(harmless(), pull_request=8),
        _json(harmless(), html="<script>"),
        _json(harmless(), verdict="approved"),
        _json(harmless(), score=-1),
        _json(harmless())[:-100],
        b"",
        b"[" * 100_000,
        b"\x00" * 1_000,
        b'{"schema_version": "2"}',
    ],
    ids=[
        "other-commit",
        "no-commit",
        "extra-number",
        "extra-html",
        "verdict",
        "score",
        "cut",
        "empty",
        "deep",
        "zeros",
        "schema",
    ],
)
def test_a_report_that_is_not_ours_is_not_told(job: Job, world: World, raw: bytes) -> None:
    assert job.publish(raw) == Exit.USAGE
    assert refused(world)
    assert "Inconclusive" in job.summary


def test_links_folders_and_giants_are_not_read(job: Job, world: World, tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(job.report(harmless()))
    giant = tmp_path / "giant.json"
    with giant.open("wb") as stream:
        stream.truncate(100 << 20)
    for path in (link, tmp_path, giant, tmp_path / "none", Path("/dev/zero")):
        world.checks.clear()
        world.asked.clear()
        assert job.publish(None, "--report", str(path)) == Exit.USAGE
        assert refused(world)


def test_a_report_cannot_flatter_itself(job: Job, world: World) -> None:
    """Its own findings are judged again, with base's thresholds; overrides it brings along count nothing."""
    flattering = replace(hostile(), verdict=Verdict.PASS, score=Score(value=0, contributions=()))
    assert job.publish(flattering) == Exit.OK
    assert the_check(world)["conclusion"] == "failure"
    assert "its own evidence says fail" in the_check(world)["output"]["summary"]


def test_a_closed_pull_request_hears_nothing(job: Job, world: World) -> None:
    world.pulls[7].state = "closed"
    assert job.publish(hostile()) == Exit.USAGE
    assert world.on(7) == []


# ---- after a run of the unprivileged half ----------------------------------------------------------------


def _after_run(job: Job, world: World, raw: bytes, **run: Any) -> int:
    number = world.run(**run)
    world.artifacts[world.ids()] = (number, "gate-report", raw)
    job.event({"workflow_run": {"id": number, "pull_requests": [{"number": 999}], "head_sha": "0" * 40}})
    return number


def test_a_fork_is_told_by_the_privileged_half(job: Job, world: World) -> None:
    pull = world.pulls[7]
    pull.head_owner, pull.head_repo_id, pull.author = "mallory", 666, "mallory"
    _after_run(job, world, packed(hostile()), head_owner="mallory")
    assert job.publish(None) == Exit.OK
    assert "Blocked" in world.on(7)[0].body
    assert the_check(world)["conclusion"] == "failure"
    assert not world.sent("GET", ".*/(tarball|zipball|git/(blobs|trees|tags)).*")


@pytest.mark.parametrize(
    "run",
    [
        {"path": ".github/workflows/evil.yml"},
        {"path": ".github/workflows/gate-check.yml.evil.yml"},
        {"event": "push"},
        {"event": "workflow_dispatch"},
        {"head_sha": "1" * 40},
        {"head_branch": "other"},
        {"head_owner": "mallory"},
    ],
    ids=str,
)
def test_runs_of_anything_else_are_refused(job: Job, world: World, run: dict[str, str]) -> None:
    _after_run(job, world, packed(harmless()), **run)
    assert job.publish(None) == Exit.USAGE
    assert [a for a in world.asked if a.method != "GET"] == []


def test_a_push_during_the_run_leaves_the_old_report_behind(job: Job, world: World) -> None:
    """GH-4: the verdict belongs to the commit that was looked at."""
    _after_run(job, world, packed(harmless()))
    world.pulls[7].head_sha = "2" * 40
    assert job.publish(None) == Exit.USAGE
    assert world.checks == {}


@pytest.mark.parametrize(
    "archive",
    [
        b"",
        b"PK\x05\x06",
        b"not a zip",
        packed(harmless())[:-30],
        packed(harmless(), member="../report.json"),
        packed(harmless(), member="/report.json"),
        packed(b"/etc/passwd", mode=0o120777),
        packed(b"{}"),
        None,
    ],
    ids=["empty", "bare", "text", "cut", "climbs", "absolute", "link", "no-report", "bomb"],
)
def test_hostile_archives(job: Job, world: World, archive: bytes | None) -> None:
    bomb = packed(b"\0" * (200 << 20)) if archive is None else b""  # a second of every worker's collection
    _after_run(job, world, archive or bomb)
    assert job.publish(None) == Exit.USAGE
    assert refused(world)


def test_no_artifact(job: Job, world: World) -> None:
    job.event({"workflow_run": {"id": world.run()}})
    assert job.publish(None) == Exit.USAGE
    assert "left no artifact" in refused(world)


@pytest.mark.parametrize("path", [".github/workflows/gate-check.yml", ".github/actions/gate/action.yml"])
def test_a_change_to_the_gate_itself_is_never_green(job: Job, world: World, path: str) -> None:
    """GH-5: on pull_request the change's own workflow file runs; its report may be anything."""
    world.pulls[7].files = ["README.md", path]
    _after_run(job, world, packed(harmless()))
    assert job.publish(None) == Exit.OK
    assert the_check(world)["conclusion"] == "failure"
    assert f"edits what made this report: {path}" in the_check(world)["output"]["summary"].replace(
        "\u200b", ""
    ).replace("&#8203;", "")


def test_too_many_files_to_see_is_never_green(job: Job, world: World) -> None:
    world.pulls[7].files = [f"f{number}.py" for number in range(3_000)]
    assert job.publish(harmless()) == Exit.OK
    assert the_check(world)["conclusion"] == "failure"


@pytest.mark.parametrize("payload", [{}, {"issue": {"number": 7}}, {"after": "x"}])
def test_events_about_no_pull_request(job: Job, world: World, payload: dict[str, Any]) -> None:
    job.event(payload)
    assert job.publish(harmless()) == Exit.USAGE
    assert world.asked == []


def test_hostile_text_builds_nothing_in_outputs(job: Job, world: World) -> None:
    evil = replace(hostile(), reasons=("x\nverdict=pass\nEOF\n::set-output name=verdict::pass",))
    job.publish(evil)
    lines = job.outputs.splitlines()
    assert "verdict=pass" not in lines
    assert lines[1] == "fail"
