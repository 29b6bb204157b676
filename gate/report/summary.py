"""What every reporter says in its first lines, as values: our words apart from the change's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from gate.dataclass import dataclass
from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding, worst_first
from gate.model.override import OverrideDecision
from gate.model.report import Report
from gate.model.rule import Severity
from gate.model.run import Outcome, RunRecord
from gate.model.score import Verdict
from gate.model.stage import Stage, StageOutcome, incomplete_stages

# kind -> what people call it; the order is the order of telling
VERBS: Final[dict[BehaviourKind, str]] = {
    BehaviourKind.CANARY: "leaks planted secret",
    BehaviourKind.EVADE: "hides from observation",
    BehaviourKind.CONNECT: "connects to",
    BehaviourKind.HTTP: "requests",
    BehaviourKind.SEND: "sends to",
    BehaviourKind.DNS: "looks up",
    BehaviourKind.LISTEN: "listens on",
    BehaviourKind.EXEC: "starts",
    BehaviourKind.READ: "reads",
    BehaviourKind.WRITE: "writes",
    BehaviourKind.DELETE: "deletes",
    BehaviourKind.RENAME: "renames to",
    BehaviourKind.LINK: "links",
    BehaviourKind.CHMOD: "changes mode of",
    BehaviourKind.SIGNAL: "sends signal",
    BehaviourKind.PROBE: "looks for a sandbox by",
    BehaviourKind.DENIED: "was refused",
    BehaviourKind.LIMIT: "hits limit",
    BehaviourKind.EXIT: "ends early by",
}
_CANARY_READ: Final = frozenset({"read", "env", "then-network"})
"""Channels that do not show that the secret itself left."""


def verb(item: Behaviour) -> str:
    """Our word for one behaviour: a planted secret that was only read has not leaked."""
    if item.kind is BehaviourKind.CANARY and item.detail.get("channel") in _CANARY_READ:
        return "reads planted secret"
    return VERBS[item.kind]


_RANK: Final = {kind: rank for rank, kind in enumerate(VERBS)}

_WEIGHS: Final = Severity.MEDIUM.rank
VERDICT_WORDS: Final = {
    Verdict.PASS: ("Passed", "no risk worth stopping for was seen"),
    Verdict.WARN: ("Look before you merge", "risk was seen, below the blocking score"),
    Verdict.FAIL: ("Blocked", "do not merge or deploy this"),
    Verdict.INCONCLUSIVE: ("Inconclusive", "the gate could not look, so it cannot say yes"),
}


def verdict_words(report: Report) -> tuple[str, str]:
    """The verdict as people read it, and what it means. Where somebody answers for all that weighs, it is
    theirs; a pass of what did not run says so.
    """
    covered, left = _answered(report)
    if report.verdict is Verdict.WARN and covered and (not left or left[0].severity.rank < _WEIGHS):
        return "Let through by an override", "somebody answers for what was seen"
    ran = report.exercised
    if report.verdict is Verdict.PASS and ran is not None and ran.executable and not ran.ran:
        return VERDICT_WORDS[Verdict.PASS][0], "judged by its text alone: none of its lines ran"
    return VERDICT_WORDS[report.verdict]


def _answered(report: Report) -> tuple[bool, list[Finding]]:
    """Does an accepted override cover a finding, and those that none covers, worst first."""
    covered = {name for one in report.overrides if one.accepted for name in one.covers}
    return bool(covered), [f for f in worst_first(report.findings) if f.fingerprint not in covered]


@dataclass(frozen=True, kw_only=True, slots=True)
class BehaviourPhrase:
    """One kind of new behaviour: our verb, at most three of the change's subjects, how many more."""

    verb: str
    subjects: tuple[str, ...]
    more: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RunPair:
    """The same probe at base and at head (first runs only)."""

    phase: str
    target: str
    base: RunRecord | None
    head: RunRecord | None

    @property
    def trouble(self) -> bool:
        """True when the head run is not a plain completion."""
        return self.head is not None and (
            self.head.outcome is not Outcome.COMPLETED
            or self.head.fault is not None
            or bool(self.head.not_run)
        )


def ordered(behaviours: Iterable[Behaviour]) -> list[Behaviour]:
    """The gravest kinds first."""
    return sorted(behaviours, key=lambda b: (_RANK[b.kind], b.subject, b.actor))


def behaviour_phrases(report: Report) -> list[BehaviourPhrase]:
    """What head does that base does not, by what we call it."""
    by_verb: dict[str, list[str]] = {}
    for item in ordered(report.behaviour.new):
        subjects = by_verb.setdefault(verb(item), [])
        if item.subject not in subjects:
            subjects.append(item.subject)
    return [
        BehaviourPhrase(verb=word, subjects=tuple(subjects[:3]), more=max(0, len(subjects) - 3))
        for word, subjects in by_verb.items()
    ]


def was_run(report: Report) -> bool:
    """True when at least one probe of the head really ran under observation."""
    return any(
        r.side == "head" and r.fault is None and r.outcome is not Outcome.NEVER_STARTED
        for r in report.sandbox.runs
        if r.probe.phase != "idle"
    )


def worst_finding(report: Report) -> Finding | None:
    """The finding to show first, or None."""
    return next(iter(worst_first(report.findings)), None)


