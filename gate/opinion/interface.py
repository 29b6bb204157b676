"""What a language model is asked about a change, and what may come of it: contract and values on one page.

The model is told what the change says and does, and whoever wrote the change wants it to answer otherwise. So
its answer is data: it may add findings of at most medium severity at changed lines, and nothing else.
"""

from __future__ import annotations

from typing import Final, Literal

from gate.dataclass import dataclass
from gate.errors import Exit, GateError
from gate.model.finding import Finding
from gate.model.rule import FindingStage
from gate.rules_api import RuleKind

KEY: Final = "GATE_OPINION_KEY"
"""The environment variable with the endpoint's key; in no settings file, and in no report."""
STAGE: Final = "opinion"
Kind = Literal[
    "malicious",
    "injection",
    "secrets",
    "access-control",
    "cryptography",
    "network",
    "supply-chain",
    "other",
]
"""What a hint may be about: asked for, and all that is taken."""

CONCERN: Final = RuleKind[object, object](FindingStage.PRESCREEN).meta(
    "language-model-hint",
    "A language model finds this worth a look",
    severity="medium",
    confidence="low",
    topic="opinion",
    why="A language model was shown the change and what it does, and named this line. It can be wrong, and "
    "the change can try to talk it into anything: it adds a hint and decides nothing.",
    fix="Read the line. A hint that is wrong needs no override: it never blocks by itself.",
)
PAGE: Final = """\
Only there where `opinion.enabled` is set. The words in the evidence are the model's, about text that
a stranger wrote: treat them as you treat the change.

Such a finding is *medium* at most. Its points can turn *pass* into *warn*; where they would make the verdict
*fail* they are left out of the score, and the report says so. It never makes anything better: a change that
talks the model into silence is where it was without it.
"""
RULES: Final = ((CONCERN, PAGE),)


class NoAnswerError(GateError):
    """The endpoint gave nothing that counts. ``message`` says why, in our words."""

    exit = Exit.INCONCLUSIVE


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line that the change added (``sign`` ``+``, numbered as at head) or took out (``-``, as at base)."""

    path: str
    sign: str
    number: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Material:
    """What the model gets, secrets taken out: changed lines and new behaviours; ``left_out`` counts lines."""

    lines: tuple[Line, ...]
    behaviours: tuple[dict[str, str], ...]
    left_out: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """Where the model answers. ``url`` is the address before ``/chat/completions``; ``seconds`` for all."""

    url: str
    model: str
    key: str = ""
    seconds: float = 60.0
    most_tokens: int = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Tokens:
    """What an answer cost, as the endpoint counts it; zeros where it does not say."""

    sent: int = 0
    received: int = 0

    def cost(self, price_in: float, price_out: float) -> float:
        """In the unit of the prices, which are for a million tokens."""
        return (self.sent * price_in + self.received * price_out) / 1e6


@dataclass(frozen=True, kw_only=True, slots=True)
class Opinion:
    """Findings, and how many of the model's were refused (another file, an unchanged line)."""

    findings: tuple[Finding, ...]
    refused: int
    tokens: Tokens
