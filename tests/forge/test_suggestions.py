"""Suggestions on changed lines: where, how many, never twice, never led by somebody else's text."""

from __future__ import annotations

from dataclasses import replace

from gate.errors import Exit
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.report import Report
from gate.model.rule import Confidence, FindingStage, Severity
from gate.model.score import Verdict
from tests.forge.standin.world import APP_BOT, Fault, World
from tests.forge.telling import Job, harmless
from tests.golden.rendered import look_at

PATH = "src/shop/load.py"
PATCH = "@@ -1,2 +1,4 @@\n import yaml\n+x = yaml.load(f)\n-old\n+\ty = requests.get(u, verify=False)\n after"


def _finding(rule: str, line: int, path: str = PATH) -> Finding:
    place = (Location(path=path, line=line, kind="primary"),)
    return Finding(
        rule_id=rule, stage=FindingStage.PRESCREEN, severity=Severity.MEDIUM, confidence=Confidence.HIGH,
        message="Found.", locations=place, shape=f"{rule}{line}", fingerprint=f"{line:032x}",
    )  # fmt: skip


def _report(*found: Finding) -> Report:
    return replace(harmless(), verdict=Verdict.WARN, findings=found)


BOTH = _report(_finding("bandit-b506", 2), _finding("py.tls-unverified", 3))


def _patched(world: World, patch: str = PATCH) -> None:
    world.pulls[7].patches[PATH] = patch


def test_what_can_be_fixed_is_suggested_on_its_line(job: Job, world: World) -> None:
    _patched(world)
    assert job.publish(BOTH) == Exit.OK
    first, second = world.pulls[7].reviews
    assert (first["path"], first["line"], first["side"]) == (PATH, 2, "RIGHT")
    assert first["commit"] == world.pulls[7].head_sha
    assert first["body"].endswith("```suggestion\nx = yaml.safe_load(f)\n```")
    assert second["body"].endswith("```suggestion\n\ty = requests.get(u)\n```")
    body = world.on(7)[0].body
    assert "Safe fixes: 2" in body
    assert "```diff\n-x = yaml.load(f)\n+x = yaml.safe_load(f)\n```" in body


def test_the_next_push_makes_none_of_them_again(job: Job, world: World) -> None:
    _patched(world)
    for _ in range(2):
        assert job.publish(BOTH) == Exit.OK
    assert len(world.pulls[7].reviews) == 2
    _patched(world, PATCH + "\n+z = yaml.load(g)")
    job.publish(_report(*BOTH.findings, _finding("bandit-b506", 5)))
    assert [r["line"] for r in world.pulls[7].reviews] == [2, 3, 5]
    assert len(world.sent("POST", ".*/reviews")) == 2


def test_no_more_than_five_on_a_pull_request(job: Job, world: World) -> None:
    _patched(world, "@@ -0,0 +1,20 @@\n" + "\n".join(f"+x{n} = yaml.load(f)" for n in range(20)))
    many = _report(*(_finding("bandit-b506", n + 1) for n in range(20)))
    assert job.publish(many) == Exit.OK
    assert len(world.pulls[7].reviews) == 5
    _patched(world, "@@ -0,0 +1,20 @@\n" + "\n".join(f"+y{n} = yaml.load(f)" for n in range(20)))
    job.publish(many)
    assert len(world.pulls[7].reviews) == 5


def test_only_on_added_lines_that_hold_what_was_found(job: Job, world: World) -> None:
    _patched(world)
    elsewhere = [_finding("bandit-b506", line) for line in (1, 3, 4, 99)]
    assert job.publish(_report(*elsewhere, _finding("bandit-b506", 2, "other.py"))) == Exit.OK
    assert world.pulls[7].reviews == []
    assert world.sent("POST", ".*/reviews") == []
    assert "Safe fixes" not in world.on(7)[0].body


def test_silent_when_it_passes_or_is_switched_off(job: Job, world: World) -> None:
    _patched(world)
    job.publish(replace(BOTH, verdict=Verdict.PASS))
    world.files[world.pulls[7].base_sha, "gate.toml"] = b"[github]\nsuggestions = false\n"
    job.publish(BOTH)
    assert world.pulls[7].reviews == []
    assert not world.sent("GET", ".*/pulls/7/comments")


def test_somebody_elses_mark_hides_nothing_and_a_lost_answer_doubles_nothing(job: Job, world: World) -> None:
    _patched(world)
    job.publish(BOTH)
    ours = world.pulls[7].reviews
    world.pulls[7].reviews = [{**r, "login": "mallory"} for r in ours]
    world.faults.append(Fault(method="POST", path=".*/reviews", status=502, body="<html>", after=True))
    assert job.publish(BOTH) == Exit.OK
    assert [r["login"] for r in world.pulls[7].reviews] == ["mallory", "mallory", APP_BOT, APP_BOT]


def test_a_refusal_is_no_failure_and_a_read_only_token_is_said(job: Job, world: World) -> None:
    _patched(world)
    refusal = Fault(method="POST", path=".*/reviews", status=422, body='{"message": "line"}', times=9)
    world.faults.append(refusal)
    assert job.publish(BOTH) == Exit.OK
    assert "Safe fixes: 2" in world.on(7)[0].body
    refusal.times = 0
    world.job(issues="write", pull_requests="read", checks="write", contents="read")
    assert job.publish(BOTH) == Exit.OK
    assert "not told: suggestions" in job.summary


def test_hostile_lines_stay_in_their_fence(job: Job, world: World) -> None:
    evil = 'x = yaml.load("````\u200b")'
    worse = 'x = yaml.load("``` @octo/all ![x](https://evil.example/x.png) </details><h1> ~~~ ````")'
    _patched(world, f"@@ -0,0 +1,2 @@\n+{evil}\n+{worse}")
    job.publish(_report(_finding("bandit-b506", 1), _finding("bandit-b506", 2)))
    (said,) = world.pulls[7].reviews
    assert said["line"] == 2, "what does not show is not suggested"
    for text in (said["body"].split("\n", 1)[1], world.on(7)[0].body.split("Safe fixes")[1]):
        seen = look_at(text)
        assert not {"img", "h1"} & set(seen.tags)
        assert "@octo" not in seen.text
        assert any("evil.example" in code for code in seen.code)
