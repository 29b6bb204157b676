"""A command line that says by itself what it is up to: download and run, a shell over the network,
wiping, decoding a hidden command, covering tracks.

The patterns are in `rules/programs.toml`. Miners, reverse shells and cleared histories have rules of
their own.

There is seldom an honest reason; ask for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.programs import COVERS, HARVESTS, MINES, REMOTE_SHELL, command_risk
from gate.signals.rule_kit import LIKELY, SURE, behaviour_finding, new, phase_of, rule

_ELSEWHERE: Final = (COVERS, HARVESTS, MINES, REMOTE_SHELL)


@rule(
    "suspicious-command",
    "Command line gives itself away",
    severity="high",
    confidence="high",
    topic="exec",
    cwe=(78, 506),
    attack=("T1059.004", "T1105", "T1140"),
    why="These forms of command are used to fetch, hide, run or destroy, and rarely for anything else.",
    fix="Ask what the command is for; replace it by something a reader can follow.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each such command."""
    for behaviour in new(context, BehaviourKind.EXEC):
        what = command_risk(behaviour.detail.get("argv", ""))
        if what is None or what in _ELSEWHERE:
            continue
        sure = LIKELY if phase_of(context, behaviour) == "test" else SURE
        yield behaviour_finding(
            check.meta, context, behaviour, f"Runs a command that {what}.", confidence=sure
        )
