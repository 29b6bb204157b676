"""Bandit's findings at places that no harmful text reaches: low, as our own rules' findings are there.

Bandit sees a call and not where its values come from. Where the forward reading of functions
(python_ast/values) is certain, its word is lowered here, once, for the classes that rules/bandit.toml names
(``sink``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.model.finding import Finding
from gate.model.rule import Severity
from gate.prescreen.interface import Prescreened, View, Views
from gate.prescreen.scanners.bandit_rules import sink_of

if TYPE_CHECKING:
    from gate.prescreen.python_ast.apparent_sinks import Place

_READER: Final = Reader(
    "gate.prescreen.python_ast.apparent_sinks:read_places", tuple[int, ...], parses=True, pure=True
)
_SECONDS: Final = 20.0
_OWN: Final = "As far as it can be read, no text that could do harm gets there."


def lower_apparent(results: Sequence[Prescreened], views: Views) -> list[Prescreened]:
    """The same results, with Bandit's word lowered where it is only apparent. A file that cannot be read
    keeps what was said of it.
    """
    by_path = {view.path: view for view in views.of(("python",), "head") if view.lines is None}
    asked: dict[str, list[Finding]] = defaultdict(list)
    for result in results:
        for finding in result.findings:
            if finding.severity.rank > Severity.LOW.rank and sink_of(finding.rule_id):
                asked[finding.primary.path].append(finding)
    known = [(by_path[path], found) for path, found in asked.items() if path in by_path]
    lowered = _apparent(known) if known else set()
    if not lowered:
        return list(results)
    return [
        replace(one, findings=tuple(_low(f) if id(f) in lowered else f for f in one.findings))
        for one in results
    ]


def _apparent(known: Sequence[tuple[View, list[Finding]]]) -> set[int]:
    """Identities of the findings that are only apparent."""
    places = {view.path: [_place(finding) for finding in found] for view, found in known}
    files = [(view.path, view.text.encode("utf-8", "surrogatepass")) for view, _ in known]
    results = scan_isolated(_READER, files, options={"places": places}, deadline=_SECONDS)
    return {
        id(found[number])
        for (_, found), result in zip(known, results, strict=True)
        for number in result.value or ()
        if number < len(found)
    }


def _place(finding: Finding) -> Place:
    line = finding.primary.line or 1
    return line, finding.primary.end_line or line, sink_of(finding.rule_id)


def _low(finding: Finding) -> Finding:
    return replace(finding, severity=Severity.LOW, message=f"{finding.message} {_OWN}")
