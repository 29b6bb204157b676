"""What a rule on a syntax tree yields, how it is declared, and the folder of them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from typing import Final

from gate import plugins
from gate.dataclass import dataclass
from gate.model.rule import Confidence, FindingStage, Severity
from gate.prescreen.python_ast.module import Module
from gate.rules_api import Rule, RuleKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """One place where a rule's weakness stands.

    ``evidence`` holds short texts from the code (untrusted). ``severity`` and ``confidence``
    replace the rule's own where this place is worse or milder than its usual one.
    """

    node: ast.AST
    message: str
    evidence: Mapping[str, str] = field(default_factory=dict)
    severity: Severity | None = None
    confidence: Confidence | None = None


rule: Final = RuleKind[Module, Hit](FindingStage.PRESCREEN, languages=("python",))
AstRule = Rule[Module, Hit]


@cache
def ast_rules() -> tuple[AstRule, ...]:
    """Every rule of the folder, ordered by id. A file without a rule is an error, not a gap."""
    return rule.in_folder("gate.prescreen.rules")


@cache
def plugin_rules() -> tuple[AstRule, ...]:
    """Those of plugins, ordered by id. Raises UsageError for what is no rule, or has no id of its own."""
    return plugins.rules(FindingStage.PRESCREEN)
