"""How much memory a sandbox gets that holds a whole application."""

from __future__ import annotations

import pytest

from gate.stages.room import with_room

MIB = 1 << 20


@pytest.mark.parametrize(
    ("limit", "machine", "gets"),
    [(512, 32_000, 1024), (512, 7_000, 875), (512, 2_000, 512), (256, 32_000, 256), (1536, 32_000, 1536)],
)
def test_an_application_gets_more_where_the_machine_has_it(limit: int, machine: int, gets: int) -> None:
    assert with_room(limit * MIB, machine * MIB) == gets * MIB
