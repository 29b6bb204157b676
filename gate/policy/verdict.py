"""Score, findings and stages to a verdict. Green needs a whole look; nothing else will do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

from gate.model.cut_short import NOT_RUN, at_base_too, cut_short, only_slow
from gate.model.finding import Finding
from gate.model.leftover import left_running
from gate.model.report import SandboxReport
from gate.model.rule import Severity
from gate.model.run import Completeness, RunRecord
from gate.model.score import Score, Thresholds, Verdict
from gate.model.stage import SkipReason, Stage, StageOutcome
from gate.policy.combinations import combined
from gate.policy.policy_file import Policy, load_policy

_TELLING = frozenset(
    {"early-exit", "process-killed", "process-left-behind", "resource-exhaustion", "timeout"}
)
"""Rules that say how a run ended: where one weighs enough to warn, the end is evidence and no hole."""
_SHOWN = 5


def decide(
    *,
    score: Score,
    findings: Sequence[Finding],
    stages: Sequence[Stage],
    thresholds: Thresholds,
    sandbox: SandboxReport | None = None,
    no_sandbox: bool | None = None,
    policy: Policy | None = None,
) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict and, in one line each, every reason for it (the deciding ones first).

    In this order: a hard block, a combination of findings or a score from ``thresholds.fail`` on is fail;
    anything that could not look is inconclusive; a score from ``thresholds.warn`` on is warn; the rest is
    pass. Rules of the policy's ``least_verdict`` then keep the verdict from being better than that.
    ``no_sandbox`` (the user's own decision, never the change's; None: as the ``sandbox`` stage says) keeps
    the verdict from being better than the policy's ``no_sandbox.best``. Reasons may hold names from the
    change: untrusted text.
    """
    policy = policy or load_policy()
    if no_sandbox is None:
        no_sandbox = _switched_off(stages)
    blocking = sorted({f.rule_id for f in findings if policy.blocks(f)})
    reasons = [f"{rule} blocks whatever the score" for rule in blocking]
    together = [one.text for one in combined(findings, policy)]
    reasons += [f"blocks together: {text}" for text in together]
    unseen = inconclusive_reasons(stages, sandbox, no_sandbox=no_sandbox, findings=findings)
    if score.value >= thresholds.fail:
        verdict = Verdict.FAIL
        reasons.append(f"score {score.value} is {thresholds.fail} or more")
    elif blocking or together:
        verdict = Verdict.FAIL
    elif unseen:
        verdict = Verdict.INCONCLUSIVE
    elif score.value >= thresholds.warn:
        verdict = Verdict.WARN
        reasons.append(f"score {score.value} is {thresholds.warn} or more, below {thresholds.fail}")
    else:
        verdict = Verdict.PASS
        reasons.append(f"score {score.value} is below {thresholds.warn}")
    verdict, floors = _at_least(verdict, findings, thresholds, policy)
    reasons = [*floors, *reasons, *_shortened(unseen)]
    if no_sandbox:
        best = Verdict(policy.no_sandbox.best)
        verdict = max(verdict, best, key=attrgetter("rank"))
        reasons.append(f"the sandbox was switched off, nobody saw the code run: at best {best.value}")
    if left := [s.reason for s in stages if s.skip_reason is SkipReason.FAST_LOOK]:
        best = Verdict(policy.fast_look.best)
        verdict = max(verdict, best, key=attrgetter("rank"))
        reasons.append(f"{left[0]}: at best {best.value}")
    return verdict, tuple(reasons)


def _at_least(
    verdict: Verdict, findings: Sequence[Finding], thresholds: Thresholds, policy: Policy
) -> tuple[Verdict, list[str]]:
    """The verdict with the policy's ``least_verdict``, and the rules that raised it."""
    least = [(policy.least(finding, thresholds), finding.rule_id) for finding in findings]
    worst = max((floor for floor, _ in least), key=attrgetter("rank"), default=verdict)
    if worst.rank <= verdict.rank:
        return verdict, []
    raised = Counter(rule for floor, rule in least if floor is worst)
    return worst, [
        f"{rule} ({count} {'finding' if count == 1 else 'findings'}) means at least {worst.value}"
        for rule, count in sorted(raised.items())
    ]


