"""The change opens a secret that we planted: keys and tokens that nothing ordinary needs.

Fresh canaries lie where credentials usually lie (`~/.aws/credentials`, `~/.ssh/id_rsa` ...). Whoever
opens one is looking for secrets. Opening one and then using the network blocks the change whatever its
score. The tool that owns the file may read it; `.netrc` is also read by HTTP libraries and counts less.

Remove the access. If the project's purpose is to read that file, let the caller name it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import (
    CRITICAL,
    LIKELY,
    LOW,
    MEDIUM,
    SURE,
    behaviour_finding,
    new,
    phase_of,
    programs,
    rule,
)
from gate.signals.sensitive_paths import owned

_PLACES: Final = {
    "aws-credentials": "~/.aws/credentials",
    "ssh-key": "~/.ssh/id_rsa",
    "netrc": "~/.netrc",
    "npmrc": "~/.npmrc",
    "pypirc": "~/.pypirc",
    "git-credentials": "~/.git-credentials",
    "kubeconfig": "~/.kube/config",
    "docker-config": "~/.docker/config.json",
}


@rule(
    "canary-read",
    "Planted secret is opened",
    severity="high",
    confidence="high",
    topic="credential",
    cwe=(522, 506),
    attack=("T1552.001", "T1555"),
    why="Nothing ordinary opens the secrets planted in the sandbox; who does is collecting credentials.",
    fix="Remove the access, or let the caller name the file.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each canary read, and one for each read followed by network use."""
    for behaviour in new(context, BehaviourKind.CANARY):
        channel = behaviour.detail.get("channel")
        if channel not in ("read", "then-network"):
            continue
        name = behaviour.detail.get("canary", "")
        reader = behaviour.detail.get("reader") or programs(behaviour)[-1]
        ordinary = owned(_PLACES.get(name, ""), reader)
        if channel == "then-network":
            if not ordinary and name != "netrc":
                message = "Opens a planted secret, then uses the network."
                finding = behaviour_finding(check.meta, context, behaviour, message, severity=CRITICAL)
                yield replace(finding, hard_block=True)
            continue
        yield _read(context, behaviour, ordinary=ordinary, name=name)


def _read(context: SignalContext, behaviour: Behaviour, *, ordinary: bool, name: str) -> Finding:
    if ordinary:
        message = "A tool reads its own (planted) credential file."
        return behaviour_finding(check.meta, context, behaviour, message, severity=LOW, confidence=LIKELY)
    message = "Opens a planted secret."
    if name == "netrc":
        return behaviour_finding(check.meta, context, behaviour, message, severity=MEDIUM, confidence=LIKELY)
    sure = LIKELY if phase_of(context, behaviour) in ("call", "test") else SURE
    return behaviour_finding(check.meta, context, behaviour, message, confidence=sure)
