"""Configuration that decides who may do what: base and head are read as data and compared by meaning.

Manifests of Kubernetes, compose files, Terraform, policies of clouds, systemd units, web servers, pages,
migrations: nothing of it runs in the sandbox, and it decides what an attacker may do once it is merged.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from gate.infrastructure.compare import FactDifference, differences
from gate.infrastructure.facts import GRANTS, GUARDS, WIDTHS, FileFacts
from gate.infrastructure.reader import reads, says_nothing
from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_test_code
from gate.model.finding import Finding
from gate.model.rule import Confidence, RuleMeta, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, View
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import Unread
from gate.prescreen.scanners.data_constraints import constraint_findings
from gate.prescreen.scanners.data_standing import standing_findings
from gate.prescreen.text_rule import finding, rule
from gate.prescreen.views import make_views
from gate.supply.lookalike import is_known

GRANTED: Final = rule.meta(
    "infrastructure.granted",
    "Configuration grants more than base",
    severity="high",
    confidence="medium",
    topic="infrastructure",
    cwe=(250, 732, 284),
    why="Rights, open ports and public data are given by a line of configuration; no test runs it, and it "
    "holds from the moment it is applied.",
    fix="Name who needs which right on what, and give only that; open ports to known networks.",
)
LOST: Final = rule.meta(
    "infrastructure.guard-removed",
    "Configuration guards less than base",
    severity="high",
    confidence="medium",
    topic="infrastructure",
    cwe=(693, 306, 311),
    why="Base asked for a log-in, sent a header, confined a service or escaped a value; head does not.",
    fix="Put it back, or say in the change why it is not needed any more.",
)
WIDER: Final = rule.meta(
    "infrastructure.wider",
    "A setting trusts more, or protects less, than its value at base",
    severity="medium",
    confidence="medium",
    topic="infrastructure",
    cwe=(183, 732, 1188),
    why="The setting is still there, so nothing looks removed; its new value lets in whom base kept out: "
    "one more key, account or address is trusted, a pattern or a network is wider, a check is optional.",
    fix="Say in the change who the new member is and why the value had to become wider.",
)
RULES: Final[tuple[RuleMeta, ...]] = (GRANTED, LOST, WIDER)
_RULE_OF: Final[dict[str, RuleMeta]] = {"granted": GRANTED, "lost": LOST, "wider": WIDER}
_READER: Final = Reader("gate.infrastructure.reader:read", FileFacts, parses=True, pure=True)
_MOST: Final = 20
_ONCE_A_FILE: Final = frozenset(("kept-out", "packed-secret"))


class Infrastructure:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "infrastructure"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare what both sides of every changed file of configuration say."""
        until = time.monotonic() + request.deadline
        views = [view for view in make_views(request).of() if not view.unreadable and _is_read(view)]
        heads = {view.path: view for view in views if view.side == "head"}
        bases = {view.path: view for view in views if view.side == "base"}
        gone = [
            f.path
            for f in request.change.files
            if f.status == "deleted" and reads(f.path) and not f.binary and not f.path.endswith(".go")
        ]
        unread: Unread = []
        constraints = [*constraint_findings(request, LOST, unread), *standing_findings(request, LOST, unread)]
        if not heads:
            return ended(self.name, constraints, unread)
        before = [(path, _bytes(view)) for path, view in bases.items()]
        before += [(path, data) for path, data in request.base.read_many(tuple(gone))]
        base, _ = _read(before, until)
        head, unlooked = _read([(path, _bytes(view)) for path, view in heads.items()], until)
        now_at = {path: view.source.path for path, view in bases.items()}
        found = [*differences(base, head, now_at)]
        return ended(self.name, [*_findings(found, heads), *constraints], [*unlooked, *unread])


def _is_read(view: View) -> bool:
    return reads(view.path) and not says_nothing(view.path, view.text)


def _is_ordinary(one: FactDifference) -> bool:
    """A plugin of a linter that everybody uses."""
    name = one.fact.subject.rpartition(" ")[2]
    top = name.split(".")[0].replace("_", "-")
    return one.fact.what == "tool-code" and (is_known(name, "npm") or is_known(top, "pypi"))


def _bytes(view: View) -> bytes:
    return view.text.encode("utf-8", "replace")


def _read(files: list[tuple[str, bytes]], until: float) -> tuple[dict[str, FileFacts], list[tuple[str, str]]]:
    facts: dict[str, FileFacts] = {}
    unlooked: list[tuple[str, str]] = []
    left = max(1.0, until - time.monotonic())
    for result in scan_isolated(_READER, files, deadline=left) if files else ():
        if result.value is not None:
            facts[result.path] = result.value
        else:
            unlooked.append((result.path, result.reason))
    return facts, unlooked


def _findings(found: list[FactDifference], heads: dict[str, View]) -> Iterator[Finding]:
    told: set[tuple[str, str, str]] = set()
    for one in found:
        kind = {"granted": GRANTS, "lost": GUARDS, "wider": WIDTHS}[one.sort][one.fact.what]
        # One line that widens several things (a policy's default) is one finding.
        about = "" if one.fact.what in _ONCE_A_FILE else one.fact.subject
        key = (one.fact.what, one.path, str(one.line) if one.sort == "wider" else about)
        if key in told or len(told) == _MOST:
            continue
        told.add(key)
        evidence = {"what": one.fact.subject, "before": one.before, "after": one.after}
        yield finding(
            _RULE_OF[one.sort],
            kind.message,
            heads[one.path].location(one.line),
            shape=f"{one.fact.what} {one.fact.subject}",
            evidence={name: text for name, text in evidence.items() if text},
            severity=Severity.LOW if is_test_code(one.path) or _is_ordinary(one) else kind.severity,
            confidence=Confidence.HIGH if kind.severity is Severity.CRITICAL else Confidence.MEDIUM,
        )
