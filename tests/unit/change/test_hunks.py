"""Which lines a change touched: right for every hunk, and quick for a file that has very many."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.model.change import ChangedFile, Hunk
from gate.plan.makefiles import changed_targets
from gate.plan.shell_arguments import changed_words


def file_of(hunks: list[Hunk]) -> ChangedFile:
    return ChangedFile(
        path="x", old_path=None, status="modified", language="shell", hunks=tuple(hunks), old_mode="100644",
        new_mode="100644", old_blob=None, new_blob=None, binary=False, size=1,
    )  # fmt: skip


@st.composite
def hunks(draw: st.DrawFn) -> list[Hunk]:
    """As git writes them without context: in order and apart; no lines stand behind the one they follow."""
    out, old, new = [], 1, 1
    steps = st.tuples(st.integers(1, 4), st.integers(0, 3), st.integers(0, 3)).filter(lambda s: s[1] or s[2])
    for gap, gone, come in draw(st.lists(steps, max_size=8)):
        old, new = old + gap, new + gap
        out.append(
            Hunk(
                old_start=old - (not gone),
                old_count=gone,
                new_start=new - (not come),
                new_count=come,
            )
        )
        old, new = old + gone, new + come
    return out


@given(hunks(), st.integers(1, 60), st.integers(0, 20))
def test_touched_are_the_lines_of_the_hunks_on_either_side(found: list[Hunk], first: int, more: int) -> None:
    file, asked = file_of(found), set(range(first, first + more + 1))
    come = {n for h in found for n in range(h.new_start, h.new_start + h.new_count)}
    gone = {n for h in found for n in range(h.old_start, h.old_start + h.old_count)}
    assert file.touches(first, first + more) == bool(asked & come)
    assert file.touches(first) == (first in come)
    assert file.touched(first, first + more) == bool(asked & gone)


@pytest.mark.slow
def test_readers_of_changed_lines_are_quick_where_every_second_line_changed() -> None:
    count = 100_000
    file = file_of([Hunk(old_start=n, old_count=1, new_start=n, new_count=1) for n in range(2, 2 * count, 2)])
    began = time.process_time()
    changed_words(file, ":\n" * 2 * count)
    changed_targets(file, ":\n" * 2 * count)
    assert time.process_time() - began < 30  # it was an hour
