"""Whether a package goes back to an older version: its holes are public, and nothing else of it changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from packaging.version import InvalidVersion, Version

from gate.supply.inputs.model import Input

_EXACT: Final = ("===", "==", "~=", "~>", "=", "^", "~", "v")
"""What may stand before a version that is asked for, and leaves room upwards only."""
_LONGEST: Final = 100
"""Characters of a version: nobody writes numbers of thousands of digits, and they take long."""


def gone_back(one: Input, before: Iterable[Input]) -> tuple[str, bool] | None:
    """The version of base that all of base's were newer than, as written, and whether the first number that
    counts differs; None where it did not go back, or where nobody can say (ranges, names of releases).
    """
    now = _version(one.version)
    was = [(_version(other.version), other.version) for other in before]
    if now is None or not was:
        return None
    known = [(version, text) for version, text in was if version is not None]
    if len(known) < len(was) or min(version for version, _ in known) <= now:
        return None
    nearest, text = min(known)
    return text, _first(now) != _first(nearest)


def _version(text: str) -> Version | None:
    for sign in _EXACT:
        text = text.strip().removeprefix(sign)
    if len(text) > _LONGEST:
        return None
    try:
        return Version(text.strip())
    except InvalidVersion:
        return None


def _first(version: Version) -> tuple[int, ...]:
    """The number that a package raises for changes that break its users: the first that is not nought."""
    return version.release[:1] if version.major else version.release[:2]
