"""A reason not to believe the evidence itself, whatever the evidence says."""

from __future__ import annotations

from typing import Literal

from gate.dataclass import dataclass

Kind = Literal["workflow-edited", "check-name", "too-many-files", "version", "shared-head"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Doubt:
    """Why a report may not be what an honest look would have said. It is no finding: no override lifts it.

    ``reason`` and ``remedy`` are one line each, for people; they may hold names from the change (untrusted).
    ``vouchable``: a person may answer for the evidence of exactly this commit (docs/trust.md).
    """

    kind: Kind
    reason: str
    remedy: str
    vouchable: bool = False
