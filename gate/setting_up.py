"""Dependencies for a check's sandboxes: joins the settings, this machine's configuration and the installing.

Everything that decides where an installation may go comes from rules/egress.toml and from whoever runs gate
(pip's configuration of this machine, ``--egress-allow``, the proxy variables of gate's own process).
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from gate.change.interface import OpenChange
from gate.errors import CouldNotLook, UsageError
from gate.model.run import Capability, ExecutionPlan, Probe, SandboxSpec
from gate.sandbox.egress_rules import Allowed
from gate.sandbox.egress_upstream import Upstreams
from gate.sandbox.installing import index
from gate.sandbox.installing.install import Means
from gate.sandbox.installing.set_up import Order, SetUp, asks_otherwise, set_up
from gate.sandbox.installing.store import Store
from gate.sandbox.interface import Backend
from gate.sandbox.planning.probes import idle_probe
from gate.settings import SandboxSettings

__all__ = ["SetUp", "is_wanted", "prepare", "with_dependencies"]


def is_wanted(opened: OpenChange, wanted: SandboxSettings) -> bool:
    """True when the change itself bears on what is installed, so that it counts though no code changed."""
    return wanted.setup != "none" and asks_otherwise(opened.change, opened.base, opened.head, _order(wanted))


def prepare(
    opened: OpenChange,
    wanted: SandboxSettings,
    backend: Backend,
    wall: Capability,
    spec: SandboxSpec,
    *,
    traces: Path,
) -> SetUp:
    """Install what the settings ask for; nothing for ``sandbox.setup = "none"``.

    ``traces`` is a new folder that lives as long as the check. Raises CouldNotLook.
    """
    if wanted.setup == "none":
        return SetUp()
    if not wall.layers:
        raise CouldNotLook(
            f"{wall.backend} cannot hold installed dependencies",
            advice='Use docker, gvisor, bubblewrap or microvm, or sandbox.setup = "none".',
        )
    try:
        found = index.read()
        own = [index.own(place, inside=True) for place in wanted.egress_allow]
        upstream = Upstreams.of(os.environ)
        upstream.check()
        allowed = Allowed.load(own=(*found.places(), *own))
    except UsageError as error:
        raise CouldNotLook(error.message, advice=error.advice) from error
    if found.has_secret and wanted.setup_builds:
        raise CouldNotLook(
            "the package index of this machine is named with a password, which code that is built could read",
            advice="Set sandbox.setup_builds to false, or name an index without a password (PIP_INDEX_URL).",
        )
    means = Means(
        index=found,
        allowed=allowed,
        upstream=upstream,
        deadline=wanted.setup_deadline,
        most=wanted.setup_mb << 20,
        builds=wanted.setup_builds,
    )
    traces.mkdir(mode=0o700)
    return set_up(
        backend,
        spec,
        opened.change,
        opened.base,
        opened.head,
        order=_order(wanted),
        means=means,
        store=Store(),
        traces=traces,
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


def _order(wanted: SandboxSettings) -> Order:
    return Order(
        setup=wanted.setup,
        files=wanted.setup_files,
        head=wanted.setup_head,
        builds=wanted.setup_builds,
        deadline=wanted.deadline,
    )
