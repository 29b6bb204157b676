"""Whose clock is moved for the second look: the machine's own where the wall has one, else the driver's.

A moved machine clock reaches everything inside (children, static programs, file times, raw calls); the
driver's reaches Python (launcher/driver_clock.py) or JavaScript (launcher/driver_javascript_clock.mjs) only,
is moved in the language, and can be seen and undone there.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final, Protocol, runtime_checkable

from gate.errors import CouldNotLook
from gate.model.run import Probe, RunRecord

MACHINE: Final = "machine"
PYTHON: Final = "python"
JAVASCRIPT: Final = "javascript"
NOBODY: Final = "nobody"
_BY_VERB: Final = {
    "javascript": JAVASCRIPT,
    **dict.fromkeys(("javascript_main", "lifecycle", "make", "program", "shell"), NOBODY),
}
"""Programs that take the driver's place see the real clock."""


@runtime_checkable
class Clocked(Protocol):
    """A sandbox with a clock of its own."""

    def move_clock(self, seconds: int) -> None:
        """Move it by so much, for everything inside, before the code is there. Raises NotMovedError."""
        ...


def by_machine(box: object, probe: Probe) -> Probe:
    """Move the sandbox's own clock as the probe wants it; the probe to run then, which moves none and says
    so (``clock_by`` in the driver's job). The probe itself where nothing is to be moved.

    Raises NotMovedError.
    """
    seconds = _wanted(probe)
    if not seconds or not isinstance(box, Clocked):
        return probe
    box.move_clock(int(seconds))
    moved = {**json.loads(probe.argv[-1]), "clock": 0, "clock_by": MACHINE}
    return replace(probe, argv=(*probe.argv[:-1], json.dumps(moved, sort_keys=True)))


class NotMovedError(CouldNotLook):
    """The clock is not where the probe wants it: nothing of the code was run."""


def told(record: RunRecord, probe: Probe) -> RunRecord:
    """The record of what ran in a probe's place, as that probe's, and whose clock was moved."""
    by = means(probe, record.probe)
    if not by:
        return record
    return replace(record, probe=probe, driver_report={**record.driver_report, "clock_by": by})


def means(probe: Probe, run: Probe) -> str:
    """Which clock was moved for ``probe`` when ``run`` was run in its place; empty: none was to be. Several,
    where the probe's items differ: ``javascript, nobody``.
    """
    if not _wanted(probe):
        return ""
    if run is not probe:
        return MACHINE
    verbs = [item.get("do") for item in json.loads(probe.argv[-1]).get("items", ()) if isinstance(item, dict)]
    return ", ".join(sorted({_BY_VERB.get(str(verb), PYTHON) for verb in verbs} or {PYTHON}))


def _wanted(probe: Probe) -> float:
    """Seconds by which a driver's job wants the clock moved."""
    if not probe.driver:
        return 0
    try:
        job: Any = json.loads(probe.argv[-1])
    except (ValueError, IndexError, RecursionError):
        return 0
    seconds = job.get("clock") if isinstance(job, dict) else None
    return seconds if isinstance(seconds, (int, float)) else 0
