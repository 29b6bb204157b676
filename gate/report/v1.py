"""The published form of a report, version 1: the types of report.json and nothing else.

They are their own types so that the values inside the program can change without breaking readers.
Additions keep the version; a renamed, removed or re-typed field needs version 2. The bounds are what
a strict reader accepts: ``gate publish`` decodes a file that came from a job nobody trusts.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

MAX_BYTES: Final = 64 << 20
MAX_FINDINGS: Final = 50_000
MAX_FILES: Final = 50_000
MAX_BEHAVIOURS: Final = 20_000
MAX_COMMITS: Final = 10_000
MAX_RUNS: Final = 5_000
MAX_TEXT: Final = 20_000
MAX_PATH: Final = 4_400
MAX_EVIDENCE: Final = 40
MAX_SIGNS: Final = 200

Text = Annotated[str, Meta(max_length=MAX_TEXT)]
Path = Annotated[str, Meta(max_length=MAX_PATH)]
Word = Annotated[str, Meta(max_length=300)]
RULE_ID: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$(?!\n)"
RuleId = Annotated[str, Meta(pattern=RULE_ID, max_length=200)]
BLOB_URL: Final = r"^https://[A-Za-z0-9][A-Za-z0-9.:-]*/[A-Za-z0-9._/-]+$(?!\n)"
Hex = Annotated[str, Meta(pattern=r"^[0-9a-f]{4,64}$(?!\n)", max_length=64)]
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)", max_length=64)]
Fingerprint = Annotated[str, Meta(pattern=r"^([0-9a-f]{32})?$(?!\n)", max_length=32)]
Count = Annotated[int, Meta(ge=0, le=1 << 53)]
Line = Annotated[int, Meta(ge=1, le=1 << 31)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]
Percent = Annotated[int, Meta(ge=0, le=100)]
Level = Literal["low", "medium", "high", "critical"]
Sureness = Literal["low", "medium", "high"]
Unrun = Literal[
    "sandbox-off",
    "fast-look",
    "language-not-run",
    "no-interpreter",
    "dependency-missing",
    "import-failed",
    "collection-failed",
    "out-of-time",
    "ended-early",
    "left-out",
    "not-confirmed",
    "not-reached",
]
Skip = Literal[
    "switched-off",
    "no-commits",
    "no-changed-files",
    "nothing-to-run",
    "backend-failed",
    "no-tracer",
    "no-simulated-network",
    "fast-look",
    "no-opinion",
]
Where = Literal["attribution", "prescreen", "behaviour", "policy"]
Strings = Annotated[dict[Word, Text], Meta(max_length=MAX_EVIDENCE)]


class _Part(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    pass


class ThresholdsV1(_Part):
    """Scores from which the verdict is warn, and fail."""

    warn: Percent
    fail: Percent
    unrun: Literal["warn", "fail", "pass"] = "warn"


class ContributionV1(_Part):
    """Points one rule added, and why in words."""

    rule_id: RuleId
    points: Annotated[float, Meta(ge=-1000, le=1000)]
    why: Text


class EvidenceV1(_Part):
    """One sign of a tool in a commit; ``matched`` is the text that matched."""

    kind: Word
    where: Word
    matched: Text
    tool: Word
    confidence: Literal["definite", "strong", "weak"]
    role: Literal["author", "assistant", "suggestion", "reviewer", "finder", "bot"]


class LinesV1(_Part):
    """Lines of the head version that the evidence gives to a tool."""

    path: Path
    lines: Annotated[list[tuple[Line, Line]], Meta(max_length=10_000)]
    tool: Word


class AttributionV1(_Part):
    """What a commit discloses. ``is_ai`` false never means that a person wrote it."""

    is_ai: bool
    tool: Word | None
    confidence: Literal["definite", "strong", "weak"] | None
    evidence: Annotated[list[EvidenceV1], Meta(max_length=MAX_SIGNS)]
    lines: Annotated[list[LinesV1], Meta(max_length=10_000)]
    is_bot: bool


class CommitV1(_Part):
    """One commit of the range."""

    sha: Hex
    subject: Text | None
    attribution: AttributionV1


class FileV1(_Part):
    """One path that differs between base and head. ``size`` is the head blob's, in bytes."""

    path: Path
    old_path: Path | None
    status: Literal["added", "modified", "deleted", "renamed", "type-changed"]
    language: Word | None
    old_mode: Annotated[str, Meta(pattern=r"^[0-7]{5,6}$(?!\n)")] | None
    new_mode: Annotated[str, Meta(pattern=r"^[0-7]{5,6}$(?!\n)")] | None
    binary: bool
    size: Count
    added_lines: Count


class LocationV1(_Part):
    """A further place of a finding; lines are 1-based and inclusive."""

    path: Path
    line: Line | None
    end_line: Line | None


