"""Plans of real changes in real repositories, for the tests of what is planned."""

from __future__ import annotations

from pathlib import Path

from gate.change.git_range import open_range
from gate.model.run import ExecutionPlan, Probe
from gate.plan.build import make_plan
from tests.e2e.pulls import FileMap, Pull, build

Plan = ExecutionPlan


def planned(folder: Path, head: FileMap, base: FileMap | None = None, *, deep: bool = False) -> Plan:
    """The plan for a real change in a real repository."""
    repo = build(Pull(name="x", head=head, base=base or {}, verdicts=()), folder)
    with open_range(repo, "main", "head") as opened:
        return make_plan(opened.change, opened.base, opened.head, deadline=20, deep=deep)


def by_target(plan: Plan) -> dict[str, Probe]:
    """The probes, by what they are about."""
    return {probe.target: probe for probe in plan.probes}


def targets(plan: Plan) -> list[str]:
    """What the probes are about, in their order."""
    return [probe.target for probe in plan.probes]


def left(plan: Plan) -> dict[str, str]:
    """Why something is not exercised, by what it is."""
    return {entry.target: entry.reason for entry in plan.not_exercised}
