"""Which sandbox the made-up changes run in."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.contract.capabilities import capability

_EVERY: Final = 4
"""One in so many of a file's tests, the first included, runs behind what users get."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Choose those that run behind ``auto``: a container, where an engine runs."""
    numbers: Counter[Path] = Counter()
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and item.get_closest_marker("backend"):
            if numbers[item.path] % _EVERY == 0:
                item.add_marker(pytest.mark.behind_auto)
            numbers[item.path] += 1


@pytest.fixture(autouse=True)
def _in_namespaces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that need any backend take bubblewrap where it works: a check behind it costs a third of the
    processor time. It shows this machine's programs: what needs one of the images' (pytest) is marked
    ``behind_auto``. That backends show the same is tested in ``tests/behaviours`` and ``tests/contract``.
    ``GATE_SANDBOX_BACKEND=auto`` runs all of them behind what users get.
    """
    node = request.node
    if not node.get_closest_marker("backend") or node.get_closest_marker("behind_auto"):
        return
    if "GATE_SANDBOX_BACKEND" not in os.environ and capability("bubblewrap").available:
        monkeypatch.setenv("GATE_SANDBOX_BACKEND", "bubblewrap")
