"""What one AST rule is, and how the folder of rules is found."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from gate.model.rule import Confidence, FindingStage, RuleMeta, Severity
from gate.prescreen.ast_module import Module

Level = Literal["low", "medium", "high", "critical"]
Surety = Literal["low", "medium", "high"]


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


@dataclass(frozen=True, slots=True)
class AstRule:
    """A rule: what it says about itself, its check, and its page (the module's docstring).

    ``check`` is pure: it reads the indexed module and yields hits; it never raises for odd code.
    """

    meta: RuleMeta
    check: Callable[[Module], Iterator[Hit]]
    page: str
    weakness: bool = True
    """A weakness (careless code) counts as low in files that only tests run; an attack never does."""


def about(
    rule_id: str,
    title: str,
    severity: Level,
    confidence: Surety,
    *,
    topic: str,
    cwe: tuple[int, ...],
    why: str,
    fix: str,
    attack: tuple[str, ...] = (),
) -> RuleMeta:
    """A RuleMeta for a Python prescreen rule, levels given as words."""
    return RuleMeta(
        id=rule_id,
        title=title,
        stage=FindingStage.PRESCREEN,
        severity=Severity(severity),
        confidence=Confidence(confidence),
        help=why,
        remediation=fix,
        topic=topic,
        cwe=cwe,
        attack=attack,
        languages=("python",),
    )


@cache
def ast_rules() -> tuple[AstRule, ...]:
    """Every rule of the folder, ordered by id. A file without a RULE is an error, not a gap."""
    package = importlib.import_module("gate.prescreen.rules")
    found = []
    for info in pkgutil.iter_modules(package.__path__):
        rule = importlib.import_module(f"{package.__name__}.{info.name}").RULE
        if not isinstance(rule, AstRule):
            raise TypeError(f"{info.name}: RULE is not an AstRule")
        found.append(rule)
    return tuple(sorted(found, key=lambda rule: rule.meta.id))
