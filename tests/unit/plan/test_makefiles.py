"""Which targets of a Makefile are run: reading it takes time in proportion to its length."""

from __future__ import annotations

import time

import pytest

from gate.model.change import ChangedFile, Hunk
from gate.plan.makefiles import changed_targets


@pytest.mark.parametrize("filler", [" ", "\t", "\r", "\u2028", "a ", "$(a)", "a\\"])
def test_a_long_line_is_read_in_linear_time(filler: str) -> None:
    text = "all :\n\ttrue\nx" + filler * 500_000 + "x\n"
    file = ChangedFile(
        path="Makefile", old_path=None, status="modified", language="makefile",
        hunks=(Hunk(old_start=0, old_count=0, new_start=1, new_count=2),), old_mode="100644",
        new_mode="100644", old_blob=None, new_blob=None, binary=False, size=len(text),
    )  # fmt: skip
    began = time.process_time()
    assert changed_targets(file, text) == (["all"], [])
    assert time.process_time() - began < 30  # a line of blanks took an hour
