"""What rules on proofs share: stating one, the request as people repeat it, making the finding."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gate.dataclass import dataclass
from gate.model.change import Change
from gate.model.exploit import PROVEN_BY, AttackRequest, Proof, Weakness
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import FindingStage, RuleMeta, Severity
from gate.rules_api import Rule, RuleKind

_TEXT: Final = 1_000
_SOCKET: Final = "WS"
"""The method of a message to a web socket."""
MODEL: Final = "model"
"""The source of a field that a language model fills."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProofContext:
    """What a rule on proofs may look at."""

    change: Change
    proofs: tuple[Proof, ...]


ProofRule = Rule[ProofContext, Finding]
rule: Final = RuleKind[ProofContext, Finding](
    FindingStage.BEHAVIOUR, languages=("python", "javascript", "typescript")
)
"""A check yields a finding for each proof of its weakness that base was not open to."""


def proven(meta: RuleMeta, context: ProofContext, weakness: Weakness, message: str) -> Iterator[Finding]:
    """Findings of one weakness at entry points that anybody reaches, one a place."""
    for proof in at_entries(context, weakness):
        yield finding_of(meta, proof, message)


def at_entries(context: ProofContext, weakness: Weakness) -> Iterator[Proof]:
    """New proofs of one weakness at entry points that anybody reaches, one a place."""
    for proof in _one_a_place(context, "http"):
        if proof.weakness == weakness:
            yield proof


def of_functions(context: ProofContext) -> Iterator[Proof]:
    """New proofs on functions that no entry point leads to the same place of, one a place."""
    known = {(p.weakness, p.path, p.line) for p in context.proofs if p.kind == "http"}
    for proof in _one_a_place(context, "call"):
        if (proof.weakness, proof.path, proof.line) not in known:
            yield proof


def _one_a_place(context: ProofContext, kind: str) -> Iterator[Proof]:
    told: set[tuple[str, str, int | None]] = set()
    for proof in context.proofs:
        place = (proof.weakness, proof.path, proof.line)
        if proof.kind == kind and proof.is_new and place not in told:
            told.add(place)
            yield proof


def finding_of(
    meta: RuleMeta, proof: Proof, message: str, *, severity: Severity | None = None, cwe: tuple[int, ...] = ()
) -> Finding:
    """The finding of one proof; ``severity`` and ``cwe`` replace the rule's own."""
    made = Finding.of(
        meta,
        message,
        Location(path=proof.path, line=proof.line),
        shape=f"{proof.weakness} {proof.function}",
        severity=severity,
        evidence=evidence(proof),
    )
    return replace(made, cwe=cwe or made.cwe)


def evidence(proof: Proof) -> dict[str, str]:
    """What a reader needs to see it himself: untrusted text."""
    told = {
        PROVEN_BY: request_line(proof),
        "in": f"{proof.function}()",
        "seen": proof.witness,
        "value of": " ".join(proof.field).strip(),
        "became": proof.seen,
        "let in by": proof.let_in_by,
        "repeat": repeat(proof),
        "at base": BEFORE[proof.before],
    }
    return {name: text[:_TEXT] for name, text in told.items() if text}


BEFORE: Final = {
    "closed": "the same requests do not get through",
    "open": "the same request gets through",
    "absent": "there is no such entry point",
    "unknown": "not known: base could not be attacked to the end",
}


def request_line(proof: Proof) -> str:
    """``GET /search?q=%27`` or the call."""
    if proof.request is None:
        return proof.call
    sent = [request for request in (proof.planted, proof.request) if request is not None]
    return ", then ".join(f"{request.method} {request.url}" for request in sent)


def repeat(proof: Proof) -> str:
    """A command line that sends the request to a server on this machine, or the call."""
    if proof.request is None:
        return proof.call
    sent = [request for request in (proof.planted, proof.request) if request is not None]
    return " ; ".join(curl(request) for request in sent)


def curl(request: AttackRequest, server: str = "http://localhost:5000") -> str:
    """The request for a shell, every word quoted. A body that is no plain text comes from base64."""
    if request.method == _SOCKET:
        text = request.body.decode("utf-8", "replace")
        place = server.replace("http", "ws", 1) + request.url
        return f"echo {shlex.quote(text)} | websocat {shlex.quote(place)}"
    words = ["curl", "-i"]
    if request.method != "GET":
        words += ["-X", request.method]
    for name, value in request.headers:
        words += ["-H", f"{name}: {value}"]
    before = ""
    if request.body:
        text = request.body.decode("ascii", "replace")
        if text.isprintable() and "\ufffd" not in text:
            words += ["--data-binary", text]
        else:
            before = f"echo {base64.b64encode(request.body).decode()} | base64 -d | "
            words += ["--data-binary", "@-"]
    words += ["--path-as-is", server + request.url]
    return before + shlex.join(words)
