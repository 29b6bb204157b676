"""The stage that runs the change: choose a backend, run the plan behind it, try the next when it fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.errors import BackendFailedError, InconclusiveError
from gate.model.canary import Canary
from gate.model.change import Side, Tree
from gate.model.exploit import Attacks, AttackTarget
from gate.model.finding import Finding
from gate.model.guard_calls import GuardTarget, OpenedGuard
from gate.model.report import SandboxReport
from gate.model.rule import Severity
from gate.model.run import Capability, Completeness, ExecutionPlan, Limits, NotExercised, SandboxSpec
from gate.model.stage import SkipReason
from gate.model.varied import VariedSecrets
from gate.plan.build import make_plan, needs_room, runtimes_of
from gate.plan.line_coverage import Coverage, coverage
from gate.plan.source_readings import Readings
from gate.policy.policy_file import load_policy
from gate.policy.score import score
from gate.sandbox import canaries
from gate.sandbox.backends.registry import choose
from gate.sandbox.contract import Backend, Session
from gate.sandbox.decoy_files import decoy_home_files
from gate.sandbox.kept_runs import with_kept_runs
from gate.sandbox.named_secrets import asked_in_vain, named_secrets
from gate.settings import SandboxSettings, Settings
from gate.stages.behaviour import BehaviourComparison, LookRequest, compare_behaviour
from gate.stages.clock_comparisons import compares_clock
from gate.stages.context import CheckContext, Ending, SandboxResult
from gate.stages.exercised import exercised
from gate.stages.exploit import attack, summary, targets_of
from gate.stages.fast_look import INSTALLATION, imports_only
from gate.stages.forced import ForcedLook, Forcing
from gate.stages.guards import GuardLook, guards_of
from gate.stages.interpreter import take_python
from gate.stages.known_hosts import hosts_named
from gate.stages.pace import paced
from gate.stages.room import with_room
from gate.stages.sandbox_gaps import lost_runs, missing_observers, unmoved_file_times
from gate.stages.services import take_services
from gate.stages.setup import SetUp, affects_installation, laid_out, prepare, with_dependencies
from gate.stages.varied import LONGER, Varying, unvaried
from gate.stages.varied import summary as varied_summary

_RUNNER_MB: Final = 1536
"""What a runner of JavaScript's tests needs, with the compiler that it starts."""


def run(context: CheckContext, ending: Ending) -> None:
    """Run base and head and compare them. It stays in the check's own thread: an interrupt tears it down.

    With ``sandbox.backend = "auto"`` the next backend is tried, once, when the first one fails before
    anything ran behind it. Raises InconclusiveError.
    """
    opened, wanted = context.opened, paced(context.settings.config.sandbox, context.pace)
    if not wanted.enabled:
        who = context.settings.origin.get("sandbox.enabled", "configuration")
        ending.skipped(SkipReason.SWITCHED_OFF, who)
        return
    # A trial start costs nothing of its own where nothing waits for it: beside the plan, or the opening.
    defer = wanted.setup in ("none", "auto")
    pick = partial(choose, wanted.backend, wanted.minimum, wanted.tracer, defer=defer, quick=wanted.fast)
    deep = _is_deep(context)
    with ThreadPoolExecutor(1, thread_name_prefix="backend") as pool:
        chosen = pool.submit(pick)
        plan = make_plan(
            opened.change,
            opened.base,
            opened.head,
            deadline=wanted.deadline,
            deep=deep,
            readings=partial(_readings, context),
        )
    installs = not plan.probes and affects_installation(opened, wanted)
    if wanted.fast:
        plan, left = imports_only(plan)
        if left or installs:
            with context.stage("sandbox:rest") as rest:
                rest.skipped(SkipReason.FAST_LOOK, left or INSTALLATION)
        installs = False
    planned = SandboxResult(report=SandboxReport(not_exercised=plan.not_exercised), plan=plan)
    context.results.sandbox = planned
    if not plan.probes and not installs:
        context.results.sandbox = replace(planned, coverage=Coverage())
        ending.skipped(SkipReason.NOTHING_TO_RUN)
        return
    backend, capability, _ = chosen.result()
    named = named_secrets(opened.change.files, opened.head)
    planted = canaries.plant(named=named.sure)
    execution = _Execution(context, ending, wanted, plan, planted, deep, perhaps=named.perhaps)
    try:
        result = execution.behind(backend, capability)
    except BackendFailedError as error:  # nothing was run behind it
        if wanted.backend != "auto":
            raise
        backend, capability, _ = pick(failed={capability.backend: error.message})
        result = execution.behind(backend, capability)
    context.results.sandbox = result


