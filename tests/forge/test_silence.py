"""Everything says something: refusals, merge queues, a check from the first second, each finding once."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from gate.errors import Exit
from gate.github.checks import unstamped
from gate.report.annotations import annotate
from gate.report.json_v1 import JsonReporter
from tests.forge.standin.world import BASE, HEAD, World
from tests.forge.telling import Job, harmless, hostile, packed, refused, soft
from tests.forge.test_forging import CHECK, _all, _last, _run, _say

QUEUE = "gh-readonly-queue/main/pr-7-3f2a9c1e5b7d"
ENTRY = "5" * 40


def _plain(text: str) -> str:
    return text.replace("\u200b", "").replace("&#8203;", "")


def test_raising_both_pins_in_one_pull_request_is_no_dead_end(job: Job, world: World) -> None:
    world.pulls[7].files = [CHECK, ".github/workflows/gate-publish.yml"]
    world.files[HEAD, ".github/workflows/gate-publish.yml"] = b"jobs: {tell: {name: tell}}"
    raw = json.dumps(json.loads(JsonReporter().render(harmless())) | {"gate_version": "9.9.9"}).encode()
    _run(job, world, packed(raw))
    assert job.publish(None) == Exit.OK
    (check,) = world.checks.values()
    text = _plain(check["output"]["summary"])
    assert check["conclusion"] == "failure"
    assert "9.9.9" in text
    assert "/gate vouch sha:" in text
    from tests.forge.test_forging import _vouch

    _say(world, "octo", _vouch())
    job.publish(None)
    assert _last(world)[0] == "neutral"


@pytest.mark.parametrize("conclusion", ["cancelled", "failure", "timed_out"])
def test_a_run_without_a_report(job: Job, world: World, conclusion: str) -> None:
    job.event({"workflow_run": {"id": world.run(conclusion=conclusion)}})
    assert job.publish(None) == Exit.USAGE
    assert "left no artifact" in refused(world)
    assert "left no artifact" in _plain(job.summary)


def test_a_skipped_run_says_nothing(job: Job, world: World) -> None:
    job.event({"workflow_run": {"id": world.run(conclusion="skipped")}})
    assert job.publish(None) == Exit.OK
    assert world.checks == {}


def test_settings_at_base_that_nobody_can_read(job: Job, world: World) -> None:
    world.files[BASE, "gate.toml"] = b"nonsense = 1\n"
    _run(job, world, packed(harmless()))
    assert job.publish(None) == Exit.USAGE
    assert "nonsense" in refused(world)


def test_one_check_from_the_first_second_to_the_last_override(
    job: Job, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In progress, then told, told again, told anew: never a second one."""
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request_target")
    job.event({"pull_request": {"number": 7}, "action": "opened"})
    assert job.publish(None) == Exit.OK
    (check,) = world.checks.values()
    assert (check["status"], check["head_sha"], check["name"]) == ("in_progress", HEAD, "gate")
    monkeypatch.delenv("GITHUB_EVENT_NAME")
    _run(job, world, packed(soft()))
    job.publish(None)
    first = unstamped(check["output"]["text"])
    told = len(check["annotations"])
    _say(world, "wren", _all())
    job.publish(None)
    job.publish(None)
    assert list(world.checks.values()) == [check]
    assert check["conclusion"] == "neutral"
    assert len(check["annotations"]) == told, "GitHub adds annotations: none is sent twice"
    second = unstamped(check["output"]["text"])
    assert first is not None
    assert second is not None
    assert first.since == second.since
    assert (second.pull, second.base_ref, second.merge_base, second.tree) == (7, "main", BASE, "7" * 40)


def test_a_requested_run_begins_the_check(job: Job, world: World) -> None:
    job.event({"workflow_run": {"id": world.run(status="queued")}, "action": "requested"})
    assert job.publish(None) == Exit.OK
    (check,) = world.checks.values()
    assert check["status"] == "in_progress"


def test_a_status_is_pending_where_no_check_may_be_written(
    job: Job, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.job(pull_requests="read", contents="read", statuses="write")
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request_target")
    job.event({"pull_request": {"number": 7}, "action": "opened"})
    assert job.publish(None) == Exit.OK
    assert [s["state"] for s in world.statuses] == ["pending"]


def _entry(job: Job, world: World, more: dict[str, Any] | None = None, **run: Any) -> None:
    world.older.add((BASE, ENTRY))
    report = replace(harmless(), pull_request=None, change=replace(harmless().change, head=ENTRY))
    raw = json.dumps(json.loads(JsonReporter().render(report)) | (more or {})).encode()
    _run(job, world, packed(raw), event="merge_group", head_sha=ENTRY, head_branch=QUEUE, **run)


def test_an_entry_of_a_merge_queue_gets_its_check(job: Job, world: World) -> None:
    _entry(job, world)
    assert job.publish(None) == Exit.OK
    (check,) = world.checks.values()
    assert (check["head_sha"], check["conclusion"]) == (ENTRY, "success")
    assert world.on(7) == []


@pytest.mark.parametrize(
    "more",
    [
        {"base": "4" * 40, "merge_base": "4" * 40},
        {"base": ENTRY, "merge_base": ENTRY},
        {"merge_base": "4" * 40},
        {"pull_request": 7},
        {"head": HEAD},
    ],
    ids=str,
)
def test_an_entry_with_a_report_about_something_else(job: Job, world: World, more: dict[str, Any]) -> None:
    _entry(job, world, more)
    assert job.publish(None) == Exit.USAGE
    (check,) = world.checks.values()
    assert (check["head_sha"], check["conclusion"]) == (ENTRY, "failure")


def test_an_entry_that_changes_the_workflow_is_not_green(job: Job, world: World) -> None:
    world.files["main", CHECK] = b"old"
    world.files[ENTRY, CHECK] = b"new"
    _entry(job, world)
    assert job.publish(None) == Exit.OK
    (check,) = world.checks.values()
    assert check["conclusion"] == "failure"


@pytest.mark.parametrize("run", [{"head_owner": "mallory"}, {"head_branch": "feature"}], ids=str)
def test_only_github_makes_queues(job: Job, world: World, run: dict[str, str]) -> None:
    number = world.run(**({"event": "merge_group", "head_branch": QUEUE} | run))
    job.event({"workflow_run": {"id": number}})
    assert job.publish(None) == Exit.USAGE
    assert world.checks == {}


def test_each_finding_is_told_once() -> None:
    whole, short = annotate(hostile()), annotate(hostile(), findings=False)
    assert "file=" in whole
    assert "file=" not in short
    assert "gate: Blocked" in short
