"""The model's words as findings, and nothing but findings: what a model that obeys the change can do at most.

It can name changed lines, at most ten, as low or medium, with a text that is shown as untrusted. It can say
nothing. Anything else is no answer.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from gate.model.change import Change
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Severity
from gate.opinion.interface import CONCERN, Kind, NoAnswerError, Opinion, Tokens
from gate.opinion.question import MOST_CONCERNS
from gate.redaction import redact

_WORDS: Final[dict[Kind, str]] = {
    "malicious": "could be malicious",
    "injection": "could let input through to where it does harm",
    "secrets": "is about secrets",
    "access-control": "is about who may do what",
    "cryptography": "is about cryptography",
    "network": "is about the network",
    "supply-chain": "is about where code comes from",
    "other": "is worth a look",
}


class _Concern(msgspec.Struct, forbid_unknown_fields=True):
    path: Annotated[str, Meta(max_length=4_096)]
    line: Annotated[int, Meta(ge=1, le=1 << 31)]
    severity: Literal["low", "medium"]
    kind: Kind
    why: Annotated[str, Meta(max_length=2_000)]


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    concerns: Annotated[list[_Concern], Meta(max_length=100)]


def opinion(text: str, change: Change, secrets: tuple[str, ...], tokens: Tokens) -> Opinion:
    """Findings at changed lines; others, repeats and those past ten are counted as refused.

    Raises NoAnswerError for a text that is not exactly what was asked for.
    """
    try:
        answer = msgspec.json.decode(_unfenced(text), type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise NoAnswerError("the model's answer is not what was asked for") from None
    files = {file.path: file for file in change.files}
    found: dict[tuple[str, int], Finding] = {}
    for one in answer.concerns:
        file = files.get(one.path)
        if file is None or not file.touches(one.line) or len(found) >= MOST_CONCERNS:
            continue
        finding = Finding.of(
            CONCERN,
            f"A language model says that this line {_WORDS[one.kind]}.",
            Location(path=one.path, line=one.line),
            shape=one.kind,
            severity=Severity(one.severity),
            evidence={"the model says": redact(one.why, secrets)},
        )
        found.setdefault((one.path, one.line), finding)
    return Opinion(findings=tuple(found.values()), refused=len(answer.concerns) - len(found), tokens=tokens)


def _unfenced(text: str) -> str:
    """The answer without the Markdown fence that many models put around it."""
    lines = text.strip().splitlines()
    if len(lines) > 1 and lines[0].startswith("```") and lines[-1].strip() == "```":
        lines = lines[1:-1]
    return "\n".join(lines)