def next_step(report: Report) -> str:
    """Advice of a sentence or two, in our words only; names of settings and commands between backticks."""
    blind = incomplete_stages(report.stages)
    if report.verdict is Verdict.INCONCLUSIVE:
        if blind:
            return f"{_advice(blind[0])} Then run the check again."
        return "Run the check again; if it stays inconclusive, see `gate doctor`."
    covered, left = _answered(report)
    top = left[0] if left else None
    if covered and top is None and report.verdict is not Verdict.FAIL:
        return "Nothing has to be done: what was found is overridden (see Overrides)."
    if report.verdict in (Verdict.FAIL, Verdict.WARN):
        if top is not None and top.rule_id in report.rules:
            return report.rules[top.rule_id].remediation
        if top is not None:
            return "Read the findings; change the code, or ask a maintainer for an override with a reason."
        return _unrun_advice(report) or "Read the reasons above; `gate doctor` says what could be set up."
    if advice := _unrun_advice(report):
        return f"Nothing of the change ran, so nothing can be said of what it does. {advice}"
    return "Nothing has to be done." if top is None else "Nothing has to be done; small findings are listed."


def _unrun_advice(report: Report) -> str:
    """What to set so that the change runs, where none of its code did; empty where some did, or has none."""
    found = report.exercised
    ranked = found.reasons() if found is not None and found.executable and not found.ran else ()
    return ranked[0][0].advice if ranked else ""


def _advice(stage: Stage) -> str:
    """What to set so that a stage can look, by its name and how it ended; its reason is told beside it."""
    room, _, part = stage.name.partition(":")
    if room == "prescreen":
        return f"Make {part or 'the file'} readable, or give it longer (`prescreen.deadline`)."
    if room == "setup":
        return 'Allow its package index (`sandbox.egress_allow`), or do without (`sandbox.setup = "none"`).'
    if stage.outcome is StageOutcome.DEGRADED:
        return "Give it more time or memory (`sandbox.budget`, `sandbox.deadline`, `sandbox.memory_mb`)."
    if room == "sandbox":
        return "Ask `gate doctor` which sandboxes work here, and choose one (`sandbox.backend`)."
    return f"Make {stage.name} work (`gate doctor`)."


def disclosed(report: Report) -> tuple[int, int, tuple[str, ...]]:
    """How many commits disclose an AI tool, of how many, and which tools."""
    ai = [c for c in report.commits if c.is_ai]
    return len(ai), len(report.commits), tuple(sorted({c.tool for c in ai if c.tool}))


def run_pairs(report: Report) -> list[RunPair]:
    """Probes with their two sides, trouble first, idle probes and repeats left out."""
    sides: dict[str, dict[str, RunRecord]] = {}
    for run in report.sandbox.runs:
        if run.repeat == 0 and run.probe.phase != "idle":
            sides.setdefault(run.probe.id, {})[run.side] = run
    pairs = []
    for both in sides.values():
        probe = next(iter(both.values())).probe
        pairs.append(
            RunPair(phase=probe.phase, target=probe.target, base=both.get("base"), head=both.get("head"))
        )
    return sorted(pairs, key=lambda p: not p.trouble)


def location_parts(finding: Finding) -> tuple[str, str]:
    """The finding's path (untrusted) and its line part (``:31-33``, ``:7`` or empty)."""
    first = finding.primary
    if first.line is None:
        return first.path, ""
    if first.end_line is None or first.end_line == first.line:
        return first.path, f":{first.line}"
    return first.path, f":{first.line}-{first.end_line}"


def stays_inside(path: str) -> bool:
    """False for a path that a browser or viewer would resolve elsewhere: empty, absolute, climbing."""
    return bool(path) and not path.startswith("/") and not {".", ".."} & set(path.split("/"))


def amount(count: int, one: str, many: str | None = None) -> str:
    """``1 commit``, ``2 commits``, ``1,204 files``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def mebibytes(size: int | None) -> str:
    """``38 MiB``, or a dash where it is not known."""
    return "-" if size is None else f"{size / (1 << 20):.0f} MiB"


def outcome_words(run: RunRecord | None) -> str:
    """``completed``, ``exit 1``, ``timed out`` ...; a dash where there was no run."""
    if run is None:
        return "-"
    if run.fault is not None:
        return "not observed"
    if run.not_run:
        return "not run"
    if run.outcome is Outcome.EXITED_NONZERO and run.exit_code is not None:
        return f"exit {run.exit_code}"
    return run.outcome.value.replace("-", " ")


def run_note(run: RunRecord | None) -> str:
    """Why a run was not observed, or was no look at the code; untrusted, mostly empty."""
    return "" if run is None else run.fault or run.not_run


def override_row(decision: OverrideDecision) -> Mapping[str, object]:
    """One override in words, all of them untrusted but the reason of a refusal."""
    asked = decision.override
    until = "until the next push"
    if asked.until is not None:
        until = "until " + datetime.fromtimestamp(min(asked.until, 1 << 37), UTC).strftime("%Y-%m-%d")
    return {
        "what": asked.what,
        "by": asked.by,
        "reason": asked.reason,
        "source": asked.source,
        "until": until,
        "accepted": decision.accepted,
        "covers": amount(len(decision.covers), "finding"),
        "refused": decision.refused,
    }
