"""Texts read in the limited child; those that could not be are named, not passed over."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any, Final, Protocol, TypeVar

from gate.languages.limited_child import Reader, scan_isolated
from gate.prescreen.interface import Source

Unread = list[tuple[str, str]]
"""Paths that could not be read, with the reason."""


class HasHead(Protocol):
    """What stands for a changed file."""

    @property
    def path(self) -> str:
        """Its path."""

    @property
    def head(self) -> bytes:
        """What it holds at head."""


SEARCHED: Final = 2 << 20
"""Bytes up to which a file is searched for words that make it worth reading. A larger one is not: a pattern
takes half a second for each MiB, and what is too large to be read is named without that.
"""
F = TypeVar("F", bound=HasHead)


def says_newly(source: Source, pattern: re.Pattern[bytes]) -> bool:
    """Does a line fit that base's file does not have? True for a file that is too large to be searched."""
    if len(source.head) > SEARCHED:
        return True
    had = set((source.base or b"").split(b"\n"))
    return any(pattern.search(line) for line in source.head.split(b"\n") if line not in had)


def first_files(files: Sequence[F], most: int, largest: int) -> tuple[Sequence[F], Unread]:
    """The first ``most`` files of at most ``largest`` bytes, and the others named as not read."""
    small = [one for one in files if len(one.head) <= largest]
    unread = [(one.path, f"larger than {largest >> 10} KiB") for one in files if len(one.head) > largest]
    unread += [(one.path, f"past the first {most} files") for one in small[most:]]
    return small[:most], unread


def read_files(
    reader: Reader, files: Sequence[tuple[str, bytes]], until: float, unread: Unread | None = None
) -> dict[str, Any]:
    """What ``reader`` says of each file, by path: values of its ``result_type``. Those of which it said none
    are added to ``unread``. ``until``: monotonic seconds; a second is given even when they are over.
    """
    left = max(1.0, until - time.monotonic())
    results = scan_isolated(reader, files, deadline=left) if files else []
    if unread is not None:
        unread += [(one.path, one.reason or one.outcome) for one in results if one.value is None]
    return {one.path: one.value for one in results if one.value is not None}
