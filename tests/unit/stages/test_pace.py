"""How slow the machine is: never less than usual, bounded, and every number of seconds follows it."""

from __future__ import annotations

from gate.settings import SandboxSettings
from gate.stages.pace import MOST, measure, paced


def test_the_pace_is_bounded() -> None:
    assert 1.0 <= measure() <= MOST


def test_every_number_of_seconds_follows_the_pace() -> None:
    usual = SandboxSettings()
    slow = paced(usual, 3.0)
    assert (slow.deadline, slow.budget, slow.setup_deadline) == (60.0, 540.0, 900.0)
    assert paced(usual, 1.0) == usual
    assert slow.memory_mb == usual.memory_mb