def _readings(context: CheckContext) -> Readings:
    """What was read of the changed files; nothing where that failed: the stage that counts says so."""
    with suppress(InconclusiveError):
        context.wait("readings")
    return context.results.readings


@dataclass(frozen=True)
class _Execution:
    """One plan that is to be run, behind whichever backend."""

    context: CheckContext
    ending: Ending
    wanted: SandboxSettings
    plan: ExecutionPlan
    planted: tuple[Canary, ...]
    deep: bool
    perhaps: tuple[str, ...] = ()
    """Variables that may hold a secret and may configure the code: planted for the look with others only."""

    def behind(self, backend: Backend, capability: Capability) -> SandboxResult:
        """Run the plan there. Raises BackendFailedError when it does not stand, InconclusiveError."""
        context, opened, plan = self.context, self.context.opened, self.plan
        spec = self._spec(capability)
        left = self._interpreter(backend, capability, spec)
        services, said, missing = take_services(opened, self.wanted, backend, capability, plan)
        spec = replace(spec, services=services)
        plan = replace(plan, not_exercised=plan.not_exercised + left + missing)
        ready = SetUp()
        if self.wanted.setup != "none":
            ready = self._set_up(backend, capability, spec, said)
            plan = with_dependencies(plan, ready, self.wanted.deadline)
            spec = replace(spec, layers=ready.layers, modules=ready.modules)
            if ready.layers:
                spec = replace(spec, limits=replace(spec.limits, memory=with_room(spec.limits.memory)))
        base, head = laid_out(opened.base, ready, "base"), laid_out(opened.head, ready, "head")
        with (
            ThreadPoolExecutor(2, thread_name_prefix="targets") as pool,
            backend.open(spec, base, head) as session,
        ):
            targets = pool.submit(self._targets)  # read while the plan runs
            reached = pool.submit(self._reached_guards)
            context.stages.extend(missing_observers(capability, self.wanted.network, spec.network))
            trees: dict[Side, Tree] = {"base": base, "head": head}
            first = self._keeping(session, backend, capability, spec, plan, trees)
            looked = compare_behaviour(
                first, plan, opened.change, self.planted, request=self._request(), before=ready.runs
            )
            covered = coverage(looked.runs, plan)
            forced = self._forced(session, looked, covered, plan)
            if context.keep is not None:
                context.keep.runs(looked.runs)
            guards = self._guards(session, looked, reached.result())
            varied = self._vary(session, looked)
            attacks = self._attack(session, targets.result())
        looked = replace(looked, not_exercised=looked.not_exercised + forced.left + unvaried(varied))
        if lost := lost_runs(looked.runs):
            self.ending.degraded(lost)
        if capability.isolation != "vm":  # a virtual machine's own clock reaches files, too
            unmoved = unmoved_file_times(opened, looked.runs)
            looked = replace(looked, not_exercised=looked.not_exercised + unmoved)
        return SandboxResult(
            findings=looked.findings,
            guards=guards,
            attacks=attacks,
            diff=looked.diff,
            hosts_at_base=looked.hosts_at_base,
            report=_report(looked, capability),
            canaries=self.planted,
            plan=plan,
            coverage=covered,
            forced=forced.lines,
            varied=varied,
        )

    def _keeping(
        self,
        session: Session,
        backend: Backend,
        capability: Capability,
        spec: SandboxSpec,
        plan: ExecutionPlan,
        trees: Mapping[Side, Tree],
    ) -> Session:
        """The session with runs that are known; not where every look is to be a new one. Where that is so for
        the author's sake, what base did is known all the same.
        """
        context = self.context
        if self.wanted.deep or context.keep is not None:
            return session
        folder = context.scratch / "kept-runs"
        anew: Literal["head"] | None = "head" if self.deep else None
        kept = with_kept_runs(session, backend, capability, spec, trees, folder=folder, anew=anew)
        if kept is None:
            return session
        if known := kept.look_up(plan):
            context.watch.note("sandbox", f"{known} runs are told again; --no-cache runs them anew")
        return kept

    def _vary(self, session: Session, looked: BehaviourComparison) -> VariedSecrets:
        """Run what gives something away with other secrets, as a stage of its own; no stage where nothing
        does, no code changed, the check is decided, or it is to be fast.
        """
        context, wanted = self.context, self.wanted
        settled = self.plan.texts_only or _is_settled(looked.findings, context.settings)
        if wanted.fast or not wanted.vary_secrets or settled:
            return VariedSecrets()
        planted = {canary.env for canary in self.planted}
        asked = (name for name in asked_in_vain(looked.runs) if name not in planted)
        more = tuple(dict.fromkeys((*self.perhaps, *asked)))
        varying = Varying(
            session=session,
            runs=looked.runs,
            planted=self.planted,
            others=canaries.plant(LONGER, (c.env for c in self.planted if c.named and c.env)),
            more=canaries.perhaps(more),
            more_others=canaries.perhaps(more, LONGER),
            seen=looked.diff.new,
            head=context.opened.head,
            changed=tuple(file for file in context.opened.change.files if file.new_blob),
            seconds=wanted.vary_secrets_seconds * context.pace,
            note=lambda text: context.watch.note("secrets", text),
        )
        candidates = varying.candidates()
        if not candidates:
            return VariedSecrets()
        varied = VariedSecrets()
        with context.stage("secrets") as ending:
            varied = varying.look(candidates)
            ending.reason = varied_summary(varied)
        return varied

    def _forced(
        self, session: Session, looked: BehaviourComparison, covered: Coverage, plan: ExecutionPlan
    ) -> ForcedLook:
        """Force what is sensitive and did not run; nothing where the check is decided, or is to be fast."""
        context, opened = self.context, self.context.opened
        if self.wanted.fast or _is_settled(looked.findings, context.settings):
            return ForcedLook()
        files, readings = opened.change.files, _readings(context)
        forcing = Forcing(
            session=session,
            change=opened.change,
            base=opened.base,
            head=opened.head,
            readings=readings,
            runs=looked.runs,
            planted=self.planted,
            pace=context.pace,
            note=lambda text: context.watch.note("sandbox", text),
        )
        return forcing.look(exercised(files, readings, plan, covered))

    def _reached_guards(self) -> tuple[GuardTarget, ...]:
        """Guards to call; none in a fast look, or where no code changed."""
        opened = self.context.opened
        if self.wanted.fast or self.plan.texts_only:
            return ()
        return guards_of(opened.change, opened.base, opened.head)

    def _guards(
        self, session: Session, looked: BehaviourComparison, targets: tuple[GuardTarget, ...]
    ) -> tuple[OpenedGuard, ...]:
        """Call guards alike at base and head; not where the check is decided."""
        context, opened = self.context, self.context.opened
        if _is_settled(looked.findings, context.settings):
            return ()
        look = GuardLook(
            session=session,
            targets=targets,
            change=opened.change,
            base=opened.base,
            head=opened.head,
            pace=context.pace,
            note=lambda text: context.watch.note("sandbox", text),
        )
        return look.look()

    def _targets(self) -> tuple[AttackTarget, ...]:
        """What is to be attacked: nothing in a fast look, or where no sink is, or no code changed."""
        if self.wanted.fast or not self.wanted.exploit or self.plan.texts_only:
            return ()
        with suppress(InconclusiveError):  # what cannot be read was said by the plan
            return targets_of(self.context.opened)
        return ()

    def _attack(self, session: Session, targets: Sequence[AttackTarget]) -> Attacks:
        """Attack what the change touches, as a stage of its own; no stage where nothing is to be attacked."""
        context = self.context
        seconds = self.wanted.exploit_seconds * context.pace
        if not targets:
            return Attacks()
        with context.stage("exploit") as ending:
            attacks = attack(session, targets, context.opened, seconds=seconds)
            ending.reason = summary(attacks)
        return attacks

    def _spec(self, capability: Capability) -> SandboxSpec:
        wanted, planted = self.wanted, self.planted
        least = _RUNNER_MB if needs_room(self.plan) else 0
        return SandboxSpec(
            limits=Limits(memory=max(wanted.memory_mb, least) << 20, pids=wanted.pids, cpus=wanted.cpus),
            canaries=planted,
            files=decoy_home_files() | canaries.as_files(planted),
            env=canaries.as_environment(planted),
            on_canary=wanted.on_canary,
            network=_network(self.context.settings, capability),
            runtimes=runtimes_of(self.plan),
        )

    def _interpreter(
        self, backend: Backend, capability: Capability, spec: SandboxSpec
    ) -> tuple[NotExercised, ...]:
        """The Python of the sandboxes: what to tell of it. Raises InconclusiveError."""
        watch = self.context.watch
        backend.options = replace(backend.options, say=lambda text: watch.note("sandbox", text))
        return take_python(self.context.opened, self.wanted, backend, capability, spec)

    def _set_up(self, backend: Backend, capability: Capability, spec: SandboxSpec, services: str) -> SetUp:
        """Install dependencies, as a stage of its own. Raises BackendFailedError."""
        context, ready = self.context, SetUp()
        failure: BackendFailedError | None = None
        with context.stage("setup") as ending:
            try:
                traces = context.scratch / "installing"
                ready = prepare(
                    context.opened,
                    self.wanted,
                    backend,
                    capability,
                    spec,
                    traces=traces,
                    imported=self.plan.imports,
                )
            except BackendFailedError as error:  # another backend is tried, and set-up with it
                failure = error
                ending.skipped(SkipReason.BACKEND_FAILED, capability.backend, error.message)
            python = f"Python {backend.options.python}" * bool(backend.options.python)
            said = "; ".join(part for part in (python, services, ready.summary) if part)
            ending.reason = ending.reason or said
            if ready.problems:
                ending.degraded("; ".join(ready.problems))
        if failure is not None:
            raise failure
        return ready

    def _request(self) -> LookRequest:
        context = self.context
        return LookRequest(
            budget=self.wanted.budget,
            endless=self.wanted.endless,
            deep=self.deep,
            suspects=lambda: _suspects(context),
            settled=lambda findings: _is_settled(findings, context.settings),
            note=lambda text: context.watch.note("sandbox", text),
            again=not self.wanted.fast,
            named_at_base=lambda names: hosts_named(context.opened.base, names),
        )


