"""The change tries many ports of one machine, or one port of many machines, and main does not.

That is how somebody looks for what else can be reached: other services of the machine, of the cluster,
of the office network.

Connect to the one service that is configured.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import HIGH, MEDIUM, behaviour_finding, new, rule

_MANY: Final = 20
"""Different ports of one machine, or machines at one port."""
_GIVEN: Final = 32768
"""From here on the kernel gives ports out: on the loopback those are the servers of a test suite."""


@rule(
    "port-scan",
    "Many ports or machines are tried",
    severity="high",
    confidence="high",
    topic="network",
    cwe=(506,),
    attack=("T1046", "T1018"),
    why="Scanning finds the next target inside the network the code runs in.",
    fix="Connect to the one service that is configured.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each machine scanned, one for each port looked for on many machines."""
    ports: dict[str, list[Behaviour]] = {}
    machines: dict[str, list[Behaviour]] = {}
    for behaviour in new(context, BehaviourKind.CONNECT):
        machine, _, port = behaviour.subject.rpartition(":")
        if not machine or not port.isdecimal() or machine == "unix":
            continue
        if machine != "loopback" or int(port) < _GIVEN:
            ports.setdefault(machine, []).append(behaviour)
        if not behaviour.detail.get("host"):  # who looks a name up first knows whom to call
            machines.setdefault(port, []).append(behaviour)
    for machine, tried in ports.items():
        if len(tried) >= _MANY:
            severity = MEDIUM if machine == "loopback" else HIGH
            yield behaviour_finding(
                check.meta,
                context,
                tried[0],
                f"Tries {len(tried)} ports of one machine.",
                severity=severity,
                more=tried[1:_MANY],
            )
    for tried in machines.values():
        if len(tried) >= _MANY:
            yield behaviour_finding(
                check.meta,
                context,
                tried[0],
                f"Tries one port of {len(tried)} machines.",
                severity=HIGH,
                more=tried[1:_MANY],
            )
