"""What all tests share: which of them start sandboxes, and no time limits on property tests."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from gate.errors import GateError

HERE = Path(__file__).parent
SANDBOXED = ("contract", "integration", "e2e", "behaviours")
"""Folders whose tests start sandboxes: `make test` runs them one after another, the rest side by side."""

# A busy machine is no reason to fail: what must be quick has a bench.
# In CI the same examples each time: a red build is the change's. At a desk new ones, which find new bugs.
settings.register_profile("gate", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("gate")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts a sandbox."""
    for item in items:
        place = item.path.relative_to(HERE)
        hostile = place.parts[0] == "hostile" and place.name.startswith(
            ("test_sandbox", "test_trace", "test_run")
        )
        if place.parts[0] in SANDBOXED or hostile or item.get_closest_marker("wall"):
            item.add_marker(pytest.mark.sandboxed)


@cache
def _why_no_wall() -> str:
    """Empty when some wall works here."""
    from gate.sandbox.backends import choose

    try:
        choose("auto", "process")
    except GateError as error:
        return f"no sandbox works here: {error.message}"
    return ""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests that need any wall say so when there is none."""
    if item.get_closest_marker("wall") and _why_no_wall():
        pytest.skip(_why_no_wall())