def _is_deep(context: CheckContext) -> bool:
    """True when every probe gets a second look: a setting asks for it, or a commit is by an AI."""
    config = context.settings.config
    if config.sandbox.fast:
        return False
    by_ai = config.attribution.deep and any(commit.is_ai for commit in context.results.commits)
    return config.sandbox.deep or by_ai


def _suspects(context: CheckContext) -> set[str]:
    """Files whose text is a reason to run them again under other conditions. Waits for the static look."""
    context.wait("prescreen")
    findings = context.results.prescreened.findings
    found = {f.primary.path for f in findings if f.severity.rank >= Severity.MEDIUM.rank}
    return found | compares_clock(context.opened.change, context.opened.head).keys()


def _is_settled(findings: tuple[Finding, ...], settings: Settings) -> bool:
    """True when these findings alone are a fail: looking again could not make it worse."""
    policy, bands = load_policy(), settings.thresholds_for(is_ai=False)
    return score(findings, policy).value >= bands.fail or any(policy.blocks(f) for f in findings)


def _network(settings: Settings, capability: Capability) -> Literal["none", "sinkhole"]:
    """What the code's connections lead to."""
    wanted = settings.config.sandbox.network
    return wanted if wanted in capability.networks or "sandbox.network" in settings.origin else "none"


def _report(looked: BehaviourComparison, capability: Capability) -> SandboxReport:
    return SandboxReport(
        backend=capability.backend,
        isolation=capability.isolation,
        tracer=capability.tracer,
        completeness=sum((run.completeness for run in looked.runs), Completeness()),
        runs=looked.runs,
        not_exercised=looked.not_exercised,
    )
