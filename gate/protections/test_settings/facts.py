"""What settings of a test runner leave out: plain values, so that a child can send them."""

from __future__ import annotations

from typing import Literal

from gate.dataclass import dataclass

Kind = Literal["path", "name", "answer"]


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """One thing that is left out: tests at a ``path``, tests of a ``name``, or the ``answer`` itself."""

    kind: Kind
    what: str
    text: str
    line: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TestSettings:
    """All of one file."""

    __test__ = False  # no class of tests, whatever pytest makes of its name
    left_out: tuple[LeftOut, ...] = ()
