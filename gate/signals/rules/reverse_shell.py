"""A shell is handed to somebody else: a bare shell started by a process that just connected outward, or
a command line that ties a shell to a network stream.

Either is how an intruder gets a prompt on the machine that runs the code.

Remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.programs import REMOTE_SHELL, command_risk, kind_of
from gate.signals.rule_kit import behaviour_finding, new, rule


@rule(
    "reverse-shell",
    "Shell over the network",
    severity="critical",
    confidence="high",
    topic="exec",
    cwe=(506, 78),
    attack=("T1059.004", "T1071"),
    why="A shell tied to a connection gives whoever is at the other end the machine.",
    fix="Remove it.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """Command lines that tie a shell to the network, and bare shells below a process that connected."""
    connected = [
        b
        for b in new(context, BehaviourKind.CONNECT)
        if b.detail.get("reach") in ("outside", "private") and b.detail.get("proto") != "udp"
    ]
    for behaviour in new(context, BehaviourKind.EXEC):
        if command_risk(behaviour.detail.get("argv", "")) == REMOTE_SHELL:
            yield behaviour_finding(
                check.meta, context, behaviour, "Runs a command that opens a shell over the network."
            )
        elif _bare(behaviour) and any(_above(b, behaviour) for b in connected):
            yield behaviour_finding(
                check.meta, context, behaviour, "Starts a bare shell after connecting to another machine."
            )


def _bare(behaviour: Behaviour) -> bool:
    words = behaviour.detail.get("argv", "").split(" ")[1:]
    return kind_of(behaviour.detail.get("program", "")) == "shell" and all(
        w in ("-i", "-l", "-p") for w in words
    )


def _above(connection: Behaviour, shell: Behaviour) -> bool:
    """The connection was made in the same probe by a process above the shell."""
    return bool(set(connection.probes) & set(shell.probes)) and shell.actor.startswith(connection.actor)
