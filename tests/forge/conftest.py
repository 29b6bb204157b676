"""A small GitHub for every forge test; whatever it was asked must have been what GitHub describes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.github.client import GitHubApi, connect
from tests.forge.clock import Clock
from tests.forge.standin.server import StandIn, running
from tests.forge.standin.world import OWNER, Pull, World
from tests.forge.telling import Job


@pytest.fixture(autouse=True)
def _settings_of_base_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy digest is made of the settings: what tests/conftest.py sets would be in it."""
    monkeypatch.delenv("GATE_SANDBOX_SETUP", raising=False)


@pytest.fixture
def world() -> Iterator[World]:
    """One repository with one pull request, its owner, and a job's token that may do everything."""
    made = World()
    made.pulls[7] = Pull(number=7)
    made.roles |= {OWNER: "admin", "wren": "write", "rob": "read"}
    made.job(
        issues="write",
        pull_requests="write",
        checks="write",
        statuses="write",
        security_events="write",
        contents="read",
        actions="read",
    )
    yield made
    assert not made.violations


@pytest.fixture
def github(world: World) -> Iterator[StandIn]:
    """The stand-in on its own port."""
    with running(world) as server:
        yield server


@pytest.fixture
def clock() -> Clock:
    """See Clock."""
    return Clock()


@pytest.fixture
def api(github: StandIn, clock: Clock) -> GitHubApi:
    """The real client, with the job's token."""
    return connect("job-token", github.url, deadline=3.0, pause=0.0, sleep=clock.sleep, now=clock.now)


@pytest.fixture
def job(github: StandIn, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A step on a runner whose event is pull request 7."""
    made = Job(github, clock, tmp_path, monkeypatch)
    made.event({"pull_request": {"number": 7}})
    return made
