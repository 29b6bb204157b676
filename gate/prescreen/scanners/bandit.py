"""Bandit, run as it is, with its configuration from our rules folder and nothing of the change acting on it.

Bandit's own manager does the work, inside the limited child: explicit neutral files (CF-3), our
configuration (CF-2), ``# nosec`` read but never obeyed (CF-1). The list of files it says it scanned must
be the list asked for; a file it skipped makes the stage degraded and is named.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any, Final

from gate.dataclass import dataclass
from gate.languages.limited_child import FEW, FileResult, Reader, scan_isolated, too_large
from gate.languages.python_syntax import newer_python
from gate.model.finding import Finding
from gate.model.rule import Confidence, RuleMeta, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, View
from gate.prescreen.outcome import ended
from gate.prescreen.scanners.bandit_rules import bandit_meta, settled
from gate.prescreen.scope import only_new
from gate.prescreen.views import make_views
from gate.regex import regex
from gate.resources import rules_dir

# As in bandit/core/manager.py (NOSEC_COMMENT), a little wider: an author may mean what Bandit would not take.
_NOSEC: Final = regex(r"#\s*nosec\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Issue:
    """One Bandit issue, as the child sends it. Severities are Bandit's words."""

    test: str
    severity: str
    confidence: str
    cwe: int
    first: int
    last: int


@dataclass(frozen=True, kw_only=True, slots=True)
class BanditResult:
    """One file: its issues, or why Bandit skipped it (empty when it did not)."""

    issues: tuple[Issue, ...]
    skipped: str = ""


class Bandit:
    """Known weaknesses in Python, as Bandit knows them."""

    name: str = "bandit"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Look at every Python file, head and base; report what only head has."""
        until = time.monotonic() + request.deadline
        views = make_views(request)
        heads = views.of(("python",), "head")
        bases = views.of(("python",), "base")
        together = len(heads) <= FEW  # a second child costs more than the few old files
        first = heads + bases if together else heads
        results = dict(zip(map(id, first), _scan(first, request.deadline), strict=True))
        found = [f for view in heads for f in _findings(view, results[id(view)])]
        if not together:
            # Only where head has something can base take it away.
            suspects = {f.primary.path for f in found}
            bases = [view for view in bases if view.source.path in suspects]
            results |= zip(map(id, bases), _scan(bases, until - time.monotonic()), strict=True)
        before = [f for view in bases for f in _findings(view, results[id(view)])]
        unlooked = [
            (view.path, reason)
            for view in heads
            if (reason := _reason(results[id(view)])) and not view.guessed
        ]
        unread = [view.path for view in bases if _reason(results[id(view)])]
        return ended(self.name, only_new(found, before, request.change, unread_base=unread), unlooked)


def _reason(result: FileResult[BanditResult]) -> str:
    return result.value.skipped if result.value else result.reason


def _findings(view: View, result: FileResult[BanditResult]) -> list[Finding]:
    issues = result.value.issues if result.value else ()
    return [finding for issue in issues if (finding := _finding(view, issue)) is not None]


def _scan(views: list[View], deadline: float) -> list[FileResult[BanditResult]]:
    if not views:
        return []
    return scan_isolated(
        Reader("gate.prescreen.scanners.bandit:scan_file", BanditResult, pure=True),
        [(view.path, str(view.file).encode()) for view in views],
        options={"config": _config()},
        deadline=deadline,
        seen=[view.file.read_bytes() for view in views],
    )


def _config() -> str:
    return str(rules_dir() / "bandit.toml")


def prepare() -> None:
    """In the template of children: Bandit imports its tests and reads our configuration once."""
    _manager(_config())


def scan_file(path: str, data: bytes, options: Mapping[str, object]) -> BanditResult:
    """Inside the child: one file through Bandit's manager. ``data`` is the neutral file's name."""
    del path
    name = data.decode()
    if refused := too_large(os.stat(name).st_size):  # noqa: PTH116 - the child has no use for pathlib
        return BanditResult(issues=(), skipped=refused)
    from bandit.core import node_visitor
    from bandit.core.metrics import Metrics

    from gate.languages.child_worker import UNKNOWN_SYNTAX  # we run in it

    node_visitor.ast = _NewerAst()  # it asks for nothing else of that module but classes of nodes
    manager = _manager(str(options["config"]))
    manager.results.clear()
    manager.skipped.clear()
    manager.scores.clear()
    manager.metrics = Metrics()  # it sums up over all files after each one otherwise
    manager.discover_files([name], recursive=False, excluded_paths="")
    if manager.files_list != [name]:
        return BanditResult(issues=(), skipped="Bandit left the file out")
    manager.run_tests()
    if manager.files_list != [name]:
        why = "; ".join(why for _, why in manager.skipped) or "Bandit skipped it"
        return BanditResult(issues=(), skipped=f"{why}: {UNKNOWN_SYNTAX}" if "syntax error" in why else why)
    issues = []
    for issue in manager.results:
        lines = issue.linerange or [issue.lineno]
        issues.append(
            Issue(
                test=issue.test_id,
                severity=issue.severity,
                confidence=issue.confidence,
                cwe=int(issue.cwe.id or 0),
                first=max(1, issue.lineno),
                last=max(1, issue.lineno, *lines),
            )
        )
    return BanditResult(issues=tuple(issues))


class _NewerAst:
    """The module ``ast`` for Bandit's visitor, with a parser that knows newer syntax."""

    parse = staticmethod(newer_python.parse_bytes)

    def __getattr__(self, name: str) -> Any:
        return getattr(ast, name)


@contextmanager
def _without_progress_bar() -> Iterator[None]:
    """Bandit can show one, in a method that is not called here; its module takes half of Bandit's start."""
    name = "rich.progress"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = ModuleType(name)
    try:
        yield
    finally:
        del sys.modules[name]


@cache
def _manager(config: str) -> Any:
    import logging

    with _without_progress_bar():
        from bandit.core.config import BanditConfig
        from bandit.core.manager import BanditManager

    logging.disable(logging.CRITICAL)
    loaded = BanditConfig(config)
    profile = {
        "include": set(loaded.get_option("tests") or ()),
        "exclude": set(loaded.get_option("skips") or ()),
    }
    return BanditManager(loaded, "file", profile=profile, ignore_nosec=True)


def _finding(view: View, issue: Issue) -> Finding | None:
    severity = settled(issue.test, view.path, _LEVEL.get(issue.severity, Severity.MEDIUM))
    if severity is None:
        return None
    meta: RuleMeta = bandit_meta(issue.test, issue.cwe)
    quoted = view.quote(issue.first, min(issue.last, issue.first + 20))
    found = Finding.of(
        meta,
        meta.title,
        view.location(issue.first, issue.last),
        shape=quoted,
        severity=severity,
        confidence=_SURE.get(issue.confidence, Confidence.LOW),
        evidence={"code": view.quote(issue.first)[:200]},
    )
    suppressed = "nosec" if _NOSEC.search(view.quote(issue.first, issue.last)) else None
    return replace(found, suppressed_by=suppressed)


_LEVEL: Final = {"LOW": Severity.LOW, "MEDIUM": Severity.MEDIUM, "HIGH": Severity.HIGH}
_SURE: Final = {"LOW": Confidence.LOW, "MEDIUM": Confidence.MEDIUM, "HIGH": Confidence.HIGH}
SCANNER: Final = Bandit()
