"""What must not run side by side does not: pytest-xdist knows the groups that tests/conftest.py made."""

from __future__ import annotations

import pytest


def test_a_worker_is_told_of_its_group(request: pytest.FixtureRequest) -> None:
    """pytest 9.2 and pytest-xdist 3.8 left all groups out, silently: each fixture was made three times."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("not run by workers that take groups (`make test` does)")
    assert request.node.nodeid.endswith("@contract/test_groups.py"), "pytest and pytest-xdist make no groups"
