"""Findings to score. Bounded, monotone, independent of order; every point has a reason.

The arithmetic is exact (fractions), because "adding a finding never lowers the score" must also hold
for the last bit. docs/scoring.md tells the same story in words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import field
from fractions import Fraction
from math import floor

from gate.dataclass import dataclass
from gate.model.finding import Finding
from gate.model.rule import FindingStage, Severity
from gate.model.score import Contribution, Score
from gate.policy.combinations import combined
from gate.policy.policy_file import Policy

CORRELATION = "policy.correlation"
SCRUTINY = "policy.scrutiny"
HARD_BLOCK = "policy.hard-block"
COMBINED = "policy.combination"
FORCED = "seen-when-forced"
"""The rule whose findings have a ceiling of their own (gate/signals/forced.py)."""
_STEP = 10  # points are told in tenths


@dataclass(slots=True)
class _Part:
    """Exact points of one contribution and the words for it."""

    points: Fraction = Fraction(0)
    reasons: list[str] = field(default_factory=list)


def score(findings: Iterable[Finding], policy: Policy, *, ai_attributed: bool = False) -> Score:
    """The score of a whole report (0 = no risk seen, 100 = certain harm) with every point explained.

    An author's own suppressions (``suppressed_by``) change nothing. ``ai_attributed`` adds
    the policy's scrutiny; it can never take anything away. Contributions are given in tenths of a
    point, largest first, and sum to the score exactly.
    """
    every = tuple(findings)
    if not every:
        return Score(value=0)
    strongest = _strongest_per_place(every, policy)
    parts: dict[str, _Part] = defaultdict(_Part)
    for stage in FindingStage:
        _add_stage(parts, [f for f in strongest if f.stage is stage], policy)
    _add_correlation(parts, strongest, policy)
    total = _total(parts)

    worst = max((f.severity for f in every), key=lambda s: s.rank)
    ceiling = policy.ceiling(worst)
    if ceiling is not None:
        total = _cap(parts, total, _exact(ceiling), f"nothing worse than {worst.value}: at most {ceiling:g}")
    if ai_attributed:
        total += _add_scrutiny(parts, total, policy)
    total = _cap(parts, total, Fraction(100), "a score ends at 100")
    least = _exact(policy.hard_block.floor)
    if total < least and any(policy.blocks(f) for f in every):
        parts[HARD_BLOCK] = _Part(least - total, ["a finding that blocks whatever the score"])
        total = least
    if total < policy.bands.fail and (held := _what_blocks(every, policy)):
        parts[COMBINED] = _Part(policy.bands.fail - total, held)
        total = Fraction(policy.bands.fail)
    value = floor(total + Fraction(1, 2))
    return Score(value=value, contributions=_told(parts, total, value))


def _what_blocks(findings: Sequence[Finding], policy: Policy) -> list[str]:
    """Why these findings block although their points do not: together, or one by its severity."""
    alone = sorted(
        {f"{f.rule_id} of {f.severity.value} severity" for f in findings if policy.blocks_by_severity(f)}
    )
    return [*(one.why for one in combined(findings, policy)), *alone]


def _exact(number: float) -> Fraction:
    """The decimal number as written in the policy file, not its nearest binary one."""
    return Fraction(str(number))


def _total(parts: dict[str, _Part]) -> Fraction:
    return sum((part.points for part in parts.values()), Fraction(0))


def topic_of(finding: Finding) -> str:
    """Findings without a topic stand for themselves."""
    return finding.topic or f"rule:{finding.rule_id}"


def _place(finding: Finding) -> tuple[str, ...]:
    """Findings with equal places are one thing seen several times: the strongest counts.

    Static: one line and one topic, whichever scanners said it. Elsewhere: one rule and one shape.
    """
    at = finding.primary
    if finding.stage is FindingStage.PRESCREEN and at.line is not None:
        return ("line", topic_of(finding), at.path, str(at.line))
    return (finding.stage.value, topic_of(finding), finding.rule_id, at.path, finding.shape, str(at.line))


def _strongest_per_place(findings: Sequence[Finding], policy: Policy) -> list[Finding]:
    best: dict[tuple[str, ...], Finding] = {}
    for finding in findings:
        place = _place(finding)
        known = best.get(place)
        if known is None or _order(finding, policy) < _order(known, policy):
            best[place] = finding
    return sorted(best.values(), key=lambda f: _order(f, policy))


def _order(finding: Finding, policy: Policy) -> tuple[float, int, str, str, int, str, str, str]:
    """Strongest first; ties by everything else that shows, so that no order of input does."""
    at = finding.primary
    points = policy.points_of(finding)
    rest = (finding.rule_id, at.path, at.line or 0, finding.shape)
    return (-points, -finding.severity.rank, *rest, finding.confidence.value, finding.topic)


def _add_stage(parts: dict[str, _Part], findings: Sequence[Finding], policy: Policy) -> None:
    """One stage's findings (strongest first): repeats within a topic, then topics, count less and less."""
    repeats = [_exact(x) for x in policy.diminish.repeats]
    factors = [_exact(x) for x in policy.diminish.topics]
    topics: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        topics[topic_of(finding)].append(finding)
    weighed: list[tuple[Fraction, str, list[tuple[Finding, Fraction]]]] = []
    for topic, group in topics.items():
        counted = [
            (f, _exact(policy.points_of(f)) * factor) for f, factor in zip(group, repeats, strict=False)
        ]
        counted = _capped(counted, policy)
        weighed.append((sum((p for _, p in counted), Fraction(0)), topic, counted))
    weighed.sort(key=lambda item: (-item[0], item[1]))
    for rank, (_, _, counted) in enumerate(weighed):
        factor = factors[min(rank, len(factors) - 1)]
        notes: Counter[tuple[str, str]] = Counter()
        for finding, points in counted:
            part = parts[finding.rule_id]
            part.points += points * factor
            kind = f"{finding.severity.value} severity, {finding.confidence.value} confidence"
            notes[finding.rule_id, kind] += 1
        for (rule, kind), count in notes.items():
            times = f"{count} times " if count > 1 else ""
            less = f", counted {float(factor):.0%} after heavier topics" if factor != 1 else ""
            parts[rule].reasons.append(f"{times}{kind}, {finding.stage.value}{less}")


