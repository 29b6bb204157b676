"""Tests that are there and run no more, by the settings of their runner: a part of the protections' scanner.

A setting that cannot be read leaves nothing out here: the runner cannot read it either.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_test_code
from gate.model.finding import Finding
from gate.model.rule import RuleMeta, Severity
from gate.prescreen.interface import PrescreenRequest, View, Views
from gate.prescreen.text_rule import finding
from gate.protections.test_settings.compare import Deselected, deselected
from gate.protections.test_settings.facts import TestSettings
from gate.protections.test_settings.reader import NAMES

_READER: Final = "gate.protections.test_settings.reader:read"
_CODE: Final = (".py", ".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs")
_MOST: Final = 20
_TESTS: Final = 400
_SHOWN: Final = 3


def deselected_tests(
    request: PrescreenRequest, views: Views, rule: RuleMeta, until: float
) -> Iterator[Finding]:
    """One finding for each setting that leaves out tests which base ran, and for an answer that is set.
    ``until``: time.monotonic().
    """
    heads = {v.path: v for v in views.of(side="head") if _is_settings(v)}
    if not heads:
        return
    bases = [v for v in views.of(side="base") if _is_settings(v)]
    base, head = (_read(list(side), until) for side in (bases, heads.values()))
    entries = [e.path for e in request.head.entries() if is_test_code(e.path) and e.path.endswith(_CODE)]
    tests = tuple(path for path in entries if not path.endswith("conftest.py"))[:_TESTS]

    @lru_cache(_TESTS)
    def text_of(path: str) -> str:
        return request.head.read(path).decode("utf-8", "replace")

    for one in [*deselected(base, head, tests, text_of)][:_MOST]:
        yield _finding(one, heads[one.path], rule)


def _is_settings(view: View) -> bool:
    return view.path.rpartition("/")[2] in NAMES and not view.unreadable and not view.part


def _read(views: list[View], until: float) -> dict[str, TestSettings]:
    files = [(v.path, v.text.encode("utf-8", "replace")) for v in views]
    reader = Reader(_READER, TestSettings, parses=True, pure=True)
    results = (
        scan_isolated(reader, files, options={}, deadline=max(1.0, until - time.monotonic())) if files else []
    )
    return {result.path: result.value for result in results if result.value is not None}


def _finding(one: Deselected, view: View, rule: RuleMeta) -> Finding:
    answer = one.left.kind == "answer"
    severity = Severity.HIGH if answer else Severity.MEDIUM if one.guards else Severity.LOW
    message = (
        "What the tests found is overwritten: they pass whatever they find."
        if answer
        else "A setting leaves out tests that are there and that base ran."
    )
    evidence = {"setting": one.left.text, "tests": ", ".join(one.tests[:_SHOWN])}
    return finding(
        rule,
        message,
        view.location(one.left.line),
        shape=f"left out {one.left.kind} {one.left.what}",
        evidence={key: value for key, value in evidence.items() if value},
        severity=severity,
    )
