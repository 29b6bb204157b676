"""Loggers that keep what somebody may be asked about later: from which level on they take a record. Pure."""

from __future__ import annotations

import re
from typing import Final

from gate.protections.facts import Strength
from gate.protections.strengths import kept
from gate.regex import regex

_AUDIT: Final = regex(r"audit|access[._-]?log|security[._-]?log", re.IGNORECASE)
_LOW: Final = frozenset({"notset", "trace", "debug", "info", "notice", "10", "20", "0"})


def is_audit(name: str) -> bool:
    """Is a logger or a handler of this name an audit's?"""
    return len(name) <= 80 and _AUDIT.search(name) is not None


def audit_strength(name: str, level: str, text: str, line: int) -> Strength:
    """Does it take what merely says that something was done?"""
    return kept(f"level of an audit log: {name}", level.lower() in _LOW, text, line)
