"""Every behaviour rule over one comparison. The folder is walked; nobody registers anything."""

from __future__ import annotations

from typing import Final

from gate.model.finding import Finding
from gate.signals.interface import SignalContext, SignalRule
from gate.signals.rule_kit import rule

RULES: Final[tuple[SignalRule, ...]] = rule.in_folder("gate.signals.rules")
"""Ordered by id."""


def signals(context: SignalContext) -> tuple[Finding, ...]:
    """Findings of all rules, in the rules' order. Pure: equal contexts give equal findings."""
    return tuple(finding for rule in RULES for finding in rule.check(context))
