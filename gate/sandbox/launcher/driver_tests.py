"""Runs test files: by pytest where it is installed, else by unittest and by calling ``test_*``."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import types
import unittest
from collections.abc import Callable
from typing import Any

import driver_calls
import driver_stand_in

_MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")


class _Notes:
    """A pytest plugin that counts outcomes and notes which modules were missing."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.missing: list[str] = []

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.counts["uncollected"] = self.counts.get("uncollected", 0) + 1
            self.missing += _MISSING.findall(str(report.longrepr)[-5000:])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.counts[report.outcome] = self.counts.get(report.outcome, 0) + 1


def run(
    paths: list[str], context: Any, describe: Callable[[BaseException, list[str]], Any]
) -> dict[str, Any]:
    """Run the files. ``tests`` counts what became of them; a missing module is told, not raised."""
    spec = importlib.util.find_spec("pytest")
    if spec is not None and not isinstance(spec.loader, driver_stand_in.Finder):
        return _pytest(importlib.import_module("pytest"), paths)
    return _plain(paths, context, describe)


def _pytest(pytest: types.ModuleType, paths: list[str]) -> dict[str, Any]:
    notes = _Notes()
    # The project's own addopts may ask for plugins that are not here; its other settings stay.
    words = ["-q", "--maxfail=50", "--continue-on-collection-errors", "-p", "no:cacheprovider"]
    words += ["-o", "addopts=", "--tb=line", "--", *paths]
    code = int(pytest.main(words, plugins=[notes]))
    result: dict[str, Any] = {"outcome": "completed", "tests": notes.counts, "exit_code": code}
    if notes.missing and not (notes.counts.get("passed") or notes.counts.get("failed")):
        result.update(outcome="missing", missing=notes.missing[0][:100])
    return result


def _plain(
    paths: list[str], context: Any, describe: Callable[[BaseException, list[str]], Any]
) -> dict[str, Any]:
    counts = {"passed": 0, "failed": 0, "called": 0}
    missing: dict[str, Any] = {}
    for path in paths:
        try:
            module = _load(path)
        except BaseException as error:
            told = describe(error, context.roots)
            counts["uncollected"] = counts.get("uncollected", 0) + 1
            if told["outcome"] == "missing":
                missing = told
            continue
        outcome = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromModule(module).run(outcome)
        counts["passed"] += outcome.testsRun - len(outcome.errors) - len(outcome.failures)
        counts["failed"] += len(outcome.errors) + len(outcome.failures)
        names = [
            n for n, v in vars(module).items() if n.startswith("test") and isinstance(v, types.FunctionType)
        ]
        caller = driver_calls.Caller(
            module,
            channel=context.channel,
            seen=context.seen,
            each=float(context.job.get("each", 1.0)) * 3,
            total=context.total,
            describe=lambda error: describe(error, context.roots),
        )
        counts["called"] += caller.run(names, 0)
    done = {"outcome": "completed", "tests": counts}
    return {**done, **missing} if missing and not (counts["passed"] or counts["called"]) else done


def _load(path: str) -> types.ModuleType:
    """A test module by its dotted path from the tree's root, so that relative imports work."""
    name = path[:-3].replace("/", ".")
    if all(part.isidentifier() for part in name.split(".")):
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location("gate_test", os.path.abspath(path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