def _switched_off(stages: Sequence[Stage]) -> bool:
    """True for a sandbox that its user did not want, or that was skipped for no reason that is known."""
    return any(
        s.name == "sandbox"
        and s.outcome is StageOutcome.SKIPPED
        and s.skip_reason is not SkipReason.NOTHING_TO_RUN
        for s in stages
    )


def inconclusive_reasons(
    stages: Sequence[Stage],
    sandbox: SandboxReport | None,
    *,
    no_sandbox: bool,
    findings: Sequence[Finding] = (),
) -> tuple[str, ...]:
    """Every reason why this check was not a whole look; empty when it was.

    Code that did not come to its end is no reason where that is told as a finding that weighs enough to
    warn, where main does the same, and where tests or calls only took more than there was for them: what
    did not run is then among ``sandbox.not_exercised``.
    """
    out = []
    if not stages:
        out.append("no stage reported that it looked")
    out += [f"{s.name} {s.outcome.value}: {s.reason}" for s in stages if not s.looked]
    if sandbox is None or no_sandbox:
        return tuple(out)
    if sandbox.runs and sandbox.tracer in (None, "none"):
        out.append("the code ran but nothing watched it (no tracer)")
    if not sandbox.completeness.whole:
        out.append(f"the trace is incomplete ({_lost(sandbox.completeness)})")
    in_stage = any(s.name == "sandbox" and not s.looked for s in stages)  # faults are in the stage's reason
    for run in sandbox.runs:
        if not (in_stage and run.fault is not None):
            out += _run_reasons(run, sandbox.runs, told=_is_told(findings))
    if not _is_told(findings):
        out += _unwatched(sandbox.runs)
    return tuple(dict.fromkeys(out))


def _is_told(findings: Sequence[Finding]) -> bool:
    """True when a finding about how runs ended weighs enough to warn by itself."""
    return any(f.rule_id in _TELLING and f.severity.rank >= Severity.HIGH.rank for f in findings)


def _run_reasons(run: RunRecord, runs: Sequence[RunRecord], *, told: bool) -> list[str]:
    """Why one run is not a whole look.

    How the code ended matters at head only: a base run cut short knows less of base's behaviour, which can
    only make more of head's look new. A fault of ours or a lost event counts on both sides.
    """
    name = f"{run.probe.target} ({run.side})"
    if run.fault is not None:
        return [f"{name}: {run.fault}"]
    out = []
    if not run.completeness.whole:
        out.append(f"{name}: the trace is incomplete ({_lost(run.completeness)})")
    # A second look is extra, and so is a try that got a longer time in another run: what they did not come
    # to the end of, the other run did or is told for. What there was no time for is code that did not run,
    # judged by what it can do.
    if run.side == "head" and not run.probe.condition and not run.repeat and run.stopped != NOT_RUN:
        why = cut_short(run)
        if why and not (told or only_slow(run) or at_base_too(run, runs)):
            out.append(f"{name}: {why}, so the rest of it was not seen")
    return out


def _unwatched(runs: Sequence[RunRecord]) -> list[str]:
    """Head runs that nobody asked for (import, install) and that left something going, which base does not.

    A server or worker that is started by a call is ordinary; one that an import starts may be waiting.
    """
    # Base is not always run again for a second look (ids with ``~``): its first one tells as well.
    at_base = {run.probe.id.partition("~")[0] for run in runs if run.side == "base" and left_running(run)}
    return [
        f"{run.probe.target} (head): what it started was still running at the end, so the rest was not seen"
        for run in runs
        if run.side == "head"
        and run.probe.phase in ("import", "install")
        and run.probe.id.partition("~")[0] not in at_base
        and left_running(run)
    ]


def _lost(completeness: Completeness) -> str:
    words = []
    if completeness.dropped:
        words.append(f"{completeness.dropped} events dropped")
    if completeness.unparsed:
        words.append(f"{completeness.unparsed} unreadable")
    if completeness.truncated:
        words.append("its end is missing")
    return ", ".join(words)


def _shortened(reasons: tuple[str, ...]) -> list[str]:
    """A hundred runs cut short for one cause are no hundred lines."""
    shown = list(reasons[:_SHOWN])
    if len(reasons) > _SHOWN:
        shown.append(f"and {len(reasons) - _SHOWN} more that could not be looked at")
    return shown
