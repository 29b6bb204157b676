"""The change opens a file that holds credentials: keys, tokens, password hashes, browser stores,
histories.

Which files these are is in `rules/sensitive-paths.toml`. The tool that owns a file (ssh its keys, npm
its `.npmrc`) may read it. The attempt counts, whether or not the file is there.

Let the caller pass the credential, or use the owning tool's own interface.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.behaviour import BehaviourKind
from gate.model.finding import Finding
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import LIKELY, LOW, SURE, behaviour_finding, new, phase_of, programs, rule
from gate.signals.sensitive_paths import credential, owned


@rule(
    "credential-file-read",
    "Credential file is opened",
    severity="high",
    confidence="high",
    topic="credential",
    cwe=(522, 200),
    attack=("T1552.001", "T1003.008"),
    why="What is in these files opens other systems; stolen keys are the usual aim of a malicious package.",
    fix="Let the caller pass the credential, or use the owning tool's own interface.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each file; links to one count as reading it."""
    for behaviour in new(context, BehaviourKind.READ, BehaviourKind.LINK):
        path = behaviour.detail.get("target") or behaviour.subject
        what = credential(path)
        asked = behaviour.detail.get("how") == "looks"
        if what is None or asked or what.startswith("environment of"):
            continue
        if owned(path, programs(behaviour)[-1]):
            message = "A tool reads its own credential file."
            yield behaviour_finding(check.meta, context, behaviour, message, severity=LOW, confidence=LIKELY)
            continue
        sure = LIKELY if phase_of(context, behaviour) == "test" else SURE
        yield behaviour_finding(
            check.meta, context, behaviour, f"Opens a credential file ({what}).", confidence=sure
        )