class FindingV1(_Part):
    """One thing worth attention. ``path`` and ``line`` are the first place; ``related`` the others."""

    rule_id: RuleId
    stage: Where
    severity: Level
    confidence: Sureness
    message: Text
    path: Path
    line: Line | None
    end_line: Line | None
    fingerprint: Fingerprint
    cwe: Annotated[list[Annotated[int, Meta(ge=1, le=100_000)]], Meta(max_length=50)]
    evidence: Strings
    suppressed_by: Word | None
    topic: Word
    shape: Text
    hard_block: bool
    related: Annotated[list[LocationV1], Meta(max_length=100)]


class BehaviourV1(_Part, omit_defaults=True):
    """One thing the code was seen to do. ``path`` and ``line`` are a hint from inside the sandbox;
    ``first_seen`` is in seconds from the beginning of the run.
    """

    kind: Word
    subject: Text
    actor: Text
    detail: Strings
    probes: Annotated[list[Word], Meta(max_length=1_000)]
    count: Count
    denied: bool
    path: Path | None
    line: Line | None
    first_seen: Seconds | None = None


class BehaviourDiffV1(_Part):
    """Head against base."""

    new: Annotated[list[BehaviourV1], Meta(max_length=MAX_BEHAVIOURS)]
    gone: Annotated[list[BehaviourV1], Meta(max_length=MAX_BEHAVIOURS)]
    unchanged_count: Count


class CompletenessV1(_Part):
    """What the tracer could not keep; anything but zeros and false is not a clean look."""

    dropped: Count
    unparsed: Count
    truncated: bool


class RunV1(_Part):
    """One probe on one side. ``fault`` tells when our side failed, null otherwise; ``not_run`` what of it
    was no look at the code although its process ended well (a failed import, stand-ins, no test collected);
    ``kept_at`` when it ran, in Unix seconds, where it is told again (docs/cache.md), 0 where it ran now.
    """

    probe: Word
    phase: Literal["install", "import", "call", "test", "script", "idle"]
    target: Text
    path: Path | None
    side: Literal["base", "head"]
    repeat: Count
    outcome: Literal["completed", "exited-nonzero", "timed-out", "out-of-memory", "killed", "never-started"]
    exit_code: Annotated[int, Meta(ge=-(1 << 31), le=1 << 32)] | None
    seconds: Seconds
    peak_memory_bytes: Count | None
    completed: bool
    completeness: CompletenessV1
    stdout_bytes: Count
    stderr_bytes: Count
    stdout_tail: Text
    stderr_tail: Text
    fault: Text | None
    not_run: Text = ""
    kept_at: float = 0.0


class NotExercisedV1(_Part):
    """A changed thing that no probe reached, and why."""

    path: Path
    target: Text
    reason: Text


class SandboxV1(_Part):
    """Which backend was used and what ran behind it; null where nothing ran."""

    backend: Word | None
    isolation: Word | None
    tracer: Word | None
    completeness: CompletenessV1
    runs: Annotated[list[RunV1], Meta(max_length=MAX_RUNS)]
    not_exercised: Annotated[list[NotExercisedV1], Meta(max_length=10_000)]


class UnrunLinesV1(_Part):
    """Changed lines that did not run; ``lines`` are spans, 1-based and inclusive. ``detail``: which, or the
    error.
    """

    lines: Annotated[list[tuple[Line, Line]], Meta(max_length=10_000)]
    reason: Unrun
    detail: Text


class UnrunCallV1(_Part):
    """A sensitive call that base does not have, on changed lines that did not run."""

    line: Line
    end_line: Line
    kind: Word
    call: Text
    text: Text
    reason: Unrun
    detail: Text
    in_tests: bool


class FileExercisedV1(_Part):
    """A changed file with code: how many of its changed lines hold code, and how many of those ran at head.
    ``unreadable``: why nobody can read it, empty where it was read.
    """

    path: Path
    language: Word
    executable: Count
    ran: Count
    unrun: Annotated[list[UnrunLinesV1], Meta(max_length=1_000)]
    calls: Annotated[list[UnrunCallV1], Meta(max_length=10_000)]
    unreadable: Text


class ExercisedV1(_Part):
    """Of the changed lines that hold code, how many ran at head; ``percent`` is null where there were
    none.
    """

    executable: Count
    ran: Count
    percent: Percent | None
    files: Annotated[list[FileExercisedV1], Meta(max_length=MAX_FILES)]


class StageV1(_Part, omit_defaults=True):
    """One stage and how it ended; ``reason`` is null only when it is done. ``skip_reason`` is there only for
    a stage of the check that was skipped.
    """

    name: Word
    outcome: Literal["done", "skipped", "degraded", "failed"]
    reason: Text | None
    seconds: Seconds
    skip_reason: Skip | None = None


