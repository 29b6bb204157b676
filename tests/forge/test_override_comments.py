"""Overrides by comment: only by people entitled to it, for this commit, unedited (GH-4, GH-13)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gate.cli import main
from gate.errors import Exit
from gate.github.audit_log import START, verify
from gate.github.checks import Stamp, stamped, unstamped
from tests.forge.standin.world import HEAD, Actor, Comment, Fault, World
from tests.forge.telling import Job, hostile, soft

WHY = "Reviewed with the platform team, see the ticket."
ALL = f"/gate override all sha: {HEAD[:12]} reason: {WHY}"


def _later(minutes: int = 5) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _say(world: World, who: str, text: str = ALL, **more: Any) -> Comment:
    """A comment written after the verdict."""
    made = world.comment(7, Actor(login=who, type=more.pop("type", "User")), text)
    made.created = made.updated = more.pop("at", _later())
    return made


def _last(world: World) -> tuple[str, Stamp]:
    check = world.checks[max(world.checks)]
    stamp = unstamped(check["output"]["text"])
    assert stamp is not None
    return check["conclusion"], stamp


def _ours(world: World) -> str:
    (comment,) = (c for c in world.on(7) if c.author.type == "Bot" and "gate:report" in c.body)
    return comment.body


def test_a_maintainer_lets_it_through(job: Job, world: World) -> None:
    assert job.publish(soft()) == Exit.OK
    assert _last(world)[0] == "failure"
    _say(world, "wren")
    assert job.publish(soft()) == Exit.OK
    conclusion, stamp = _last(world)
    assert conclusion == "neutral"
    assert (stamp.verdict, stamp.overridden, stamp.score) == ("warn", "fail", 94)
    body = _ours(world)
    assert "Overrides: 1 accepted of 1 asked for" in body
    assert "`wren`" in body
    assert WHY in body


def test_one_finding_by_its_fingerprint(job: Job, world: World) -> None:
    report = soft()
    job.publish(report)
    for finding in report.findings:
        _say(world, "wren", f"/gate override {finding.fingerprint} sha: {HEAD} reason: {WHY}")
    job.publish(report)
    assert _last(world)[0] == "neutral"


def _edit(world: World) -> None:
    _say(world, "wren").updated = _later(9)


def _old(world: World) -> None:
    _say(world, "wren", at="2026-01-01T00:00:00Z")


def _deleted(world: World) -> None:
    del world.comments[_say(world, "wren").id]


def _gone(world: World) -> None:
    _say(world, "wren")
    world.roles["wren"] = "read"


ATTEMPTS: dict[str, Callable[[World], Any]] = {
    "by the author": lambda world: (world.roles.update(mina="admin"), _say(world, "mina")),
    "by the author, other case": lambda world: (world.roles.update(MINA="admin"), _say(world, "MINA")),
    "by who wrote a commit": lambda world: (
        world.pulls.update({7: replace(world.pulls[7], commit_authors=["wren"])}),
        _say(world, "wren"),
    ),
    "by a reader": lambda world: _say(world, "rob"),
    "by a stranger": lambda world: _say(world, "mallory"),
    "by a bot": lambda world: (world.roles.update(helper="admin"), _say(world, "helper", type="Bot")),
    "edited": _edit,
    "deleted": _deleted,
    "before the verdict": _old,
    "no longer entitled": _gone,
    "without reason": lambda world: _say(world, "wren", "/gate override all"),
    "with a thin reason": lambda world: _say(world, "wren", "/gate override all reason: ok ok"),
    "for another commit": lambda world: _say(
        world, "wren", f"/gate override all sha: {'0' * 12} reason: {WHY}"
    ),
    "hidden": lambda world: _say(world, "wren", f"<!-- {ALL} -->"),
    "quoted": lambda world: _say(world, "wren", f"> {ALL}"),
    "among other text": lambda world: _say(world, "wren", f"{ALL}\n\nthanks"),
}


@pytest.mark.parametrize("name", ATTEMPTS)
@pytest.mark.slow
def test_attempts_that_do_not_count(job: Job, world: World, name: str) -> None:
    job.publish(soft())
    ATTEMPTS[name](world)
    assert job.publish(soft()) == Exit.OK
    conclusion, stamp = _last(world)
    assert conclusion == "failure"
    assert stamp.overridden is None
    if name not in ("deleted", "hidden", "quoted"):
        assert "**refused**" in _ours(world)


def test_before_any_verdict_nothing_counts(job: Job, world: World) -> None:
    _say(world, "wren")
    job.publish(soft())
    assert _last(world)[0] == "failure"


def test_a_push_voids_it(job: Job, world: World) -> None:
    job.publish(soft())
    _say(world, "wren")
    job.publish(soft())
    assert _last(world)[0] == "neutral"
    new = "2" * 40
    world.pulls[7].head_sha = new
    for check in world.checks.values():
        check["at"] = "2026-01-01T00:00:00Z"
    raw = json.loads(job.report(soft()).read_text()) | {"head": new}
    assert job.publish(json.dumps(raw).encode()) == Exit.OK
    assert _last(world)[0] == "failure"
    assert world.checks[max(world.checks)]["head_sha"] == new


def test_a_check_by_somebody_else_does_not_start_the_clock(job: Job, world: World) -> None:
    """Another app's check named like ours, older than the comment, is not our verdict (GH-7)."""
    stamp = stamped(Stamp(verdict="pass", score=0, head=HEAD, base=None, report="", policy="", gate="", at=1))
    world.checks[1] = {
        "id": 1, "app": "mallory-ci", "app_id": 5, "at": "2026-01-01T00:00:00Z", "name": "gate",
        "head_sha": HEAD, "status": "completed", "conclusion": "success", "external_id": "x",
        "annotations": [], "output": {"title": "t", "summary": "s", "text": stamp},
    }  # fmt: skip
    _say(world, "wren")
    job.publish(soft())
    assert _last(world)[0] == "failure"


