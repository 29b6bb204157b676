"""Rules that look at a file's text or bytes, not at its syntax: what one is, and how a set of them is run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, FindingStage, RuleMeta, Severity
from gate.prescreen.interface import PrescreenRequest, View
from gate.prescreen.scope import only_new
from gate.prescreen.views import make_views

CODE: Final = frozenset(
    {"python", "javascript", "typescript", "shell", "dockerfile", "makefile", "yaml", "other"}
)
"""Languages whose text a machine acts upon."""
_PER_FILE: Final = 20
"""Findings of one rule in one file that are told apart; the rest says nothing new."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TextHit:
    """One place. ``first`` and ``last`` are lines of the view's text; None is the whole file.

    ``shape`` None: the quoted line. ``severity`` and ``confidence`` replace the rule's own.
    """

    message: str
    first: int | None = None
    last: int | None = None
    evidence: Mapping[str, str] = field(default_factory=dict)
    shape: str | None = None
    severity: Severity | None = None
    confidence: Confidence | None = None


@dataclass(frozen=True, slots=True)
class TextRule:
    """A rule and its check over one view. The check's docstring is the rule's page."""

    meta: RuleMeta
    check: Callable[[View], Iterator[TextHit]]

    @property
    def page(self) -> str:
        """Markdown for `gate explain`."""
        return inspect.cleandoc(self.check.__doc__ or "")


def about(
    rule_id: str,
    title: str,
    severity: Severity,
    confidence: Confidence,
    *,
    topic: str,
    why: str,
    fix: str,
    cwe: tuple[int, ...] = (),
    attack: tuple[str, ...] = (),
    languages: tuple[str, ...] = (),
) -> RuleMeta:
    """A RuleMeta of the prescreen stage."""
    return RuleMeta(
        id=rule_id,
        title=title,
        stage=FindingStage.PRESCREEN,
        severity=severity,
        confidence=confidence,
        help=why,
        remediation=fix,
        topic=topic,
        cwe=cwe,
        attack=attack,
        languages=languages,
    )


def finding(
    meta: RuleMeta,
    message: str,
    place: Location,
    *,
    shape: str,
    evidence: Mapping[str, str] | None = None,
    severity: Severity | None = None,
    confidence: Confidence | None = None,
) -> Finding:
    """A Finding of this rule."""
    return Finding(
        rule_id=meta.id,
        stage=meta.stage,
        severity=severity or meta.severity,
        confidence=confidence or meta.confidence,
        message=message,
        locations=(place,),
        shape=shape,
        topic=meta.topic,
        cwe=meta.cwe,
        evidence={key: value[:200] for key, value in (evidence or {}).items()},
    )


def run_rules(rules: Iterable[TextRule], request: PrescreenRequest) -> tuple[Finding, ...]:
    """Every rule over every view, head and base; what head has more."""
    rules = tuple(rules)
    head: list[Finding] = []
    base: list[Finding] = []
    views = make_views(request)
    for view in views.of(side="head"):
        head += _look(rules, view)
    suspects = {f.primary.path for f in head}
    for view in views.of(side="base"):
        if view.source.path in suspects:
            base += _look(rules, view)
    return only_new(head, base, request.change)


def _look(rules: Iterable[TextRule], view: View) -> Iterator[Finding]:
    for rule in rules:
        for number, hit in enumerate(rule.check(view)):
            if number >= _PER_FILE:
                break
            place = view.place(hit.first, hit.last) if hit.first else Location(path=view.path)
            shape = hit.shape if hit.shape is not None else view.quote(hit.first or 1)[:500]
            yield finding(
                rule.meta,
                hit.message,
                place,
                shape=shape,
                evidence=hit.evidence,
                severity=hit.severity,
                confidence=hit.confidence,
            )
