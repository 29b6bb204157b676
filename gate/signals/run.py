"""Every behaviour rule over one comparison. The folder is walked; nobody registers anything."""

from __future__ import annotations

from functools import cache
from typing import Final

from gate import plugins
from gate.model.finding import Finding
from gate.model.rule import FindingStage
from gate.signals.interface import SignalContext, SignalRule
from gate.signals.proof_kit import ProofContext, ProofRule
from gate.signals.proof_kit import rule as proof_rule
from gate.signals.rule_kit import rule

RULES: Final[tuple[SignalRule, ...]] = rule.in_folder("gate.signals.rules")
"""Ordered by id."""


def plugin_rules() -> tuple[SignalRule, ...]:
    """Those of plugins, ordered by id. Raises UsageError for what is no rule, or has no id of its own."""
    return plugins.rules(FindingStage.BEHAVIOUR)


def signals(context: SignalContext) -> tuple[Finding, ...]:
    """Findings of all rules, in the rules' order. Pure: equal contexts give equal findings."""
    return tuple(finding for rule in (*RULES, *plugin_rules()) for finding in rule.check(context))


@cache
def proof_rules() -> tuple[ProofRule, ...]:
    """Rules on what attacks proved, ordered by id. Most checks prove nothing."""
    return proof_rule.in_folder("gate.signals.proven")


def proof_findings(context: ProofContext) -> tuple[Finding, ...]:
    """Findings of proofs. Pure, as ``signals``."""
    if not context.proofs:
        return ()
    return tuple(finding for one in proof_rules() for finding in one.check(context))
