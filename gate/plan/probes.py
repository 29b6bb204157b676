"""Builds probes: every one is the driver with a JSON job, with an id that is the same next time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from gate.dataclass import dataclass
from gate.model.change import ChangedFile, Side
from gate.model.run import Phase, Probe
from gate.regex import regex

SIDES: Final[tuple[Side, ...]] = ("base", "head")
DRIVER: Final = "/opt/gate/driver/main.py"
MARGIN: Final = 3.0
"""Seconds between the driver's own limit and the host's: time to start and to report."""
ENV: Final = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
"""The same hashes and no bytecode caches on both sides: less noise to tell apart."""
_UNSAFE: Final = regex(r"[^a-zA-Z0-9._-]+")
_MOST_SPANS: Final = 200
AskedPlaces = Sequence[tuple[int, int, int, int, str]]
"""Where what is asked of stands, and its way: SensitiveCall."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DriverItem:
    """One item for the driver before it is put into a probe. ``rank``: higher is run earlier."""

    phase: Phase
    target: str
    file: ChangedFile
    item: Mapping[str, Any]
    sides: tuple[Side, ...]
    rank: tuple[int, int] = (0, 0)
    groupable: bool = False
    lines: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)


def probe_of(
    group: Sequence[DriverItem],
    deadline: float,
    options: Mapping[str, Any] | None = None,
    acts: Mapping[str, AskedPlaces] | None = None,
) -> Probe:
    """One probe that runs a group of items one after the other, each in a fresh process."""
    first = group[0]
    watched = {
        path: [list(span) for span in spans][:_MOST_SPANS]
        for w in group
        for path, spans in w.lines.items()
        if spans
    }
    job: dict[str, Any] = {
        "seconds": max(2.0, deadline - MARGIN),
        "nap": 0.05,
        "hold": 60,
        "lines": watched,
        **(options or {}),
        "items": [dict(w.item) for w in group],
    }
    if made := {path: acts[path] for path in watched if acts and path in acts}:
        job["acts"] = made
    target = first.target if len(group) == 1 else f"{first.target} and {len(group) - 1} more"
    sides = tuple(side for side in SIDES if any(side in w.sides for w in group))
    return Probe(
        id=probe_id(first.phase, [w.target for w in group]),
        phase=first.phase,
        target=target,
        path=first.file.path,
        argv=("python3", DRIVER, json.dumps(job, sort_keys=True)),
        env=dict(ENV),
        deadline=deadline,
        sides=sides,
    )


def probe_id(phase: Phase, targets: Sequence[str]) -> str:
    """Letters, digits, dots and dashes only; told apart by a digest of what is run."""
    told = "\0".join(targets)
    digest = hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    words = _UNSAFE.sub("-", targets[0].removeprefix(f"{phase} "))[:60].strip("-.")
    return f"{phase}-{words}-{digest}"


def job_of(probe: Probe) -> dict[str, Any]:
    """The job of a driver probe, as it was put in."""
    job: dict[str, Any] = json.loads(probe.argv[-1])
    return job


def runtime_of(probe: Probe) -> str:
    """What runs its code: ``javascript``, or ``python`` for all else (programs among it)."""
    items = job_of(probe).get("items") if probe.driver else None
    verbs = {str(item.get("do")) for item in items or () if isinstance(item, dict)}
    return "javascript" if verbs and all(verb.startswith("javascript") for verb in verbs) else "python"


def idle_probe(deadline: float, sides: tuple[Side, ...], item: Mapping[str, object] | None = None) -> Probe:
    """The driver doing nothing: what it does by itself is subtracted from every probe. With ``item`` what a
    runtime does by itself, which has an id and a target of its own.
    """
    job = {"seconds": max(2.0, deadline - MARGIN), "items": [dict(item or {"do": "idle"})]}
    name = f"-{item['do']}" if item else ""
    if item and item.get("typed"):
        name += "-typed"
    return Probe(
        id=f"idle{name}",
        phase="idle",
        target=f"nothing, by {item['do']}" if item else "nothing",
        path=None,
        argv=("python3", DRIVER, json.dumps(job, sort_keys=True)),
        env=dict(ENV),
        deadline=deadline,
        sides=sides,
    )


def dependency_probe(
    named: str,
    modules: Sequence[str],
    *,
    path: str,
    deadline: float,
    sides: tuple[Side, ...],
    folder: str,
    at_start: bool,
) -> Probe:
    """Imports an installed package by itself, so that what it does is told as its own.

    ``named``: name and version; ``path``: the tree's file that asks for it; ``folder``: a place without
    modules, to import from instead of the tree; ``at_start``: what it does at every interpreter's start
    counts.
    """
    items = [{"do": "import", "module": module, "roots": [folder]} for module in modules]
    if at_start:
        items.insert(0, {"do": "idle"})
    job = {"seconds": max(2.0, deadline - MARGIN), "nap": 0.05, "hold": 60, "items": items}
    target = f"import {modules[0]}" if modules else "start of Python"
    return Probe(
        id=probe_id("import", ["dependency", named]),
        phase="import",
        target=f"{target}, of the dependency {named}",
        path=path,
        argv=("python3", DRIVER, json.dumps(job, sort_keys=True)),
        env=dict(ENV),
        deadline=deadline,
        sides=sides,
        dependency=named,
    )