def _add_correlation(parts: dict[str, _Part], findings: Sequence[Finding], policy: Policy) -> None:
    """A topic that the text shows and the run confirms weighs more than both apart."""
    share = _exact(policy.correlation.share)
    best: dict[tuple[str, FindingStage], Fraction] = {}
    for finding in findings:  # strongest first
        key = (finding.topic, finding.stage)
        if finding.topic and key not in best:
            best[key] = _exact(policy.points_of(finding))
    for topic in sorted({topic for topic, _ in best}):
        static = best.get((topic, FindingStage.PRESCREEN))
        seen = best.get((topic, FindingStage.BEHAVIOUR))
        if static and seen:
            parts[CORRELATION].points += share * min(static, seen)
            parts[CORRELATION].reasons.append(f"{topic}: in the text, and seen when it ran")


def _capped(counted: list[tuple[Finding, Fraction]], policy: Policy) -> list[tuple[Finding, Fraction]]:
    """A topic's findings with their points. What was seen only when lines were forced ends at a ceiling of
    its own, but for what is critical; it ends there before topics are ranked, so that more of it never
    counts less.
    """
    forced = [f.severity for f, _ in counted if f.rule_id == FORCED]
    total, most = sum((points for _, points in counted), Fraction(0)), _exact(policy.forced.most)
    if len(forced) < len(counted) or Severity.CRITICAL in forced or total <= most:
        return counted
    return [(f, points * most / total) for f, points in counted]


def _cap(parts: dict[str, _Part], total: Fraction, most: Fraction, why: str) -> Fraction:
    """Scale every contribution so that together they are at most ``most``."""
    if total <= most:
        return total
    for part in parts.values():
        part.points = part.points * most / total
        part.reasons.append(f"scaled down, {why}")
    return most


def _add_scrutiny(parts: dict[str, _Part], total: Fraction, policy: Policy) -> Fraction:
    more = min(_exact(policy.scrutiny.most), total * _exact(policy.scrutiny.share))
    if more:
        parts[SCRUTINY] = _Part(more, ["a commit discloses an AI author: a closer look"])
    return more


def _told(parts: dict[str, _Part], total: Fraction, value: int) -> tuple[Contribution, ...]:
    """Tenths of points that sum to the rounded score: largest remainders get the odd tenths."""
    named = sorted(
        ((rule, part) for rule, part in parts.items() if part.points),
        key=lambda item: (-item[1].points, item[0]),
    )
    exact = [part.points * value * _STEP / total for _, part in named]
    tenths = [floor(x) for x in exact]
    odd = sorted(range(len(named)), key=lambda i: (tenths[i] - exact[i], i))
    for i in odd[: value * _STEP - sum(tenths)]:
        tenths[i] += 1
    return tuple(
        Contribution(rule_id=rule, points=n / _STEP, why="; ".join(part.reasons))
        for (rule, part), n in zip(named, tenths, strict=True)
        if n
    )
