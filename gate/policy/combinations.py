"""Findings that mean more together than apart: which combinations of the policy a report has.

One is a set of parts, each some rules with a least severity and how many of them have to say different
things. It holds where every part has its findings, in one file or in the whole change. Adding findings can
only make more of them hold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from gate.dataclass import dataclass
from gate.model.finding import Finding
from gate.model.rule import Confidence, Severity
from gate.policy.policy_file import Combination, Policy, PolicyPart


@dataclass(frozen=True, slots=True)
class Combined:
    """One combination that holds; ``rules`` are those that made it hold, ``where`` is its file, empty for the
    whole change.
    """

    why: str
    rules: tuple[str, ...]
    where: str = ""

    @property
    def text(self) -> str:
        """One line for people. ``where`` is from the change: untrusted."""
        place = f" in {self.where}" if self.where else ""
        return f"{' with '.join(self.rules)}{place}: {self.why}"


def combined(findings: Iterable[Finding], policy: Policy) -> tuple[Combined, ...]:
    """The policy's combinations that these findings make, each once, in the policy's order."""
    every = tuple(findings)
    by_file: dict[str, list[Finding]] = defaultdict(list)
    for finding in every:
        by_file[finding.primary.path].append(finding)
    found = []
    for one in policy.combination:
        groups = sorted(by_file.items()) if one.near == "file" else [("", every)]
        held = ((path, _rules(one, group)) for path, group in groups)
        found += [Combined(one.why, rules, path) for path, rules in held if rules][:1]
    return tuple(found)


def _rules(one: Combination, findings: Sequence[Finding]) -> tuple[str, ...]:
    """The rules by which every part is there; none where one is missing."""
    told: list[str] = []
    for part in one.all:
        held = {_said(f): f.rule_id for f in findings if _is_part(f, part)}
        if len(held) < part.different:
            return ()
        told += list(held.values())[: part.different]
    return tuple(dict.fromkeys(told))


def _said(finding: Finding) -> tuple[str, str]:
    """What a finding says, for being another one than the next: what was protected, else its message."""
    return finding.rule_id, finding.evidence.get("protects", finding.message)


def _is_part(finding: Finding, part: PolicyPart) -> bool:
    grave = finding.severity.rank >= Severity(part.severity).rank
    sure = finding.confidence.rank >= Confidence(part.confidence).rank
    return finding.rule_id in part.rules and grave and sure
