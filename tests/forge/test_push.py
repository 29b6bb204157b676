"""The action on push and merge_group: a check on the commit itself, and nothing that needs a conversation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gate.cli import main
from gate.errors import Exit
from gate.github.checks import unstamped
from tests.e2e.harmless_pulls import HARMLESS
from tests.e2e.pulls import build, git
from tests.forge.standin.world import World
from tests.forge.telling import Job


class Pushed:
    """A push (or a queued merge) of one commit."""

    def __init__(self, job: Job, folder: Path, patch: pytest.MonkeyPatch, *, queued: bool = False) -> None:
        repo = build(HARMLESS[0], folder)
        self.base, self.head = git(repo, "rev-parse", "main"), git(repo, "rev-parse", "head")
        queue = {
            "base_sha": self.base,
            "head_sha": self.head,
            "head_ref": "refs/heads/gh-readonly-queue/main/x",
        }
        push = {"before": self.base, "after": self.head, "ref": "refs/heads/main"}
        job.event({"merge_group": queue} if queued else push)
        patch.setenv("GATE_INPUT_REPOSITORY", str(repo))
        patch.setenv("GATE_INPUT_OUTPUT", str(folder / "out"))
        patch.setenv("GATE_INPUT_SARIF", "true")
        patch.setenv("GATE_SANDBOX_ENABLED", "false")  # fast: warn at best
        patch.setenv("GATE_TOKEN", "job-token")


@pytest.mark.parametrize("queued", [False, True], ids=["push", "merge_group"])
def test_the_commit_gets_its_check(
    job: Job, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, queued: bool
) -> None:
    pushed = Pushed(job, tmp_path, monkeypatch, queued=queued)
    assert main(["action"]) == Exit.OK
    (check,) = world.checks.values()
    assert (check["name"], check["head_sha"], check["conclusion"]) == ("gate", pushed.head, "neutral")
    stamp = unstamped(check["output"]["text"])
    assert stamp is not None
    assert (stamp.head, stamp.base, stamp.verdict) == (pushed.head, pushed.base, "warn")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert stamp.policy == report["made"]["policy"]
    (sarif,) = world.sarifs.values()
    assert sarif["ref"] == ("refs/heads/gh-readonly-queue/main/x" if queued else "refs/heads/main")
    assert world.comments == {}
    assert world.pulls[7].labels == []
    assert "### " in job.summary


def test_without_the_permission_it_is_said(
    job: Job, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Pushed(job, tmp_path, monkeypatch)
    world.job(contents="read")
    assert main(["action"]) == Exit.OK, "the exit code is the verdict's"
    assert "The token may not write everything" in job.summary
    assert world.checks == {}


def test_a_range_of_ones_own_is_told_nowhere(
    job: Job, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushed = Pushed(job, tmp_path, monkeypatch)
    monkeypatch.setenv("GATE_INPUT_BASE", pushed.base)
    monkeypatch.setenv("GATE_INPUT_HEAD", pushed.base)
    main(["action"])
    assert world.asked == []
