"""A person's decision that a finding may stand, and what became of it."""

from __future__ import annotations

from typing import Literal

from gate.dataclass import dataclass

Source = Literal["comment", "overrides.toml"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Override:
    """One asked-for override. ``what`` is ``all`` or a fingerprint (32 hex digits).

    ``by`` is who answers for it (a login, or the ``owner`` in overrides.toml), ``where`` a link or
    path for people, ``until`` seconds since 1970 or None (dies with the commit). Texts are untrusted.
    """

    what: str
    reason: str
    by: str
    source: Source
    where: str = ""
    until: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class OverrideDecision:
    """``covers`` lists the fingerprints it covers; ``refused`` says why it was not accepted, in our words."""

    override: Override
    accepted: bool
    covers: tuple[str, ...] = ()
    refused: str = ""
