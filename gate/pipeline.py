"""The whole check, from a change to a report. The only file that knows every room.

    change ─┬─ attribution ──────────────────────────────┐
            ├─ prescreen (bandit · semgrep · our rules) ─┼─ findings ─ policy ─ Report
            └─ plan ─ sandbox ─ behaviour diff ─ signals ┘   (gate/looking.py)

A stage that could not look becomes a Stage with a reason; policy never lets such a check end green.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from gate import crash
from gate.attribution.attribute import attribute
from gate.attribution.findings import attribution_findings
from gate.change.interface import OpenChange
from gate.clocks import compares_clock
from gate.errors import CouldNotLook, WallFailed
from gate.judging import Evidence, judge
from gate.looking import Looked, look
from gate.model.attribution import CommitAttribution
from gate.model.behaviour import BehaviourDiff
from gate.model.canary import Canary
from gate.model.change import PullRequest
from gate.model.finding import Finding
from gate.model.override import Override
from gate.model.report import Report, SandboxReport
from gate.model.rule import Severity
from gate.model.run import (
    Capability,
    Completeness,
    ExecutionPlan,
    Limits,
    NotExercised,
    RunRecord,
    SandboxSpec,
)
from gate.model.stage import Stage, StageOutcome
from gate.policy import override
from gate.policy.rules import load_policy
from gate.policy.score import score
from gate.prescreen.interface import Prescreened, PrescreenRequest
from gate.prescreen.run import prescreen
from gate.progress import Silent, Watch
from gate.sandbox import canaries
from gate.sandbox.backends import choose
from gate.sandbox.belongings import belongings
from gate.sandbox.interface import Backend
from gate.sandbox.plan import make_plan, runtimes_of
from gate.setting_up import SetUp, is_wanted, prepare, with_dependencies
from gate.settings import Settings
from gate.textsafe import shorten

T = TypeVar("T")


class Keeper(Protocol):
    """Who stores evidence (gate/replay.py)."""

    def runs(self, records: tuple[RunRecord, ...]) -> None:
        """Every run, while its trace exists."""
        ...

    def rest(self, evidence: Evidence) -> None:
        """Everything else, once."""
        ...


@dataclass
class _Looks:
    """What the stages of one check have said so far. Threads only append."""

    watch: Watch
    stages: list[Stage] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[_Ending]:
        """Time one stage and turn every way it can fail into a Stage. The only broad except in gate."""
        self.watch.started(name)
        start, said = time.monotonic(), _Ending()
        try:
            yield said
        except CouldNotLook as error:
            said.failed(f"{error.message}. {error.advice}".rstrip(". ") + ".")
        except Exception as error:  # noqa: BLE001  # the one place: a bug of ours must not lose the report
            said.failed(f"internal error ({type(error).__name__}); details in {crash.write_log(error)}")
        stage = Stage(name=name, outcome=said.outcome, reason=said.reason, seconds=time.monotonic() - start)
        self.stages.append(stage)
        self.watch.ended(stage)


@dataclass
class _Ending:
    """How a running stage will be said to have ended."""

    outcome: StageOutcome = StageOutcome.DONE
    reason: str = ""

    def failed(self, reason: str) -> None:
        self.outcome, self.reason = StageOutcome.FAILED, reason

    def degraded(self, reason: str) -> None:
        self.outcome, self.reason = StageOutcome.DEGRADED, reason

    def skipped(self, reason: str) -> None:
        self.outcome, self.reason = StageOutcome.SKIPPED, reason


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """What came of running the change."""

    findings: tuple[Finding, ...] = ()
    diff: BehaviourDiff = field(default_factory=BehaviourDiff)
    sandbox: SandboxReport = field(default_factory=SandboxReport)
    planted: tuple[Canary, ...] = ()


def check(
    opened: OpenChange,
    settings: Settings,
    watch: Watch | None = None,
    *,
    request: PullRequest | None = None,
    keep: Keeper | None = None,
) -> Report:
    """Look at one change in every way and judge it. Never raises for what the change contains.

    ``request`` is the pull request's own text, evidence for attribution only. ``keep`` is given the
    evidence, traces while they exist.

    The sandbox runs in this thread, so that an interrupt tears it down at once; the static look
    runs beside it.
    """
    start = time.monotonic()
    asked = _standing(opened)  # first: a file that cannot be read must not cost a whole run
    looks = _Looks(watch or Silent())
    with tempfile.TemporaryDirectory(prefix="gate-") as scratch:
        commits, found = _attribution(opened, looks, request)
        with ThreadPoolExecutor(1, thread_name_prefix="prescreen") as pool:
            static = pool.submit(_prescreen, opened, settings, looks, Path(scratch))
            deep = _wants_depth(settings, commits)
            seen = _sandbox(
                opened,
                settings,
                looks,
                deep=deep,
                suspects=lambda: _suspects(opened, static.result()),
                keep=keep,
                traces=Path(scratch, "installing"),
            )
            read = static.result()
    stages = tuple(looks.stages)
    evidence = Evidence(
        change=opened.change,
        settings=settings,
        commits=commits,
        static=found + read.findings,
        behaviour=seen.findings,
        diff=seen.diff,
        sandbox=seen.sandbox,
        planted=seen.planted,
        secrets=read.secrets,
        stages=stages,
        asked=asked,
        ended=time.time(),
        timings={"total": time.monotonic() - start} | {s.name: s.seconds for s in stages},
    )
    if keep is not None:
        keep.rest(evidence)
    return judge(evidence)


def _wants_depth(settings: Settings, commits: tuple[CommitAttribution, ...]) -> bool:
    by_ai = settings.config.attribution.deep and any(commit.is_ai for commit in commits)
    return settings.config.sandbox.deep or by_ai


def _suspects(opened: OpenChange, read: Prescreened) -> set[str]:
    """Files whose text is a reason to run them again under other conditions."""
    found = {f.primary.path for f in read.findings if f.severity.rank >= Severity.MEDIUM.rank}
    return found | compares_clock(opened.change, opened.head).keys()


def _attribution(
    opened: OpenChange, looks: _Looks, request: PullRequest | None
) -> tuple[tuple[CommitAttribution, ...], tuple[Finding, ...]]:
    commits: tuple[CommitAttribution, ...] = ()
    findings: tuple[Finding, ...] = ()
    with looks.stage("attribution") as stage:
        if not opened.change.commits:
            stage.skipped("no commits in the range")
        commits = attribute(opened.change, opened.head, opened.notes, origins=opened.origins, request=request)
        findings = attribution_findings(opened.change, commits)
    return commits, findings


def _prescreen(opened: OpenChange, settings: Settings, looks: _Looks, scratch: Path) -> Prescreened:
    """The static look. Its ``secrets`` are clear text, for redaction only."""
    folder = scratch / "prescreen"
    folder.mkdir()
    result = Prescreened(findings=(), stages=())
    with looks.stage("prescreen") as stage:
        if not opened.change.files:
            stage.skipped("no changed files")
            return result
        request = PrescreenRequest(
            change=opened.change,
            base=opened.base,
            head=opened.head,
            scratch=folder,
            deadline=settings.config.prescreen.deadline,
            allowed_imports=settings.config.prescreen.allowed_imports,
        )
        result = prescreen(request, progress=lambda text: looks.watch.note("prescreen", text))
        looks.stages.extend(result.stages)
        blind = [part for part in result.stages if not part.looked]
        if blind:
            stage.degraded("; ".join(f"{part.name}: {part.reason}" for part in blind))
    return result


def _sandbox(
    opened: OpenChange,
    settings: Settings,
    looks: _Looks,
    *,
    deep: bool,
    suspects: Callable[[], set[str]],
    keep: Keeper | None,
    traces: Path,
) -> _Seen:
    wanted = settings.config.sandbox
    seen = _Seen()
    with looks.stage("sandbox") as stage:
        if not wanted.enabled:
            stage.skipped("switched off by " + settings.origin.get("sandbox.enabled", "configuration"))
            return seen
        # A trial start costs nothing of its own where nothing waits for it: beside the plan, or the opening.
        pick = partial(choose, wanted.backend, wanted.minimum, wanted.tracer, defer=wanted.setup == "none")
        with ThreadPoolExecutor(1, thread_name_prefix="wall") as pool:
            chosen = pool.submit(pick)
            plan = make_plan(opened.change, opened.base, opened.head, deadline=wanted.deadline, deep=deep)
        seen = _Seen(sandbox=SandboxReport(not_exercised=plan.not_exercised))
        if not plan.probes and not is_wanted(opened, wanted):
            stage.skipped("nothing in the change can be run")
            return seen
        backend, wall, _ = chosen.result()
        planted = canaries.plant()
        behind = partial(
            _behind, opened, settings, looks, stage, plan, planted, suspects, keep, deep=deep, traces=traces
        )
        try:
            seen = behind(backend, wall)
        except WallFailed as error:  # nothing was run behind it
            if wanted.backend != "auto":
                raise
            backend, wall, _ = pick(failed={wall.backend: error.message})
            seen = behind(backend, wall)
    return seen


def _behind(
    opened: OpenChange,
    settings: Settings,
    looks: _Looks,
    stage: _Ending,
    plan: ExecutionPlan,
    planted: tuple[Canary, ...],
    suspects: Callable[[], set[str]],
    keep: Keeper | None,
    backend: Backend,
    wall: Capability,
    *,
    deep: bool,
    traces: Path,
) -> _Seen:
    """Run the plan behind that wall. Raises WallFailed when it does not stand, CouldNotLook."""
    wanted = settings.config.sandbox
    spec = SandboxSpec(
        limits=Limits(memory=wanted.memory_mb << 20, pids=wanted.pids, cpus=wanted.cpus),
        canaries=planted,
        files=belongings() | canaries.as_files(planted),
        env=canaries.as_environment(planted),
        on_canary=wanted.on_canary,
        network=_network(settings, wall),
        runtimes=runtimes_of(plan),
    )
    ready = SetUp()
    if wanted.setup != "none":
        with looks.stage("setup") as told:
            ready = prepare(opened, wanted, backend, wall, spec, traces=traces)
            told.reason = ready.told
            if ready.problems:
                told.degraded("; ".join(ready.problems))
        plan = with_dependencies(plan, ready, wanted.deadline)
        spec = replace(spec, layers=ready.layers)
    with backend.open(spec, opened.base, opened.head) as session:
        looks.stages.extend(_not_seen(wall, wanted.network, spec.network))
        looked = look(
            session,
            plan,
            opened.change,
            planted,
            budget=wanted.budget,
            deep=deep,
            suspects=suspects,
            settled=lambda found: _blocks(found, settings),
            note=lambda text: looks.watch.note("sandbox", text),
            before=ready.runs,
        )
        if keep is not None:
            keep.runs(looked.runs)
    _say_what_was_lost(stage, looked.runs)
    if wall.isolation != "vm":  # a virtual machine's own clock reaches files, too
        looked = replace(looked, not_exercised=looked.not_exercised + _file_times(opened, looked.runs))
    return _told(looked, planted, wall)


def _file_times(opened: OpenChange, runs: tuple[RunRecord, ...]) -> tuple[NotExercised, ...]:
    """Files that compare file times and were looked at with a moved clock, which does not reach those."""
    again = {run.probe.path for run in runs if run.side == "head" and run.probe.condition}
    why = "its clock was not moved for file times"
    asked = compares_clock(opened.change, opened.head) if again else {}
    return tuple(
        NotExercised(path=path, target="second look", reason=why)
        for path, file_times in asked.items()
        if file_times and path in again
    )


def _blocks(findings: tuple[Finding, ...], settings: Settings) -> bool:
    """True when these findings alone are a fail: looking again could not make it worse."""
    policy, bands = load_policy(), settings.thresholds_for(is_ai=False)
    return score(findings, policy).value >= bands.fail or any(policy.blocks(f) for f in findings)


def _network(settings: Settings, wall: Capability) -> Literal["none", "sinkhole"]:
    """What the code's connections lead to."""
    wanted = settings.config.sandbox.network
    return wanted if wanted in wall.networks or "sandbox.network" in settings.origin else "none"


