"""`gate serve --checks` whole: a webhook in, commits fetched with git, a real look, the check out."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gate.github.checks import unstamped
from tests.e2e.harmless_pulls import HARMLESS
from tests.e2e.hostile_pulls import HOSTILE
from tests.e2e.pulls import Pull as Change
from tests.e2e.pulls import build, git
from tests.forge.serving import APP, SECRET, Served, keys, payload
from tests.forge.standin.server import StandIn, running
from tests.forge.standin.world import HEAD, OWNER, REPO, Pull, World

pytestmark = [pytest.mark.backend, pytest.mark.slow, pytest.mark.timeout(900)]
BAD = next(p for p in HOSTILE if p.verdicts == ("fail",))
GOOD = next(p for p in HARMLESS if p.verdicts == ("pass",))


@contextmanager
def _app(folder: Path, github: StandIn) -> Iterator[Served]:
    """`gate serve --checks` as its own process; repositories are fetched from a folder."""
    key, github.world.apps[APP] = keys(folder)
    (folder / "secret").write_text(SECRET)
    child = subprocess.Popen(
        [
            sys.executable, "-m", "gate.cli", "serve", "--app-id", str(APP), "--private-key", key,
            "--secret", folder / "secret", "--database", folder / "gate.db", "--port", "0", "--checks",
            "--clones", folder / "clones", "--api-url", github.url, "--server-url", f"file://{folder}/forge",
        ],
        stdout=subprocess.PIPE, text=True, cwd=folder,
        env=os.environ | {"PYTHONUNBUFFERED": "1", "GATE_SANDBOX_SETUP": "none"},
    )  # fmt: skip
    assert child.stdout is not None
    try:
        yield Served(child, int(child.stdout.readline().rpartition(":")[2]))
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 0
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def _hosted(folder: Path, world: World, change: Change) -> tuple[str, str]:
    """The repository as a forge has it, bare, and pull request 7 in it; base and head."""
    (folder / "work").mkdir()
    made = build(change, folder / "work")
    base, head = git(made, "rev-parse", "main"), git(made, "rev-parse", "head")
    place = folder / "forge" / OWNER
    place.mkdir(parents=True)
    git(made, "clone", "-q", "--bare", "--no-hardlinks", str(made), str(place / f"{REPO}.git"))
    world.pulls[7] = Pull(number=7, base_sha=base, head_sha=head, head_ref="head")
    for commit, parents in ((base, ()), (head, (base,))):
        world.trees[commit] = (git(made, "rev-parse", f"{commit}^{{tree}}"), parents)
    return base, head


@pytest.mark.parametrize("change", [BAD, GOOD], ids=["hostile", "harmless"])
def test_a_webhook_becomes_a_check_of_the_apps_own(tmp_path: Path, change: Change) -> None:
    world = World()
    base, head = _hosted(tmp_path, world, change)
    assert head != HEAD
    with running(world) as github, _app(tmp_path, github) as app:
        told = {"number": 7, "head": {"sha": head}, "base": {"ref": "main"}}
        assert app.send("pull_request", payload(action="opened", pull_request=told), "the-only-one")[0] == 202
        seconds = [0.0, 0.0]
        for state, most in enumerate((30.0, 600.0)):
            start = time.monotonic()
            while not any(c["status"] == ("in_progress", "completed")[state] for c in world.checks.values()):
                assert time.monotonic() - start < most, app.ask("GET", "/metrics")
                time.sleep(0.02)
            seconds[state] = time.monotonic() - start
        while 'gate_stored{state="working"}' in app.ask("GET", "/metrics")[1]:
            time.sleep(0.05)
    (check,) = world.checks.values()
    assert (check["app"], check["head_sha"]) == ("gate-app", head)
    assert check["conclusion"] == ("failure" if change is BAD else "success"), check["output"]["summary"]
    stamp = unstamped(check["output"]["text"])
    assert stamp is not None
    assert (stamp.base, stamp.pull, stamp.tree) == (base, 7, world.trees[head][0])
    assert len(world.comments) == (change is BAD)
    left = {p.name for p in (tmp_path / "clones").glob("*/*")}
    assert left == {"clone.git", "lock"}, "nothing else stays of a look"
    assert not world.violations
