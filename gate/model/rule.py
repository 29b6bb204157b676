"""What a rule says about itself. Rules state severity and confidence; only policy scores."""

from __future__ import annotations

from enum import Enum

from gate.dataclass import dataclass


class Severity(Enum):
    """How bad it is if the finding is true."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 (low) to 3 (critical)."""
        return _RANKS[self.value]


class Confidence(Enum):
    """How sure the rule is that the finding is true."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """0 (low) to 2 (high)."""
        return _RANKS[self.value]


_RANKS = {"low": 0, "medium": 1, "high": 2, "critical": 3}


class FindingStage(Enum):
    """The part of the look that made a finding (``findings[].stage`` in report.json)."""

    ATTRIBUTION = "attribution"
    PRESCREEN = "prescreen"
    BEHAVIOUR = "behaviour"
    POLICY = "policy"


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleMeta:
    """One rule's identity and page.

    ``id`` is ``[a-z0-9][a-z0-9.-]*``. ``cwe`` holds numbers of the CWE list (``(94,)``),
    ``attack`` ids of MITRE ATT&CK techniques (``("T1059",)``). ``help`` says why it matters,
    ``remediation`` what to do next; both are one or two plain sentences.
    ``topic`` names what the rule is about (``network``, ``exec``, ``credential`` ...): findings
    of different stages with the same topic confirm each other when scored.
    """

    id: str
    title: str
    stage: FindingStage
    severity: Severity
    confidence: Confidence
    help: str
    remediation: str
    topic: str
    cwe: tuple[int, ...] = ()
    attack: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    origin: str = "gate"
    """``gate``, ``bandit``, ``semgrep`` ...: whose rule it is."""
