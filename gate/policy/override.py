"""Overrides: what may be asked for, what it covers, and what the verdict is then (docs/overrides.md).

An override takes findings out of the verdict, never out of the report. It cannot make a check *pass*: at
best the verdict is *warn*, and everybody sees who answered for it, why and until when.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from operator import attrgetter
from typing import Annotated, Final

import msgspec

from gate.errors import UsageError
from gate.model.doubt import Doubt
from gate.model.finding import FINGERPRINT
from gate.model.override import Override, OverrideDecision
from gate.model.report import Report
from gate.model.score import Verdict
from gate.policy.advice import advised_score
from gate.policy.policy_file import Policy, load_policy
from gate.policy.verdict import decide
from gate.regex import regex

FILE: Final = "overrides.toml"
SHORTEST_REASON: Final = 15
LONGEST: Final = timedelta(days=366)
_MOST_BYTES: Final = 256 << 10
EVIDENCE: Final = "evidence"
"""What ``/gate vouch`` is about: not findings but whether the report is to be believed (docs/trust.md)."""
_COMMAND: Final = regex(
    r"/gate override (all|[0-9a-f]{32}) sha: ?([0-9a-f]{12,64}) reason: ?(\S.*)", re.ASCII
)
_VOUCH: Final = regex(r"/gate (vouch) sha: ?([0-9a-f]{40}(?:[0-9a-f]{24})?) reason: ?(\S.*)", re.ASCII)
_NO_FINDING: Final = "no finding has this fingerprint"


def is_command(body: str) -> bool:
    """True for a comment that wants to be a command, well-formed or not.

    From the first character on: exactly the comments whose coming, change and going start a job that judges
    again (`startsWith` in examples/workflows/gate-publish.yml, which minds no case).
    """
    return body[:14].lower().startswith(("/gate override", "/gate vouch"))


def parse_command(body: str) -> tuple[str, str, str]:
    """``(all, a fingerprint or EVIDENCE; sha prefix of 12 digits or more; reason)`` out of a whole comment.

    The command must be the comment's only text, on one line: nothing hidden in HTML comments, quotes or
    details can be one (GH-13). To vouch for evidence the whole sha is needed. Raises UsageError.
    """
    found = _COMMAND.fullmatch(body.rstrip()) or _VOUCH.fullmatch(body.rstrip())
    if found is None:
        raise UsageError(
            "not `/gate override <fingerprint|all> sha: <12 digits or more> reason: ...` or "
            "`/gate vouch sha: <40 digits> reason: ...`, alone in its comment, on one line"
        )
    what, sha, reason = found.groups()
    check_reason(reason)
    return EVIDENCE if what == "vouch" else what, sha, reason


def check_reason(reason: str) -> None:
    """Raises UsageError for a reason that says nothing."""
    letters = len(re.sub(r"[\W_]+", "", reason))
    if letters < SHORTEST_REASON or len(set(reason)) < 6:
        raise UsageError(f"the reason needs at least {SHORTEST_REASON} letters or digits")


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    fingerprint: str
    reason: Annotated[str, msgspec.Meta(max_length=2_000)]
    owner: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    expires: date


class _File(msgspec.Struct, forbid_unknown_fields=True):
    override: Annotated[list[_Entry], msgspec.Meta(max_length=1_000)] = []


_KNOWN: Final = msgspec.json.Decoder(_File)
"""What ``convert`` uses, made known before there are threads: see gate/change/event.py."""


def parse_file(raw: bytes) -> tuple[Override, ...]:
    """The overrides in an ``overrides.toml`` (read from the base commit). Raises UsageError.

    Good until the end of the day ``expires``, UTC.
    """
    if len(raw) > _MOST_BYTES:
        raise UsageError(f"{FILE} at base is larger than {_MOST_BYTES} bytes")
    try:
        found = msgspec.convert(tomllib.loads(raw.decode()), _File)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError, RecursionError) as error:
        raise UsageError(
            f"{FILE} at base is not valid: {ascii(str(error))[1:300]}",
            advice="docs/overrides.md shows its form.",
        ) from error
    return tuple(_of_entry(entry, number) for number, entry in enumerate(found.override, 1))


def _of_entry(entry: _Entry, number: int) -> Override:
    where = f"{FILE}, entry {number}"
    if not FINGERPRINT.fullmatch(entry.fingerprint):
        raise UsageError(f"{where}: fingerprint must be 32 hex digits (`all` is for comments only)")
    try:
        check_reason(entry.reason)
    except UsageError as error:
        raise UsageError(f"{where}: {error.message}") from error
    end = datetime.combine(entry.expires, time(23, 59, 59), UTC)
    return Override(
        what=entry.fingerprint,
        reason=entry.reason,
        by=entry.owner,
        source="overrides.toml",
        where=where,
        until=int(end.timestamp()),
    )


def apply(
    report: Report,
    asked: Sequence[Override],
    *,
    now: float,
    hard_blocks: bool = False,
    refused: Sequence[OverrideDecision] = (),
    policy: Policy | None = None,
) -> Report:
    """The report with its verdict after overrides, every decision in it.

    ``asked`` come from people entitled to ask; here only what they cover and how long they last is
    judged. ``refused`` are decisions already made against others, to be shown. ``hard_blocks``: the
    base's settings allow overriding findings that block by themselves. The report's own score stays:
    it is what was seen. A doubt about the evidence keeps the verdict from being better than inconclusive,
    whatever is overridden; only an accepted vouch lifts those that can be vouched for.
    """
    policy = policy or load_policy()
    decisions = [_decide(one, report, now, hard_blocks, policy) for one in asked]
    vouched = any(d.accepted and d.override.what == EVIDENCE for d in decisions)
    standing = tuple(d for d in report.doubts if not (vouched and d.vouchable))
    if vouched:
        report = _at_least(report, Verdict.WARN, ("a person vouches for the evidence of this commit",))
    shown = (*report.overrides, *(d for d in decisions if not _is_of_another_change(d)), *refused)
    report = _lifted(report, decisions, shown, policy)
    return _at_least(report, Verdict.INCONCLUSIVE, _words(standing)) if standing else report


def _is_of_another_change(decision: OverrideDecision) -> bool:
    """An entry of the file that everybody shares, for a finding that is not here."""
    return decision.override.source == "overrides.toml" and decision.refused == _NO_FINDING


def _words(doubts: Sequence[Doubt]) -> tuple[str, ...]:
    return tuple(f"{doubt.reason}. {doubt.remedy}" for doubt in doubts)


def _at_least(report: Report, floor: Verdict, why: tuple[str, ...]) -> Report:
    verdict = max(report.verdict, floor, key=attrgetter("rank"))
    return replace(report, verdict=verdict, reasons=(*why, *report.reasons))


def before_overrides(report: Report) -> Verdict:
    """The verdict that stands when nobody overrides or vouches for anything."""
    return (
        max(report.verdict, Verdict.INCONCLUSIVE, key=attrgetter("rank")) if report.doubts else report.verdict
    )


def _lifted(
    report: Report, decisions: Sequence[OverrideDecision], shown: tuple[OverrideDecision, ...], policy: Policy
) -> Report:
    """The verdict without the findings that accepted overrides cover."""
    covered = {name for decision in decisions for name in decision.covers}
    everything = any(d.accepted and d.override.what == "all" for d in decisions)
    if not covered and not (everything and report.verdict is Verdict.INCONCLUSIVE):
        return replace(report, overrides=shown)
    left = tuple(f for f in report.findings if f.fingerprint not in covered)
    verdict, reasons = decide(
        score=advised_score(left, policy, fail=report.thresholds.fail, ai_attributed=False)[0],
        findings=left,
        stages=report.stages,
        thresholds=report.thresholds,
        sandbox=report.sandbox,
        policy=policy,
    )
    if everything and verdict is Verdict.INCONCLUSIVE:
        verdict = Verdict.WARN
    verdict = min(max(verdict, Verdict.WARN, key=attrgetter("rank")), report.verdict, key=attrgetter("rank"))
    said = f"{len(covered)} findings overridden; without that: {report.verdict.value}"
    if verdict is report.verdict:
        return replace(report, overrides=shown)
    rest = tuple(f"of what is not overridden, {reason}" for reason in reasons)
    return replace(report, verdict=verdict, reasons=(said, *rest), overrides=shown)


def _decide(one: Override, report: Report, now: float, hard_blocks: bool, policy: Policy) -> OverrideDecision:
    meant = [] if one.what == EVIDENCE else [f for f in report.findings if one.what in ("all", f.fingerprint)]
    free = [f for f in meant if hard_blocks or not policy.blocks(f)]
    why = _out_of_time(one, now)
    if not why and one.what == EVIDENCE:
        why = "" if any(d.vouchable for d in report.doubts) else "nothing here can be vouched for"
    elif not why and one.what != "all" and not meant:
        why = _NO_FINDING
    elif not why and meant and not free:
        why = (
            "what it names blocks whatever the score, and the settings at base do not let that be overridden"
        )
    if why:
        return OverrideDecision(override=one, accepted=False, refused=why)
    return OverrideDecision(override=one, accepted=True, covers=tuple(f.fingerprint for f in free))


def _out_of_time(one: Override, now: float) -> str:
    if one.until is None:
        return ""
    if now > one.until:
        return "it has expired"
    return f"it lasts longer than {LONGEST.days} days" if one.until - now > LONGEST.total_seconds() else ""
