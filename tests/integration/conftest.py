"""What the integration tests share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def engine_data() -> Iterator[Path]:
    """Storage for engines of a test's own, one after another: the images are loaded into it once."""
    with tempfile.TemporaryDirectory(prefix="gate-d-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
