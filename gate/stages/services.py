"""Servers that the tests of a check find in their sandbox: what the settings name, or base's files.

Nothing of head says anything here.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Final

from gate.change.interface import OpenChange
from gate.errors import BackendFailedError, InconclusiveError
from gate.model.change import Tree
from gate.model.run import Capability, ExecutionPlan, NotExercised
from gate.plan.project_layout import manage_of
from gate.sandbox.contract import Backend
from gate.settings import SandboxSettings
from gate.supply.services import AskedServices, asked_services, default_services

_CALLED: Final = {"postgresql": "PostgreSQL", "redis": "Redis"}


def take_services(
    opened: OpenChange, wanted: SandboxSettings, backend: Backend, capability: Capability, plan: ExecutionPlan
) -> tuple[str, str, tuple[NotExercised, ...]]:
    """What the sandboxes are told (SandboxSpec.services), words for people, and what could not be had.

    The backend is made to have them. Raises InconclusiveError where the settings name them and they cannot
    be had.
    """
    if not capability.layers or wanted.fast or wanted.services == () or backend.options.image:
        return "", "", ()
    if not any(probe.phase == "test" for probe in plan.probes):
        return "", "", ()
    found = asked_services(opened.base)
    if wanted.services is not None:
        found = _chosen(found, wanted)
    elif not found.services or _has_own_means(opened):
        return "", "", ()
    words = " and ".join(_CALLED[service.kind] for service in found.services)
    where = f"as {found.path} asks" if found.path else "as sandbox.services asks"
    backend.options = replace(backend.options, services=True)
    try:
        backend.install_cache_key()
    except BackendFailedError:
        raise
    except InconclusiveError as error:
        backend.options = replace(backend.options, services=False)
        if wanted.services is not None:
            raise
        path = plan.probes[0].path or ""
        reason = f"the tests ask for {words} ({found.path}), which cannot be had here: {error.message}"
        return "", "", (NotExercised(path=path, target="services", reason=reason),)
    text = json.dumps({"services": [asdict(one) for one in found.services], "env": dict(found.env)})
    return text, f"{words} for the tests, {where}", ()


def _chosen(found: AskedServices, wanted: SandboxSettings) -> AskedServices:
    """Those that the settings name, as base's files describe them."""
    kinds = wanted.services or ()
    known = {service.kind: service for service in found.services}
    usual = {service.kind: service for service in default_services(kinds).services}
    services = tuple(known.get(kind, usual[kind]) for kind in kinds)
    return replace(found, services=services, path=found.path if set(kinds) <= known.keys() else "")


def _has_own_means(opened: OpenChange) -> bool:
    """Django's tests run on SQLite (driver/django_project.py), which is quicker."""
    paths = frozenset(entry.path for entry in opened.base.entries())
    named = {manage_of(file.path, paths) for file in opened.change.files if file.language == "python"}
    return all(manage is not None and _is_of_django(opened.base, manage) for manage in named)


def _is_of_django(base: Tree, manage: str) -> bool:
    """Other projects have a ``manage.py``, too."""
    return b"django" in base.read(manage).lower()
