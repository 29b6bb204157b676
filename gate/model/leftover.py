"""Whether a run left something going that nobody watched to its end."""

from __future__ import annotations

from collections.abc import Mapping

from gate.model.run import RunRecord


def left_running(run: RunRecord) -> bool:
    """True when the driver saw threads or processes outlive an item and its grace. A hint: the code can
    forge it, as it can forge everything the driver says, and gains no more than by not acting at all.
    """
    items = run.driver_report.get("items")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Mapping) and (item.get("left_running") is True or item.get("threads")):
            return True
    return False
