"""A secret that we planted was seen leaving: over the network, in a name look-up, on a command line, in
output.

Searched in every channel and in the usual wrappings (base64, hex, URL-encoding, backwards, compressed,
XOR with one byte, split over messages). Over the network it blocks the change whatever its score. In
the program's own output it may be a careless debug print, which would publish real secrets in the CI
log; wrapped twice, or in a way that hides it, it is none.

Find out what collects the secret. There is no honest reason to send one away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import HIGH, LIKELY, behaviour_finding, new, rule

_OUTPUT: Final = ("stdout", "stderr", "file", "file-name")


_USUAL: Final = frozenset(
    {"", "plain", "text", "base64", "base64url", "json", "url", "quoted", "hex", "utf-16"}
)


def _is_hidden(encoding: str) -> bool:
    """Is it wrapped so that somebody who looks for it does not find it? ``base85+reversed`` is; JSON is not.

    One usual wrapping is what a careless print of a header or of settings has.
    """
    parts = encoding.split("+")
    return len(parts) > 1 or encoding not in _USUAL


@rule(
    "canary-leaves",
    "Planted secret leaves",
    severity="critical",
    confidence="high",
    topic="credential",
    cwe=(200, 506),
    attack=("T1041", "T1048"),
    why="A planted secret in outgoing data is proof that credentials are collected and sent.",
    fix="Remove the code that collects the secret; treat its author's other changes with care.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each canary and channel."""
    for behaviour in new(context, BehaviourKind.CANARY):
        channel = behaviour.detail.get("channel", "")
        if channel in ("read", "then-network"):
            continue
        if channel in _OUTPUT:
            message = "A planted secret appears in what the program leaves behind."
            if _is_hidden(behaviour.detail.get("encoding", "")):
                message = "A planted secret is hidden in what the program leaves behind."
                yield behaviour_finding(check.meta, context, behaviour, message)
            else:
                yield behaviour_finding(
                    check.meta, context, behaviour, message, severity=HIGH, confidence=LIKELY
                )
        elif channel == "argv":
            yield behaviour_finding(
                check.meta, context, behaviour, "A planted secret is passed on a command line.", severity=HIGH
            )
        else:
            finding = behaviour_finding(check.meta, context, behaviour, "A planted secret is sent away.")
            yield replace(finding, hard_block=True)
