"""Texts read in the limited child; those that could not be are named, not passed over."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from gate.languages.limited_child import Reader, scan_isolated

Unread = list[tuple[str, str]]
"""Paths that could not be read, with the reason."""


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
