"""Reads rules/policy.toml: strict, so that a typing slip can never quietly weaken the gate."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from gate.errors import UsageError
from gate.model.finding import Finding
from gate.model.rule import Confidence, FindingStage, Severity
from gate.model.score import Thresholds, Verdict
from gate.regex import regex
from gate.resources import rules_dir

Points = Annotated[float, msgspec.Meta(ge=0, le=100)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
ByConfidence = tuple[Points, Points, Points]
_RULE_ID = regex(r"[a-z0-9][a-z0-9.-]*")


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the file: every key required, no other allowed."""


class Bands(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Scores (0-100) from which the verdict is warn, and fail."""

    warn: int
    fail: int


class BySeverity(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Points of one finding, ``[low, medium, high]`` confidence, per severity."""

    low: ByConfidence
    medium: ByConfidence
    high: ByConfidence
    critical: ByConfidence

    def of(self, severity: Severity, confidence: Confidence) -> float:
        """The points of one finding before repeats are discounted."""
        row: ByConfidence = getattr(self, severity.value)
        return row[confidence.rank]


class ByStage(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One points table for each stage that makes findings."""

    attribution: BySeverity
    prescreen: BySeverity
    behaviour: BySeverity
    policy: BySeverity


class Diminish(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Factors by rank, strongest first. Ranks past ``repeats`` count nothing; ``topics``' last goes on."""

    repeats: Annotated[tuple[Share, ...], msgspec.Meta(min_length=1, max_length=16)]
    topics: Annotated[tuple[Share, ...], msgspec.Meta(min_length=1, max_length=16)]


class Correlation(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What agreement of the static and the dynamic look adds."""

    share: Share


class Scrutiny(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a disclosed AI author adds."""

    share: Share
    most: Points


class Ceilings(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The highest score of a report whose worst finding is this severe."""

    low: Points
    medium: Points


class Forced(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The most points of what was only seen when lines were forced to run, if nothing of it is critical."""

    most: Points


class HardBlock(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Rules whose findings always block, and the least score they show."""

    floor: Points
    rules: tuple[str, ...]


class LeastFrom(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A least verdict that findings of this severity or worse have; milder ones have none."""

    verdict: Literal["warn", "fail"]
    severity: Literal["low", "medium", "high", "critical"]


LeastVerdict = dict[
    Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9.-]*$")],
    Literal["warn", "fail", "policy.unrun"]
    | LeastFrom
    | Annotated[tuple[LeastFrom, ...], msgspec.Meta(min_length=1)],
]
"""Rules whose findings mean at least this verdict, whatever the score; ``policy.unrun``: what that setting
says. Of several levels the worst that a finding reaches counts.
"""


_TOGETHER: Final = 2


class PolicyPart(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One part of a combination: a finding of one of these rules, at least this severe and sure.

    ``different``: so many of them that say different things: another rule, another thing that was protected
    (``protects`` of the evidence), another message; not one many times.
    """

    rules: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    severity: Literal["low", "medium", "high", "critical"]
    confidence: Literal["low", "medium", "high"] = "low"
    different: Annotated[int, msgspec.Meta(ge=1, le=10)] = 1


class Combination(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Findings that block together: one of every part, in one file or anywhere in the change."""

    why: Annotated[str, msgspec.Meta(min_length=10, max_length=200)]
    near: Literal["file", "change"]
    all: Annotated[tuple[PolicyPart, ...], msgspec.Meta(min_length=1, max_length=4)]

    def __post_init__(self) -> None:
        if sum(part.different for part in self.all) < _TOGETHER:
            raise ValueError("a combination is of two findings or more; for one there is least_verdict")


class NoSandbox(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The best verdict of a check that ran nothing because its user said so."""

    best: Literal["warn", "inconclusive", "fail"]


class FastLook(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The best verdict of a check that left something to the full look."""

    best: Literal["pass", "warn", "inconclusive"]


class Policy(_Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """rules/policy.toml, checked: points never fall with severity or confidence, factors never rise."""

    version: Literal[1]
    bands: Bands
    points: ByStage
    diminish: Diminish
    correlation: Correlation
    scrutiny: Scrutiny
    ceilings: Ceilings
    forced: Forced
    hard_block: HardBlock
    least_verdict: LeastVerdict
    combination: tuple[Combination, ...]
    no_sandbox: NoSandbox
    fast_look: FastLook

    def __post_init__(self) -> None:
        Thresholds(warn=self.bands.warn, fail=self.bands.fail)
        for stage in FindingStage:
            _check_table(stage.value, getattr(self.points, stage.value))
        for name, factors in (("repeats", self.diminish.repeats), ("topics", self.diminish.topics)):
            if list(factors) != sorted(factors, reverse=True):
                raise ValueError(f"diminish.{name} must never rise")
        if self.ceilings.low > self.ceilings.medium:
            raise ValueError("ceilings.low is above ceilings.medium")
        combined = [rule for one in self.combination for part in one.all for rule in part.rules]
        for rule in (*self.hard_block.rules, *combined):
            if not _RULE_ID.fullmatch(rule):
                raise ValueError(f"{rule!r} is no rule id")

    @property
    def thresholds(self) -> Thresholds:
        """The bands as the report's value; a project may replace them from its base commit."""
        return Thresholds(warn=self.bands.warn, fail=self.bands.fail)

    def points_of(self, finding: Finding) -> float:
        """Points (0-100) of one finding taken alone."""
        table: BySeverity = getattr(self.points, finding.stage.value)
        return table.of(finding.severity, finding.confidence)

    def ceiling(self, worst: Severity) -> float | None:
        """The highest score of a report whose worst finding is ``worst``; None: no other than 100."""
        return {Severity.LOW: self.ceilings.low, Severity.MEDIUM: self.ceilings.medium}.get(worst)

    def blocks(self, finding: Finding) -> bool:
        """True when this finding means fail whatever the score."""
        return finding.hard_block or finding.rule_id in self.hard_block.rules

    def least(self, finding: Finding, thresholds: Thresholds) -> Verdict:
        """The verdict that a report with this finding has at least."""
        named = self.least_verdict.get(finding.rule_id, "pass")
        if isinstance(named, str):
            return Verdict(thresholds.unrun if named == "policy.unrun" else named)
        return _reached(named, finding.severity)

    def blocks_by_severity(self, finding: Finding) -> bool:
        """True where ``least_verdict`` makes this severity of this rule a fail."""
        named = self.least_verdict.get(finding.rule_id, "pass")
        return not isinstance(named, str) and _reached(named, finding.severity) is Verdict.FAIL


def _reached(levels: LeastFrom | tuple[LeastFrom, ...], severity: Severity) -> Verdict:
    """The worst verdict of the levels that this severity comes up to."""
    each = (levels,) if isinstance(levels, LeastFrom) else levels
    reached = (Verdict(one.verdict) for one in each if severity.rank >= Severity(one.severity).rank)
    return max(reached, key=lambda verdict: verdict.rank, default=Verdict.PASS)


def _check_table(stage: str, table: BySeverity) -> None:
    rows = [getattr(table, severity.value) for severity in Severity]
    for row in rows:
        if list(row) != sorted(row):
            raise ValueError(f"points.{stage}: points must not fall with confidence: {row}")
    for lower, higher in pairwise(rows):
        if any(a > b for a, b in zip(lower, higher, strict=True)):
            raise ValueError(f"points.{stage}: points must not fall with severity: {lower}, {higher}")


_KNOWN: Final = msgspec.json.Decoder(Policy)
"""Made known before there are threads: two that make msgspec learn a type at once crash (seen with 0.22)."""


def parse_policy(text: bytes | str, *, name: str = "policy.toml") -> Policy:
    """Decode one policy file. UsageError names the key that is wrong, missing or unknown."""
    try:
        return msgspec.toml.decode(text, type=Policy)
    except (msgspec.MsgspecError, ValueError) as error:
        raise UsageError(
            f"{name}: {error}", advice="docs/scoring.md lists every key of the policy file."
        ) from error


@cache
def load_policy(path: Path | None = None) -> Policy:
    """The policy that ships with the program, or another file from outside the tree under test."""
    file = path or rules_dir() / "policy.toml"
    try:
        return parse_policy(file.read_bytes(), name=str(file))
    except OSError as error:
        raise UsageError(
            f"{file}: {error.strerror}", advice="Reinstall gate, or name a readable policy file."
        ) from error
