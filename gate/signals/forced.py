"""What was seen of lines only when they were forced to run, as findings of its own, and their weight.

Points lie in rules/policy.toml, with a ceiling of their own: a forced line never blocks alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Final

from gate.languages.commands.addresses import leads_to_nobody
from gate.model.finding import Finding
from gate.model.forced import GUARDS, ForcedAct, ForcedLine
from gate.model.location import Location
from gate.model.rule import Confidence, FindingStage, Severity
from gate.rules_api import RuleKind

_rule: Final = RuleKind[object, object](FindingStage.BEHAVIOUR)
FORCED: Final = _rule.meta(
    "seen-when-forced",
    "Seen when a line that did not run was forced to",
    severity="high",
    confidence="low",
    topic="forced",
    cwe=(506, 511),
    why="The line did not run by itself. Made to run, with everything that a caller would give made up, it "
    "did this twice alike, and base does not: it comes from the code, not from us.",
    fix="Ask when the condition holds and who knows; add a test that reaches the line, or remove it.",
)
_PAGE: Final = """\
A changed line with a sensitive call that no probe reached is run all the same: its function is compiled anew
with the conditions on the way decided (docs/forced-execution.md). That shows what the line would do, not that
it happens, so the finding is uncertain and never blocks alone. Two strong facts of different kinds (a planted
secret is read and a foreign address contacted, say) behind a condition on a digest, a host, a user, the
date, CI or a trait of a sandbox, or with a public machine that is reached by its bare number, are one that
does: nobody writes that by accident.

What came from values that we made up is never told: the run is made with two sets of them, and what differs
or holds their mark is ours.
"""
RULES: Final = ((FORCED, _PAGE),)
_SHOWN: Final = 6


def forced_findings(lines: Iterable[ForcedLine]) -> tuple[Finding, ...]:
    """One finding for each forced line that showed something of its own."""
    return tuple(_finding(line) for line in lines if line.acts)


def _finding(line: ForcedLine) -> Finding:
    severity, confidence = weight(line)
    evidence = {
        "when it runs, it": "; ".join(dict.fromkeys(act.text for act in line.acts[:_SHOWN])),
        "only when": "  and  ".join(line.conditions),
        "told by": ", ".join(dict.fromkeys(act.rule_id for act in line.acts)),
    }
    message = f"If line {line.line} runs, it {told(line.acts)}; it did not run by itself."
    if line.guard:
        message = f"{message[:-1]}, and whether it does depends on {GUARDS[line.guard]}."
    return Finding.of(
        FORCED,
        message,
        Location(path=line.path, line=line.line),
        shape=" ".join(sorted({act.text for act in line.acts})),
        severity=severity,
        confidence=confidence,
        evidence={name: text[:600] for name, text in evidence.items() if text},
    )


def told(acts: Sequence[ForcedAct]) -> str:
    """What it does in our own words, the gravest three."""
    verbs = list(dict.fromkeys(_verb(act) for act in acts))[:3]
    return " and ".join(verbs)


def _verb(act: ForcedAct) -> str:
    return _VERBS.get(act.topic, "does what base does not do")


_VERBS: Final = {
    "network": "reaches for another machine",
    "exec": "starts a program",
    "credential": "touches credentials",
    "persistence": "arranges to be run later",
    "destructive": "deletes or changes files of others",
    "evasion": "hides from being watched",
    "escape": "tries to leave the sandbox",
    "file": "touches files outside its own",
    "process": "signals or leaves processes",
    "spy": "watches the user",
}


def _is_for_all_tests(path: str) -> bool:
    """Does it run with every test, on the machine of everybody who runs one?"""
    return PurePosixPath(path).name in ("conftest.py", "sitecustomize.py", "usercustomize.py")


def _is_nobodys(acts: Sequence[ForcedAct]) -> bool:
    """Is a public machine reached by its bare number, which names nobody?"""
    return any(leads_to_nobody(word) for act in acts if act.topic == "network" for word in act.text.split())


def weight(line: ForcedLine) -> tuple[Severity, Confidence]:
    """How bad and how sure: two strong facts of different kinds more than one, behind a guard more still."""
    strong = {act.topic for act in line.acts if act.severity.rank >= Severity.HIGH.rank}
    pair = len(strong) > 1 or any(act.severity is Severity.CRITICAL for act in line.acts)
    if line.in_tests and not _is_for_all_tests(line.path):
        return (Severity.HIGH, Confidence.LOW) if pair else (Severity.MEDIUM, Confidence.LOW)
    if pair and (line.guard or _is_nobodys(line.acts)):
        return Severity.CRITICAL, Confidence.MEDIUM
    if pair or (strong and line.guard):
        return Severity.HIGH, Confidence.MEDIUM
    return (Severity.HIGH if strong else Severity.MEDIUM), Confidence.LOW
