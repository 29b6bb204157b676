"""The second look: the same probes with the clock moved, with another persona, one by one."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import field, replace
from typing import Any, Final

from gate.dataclass import dataclass
from gate.model.run import OUTAGE as OUTAGE_CONDITION
from gate.model.run import ExecutionPlan, NotExercised, Probe
from gate.plan.probes import MARGIN, job_of, probe_id

DAY: Final = 86_400
MOST: Final = 40
_TESTS: Final = 4
"""Tests run again under each condition, for so much less time: those that have most to do with the change
come first, and a suite of a minute would take five more.
"""
_LEAST: Final = 10.0
"""Seconds for tests all the same."""
ZONE: Final = "EST5EDT"
"""Servers and sandboxes are in UTC, people are not: local time differs, and so does its date at night. A name
that the C library also understands in an image without a table of zones.
"""
FAILURES: Final = 6
"""Requests to each destination that fail: more than most clients try, fewer than a run makes in a loop."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """A difference to the first look: ``env`` is added, ``options`` change the driver's job."""

    name: str
    description: str
    env: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


VARIANTS: Final = (
    Variant(
        name="ci",
        description="as in CI",
        env={
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKFLOW": "build",
            "GITHUB_REPOSITORY": "example/example",
            "GITHUB_REF": "refs/heads/main",
            "RUNNER_OS": "Linux",
        },
    ),
    # No line tracer and no shortened sleeps either: what looks for those finds none.
    Variant(
        name="developer",
        description="as on a developer's machine",
        env={
            "TERM": "xterm-256color",
            "SHELL": "/bin/bash",
            "USER": "sam",
            "LOGNAME": "sam",
            "LANG": "en_GB.UTF-8",
            "EDITOR": "vim",
            "DISPLAY": ":0",
            "XDG_SESSION_TYPE": "wayland",
            "TZ": ZONE,
        },
        options={"lines": {}, "nap": 0},
    ),
    # ``rate``: sleeps of programs pass so many times as fast, and with them waits for something real (`until
    # curl ...; do sleep 1; done`): less so in the variant that every date shows itself in.
    Variant(name="day", description="one day later", options={"clock": DAY, "rate": 60}),
    Variant(name="quarter", description="90 days later", options={"clock": 90 * DAY, "rate": 60}),
    Variant(name="years", description="two years later", options={"clock": 731 * DAY, "rate": 10}),
)

OUTAGE: Final = Variant(name="outage", description=OUTAGE_CONDITION, options={"failures": FAILURES})
"""Beside ``VARIANTS``, and for other probes: those that connected."""


def outage_look(plan: ExecutionPlan, connected: Collection[str]) -> ExecutionPlan:
    """The probes of these ids, whole, while the network fails. Ids have ``~outage`` behind them."""
    probes = (_varied(p, OUTAGE) for p in plan.probes if p.driver and p.id in connected)
    return ExecutionPlan(probes=tuple(probes))


def second_look(plan: ExecutionPlan, reasons: Collection[str]) -> ExecutionPlan:
    """Variants of the probes that ``reasons`` names (probe ids or changed paths; empty: all).

    Probes that ran several modules come apart first (``apart``). Ids are those of
    the single probes with ``~ci``, ``~developer``, ``~day``, ``~quarter``, ``~years`` behind them.
    """
    probes: list[Probe] = [p for p in plan.probes if p.phase == "idle"]
    chosen = [
        single
        for probe in plan.probes
        if probe.phase != "idle" and probe.driver
        for single in apart(probe)
        if not reasons or {probe.id, single.id, single.path or ""} & set(reasons)
    ]
    left = []
    for variant in VARIANTS:
        for probe in chosen:
            if len(probes) > MOST:
                told = f"{probe.target}, {variant.description}"
                left.append(NotExercised(path=probe.path or "", target=told, reason="too many for one look"))
            else:
                probes.append(_varied(probe, variant))
    return ExecutionPlan(probes=tuple(probes), not_exercised=tuple(left))


def apart(probe: Probe) -> tuple[Probe, ...]:
    """One probe for every module or file of a probe that runs several. What runs of one file stays
    together: a script's words may build on what another one left in the tree.
    """
    job = job_of(probe)
    parts: dict[str, list[Mapping[str, Any]]] = {}
    for item in job["items"]:
        parts.setdefault(f"{probe.phase} {item.get('module') or item.get('path')}", []).append(item)
    if len(parts) == 1:
        return (probe,)
    out = []
    for target, items in parts.items():
        path = items[0].get("path")
        lines = {p: spans for p, spans in job.get("lines", {}).items() if p == path}
        alone = {**job, "items": items, "lines": lines}
        out.append(
            replace(
                probe,
                id=probe_id(probe.phase, [target]),
                target=target,
                path=path,
                argv=(*probe.argv[:-1], json.dumps(alone, sort_keys=True)),
            )
        )
    return tuple(out)


def _varied(probe: Probe, variant: Variant) -> Probe:
    job = {**job_of(probe), **variant.options}
    deadline = probe.deadline
    if probe.phase == "test":
        deadline = max(_LEAST, deadline / _TESTS)
        job["seconds"] = max(2.0, deadline - MARGIN)
    return replace(
        probe,
        deadline=deadline,
        id=f"{probe.id}~{variant.name}",
        target=f"{probe.target}, {variant.description}",
        argv=(*probe.argv[:-1], json.dumps(job, sort_keys=True)),
        env={**probe.env, **variant.env},
        condition=variant.description,
    )
