"""The network of a sandbox fails where a probe of the second look asks for it, and nowhere else."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gate.model.run import OUTAGE, ExecutionPlan, Probe
from gate.plan.conditions import FAILURES, outage_look
from gate.sandbox.outage import NotFailingError, fail_as_asked

PROBE = Probe(
    id="call-x",
    phase="call",
    target="x",
    path="x.py",
    argv=("python3", "main.py", json.dumps({"items": [1]})),
)


class Network:
    """A sandbox whose network can fail, or not."""

    def __init__(self, able: bool) -> None:
        self.able, self.failures = able, 0

    def fail_network(self, failures: int) -> bool:
        self.failures = failures
        return self.able


def test_only_probes_that_connected_are_repeated() -> None:
    plan = ExecutionPlan(probes=(PROBE, replace(PROBE, id="call-y")))
    (again,) = outage_look(plan, ["call-y"]).probes
    assert (again.id, again.condition) == ("call-y~outage", OUTAGE)
    assert json.loads(again.argv[-1]) == {"items": [1], "failures": FAILURES}


def test_the_network_fails_for_those() -> None:
    network = Network(able=True)
    fail_as_asked(network, PROBE)
    assert network.failures == 0
    fail_as_asked(network, outage_look(ExecutionPlan(probes=(PROBE,)), ["call-x"]).probes[0])
    assert network.failures == FAILURES


def test_a_network_that_cannot_fail_is_no_look() -> None:
    (again,) = outage_look(ExecutionPlan(probes=(PROBE,)), ["call-x"]).probes
    with pytest.raises(NotFailingError):
        fail_as_asked(Network(able=False), again)
