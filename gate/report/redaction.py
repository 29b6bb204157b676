"""A report without its secrets: what the pipeline passes through before any reporter sees it (RP-6)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final

from gate.model.report import Report
from gate.redaction import redact

_KEPT: Final = frozenset(
    {
        "fingerprint",
        "rule_id",
        "sha",
        "commit",
        "parents",
        "base",
        "head",
        "merge_base",
        "old_blob",
        "new_blob",
    }
)
"""Fields that we compute ourselves; long hex must survive."""


def redact_report(report: Report, secrets: Sequence[str]) -> Report:
    """The same report with every text, and every kept output, passed through :func:`gate.redaction.redact`.

    ``secrets`` are the canaries of this run and whatever else must not be shown. Fingerprints and
    object names stay, so that findings stay the same findings. ``rules`` is our own text and stays.
    """
    known = tuple(sorted(set(secrets)))
    clean: Report = _walk(report, known)
    return clean


def _walk(value: object, known: tuple[str, ...]) -> Any:
    clean: Any = value
    if isinstance(value, str):
        clean = redact(value, known)
    elif isinstance(value, bytes):
        clean = redact(value.decode("utf-8", "surrogateescape"), known).encode("utf-8", "surrogateescape")
    elif isinstance(value, Enum | Path | int | float | None):
        return value
    elif isinstance(value, Mapping):
        clean = {_walk(k, known): _walk(v, known) for k, v in value.items()}
    elif isinstance(value, tuple | list):
        clean = type(value)(_walk(v, known) for v in value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        changed = {}
        for field in dataclasses.fields(value):
            old = getattr(value, field.name)
            if field.name in _KEPT or field.name == "rules" or not old:
                continue
            new = _walk(old, known)
            if new is not old and new != old:
                changed[field.name] = new
        clean = dataclasses.replace(value, **changed) if changed else value
    return clean
