"""Siblings that are wheels, in the place of packages that would have to be built."""

from __future__ import annotations

import pytest

from gate.supply.python.requirements import Requirements
from gate.supply.python.wheel_twins import with_wheels


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("psycopg2==2.9.9", "psycopg2-binary==2.9.9"),
        ("psycopg2>=2.8", "psycopg2-binary>=2.8"),
        ('psycopg2==2.9.9; sys_platform != "win32"', 'psycopg2-binary==2.9.9; sys_platform != "win32"'),
        ("psycopg[c,pool]==3.2", "psycopg[binary,pool]==3.2"),
        ("psycopg[binary,c]", "psycopg[binary]"),
        ("psycopg[pool]==3.2", "psycopg[pool]==3.2"),
        ("psycopg2-binary==2.9.9", "psycopg2-binary==2.9.9"),
        ("psycopg2-pool", "psycopg2-pool"),
    ],
)
def test_the_sibling_stands_in_its_place(line: str, other: str) -> None:
    found = with_wheels(Requirements(lines=("django", line), paths=("requirements.txt",)))
    assert found.lines == ("django", other)
    assert bool(found.left) == (line != other)


def test_hashes_and_what_is_asked_for_besides_stay() -> None:
    hashed = f"psycopg2==2.9.9 --hash=sha256:{'0' * 64}"
    assert with_wheels(Requirements(lines=(hashed,))).lines == (hashed,)
    both = with_wheels(Requirements(lines=("psycopg2==2.9.9",), tests=("psycopg2-binary==2.9.8",)))
    assert (both.lines, both.tests) == ((), ("psycopg2-binary==2.9.8",))
    held = with_wheels(Requirements(lines=("psycopg2",), constraints=("psycopg2==2.9.9",), paths=("a.txt",)))
    assert (held.lines, held.constraints) == (("psycopg2-binary",), ("psycopg2-binary==2.9.9",))
    assert held.left == ("a.txt: psycopg2, but psycopg2-binary in its place",)
