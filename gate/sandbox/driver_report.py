"""The driver's report as the host reads it: JSON whose every text may come from the code under test.

A test that prints or raises lone surrogates, a number past every limit, a list nested too deep: none of this
is a reason not to look. The report is a hint; what of it cannot be kept is replaced or left out.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final

import msgspec

DEEPEST: Final = 20
"""Levels of a report that are kept; the driver's own words never need more."""
# Made before there are threads: msgspec has crashed when two of them met a type for the first time at once.
_REPORT: Final = msgspec.json.Decoder(dict[str, Any])


def read_report(payload: bytes) -> dict[str, Any]:
    r"""The report; empty where it is no JSON object at all. Never raises.

    Lone surrogates become backslash escapes (``\udc80``), numbers that are none (NaN, Infinity) None,
    what is nested deeper than DEEPEST None.
    """
    try:
        report: Any = _REPORT.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:  # the standard library reads what strict readers refuse
            report = json.loads(payload.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return {}
    kept = plain(report)
    return kept if isinstance(kept, dict) else {}


def plain(value: object, deep: int = DEEPEST) -> object:
    """The same value, as shallow and as plain as any JSON reader takes it."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if not isinstance(value, (dict, list)):
        return value
    if not deep:
        return None
    if isinstance(value, dict):
        return {plain(key): plain(inner, deep - 1) for key, inner in value.items()}
    return [plain(inner, deep - 1) for inner in value]
