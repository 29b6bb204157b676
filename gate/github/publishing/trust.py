"""How far a report is believed that came out of a job which the change could touch (GH-3, GH-5)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Final

import msgspec

from gate.errors import UsageError
from gate.github.events import BASE_MOVES, MOST_EVENTS, events, last, time_of
from gate.github.interface import Api
from gate.github.target import PullNow, Run, compare, tree_of
from gate.model.finding import worst_first
from gate.model.report import Report
from gate.model.score import Verdict
from gate.policy.advice import advised_score
from gate.policy.digest import policy_digest
from gate.policy.policy_file import load_policy
from gate.policy.verdict import decide
from gate.report.from_json import as_report
from gate.report.json_v1 import decode
from gate.settings import Settings

_ORDER: Final = (Verdict.PASS, Verdict.WARN, Verdict.INCONCLUSIVE, Verdict.FAIL)
_AGAIN: Final = "Run the look again: its report is then about the pull request as it is now."


def received(raw: bytes, *, head: str) -> Report:
    """The report in the bytes of a report.json, if it is one about this commit.

    Raises UsageError otherwise: nothing of it may be published then. Overrides and doubts it claims are left
    out; they are judged anew from what the API says.
    """
    report = as_report(decode(raw))
    if report.change.head != head:
        raise UsageError(
            f"the report is about {(report.change.head or 'no commit')[:12]}, the pull request's head is "
            f"{head[:12]}: not published",
            advice="A newer push makes its own report. Nothing from a report decides where it is posted.",
        )
    return replace(report, overrides=(), doubts=())


def bound(api: Api, report: Report, target: PullNow, settings: Settings, *, numbered: bool) -> Report:
    """The report, if all it was made of is what the API says the pull request is made of.

    Base, merge base, tree and number are compared; ``numbered``: it must name its pull request. A base that
    has moved on since is taken where the branch still holds it and the settings in force are the same.
    Raises UsageError for a report about anything else.
    """
    change = report.change
    if report.pull_request != target.number and (numbered or report.pull_request is not None):
        raise _other(f"pull request {report.pull_request or '(none)'}", f"{target.number}")
    if change.base is None or change.merge_base is None:
        raise UsageError("the report names no base: not published", advice=_AGAIN)
    if change.base != target.base_sha:
        if not compare(api, target.repo, change.base, target.base_sha).holds:
            raise _other(f"the base {change.base[:12]}", f"{target.base_ref} at {target.base_sha[:12]}")
        if report.made is None or report.made.policy != policy_of(settings):
            raise _other("other settings than those at base now", target.base_sha[:12])
    merge_base = compare(api, target.repo, target.base_sha, target.head_sha).merge_base_commit.sha
    if change.merge_base != merge_base:
        raise _other(f"the merge base {change.merge_base[:12]}", merge_base[:12])
    tree = tree_of(api, target.repo, target.head_sha)
    if report.tree not in (tree, None) or (numbered and report.tree is None):
        raise _other(f"the tree {(report.tree or '(none)')[:12]}", tree[:12])
    return replace(report, tree=tree, pull_request=target.number)


def began_for(api: Api, run: Run, target: PullNow) -> None:
    """Raise UsageError unless the run began after the pull request was opened, into this base branch.

    GitHub runs the workflow file of head *merged into base*. So a pull request into a branch with a file of
    one's own makes a report that claims anything, and edits nothing once it goes to another branch; and the
    API does not say which pull request, or which base, a run of a fork was for.
    """
    happened = events(api, target)
    set_at = last(happened, BASE_MOVES)
    since = max(time_of(target.created_at), set_at) if set_at is not None else time_of(target.created_at)
    if time_of(run.created_at) <= since or len(happened) >= MOST_EVENTS:
        raise UsageError(
            f"run {run.id} began before pull request {target.number} was to be merged into {target.base_ref}",
            advice="Wait for the run that has begun since, or push a commit: it is told when it ends.",
        )


def _other(theirs: str, ours: str) -> UsageError:
    return UsageError(f"the report is about {theirs}, the pull request is about {ours}", advice=_AGAIN)


def recomputed(report: Report, settings: Settings) -> Report:
    """The report with score and verdict made anew from its own findings and stages, and base's thresholds.

    A report that flatters itself is told with what its own evidence says; never with a better verdict.
    """
    policy = load_policy()
    thresholds = settings.thresholds_for(is_ai=any(commit.is_ai for commit in report.commits))
    total, _ = advised_score(report.findings, policy, fail=thresholds.fail, ai_attributed=False)
    verdict, reasons = decide(
        score=total,
        findings=report.findings,
        stages=report.stages,
        thresholds=thresholds,
        sandbox=report.sandbox,
        policy=policy,
    )
    if _ORDER.index(verdict) <= _ORDER.index(report.verdict):
        return replace(report, thresholds=thresholds)
    said = f"the report says {report.verdict.value}, its own evidence says {verdict.value}"
    return replace(
        report,
        verdict=verdict,
        score=total,
        thresholds=thresholds,
        reasons=(said, *reasons),
        findings=worst_first(report.findings),
    )


def policy_of(settings: Settings) -> str:
    """The digest of our rules with these settings: 64 hex digits."""
    return policy_digest(msgspec.to_builtins(settings.config))


def judged_by(report: Report, settings: Settings) -> str:
    """The policy digest to stamp on a verdict: 64 hex digits, as ``gate.policy.digest`` makes them.

    The report was made under one set of rules and settings, and is judged again here under ours. Where both
    are the same, that is the policy; where they are not (an input of one half only, another version's
    rules), neither can vouch for it, and what is stamped is accepted nowhere unless somebody names it.
    """
    ours = policy_of(settings)
    theirs = report.made.policy if report.made is not None else "unknown"
    return ours if theirs == ours else hashlib.sha256(f"{ours} {theirs}".encode()).hexdigest()
