"""The change talks to a control socket of the machine: Docker, containerd, systemd, D-Bus.

Whoever can talk to the container engine owns the host. In the sandbox there is no such socket; the
attempt is what counts. Sockets of databases and the like are told as information.

Code under review has no business with the engine; tests that need one should say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.regex import regex
from gate.signals.interface import SignalContext
from gate.signals.programs import kind_of
from gate.signals.rule_kit import LIKELY, LOW, behaviour_finding, new, programs, rule

_CONTROL: Final = regex(
    r"docker\.sock|podman/podman\.sock|containerd\.sock|crio\.sock|buildkit|/systemd/|dbus/system_bus|snapd\.sock|libvirt"
)


@rule(
    "container-socket",
    "Control socket of the machine is used",
    severity="high",
    confidence="high",
    topic="escape",
    cwe=(250, 269),
    attack=("T1611", "T1610"),
    why="A process that may talk to the container engine or the init system can take over the host.",
    fix="Remove it, or keep it in tests that are marked as needing an engine.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each socket."""
    for behaviour in new(context, BehaviourKind.CONNECT):
        if behaviour.detail.get("reach") != "unix":
            continue
        if _CONTROL.search(behaviour.subject) and kind_of(programs(behaviour)[-1]) != "container":
            yield behaviour_finding(
                check.meta, context, behaviour, "Talks to a control socket of the machine."
            )
        else:
            message = "Talks to a local socket outside the tree."
            yield behaviour_finding(check.meta, context, behaviour, message, severity=LOW, confidence=LIKELY)
