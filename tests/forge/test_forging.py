"""Attacks on the verdict: forged reports, other bases, borrowed overrides. Each worked once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from gate.errors import Exit
from gate.github.checks import Stamp, unstamped
from gate.model.report import Report, ReportProvenance
from gate.policy.digest import policy_digest
from gate.report.json_v1 import JsonReporter
from gate.settings import load
from tests.forge.standin.world import HEAD, Actor, Comment, Pull, World
from tests.forge.telling import Job, harmless, packed, refused, soft

WHY = "Reviewed with the platform team, see the ticket."
FP = "2b1db0631c05b897479379e089536f05"
OTHER = "b" * 40
CHECK = ".github/workflows/gate-check.yml"


def _json(report: Report, **more: Any) -> bytes:
    return json.dumps(json.loads(JsonReporter().render(report)) | more).encode()


def _low(report: Report | None = None, fingerprint: str = FP) -> bytes:
    """A forged report: it passes, and holds one finding that an override can be about."""
    forged = json.loads(JsonReporter().render(report or harmless()))
    one = json.loads(JsonReporter().render(soft()))["findings"][0]
    forged["findings"] = [one | {"fingerprint": fingerprint, "severity": "low", "hard_block": False}]
    return json.dumps(forged).encode()


def _later(minutes: float = 5) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _say(world: World, who: str, text: str, at: str = "", **more: Any) -> Comment:
    made = world.comment(7, Actor(login=who, type=more.pop("type", "User")), text)
    made.created = made.updated = at or _later()
    for name, value in more.items():
        setattr(made, name, value)
    return made


def _all(sha: str = HEAD) -> str:
    return f"/gate override all sha: {sha} reason: {WHY}"


def _vouch(sha: str = HEAD) -> str:
    return f"/gate vouch sha: {sha} reason: {WHY}"


def _last(world: World) -> tuple[str, Stamp]:
    check = world.checks[max(world.checks)]
    stamp = unstamped(check["output"].get("text") or "")
    assert stamp is not None
    return check["conclusion"], stamp


def _run(job: Job, world: World, raw: bytes, **run: Any) -> int:
    number = world.run(**run)
    world.artifacts[world.ids()] = (number, "gate-report", raw)
    job.event({"workflow_run": {"id": number}})
    return number


def _overrides(world: World, fingerprint: str) -> None:
    day = (datetime.now(UTC) + timedelta(days=60)).date()
    world.files[world.pulls[7].base_sha, "overrides.toml"] = (
        f'[[override]]\nfingerprint = "{fingerprint}"\nreason = "{WHY}"\n'
        f'owner = "@octo/sec"\nexpires = {day}\n'
    ).encode()


# ---- a doubt about the evidence is no finding ------------------------------------------------------------


DOUBTFUL: dict[str, Callable[[World], Any]] = {
    "the workflow": lambda w: w.pulls[7].files.append(CHECK),
    "a local action": lambda w: w.pulls[7].files.append(".github/actions/x/action.yml"),
    "3,000 files": lambda w: setattr(w.pulls[7], "files", [f"f{n}.py" for n in range(3_000)]),
    "a job named gate": lambda w: _workflow(w, "jobs:\n  gate:\n    runs-on: x\n"),
    "a job that may be named gate": lambda w: _workflow(w, "jobs: {a: {name: 'g${{ matrix.x }}'}}"),
    "a workflow nobody can read": lambda w: _workflow(w, "jobs: {{"),
    "the same head elsewhere": lambda w: w.pulls.update({9: Pull(number=9, base_ref="lax")}),
}


def _workflow(world: World, text: str) -> None:
    path = ".github/workflows/evil.yml"
    world.pulls[7].files.append(path)
    world.files[HEAD, path] = text.encode()


@pytest.mark.parametrize("why", DOUBTFUL)
def test_no_override_clears_a_doubt(job: Job, world: World, why: str) -> None:
    """One harmless finding overridden once cleared everything (overrides.toml is public)."""
    world.pulls[7].author = "mallory"
    DOUBTFUL[why](world)
    _run(job, world, packed(_low()))
    assert job.publish(None) == Exit.OK
    assert _last(world)[0] == "failure"
    _overrides(world, FP)
    _say(world, "wren", f"/gate override {FP} sha: {HEAD} reason: {WHY}")
    _say(world, "wren", _all())
    job.publish(None)
    conclusion, stamp = _last(world)
    assert (conclusion, stamp.verdict) == ("failure", "inconclusive")


@pytest.mark.parametrize("why", DOUBTFUL)
def test_only_a_vouch_by_somebody_entitled_for_the_whole_sha_does(job: Job, world: World, why: str) -> None:
    world.pulls[7].author = "mallory"
    DOUBTFUL[why](world)
    _run(job, world, packed(harmless()))
    job.publish(None)
    for text, who in ((_vouch(), "wren"), (_vouch("2" * 40), "octo"), (_vouch(HEAD[:12]), "octo")):
        _say(world, who, text)
        job.publish(None)
        assert _last(world)[0] == "failure", (text, who)
    _say(world, "octo", _vouch())
    job.publish(None)
    conclusion, stamp = _last(world)
    if why == "the same head elsewhere":
        assert conclusion == "failure"
    else:
        assert (conclusion, stamp.verdict, stamp.overridden) == ("neutral", "warn", "inconclusive")


def test_settings_at_base_can_forbid_to_vouch(job: Job, world: World) -> None:
    world.files[world.pulls[7].base_sha, "gate.toml"] = b'[override]\nvouch = "never"\n'
    world.pulls[7].files = [CHECK]
    _run(job, world, packed(harmless()))
    job.publish(None)
    _say(world, "octo", _vouch())
    job.publish(None)
    assert _last(world)[0] == "failure"


@pytest.mark.parametrize(
    "text",
    [
        "jobs: {test: {name: 'Python ${{ matrix.x }}'}}",
        "jobs: {gates: {}, ungate: {name: 'gate (fast)'}}",
        "jobs: {t: {name: '${{ matrix.x }} tests'}}",
        "on: push",
        "[]",
    ],
)
def test_ordinary_workflow_changes_raise_no_doubt(job: Job, world: World, text: str) -> None:
    _workflow(world, text)
    _run(job, world, packed(harmless()))
    assert job.publish(None) == Exit.OK
    assert _last(world)[0] == "success"


def test_deployment_does_not_take_what_was_forged(job: Job, world: World) -> None:
    world.pulls[7].files = [CHECK]
    _overrides(world, FP)
    mine = policy_digest(msgspec.to_builtins(load(base=None, environ={}).config))
    made = ReportProvenance(at=1, policy=mine, rules="0" * 64, gate="0" * 64)
    _run(job, world, packed(_low(replace(harmless(), made=made))))
    job.publish(None)
    conclusion, stamp = _last(world)
    assert (conclusion, stamp.verdict, stamp.policy) == ("failure", "inconclusive", mine)


# ---- a verdict is about one step, from one base, for one pull request ------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        {"base": OTHER},
        {"merge_base": OTHER},
        {"base": OTHER, "merge_base": OTHER},
        {"base": None},
        {"tree": "8" * 40},
        {"tree": None},
        {"pull_request": 8},
        {"pull_request": None},
    ],
    ids=str,
)
def test_a_report_about_anything_else_is_not_told(job: Job, world: World, more: dict[str, Any]) -> None:
    _run(job, world, packed(_json(harmless(), **more)))
    assert job.publish(None) == Exit.USAGE
    assert refused(world)


def test_a_base_that_moved_on_is_taken_under_the_same_settings_only(job: Job, world: World) -> None:
    old = world.pulls[7].base_sha
    world.pulls[7].base_sha = OTHER
    world.older.add((old, OTHER))
    world.merge_bases[OTHER, HEAD] = old
    policy = policy_digest(msgspec.to_builtins(load(base=None, environ={}).config))
    made = ReportProvenance(at=1, policy=policy, rules="0" * 64, gate="0" * 64)
    _run(job, world, packed(replace(harmless(), made=made)))
    assert job.publish(None) == Exit.OK
    assert _last(world)[0] == "success"
    assert _last(world)[1].merge_base == old
    _run(job, world, packed(replace(harmless(), made=replace(made, policy="f" * 64))))
    assert job.publish(None) == Exit.USAGE
    assert world.checks[max(world.checks)]["conclusion"] == "failure"


def test_the_run_of_another_pull_request_with_the_same_head(job: Job, world: World) -> None:
    world.pulls = {9: Pull(number=9, base_ref="main"), 7: Pull(number=7, base_ref="lax", base_sha=OTHER)}
    _run(job, world, packed(_json(harmless(), base=OTHER, merge_base=OTHER)))
    assert job.publish(None, "--comment", "always") == Exit.OK
    conclusion, stamp = _last(world)
    assert (conclusion, stamp.pull, stamp.base_ref) == ("failure", 7, "lax")
    assert not world.on(9)


def test_a_retargeted_pull_request_loses_its_verdict_at_once(
    job: Job, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(job, world, packed(harmless()))
    job.publish(None)
    assert _last(world)[0] == "success"
    world.pulls[7].base_ref, world.pulls[7].base_sha = "release", OTHER
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request_target")
    job.event(
        {"pull_request": {"number": 7}, "action": "edited", "changes": {"base": {"ref": {"from": "main"}}}}
    )
    assert job.publish(None) == Exit.OK
    (check,) = world.checks.values()
    assert (check["status"], check["conclusion"]) == ("in_progress", None)
    monkeypatch.delenv("GITHUB_EVENT_NAME")
    job.event({"workflow_run": {"id": max(world.runs)}})  # the old run's report, once more
    assert job.publish(None) == Exit.USAGE
    (check,) = world.checks.values()
    assert (check["status"], check["conclusion"]) == ("completed", "failure")


@pytest.mark.parametrize("how", ["retargeted", "opened anew"])
@pytest.mark.parametrize("heard", ["a comment", "its end"])
def test_a_run_for_another_base_says_nothing_about_this_one(
    job: Job, world: World, how: str, heard: str
) -> None:
    """Of a pull request into a branch with a gate-check.yml of one's own, whose run claims to be about main:
    the pull request edits nothing, and until the honest run ends this was the newest one there is.
    """
    at = _later(-5)
    number = _run(job, world, packed(harmless()), created_at=at)
    if how == "retargeted":
        world.pulls[7].events = [{"event": "base_ref_changed", "created_at": at, "actor": "mina"}]
    else:
        world.pulls[7].created = _later(-4)
    if heard == "a comment":
        job.event({"issue": {"number": 7, "pull_request": {"url": "x"}}})
    assert job.publish(None) == Exit.USAGE
    assert "began before" in refused(world)
    honest = _run(job, world, packed(soft()))
    job.event({"workflow_run": {"id": number}})
    assert job.publish(None) == Exit.OK, "an older run"
    job.event({"workflow_run": {"id": honest}})
    job.publish(None)
    assert _last(world)[1].verdict == "fail"


def test_an_edited_title_changes_nothing(job: Job, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request_target")
    job.event({"pull_request": {"number": 7}, "action": "edited", "changes": {"title": {"from": "x"}}})
    assert job.publish(None) == Exit.OK
    assert world.checks == {}


def test_an_older_run_does_not_speak_after_a_newer_one(job: Job, world: World) -> None:
    old = _run(job, world, packed(harmless()))
    _run(job, world, packed(soft()))
    job.publish(None)
    assert _last(world)[0] == "failure"
    job.event({"workflow_run": {"id": old}})
    assert job.publish(None) == Exit.OK
    assert _last(world)[0] == "failure"


# ---- who may override, and which commit ------------------------------------------------------------------


def test_an_override_without_a_commit_is_none(job: Job, world: World) -> None:
    job.publish(soft())
    _say(world, "wren", f"/gate override all reason: {WHY}")
    job.publish(soft())
    assert _last(world)[0] == "failure"


def test_a_force_push_back_brings_no_override_back(job: Job, world: World) -> None:
    job.publish(soft())
    _say(world, "wren", _all("2" * 40), at=_later(3))  # about the head in between
    _say(world, "wren", _all(), at=_later(2))  # about this head, before it came back
    world.pulls[7].events = [{"event": "head_ref_force_pushed", "created_at": _later(4), "actor": "mina"}]
    job.publish(soft())
    assert _last(world)[0] == "failure"
    _say(world, "wren", _all(), at=_later(5))
    job.publish(soft())
    assert _last(world)[0] == "neutral"


def test_an_override_is_for_one_base_branch(job: Job, world: World) -> None:
    job.publish(soft())
    _say(world, "wren", _all())
    world.pulls[7].base_ref = "release"
    world.pulls[7].events = [{"event": "base_ref_changed", "created_at": _later(6), "actor": "mina"}]
    job.publish(soft())
    job.publish(soft())
    assert _last(world)[0] == "failure"


AUTHORS: dict[str, Callable[[Pull, World], Any]] = {
    "commit 251": lambda p, w: _set(p, commit_authors=["mina"] * 250 + ["wren"]),
    "co-author by noreply": lambda p, w: _set(
        p, messages=["x\n\nCo-authored-by: W <12+wren@users.noreply.github.com>"]
    ),
    "co-author by login": lambda p, w: _set(p, messages=["x\n\nco-authored-by: Wren <w@x.example>"]),
    "co-author by shown name": lambda p, w: (
        _shows(w, "Jenny W", ""),
        _set(p, messages=["x\n\nCo-Authored-By: jenny w <j@x.example>"]),
    ),
    "forced a head of another's name": lambda p, w: _set(
        p, events=[{"event": "head_ref_force_pushed", "created_at": "2026-01-01T00:00:00Z", "actor": "wren"}]
    ),
    "address of no account": lambda p, w: (
        _shows(w, "", "w@x.example"),
        _set(p, commit_authors=["Somebody <W@x.example>"]),
    ),
    "prompted the agent, assigned": lambda p, w: (_agent(p), _set(p, assignees=["wren"])),
    "prompted the agent, asked to review": lambda p, w: (_agent(p), _set(p, reviewers=["wren"])),
    "prompted the agent, no longer assigned": lambda p, w: (
        _agent(p),
        _set(p, events=[{"event": "assigned", "created_at": "2026-01-01T00:00:00Z", "assignee": "wren"}]),
    ),
}


def _shows(world: World, name: str, email: str) -> bool:
    world.people["wren"] = {"name": name, "email": email}
    return True


def _set(pull: Pull, **more: Any) -> bool:
    for name, value in more.items():
        setattr(pull, name, value)
    return True


def _agent(pull: Pull) -> bool:
    return _set(pull, author="Copilot", author_type="Bot", commit_authors=["copilot-swe-agent[bot]"])


@pytest.mark.parametrize("how", AUTHORS)
def test_no_author_lets_his_own_change_through(job: Job, world: World, how: str) -> None:
    AUTHORS[how](world.pulls[7], world)
    job.publish(soft())
    _say(world, "wren", _all())
    job.publish(soft())
    assert _last(world)[0] == "failure"
    world.roles["rose"] = "write"
    _say(world, "rose", _all())
    job.publish(soft())
    assert _last(world)[0] == "neutral"


def test_a_dependency_bots_reviewer_did_not_ask_for_it(job: Job, world: World) -> None:
    world.pulls[7].author, world.pulls[7].author_type = "dependabot[bot]", "Bot"
    world.pulls[7].reviewers = ["wren"]
    job.publish(soft())
    _say(world, "wren", _all())
    job.publish(soft())
    assert _last(world)[0] == "neutral"


def test_a_comment_written_through_an_app_is_no_persons(job: Job, world: World) -> None:
    job.publish(soft())
    _say(world, "wren", _all(), app=True)
    job.publish(soft())
    assert _last(world)[0] == "failure"


def test_strangers_push_nobody_out(job: Job, world: World) -> None:
    """Neither twenty that are nonsense nor two hundred that are well-formed."""
    job.publish(soft())
    for number in range(120):
        _say(world, f"sock{number}", _all() if number % 2 else "/gate override nonsense")
    _say(world, "wren", _all(), association="MEMBER")
    for number in range(120, 240):
        _say(world, f"sock{number}", _all())
    job.publish(soft())
    assert _last(world)[0] == "neutral"
    assert len(world.sent("GET", ".*/permission")) <= 100
    (ours,) = (c for c in world.on(7) if c.author.type == "Bot")
    assert ours.body.count("refused") <= 25


@pytest.mark.parametrize("how", ["deleted", "edited away", "edited"])
def test_an_override_taken_back_is_taken_back(job: Job, world: World, how: str) -> None:
    _run(job, world, packed(soft()))
    job.publish(None)
    said = _say(world, "wren", _all())
    job.publish(None)
    assert _last(world)[0] == "neutral"
    if how == "deleted":
        del world.comments[said.id]
    else:
        said.body, said.updated = ("never mind" if how == "edited away" else _all()), _later(9)
    job.event({"issue": {"number": 7, "pull_request": {"url": "x"}}})
    assert job.publish(None) == Exit.OK
    assert _last(world)[0] == "failure"


def test_what_changes_while_a_verdict_is_written_is_seen(
    job: Job, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two jobs publish at once: whoever writes last looks last."""
    job.publish(soft())
    said = _say(world, "wren", _all())
    from gate.github.publishing import publish

    told = publish.publish_pull

    def slow(*words: Any, **more: Any) -> Any:
        result = told(*words, **more)
        world.comments.pop(said.id, None)  # taken back while the green check was being written
        return result

    monkeypatch.setattr(publish, "publish_pull", slow)
    job.publish(soft())
    assert _last(world)[0] == "failure"
