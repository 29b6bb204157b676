"""Dependencies for a check's sandboxes: joins the settings, this machine's configuration and the installing.

Everything that decides where an installation may go comes from rules/egress.toml and from whoever runs gate
(pip's configuration of this machine, ``--egress-allow``, the proxy variables of gate's own process).
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Literal

from gate.change.interface import OpenChange
from gate.errors import BackendFailedError, InconclusiveError, UsageError
from gate.model.change import Side, Tree
from gate.model.run import Capability, ExecutionPlan, Probe, SandboxSpec
from gate.plan.probes import idle_probe
from gate.plan.python_source import imported_modules
from gate.sandbox.contract import Backend
from gate.sandbox.dependencies import automatic, index, registry
from gate.sandbox.dependencies.install import InstallContext, Means
from gate.sandbox.dependencies.javascript import NpmContext, concerns, set_up_javascript
from gate.sandbox.dependencies.layer_store import LayerStore
from gate.sandbox.dependencies.setup import NOTHING, Order, SetUp, asks_otherwise, set_up
from gate.sandbox.dependencies.tree_links import LinkedTree
from gate.sandbox.egress.rules import Allowed, ConfiguredHost
from gate.sandbox.egress.upstream import Upstreams
from gate.settings import SandboxSettings

__all__ = ["SetUp", "affects_installation", "laid_out", "prepare", "with_dependencies"]


def affects_installation(opened: OpenChange, wanted: SandboxSettings) -> bool:
    """True when the change itself bears on what is installed, so that it counts though no code changed."""
    if wanted.setup == "none":
        return False
    if wanted.setup == "auto":
        return automatic.asks_otherwise(opened.change, opened.base, opened.head, LayerStore())
    return asks_otherwise(opened.change, opened.base, opened.head, _order(wanted, wanted.setup))


def prepare(
    opened: OpenChange,
    wanted: SandboxSettings,
    backend: Backend,
    capability: Capability,
    spec: SandboxSpec,
    *,
    traces: Path,
    imported: frozenset[str] = frozenset(),
) -> SetUp:
    """Install what the settings ask for; nothing for ``sandbox.setup = "none"``.

    ``traces`` is a new folder that lives as long as the check. ``imported``: modules that changed Python
    imports. Raises InconclusiveError (with ``auto``: BackendFailedError only; what else is missing is told
    in ``not_exercised``).
    """
    if wanted.setup == "none":
        return SetUp()
    if wanted.setup != "auto" and not wanted.fast:
        return _install(opened, wanted, backend, capability, spec, traces=traces)
    try:
        ready = _install(opened, wanted, backend, capability, spec, traces=traces, imported=imported)
    except BackendFailedError:
        raise
    except InconclusiveError as error:
        why = f"{error.message}. {error.advice}".rstrip(". ")
        ready = SetUp(problems=(why,))
    if ready.problems:
        told = f"dependencies were not installed: {'; '.join(ready.problems)}"
        ready = replace(ready, problems=(), summary=told)
    return _with_modules(ready, opened, wanted, backend, capability, spec, traces=traces)


def _with_modules(
    ready: SetUp,
    opened: OpenChange,
    wanted: SandboxSettings,
    backend: Backend,
    capability: Capability,
    spec: SandboxSpec,
    *,
    traces: Path,
) -> SetUp:
    """The same with what JavaScript of the change needs. What keeps it from that is told, and no more."""
    if wanted.fast or not capability.layers or not concerns(opened.change):
        return ready
    try:
        found = registry.read()
        installer = NpmContext(
            backend=backend,
            spec=spec,
            means=_means(wanted, (found.host,)),
            registry=found,
            store=LayerStore(),
            traces=traces,
        )
        more = set_up_javascript(
            installer, opened.change, opened.base, opened.head, head_too=wanted.setup_head
        )
    except BackendFailedError:
        raise
    except (InconclusiveError, UsageError) as error:
        why = f"{error.message}. {error.advice}".rstrip(". ")
        more = SetUp(summary=f"modules were not installed: {why}")
    said = [text for text in (ready.summary, more.summary) if text and text != NOTHING]
    return replace(
        ready,
        modules=more.modules,
        links=more.links,
        not_exercised=ready.not_exercised + more.not_exercised,
        summary="; ".join(said) or NOTHING,
    )


def laid_out(tree: Tree, ready: SetUp, side: Side) -> Tree:
    """A side's tree as sandboxes get it: with links to the installed packages in it."""
    links = ready.links.get(side)
    return LinkedTree(tree, links) if links else tree


