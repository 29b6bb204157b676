"""Whose clock is moved for the second look: the machine's own where the backend has one, else the driver's.

A moved machine clock reaches everything inside (children, static programs, file times, raw calls). The
driver's is moved in the language, for Python (driver/clock_shift.py) and JavaScript
(driver/javascript/clock.mjs), and by libfaketime for other programs, where the sandbox has it
(driver/clock_preload.py). Both can be seen and undone by the code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, Protocol

from gate.errors import InconclusiveError
from gate.model.run import Probe, RunRecord

MACHINE: Final = "machine"
PYTHON: Final = "python"
JAVASCRIPT: Final = "javascript"
LIBFAKETIME: Final = "libfaketime"
NOBODY: Final = "nobody"
_MEANS: Final = frozenset({PYTHON, JAVASCRIPT, LIBFAKETIME, NOBODY})
_SILENT: Final[Mapping[str, object]] = MappingProxyType({})
_BY_VERB: Final = {
    "javascript": JAVASCRIPT,
    **dict.fromkeys(("javascript_main", "lifecycle", "make", "program", "shell"), NOBODY),
}
"""Programs that take the driver's place see the real clock, unless the driver says that they do not."""


class Clocked(Protocol):
    """A sandbox that may have a clock of its own (session.RunningSandbox)."""

    def move_clock(self, seconds: int) -> bool:
        """Move it by so much, for everything inside, before the code is there. False: it has none. Raises
        NotMovedError.
        """
        ...


def by_machine(sandbox: Clocked, probe: Probe) -> Probe:
    """Move the sandbox's own clock as the probe wants it; the probe to run then, which moves none and says
    so (``clock_by`` in the driver's job). The probe itself where nothing is to be moved.

    Raises NotMovedError.
    """
    seconds = _wanted(probe)
    if not seconds or not sandbox.move_clock(int(seconds)):
        return probe
    moved = {**json.loads(probe.argv[-1]), "clock": 0, "clock_by": MACHINE}
    return replace(probe, argv=(*probe.argv[:-1], json.dumps(moved, sort_keys=True)))


class NotMovedError(InconclusiveError):
    """The clock is not where the probe wants it: nothing of the code was run."""


def with_clock_source(record: RunRecord, probe: Probe) -> RunRecord:
    """The record of what ran in a probe's place, as that probe's, and whose clock was moved."""
    by = means(probe, record.probe, record.driver_report)
    if not by:
        return record
    return replace(record, probe=probe, driver_report={**record.driver_report, "clock_by": by})


def means(probe: Probe, run: Probe, report: Mapping[str, object] = _SILENT) -> str:
    """Which clock was moved for ``probe`` when ``run`` was run in its place; empty: none was to be. Several,
    where the probe's items differ (``javascript, nobody``), or where what they start has another one
    (``libfaketime, python``). ``report`` is the driver's, which knows what the sandbox has.
    """
    if not _wanted(probe):
        return ""
    if run is not probe:
        return MACHINE
    items = [item for item in json.loads(probe.argv[-1]).get("items", ()) if isinstance(item, dict)]
    answers = report.get("items")
    told = [_said(answer) for answer in answers] if isinstance(answers, list) else []
    by: set[str] = set()
    for number, item in enumerate(items):
        said = told[number] if number < len(told) else set()
        by |= said or {_BY_VERB.get(str(item.get("do")), PYTHON)}
    return ", ".join(sorted(by or {PYTHON}))


def _said(answer: object) -> set[str]:
    """The means that an item's answer names; none where it names anything else."""
    text = answer.get("clock_by") if isinstance(answer, dict) else None
    words = set(text.split(", ")) if isinstance(text, str) else set()
    return words if words <= _MEANS else set()


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