def _not_seen(wall: Capability, wanted: str, network: str) -> Iterator[Stage]:
    """What this wall cannot look at, told where it could have been expected."""
    if wall.tracer == "none":  # the second observer of files has nothing to compare with
        why = f"{wall.backend} has no tracer: files are not compared with calls"
        yield Stage(name="files", outcome=StageOutcome.SKIPPED, reason=why, seconds=0.0)
    if network != wanted:
        why = f"{wall.backend} has no simulated network: connections fail, second stages are not seen"
        yield Stage(name="network", outcome=StageOutcome.SKIPPED, reason=why, seconds=0.0)


def _told(looked: Looked, planted: tuple[Canary, ...], wall: Capability) -> _Seen:
    return _Seen(
        findings=looked.findings,
        diff=looked.diff,
        planted=planted,
        sandbox=SandboxReport(
            backend=wall.backend,
            isolation=wall.isolation,
            tracer=wall.tracer,
            completeness=sum((run.completeness for run in looked.runs), Completeness()),
            runs=looked.runs,
            not_exercised=looked.not_exercised,
        ),
    )


def _say_what_was_lost(stage: _Ending, runs: tuple[RunRecord, ...]) -> None:
    """A run that our side lost, or a trace with holes, is not a clean look. One cause is said once."""
    causes: dict[str, list[str]] = {}
    for run in runs:
        if run.fault or not run.completeness.whole:
            cause = shorten(run.fault or "trace incomplete", 300)
            causes.setdefault(cause.strip(), []).append(f"{run.probe.target} at {run.side}")
    if causes:
        told = [
            f"{cause} ({names[0]}{f' and {len(names) - 1} more' if names[1:] else ''})"
            for cause, names in list(causes.items())[:3]
        ]
        stage.degraded("; ".join(told))


def _standing(opened: OpenChange) -> tuple[Override, ...]:
    """The overrides that the base commit holds; never the head's (CF-7), nor those of loose files."""
    if opened.change.base is None:
        return ()
    try:
        raw = opened.config.read(override.FILE)
    except KeyError:
        return ()
    return override.parse_file(raw)
