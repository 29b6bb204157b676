"""Rules that look at a file's text or bytes, not at its syntax: what one is, and how a set of them is run."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from gate.dataclass import dataclass
from gate.languages.decode import Problem
from gate.languages.limited_child import Reader, scan_isolated
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, FindingStage, RuleMeta, Severity
from gate.prescreen.interface import PrescreenRequest, View
from gate.prescreen.scope import only_new
from gate.prescreen.views import make_views
from gate.rules_api import Rule, RuleKind

CODE: Final = frozenset(
    {"python", "javascript", "typescript", "shell", "dockerfile", "makefile", "yaml", "other"}
)
"""Languages whose text a machine acts upon."""
_HERE: Final = 256 << 10
"""Characters up to which a text is looked at in this process: too few to cost a tenth of a second."""
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


TextRule = Rule[View, TextHit]
_READER: Final = Reader("gate.prescreen.text_rule:apply_rules", list[tuple[int, TextHit]])
rule: Final = RuleKind[View, TextHit](FindingStage.PRESCREEN, page="check")
policy_rule: Final = RuleKind[View, TextHit](FindingStage.POLICY, page="check")
"""For changes that touch what decides about changes: findings of the stage *policy*."""


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
    shown = {key: value[:200] for key, value in (evidence or {}).items()}
    return Finding.of(
        meta, message, place, shape=shape, severity=severity, confidence=confidence, evidence=shown
    )


def _any(view: View) -> bool:
    return bool(view.path)


Unlooked = list[tuple[str, str]]
"""Paths that could not be looked at, each with the reason."""


def run_rules(
    rules: Sequence[TextRule],
    door: str,
    request: PrescreenRequest,
    *,
    here: int = _HERE,
    wanted: Callable[[View], bool] = _any,
    parts: bool = False,
) -> tuple[tuple[Finding, ...], Unlooked]:
    """Every rule over every ``wanted`` view, head and base: what head has more, and what took too long.

    ``door`` is where a child finds the same rules (``"package.module:NAME"``): texts of more than ``here``
    characters are looked at there, under a deadline, one after another. ``parts``: also views of commands
    within other formats.
    """
    until = time.monotonic() + request.deadline
    views = make_views(request)
    head, unlooked = _look(
        rules, door, [v for v in views.of(side="head", parts=parts) if wanted(v)], until, here
    )
    suspects = {f.primary.path for f in head}
    old = [
        view for view in views.of(side="base", parts=parts) if view.source.path in suspects and wanted(view)
    ]
    base, _ = _look(rules, door, old, until, here)
    return only_new(head, base, request.change), unlooked


def _look(
    rules: Sequence[TextRule], door: str, views: Sequence[View], until: float, here: int
) -> tuple[list[Finding], Unlooked]:
    found: list[Finding] = []
    unlooked: Unlooked = []
    large = [view for view in views if len(view.text) > here]
    for view in views:
        if len(view.text) <= here:
            found += _findings(rules, view, hits(rules, view))
    results = scan_isolated(
        _READER,
        [(view.path, _packed(view)) for view in large],
        options={"rules": door},
        deadline=until - time.monotonic(),
    )
    for view, result in zip(large, results, strict=True):
        found += _findings(rules, view, result.value or ())
        if result.value is None:
            unlooked.append((view.path, result.reason))
    return found, unlooked


def hits(rules: Sequence[TextRule], view: View) -> Iterator[tuple[int, TextHit]]:
    """The first hits of each rule, with the rule's place in the row."""
    for index, rule in enumerate(rules):
        for hit in islice(rule.check(view), _PER_FILE):
            yield index, hit


def _findings(
    rules: Sequence[TextRule], view: View, found: Iterable[tuple[int, TextHit]]
) -> Iterator[Finding]:
    for index, hit in found:
        yield finding(
            rules[index].meta,
            hit.message,
            view.location(hit.first, hit.last) if hit.first else Location(path=view.path),
            shape=hit.shape if hit.shape is not None else view.quote(hit.first or 1)[:500],
            evidence=hit.evidence,
            severity=hit.severity,
            confidence=hit.confidence,
        )


class _Told(msgspec.Struct, frozen=True):
    """What a rule may ask of a view besides its text."""

    language: str | None
    problems: tuple[Problem, ...]
    encoding: str
    lines: tuple[int, ...] | None


def _packed(view: View) -> bytes:
    told = _Told(language=view.language, problems=view.problems, encoding=view.encoding, lines=view.lines)
    return msgspec.json.encode(told) + b"\n" + view.text.encode("utf-8", "surrogatepass")


def apply_rules(path: str, data: bytes, options: Mapping[str, object]) -> list[tuple[int, TextHit]]:
    """Inside the child: the rules over one text, packed with what they ask besides it."""
    head, _, text = data.partition(b"\n")
    told = msgspec.json.decode(head, type=_Told)
    module, _, name = str(options["rules"]).partition(":")
    view = View(
        path=path,
        side="head",
        language=told.language,
        source=None,  # type: ignore[arg-type]  # no rule looks at the bytes
        text=text.decode("utf-8", "surrogatepass"),
        file=Path(),
        problems=told.problems,
        encoding=told.encoding,
        lines=told.lines,
    )
    return list(hits(getattr(importlib.import_module(module), name), view))
