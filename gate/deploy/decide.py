"""Whether a commit may be deployed: pure judgement over verdicts that somebody else fetched and verified.

A verdict says something about the step from its base to its commit. So it counts only where that base is
part of what is trusted already; else a pull request into an unjudged branch would whitewash the branch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from gate.dataclass import dataclass

CLOCK_SLACK: Final = 300
"""Seconds by which the clock that dated a verdict may be ahead of ours."""
Word = Literal["pass", "warn", "fail", "inconclusive"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """One verdict on one commit, from a source whose trust is already decided.

    ``distrusted`` says why the source is not trusted, empty when it is. ``at`` and ``overrides_until``
    are seconds since 1970. ``base``: the commit it was judged against.
    """

    commit: str
    verdict: Word
    score: int
    policy: str
    at: int
    base: str | None
    source: str
    url: str = ""
    distrusted: str = ""
    overridden: bool = False
    overrides_until: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """What an environment accepts. ``max_age`` in seconds; ``policies`` are sha256 in hex."""

    environment: str
    verdicts: frozenset[str]
    max_age: float
    policies: frozenset[str]
    overrides: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One commit to be vouched for, and the commits whose verdict may do it.

    ``stand_ins`` maps a commit with the very same tree, of which this one is the merge, to its evidence.
    """

    commit: str
    own: tuple[Evidence, ...]
    stand_ins: Mapping[str, tuple[Evidence, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """``waiting``: nothing speaks against it, there is only no verdict yet. ``link`` leads to the verdict."""

    allowed: bool
    reason: str
    link: str = ""
    waiting: bool = False
    used: tuple[Evidence, ...] = ()


def decide(steps: Sequence[Step], terms: Terms, *, line: Sequence[str], now: float) -> Decision:
    """Allowed only if every step is vouched for; the first that is not gives the reason.

    ``line``: the trusted branch's first parents, newest first. ``now``: seconds since 1970.
    """
    places = {commit: place for place, commit in enumerate(line)}
    if not steps:
        return Decision(allowed=False, reason="there is no commit to judge")
    used: list[Evidence] = []
    for step in steps:
        found = _step(step, terms, places, now)
        if not found.allowed:
            return found
        used += found.used
    last = used[-1]
    count = f" and {len(used) - 1} more" if len(used) > 1 else ""
    reason = f"{last.verdict} (score {last.score}) for {last.commit[:12]}{count}, by {last.source}"
    return Decision(allowed=True, reason=reason, link=last.url, used=tuple(used))


def _step(step: Step, terms: Terms, places: Mapping[str, int], now: float) -> Decision:
    """The commit's own newest trusted verdict decides; only without one may a stand-in speak."""
    own = _newest(step.own)
    if own is not None:
        return _one(step, own, terms, places, now)
    refused = None
    for commit, verdicts in step.stand_ins.items():
        best = _newest(verdicts)
        if best is not None and best.commit == commit:
            found = _one(step, best, terms, places, now)
            if found.allowed:
                return found
            refused = refused or found
    if refused is not None:
        return refused
    strangers = [e for e in (*step.own, *(e for es in step.stand_ins.values() for e in es)) if e.distrusted]
    if strangers:
        why = f"no trusted verdict for {step.commit[:12]}: {strangers[0].distrusted}"
        return Decision(allowed=False, reason=why, link=strangers[0].url, waiting=True)
    return Decision(allowed=False, reason=f"no verdict for {step.commit[:12]}", waiting=True)


def _newest(found: Sequence[Evidence]) -> Evidence | None:
    """Of the trusted ones. Of two with one time the worse: an attacker gains nothing by a tie."""
    trusted = [e for e in found if not e.distrusted]
    order = ("pass", "warn", "inconclusive", "fail")
    return max(trusted, key=lambda e: (e.at, order.index(e.verdict)), default=None)


def _one(step: Step, found: Evidence, terms: Terms, places: Mapping[str, int], now: float) -> Decision:
    why = _against(found, terms, now) or _ungrounded(step, found, places)
    if why:
        about = "" if found.commit == step.commit else f" (judged as {found.commit[:12]})"
        return Decision(allowed=False, reason=f"{step.commit[:12]}{about}: {why}", link=found.url)
    return Decision(allowed=True, reason="", link=found.url, used=(found,))


def _ungrounded(step: Step, found: Evidence, places: Mapping[str, int]) -> str:
    """Why the verdict's base is not one that was trusted before this commit came, empty if it is."""
    if found.base is None or found.base not in places:
        return "it was judged against a base that is not on the trusted branch"
    if found.base in (step.commit, found.commit) or places[found.base] <= places.get(step.commit, -1):
        return "it was judged against a base that holds it already, so nothing was looked at"
    return ""


def _against(found: Evidence, terms: Terms, now: float) -> str:
    """The first thing that speaks against a trusted verdict, empty for none."""
    age, where = now - found.at, terms.environment
    hours = f"{terms.max_age / 3600:g}"
    expired = found.overrides_until is not None and now > found.overrides_until
    checks = (
        (found.verdict not in terms.verdicts, f"the verdict is {found.verdict}, score {found.score}"),
        (age < -CLOCK_SLACK, "the verdict is dated in the future"),
        (
            age > terms.max_age,
            f"the verdict is {age / 3600:.1f} h old, {where} takes {hours} h",
        ),
        (
            found.policy not in terms.policies,
            f"made with policy {found.policy[:12]}, which {where} does not accept",
        ),
        (found.overridden and not terms.overrides, f"{where} takes no overridden verdict"),
        (found.overridden and expired, "an override it rests on has expired"),
    )
    return next((why for wrong, why in checks if wrong), "")
