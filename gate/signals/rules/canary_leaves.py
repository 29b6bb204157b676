"""A secret that we planted was seen leaving: over the network, in a name look-up, on a command line, in
output.

Searched in every channel and in the usual wrappings (base64, hex, URL-encoding, backwards, compressed,
XOR with one byte, split over messages). Over the network it blocks the change whatever its score. In
the program's own output it may be a careless debug print, which would publish real secrets in the CI
log; wrapped twice, or in a way that hides it, it is none.

A client that base has, called for the first time, shows its own key to its own service: where the variable
is named after the host (`SIMKL_SECRET`, `api.simkl.com`), the program code of base names that host, and the
request is protected by TLS, that is worth a look and no theft. Hosts on which everybody may have an account
never count as such.

Find out what collects the secret. There is no honest reason to send one to anybody else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import HIGH, LIKELY, MEDIUM, behaviour_finding, new, phase_of, rule

_OUTPUT: Final = ("stdout", "stderr", "file", "file-name")


_USUAL: Final = frozenset(
    {"", "plain", "text", "base64", "base64url", "json", "url", "quoted", "hex", "utf-16"}
)


_WORDS: Final = frozenset({
    *("secret", "token", "auth", "access", "client", "password", "private", "public", "account", "server"),
    *("service", "production", "test", "user", "bearer", "oauth", "host", "rest", "http", "https"),
})  # fmt: skip
"""What variables and hosts are called whatever they are for."""
_LEAST: Final = 4
_OPEN: Final = frozenset({"", "raw", "json", "url", "base64"})
"""How clients write what they send (``base64``: the basic authentication of HTTP)."""


def _goes_home(context: SignalContext, behaviour: Behaviour) -> bool:
    """Is it a service's own key, which a client of base's shows to that service?"""
    host = behaviour.detail.get("to", "").lower().partition(" ")[0].partition(":")[0]
    canary = behaviour.detail.get("canary", "")
    if not canary.startswith("env:") or not host or host not in context.hosts_at_base:
        return False
    if phase_of(context, behaviour) != "call" or behaviour.detail.get("encoding", "") not in _OPEN:
        return False
    named = {word for word in canary.removeprefix("env:").lower().split("_") if len(word) >= _LEAST}
    labels = {word for label in host.split(".")[:-1] for word in label.split("-")}
    asked = [b for b in context.diff.new if b.detail.get("host", "").lower() == host]
    safe = [b for b in asked if b.kind is BehaviourKind.HTTP and b.detail.get("scheme") == "https"]
    others = [b for b in asked if b.detail.get("port", "443") != "443" or b.detail.get("fronted")]
    return bool((named & labels) - _WORDS) and bool(safe) and not others


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
        elif _goes_home(context, behaviour):
            message = "The key of a service is sent to that service, which nothing called so far."
            yield behaviour_finding(
                check.meta, context, behaviour, message, severity=MEDIUM, confidence=LIKELY
            )
        else:
            finding = behaviour_finding(check.meta, context, behaviour, "A planted secret is sent away.")
            yield replace(finding, hard_block=True)
