"""Whose clock is moved for the second look: the machine's own where the wall has one, else the driver's.

A moved machine clock reaches everything inside (children, static programs, file times, raw calls); the
driver's (launcher/driver_clock.py) reaches Python only.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final, Protocol, runtime_checkable

from gate.model.run import Probe

MACHINE: Final = "machine"


@runtime_checkable
class Clocked(Protocol):
    """A sandbox with a clock of its own."""

    def move_clock(self, seconds: int) -> None:
        """Move it by so much, for everything inside, before the code is there. Raises CouldNotLook."""
        ...


def by_machine(box: object, probe: Probe) -> Probe:
    """Move the sandbox's own clock as the probe wants it; the probe to run then, which moves none and says
    so (``clock_by`` in the driver's job). The probe itself where nothing is to be moved. Raises CouldNotLook.
    """
    if not probe.driver or not isinstance(box, Clocked):
        return probe
    try:
        job: Any = json.loads(probe.argv[-1])
    except (ValueError, IndexError):
        return probe
    seconds = job.get("clock") if isinstance(job, dict) else None
    if not isinstance(seconds, (int, float)) or not seconds:
        return probe
    box.move_clock(int(seconds))
    moved = {**job, "clock": 0, "clock_by": MACHINE}
    return replace(probe, argv=(*probe.argv[:-1], json.dumps(moved, sort_keys=True)))