def test_hard_blocks_stand(job: Job, world: World) -> None:
    job.publish(hostile())
    _say(world, "wren")
    job.publish(hostile())
    assert _last(world)[0] == "failure"


def test_settings_at_base_may_ask_for_more_or_less(job: Job, world: World) -> None:
    world.files[world.pulls[7].base_sha, "gate.toml"] = b'[override]\nrole = "maintain"\n'
    job.publish(soft())
    _say(world, "wren")
    job.publish(soft())
    assert _last(world)[0] == "failure"
    world.files[world.pulls[7].base_sha, "gate.toml"] = b"[override]\ncomments = false\n"
    _say(world, "octo")
    job.publish(soft())
    assert _last(world)[0] == "failure"
    world.files[world.pulls[7].base_sha, "gate.toml"] = b""
    job.publish(soft())
    assert _last(world)[0] == "neutral"


def test_when_the_conversation_cannot_be_read_no_comment_counts(job: Job, world: World) -> None:
    job.publish(soft())
    _say(world, "wren")
    world.faults.append(Fault(method="GET", path=".*/issues/7/comments", status=500, times=99))
    job.publish(soft())
    assert _last(world)[0] == "failure"


def test_the_file_at_base_and_never_the_one_at_head(job: Job, world: World) -> None:
    report = soft()
    day = (datetime.now(UTC) + timedelta(days=30)).date()
    rest = f'reason = "{WHY}"\nowner = "@octo/sec"\nexpires = {day}\n'
    entries = "".join(
        f'[[override]]\nfingerprint = "{f.fingerprint}"\n{rest}' for f in report.findings
    ).encode()
    world.files[HEAD, "overrides.toml"] = entries
    job.publish(report)
    assert _last(world)[0] == "failure"
    world.files[world.pulls[7].base_sha, "overrides.toml"] = entries
    job.publish(report)
    conclusion, stamp = _last(world)
    assert conclusion == "neutral"
    assert stamp.overrides_until is not None


def test_every_decision_is_in_the_audit_log(
    job: Job, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "audit.jsonl"
    job.publish(soft(), "--audit", str(log))
    assert not log.exists()
    _say(world, "wren")
    _say(world, "rob")
    job.publish(soft(), "--audit", str(log))
    lines = [json.loads(line)["what"] for line in log.read_text().splitlines()]
    assert [(one["by"], one["decision"][:8], one["verdict"]) for one in lines] == [
        ("wren", "accepted", "fail -> warn"),
        ("rob", "refused:", "fail -> warn"),
    ]
    assert all(one["head"] == HEAD for one in lines)
    capsys.readouterr()
    assert main(["audit", "verify", str(log)]) == Exit.OK
    assert "2 entries, unbroken" in capsys.readouterr().out
    count, seal = verify(log)
    assert (count, seal != START) == (2, True)


def test_comments_start_a_second_look(job: Job, world: World) -> None:
    """On issue_comment the report of the newest finished run for this head is told again."""
    from tests.forge.telling import packed

    number = world.run()
    world.artifacts[world.ids()] = (number, "gate-report", packed(soft()))
    world.run(head_sha="1" * 40)
    job.event({"workflow_run": {"id": number}})
    job.publish(None)
    _say(world, "wren")
    job.event({"issue": {"number": 7, "pull_request": {"url": "x"}}, "comment": {"body": ALL}})
    assert job.publish(None) == Exit.OK
    assert _last(world)[0] == "neutral"