class IncidentV1(_Part):
    """Findings that tell one story, in one sentence. For programs that show it; whoever reads a report.json
    to publish it makes the sentences anew.
    """

    severity: Level
    sentence: Text
    path: Path
    line: Line | None
    findings: Annotated[list[Fingerprint], Meta(max_length=MAX_FINDINGS)]


class RuleV1(_Part):
    """The page of a rule that found something."""

    title: Text
    stage: Where
    severity: Level
    confidence: Sureness
    help: Text
    remediation: Text
    topic: Word
    cwe: Annotated[list[Annotated[int, Meta(ge=1, le=100_000)]], Meta(max_length=50)]
    attack: Annotated[list[Word], Meta(max_length=50)]
    origin: Word


class OverrideV1(_Part):
    """An override that somebody asked for; ``until`` is seconds since 1970, null: dies with the commit."""

    what: Word
    reason: Text
    by: Word
    source: Literal["comment", "overrides.toml"]
    where: Text
    until: Count | None
    accepted: bool
    covers: Annotated[list[Fingerprint], Meta(max_length=MAX_FINDINGS)]
    refused: Text


class OmittedV1(_Part):
    """How many entries did not fit the bounds of this file; the worst are always kept."""

    findings: Count
    files: Count
    commits: Count
    behaviour_new: Count
    behaviour_gone: Count
    runs: Count


class ExcerptV1(_Part):
    """Lines of a head file around a finding, secrets taken out; ``first`` is the number of the first."""

    path: Path
    first: Line
    lines: Annotated[list[Annotated[str, Meta(max_length=400)]], Meta(max_length=20)]


class MadeV1(_Part):
    """When the check ended (seconds since 1970); sha256 of rules with settings, rules, program."""

    at: Count
    policy: Digest
    rules: Digest
    gate: Digest


class ProofV1(_Part):
    """A payload that got through at head. ``entry`` is a route (``GET /search``) or a function, ``repeat``
    the command line or the call that shows it again, ``witness`` what was seen. ``before``: whether base
    was open to the same; ``open`` is no finding of this change.
    """

    weakness: Literal[
        "command",
        "code",
        "sql",
        "path-read",
        "path-write",
        "template",
        "deserialisation",
        "request-forgery",
        "xml",
        "open-redirect",
        "header",
        "html",
        "archive",
        "token",
        "slow-pattern",
        "query",
        "prototype",
        "access",
        "argument",
        "predictable",
        "cross-site",
    ]
    kind: Literal["http", "call"]
    entry: Text
    function: Text
    path: Path
    line: Line | None
    value_of: Text
    payload: Text
    witness: Text
    seen: Text
    repeat: Text
    before: Literal["closed", "open", "absent", "unknown"]


class ReportV1(_Part):
    """report.json, version 1. Unknown is null, never a made-up value."""

    schema_version: Literal["1"]
    gate_version: Word
    repo: Path
    base: Hex | None
    head: Hex | None
    merge_base: Hex | None
    branch: Word | None
    verdict: Literal["pass", "warn", "fail", "inconclusive"]
    reasons: Annotated[list[Text], Meta(max_length=1_000)]
    score: Percent
    thresholds: ThresholdsV1
    contributions: Annotated[list[ContributionV1], Meta(max_length=MAX_FINDINGS)]
    commits: Annotated[list[CommitV1], Meta(max_length=MAX_COMMITS)]
    files: Annotated[list[FileV1], Meta(max_length=MAX_FILES)]
    findings: Annotated[list[FindingV1], Meta(max_length=MAX_FINDINGS)]
    behaviour: BehaviourDiffV1
    sandbox: SandboxV1
    stages: Annotated[list[StageV1], Meta(max_length=1_000)]
    timings: Annotated[dict[Word, Seconds], Meta(max_length=1_000)]
    rules: Annotated[dict[RuleId, RuleV1], Meta(max_length=5_000)]
    settings_origin: Annotated[dict[Word, Text], Meta(max_length=1_000)]
    omitted: OmittedV1
    overrides: Annotated[list[OverrideV1], Meta(max_length=2_000)] = []
    made: MadeV1 | None = None
    pull_request: Annotated[int, Meta(ge=1, le=1 << 53)] | None = None
    tree: Hex | None = None
    exercised: ExercisedV1 | None = None
    incidents: Annotated[list[IncidentV1], Meta(max_length=1_000)] = []
    proofs: Annotated[list[ProofV1], Meta(max_length=1_000)] = []
    excerpts: Annotated[list[ExcerptV1], Meta(max_length=100)] = []
    blob_url: Annotated[str, Meta(pattern=BLOB_URL, max_length=500)] | None = None