def _install(
    opened: OpenChange,
    wanted: SandboxSettings,
    backend: Backend,
    capability: Capability,
    spec: SandboxSpec,
    *,
    traces: Path,
    imported: frozenset[str] = frozenset(),
) -> SetUp:
    if not capability.layers:
        raise InconclusiveError(
            f"{capability.backend} cannot hold installed dependencies",
            advice='Use docker, gvisor, bubblewrap or microvm, or sandbox.setup = "none".',
        )
    means = _means(wanted)
    traces.mkdir(mode=0o700, exist_ok=True)
    context = InstallContext(backend=backend, spec=spec, means=means, store=LayerStore(), traces=traces)
    if wanted.setup == "auto" or wanted.fast:
        return automatic.set_up_automatically(
            context,
            opened.change,
            opened.base,
            opened.head,
            request=automatic.SetUpRequest(
                committed=opened.committed,
                head=wanted.setup_head,
                deadline=wanted.deadline,
                room=wanted.setup_cache_mb << 20,
                imported=imported,
                files=wanted.setup_files,
                undeclared=imported_modules,
            ),
        )
    return set_up(context, opened.change, opened.base, opened.head, order=_order(wanted, wanted.setup))


def _means(wanted: SandboxSettings, more: tuple[ConfiguredHost, ...] = ()) -> Means:
    """Where an installation may go and what it may use. Raises InconclusiveError."""
    try:
        found = index.read()
        own = [index.configured_host(place, inside=True) for place in wanted.egress_allow]
        upstream = Upstreams.of(os.environ)
        upstream.check()
        allowed = Allowed.load(own=(*found.hosts(), *own, *more))
    except UsageError as error:
        raise InconclusiveError(error.message, advice=error.advice) from error
    builds = (
        wanted.setup == "auto" and not found.has_secret
        if wanted.setup_builds is None
        else wanted.setup_builds
    )
    if found.has_secret and builds:
        raise InconclusiveError(
            "the package index of this machine is named with a password, which code that is built could read",
            advice="Set sandbox.setup_builds to false, or name an index without a password (PIP_INDEX_URL).",
        )
    return Means(
        index=found,
        allowed=allowed,
        upstream=upstream,
        deadline=wanted.setup_deadline,
        most=wanted.setup_mb << 20,
        builds=builds,
        kept_only=wanted.fast,
    )


def with_dependencies(plan: ExecutionPlan, ready: SetUp, deadline: float) -> ExecutionPlan:
    """The plan with the probes of new packages in front, and what could not be installed."""
    own = [p for p in plan.probes if p.phase != "idle"]
    idle: list[Probe] = [p for p in plan.probes if p.phase == "idle"]
    if ready.probes and not idle:
        idle = [idle_probe(deadline, ("base",))]
    return replace(
        plan,
        probes=(*idle, *ready.probes, *own),
        not_exercised=plan.not_exercised + ready.not_exercised,
    )


def _order(wanted: SandboxSettings, setup: Literal["none", "requirements", "pyproject"]) -> Order:
    return Order(
        setup=setup,
        files=wanted.setup_files,
        head=wanted.setup_head,
        builds=bool(wanted.setup_builds),
        deadline=wanted.deadline,
    )
