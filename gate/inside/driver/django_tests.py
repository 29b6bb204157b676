"""Runs tests of a Django project by its own runner, once django_project.py has set it up."""

from __future__ import annotations

import importlib
import unittest
from collections.abc import Iterator
from typing import Any

from . import django_apps


def runner_for(result: unittest.TestResult, around: Any, place: Any) -> Any:
    """An instance of the runner that the settings name. It runs its suite into ``result``, in the order of
    ``place`` (a test's number), within ``around`` (which is given the work).
    """
    settings: Any = importlib.import_module("django.conf").settings
    chosen: Any = importlib.import_module("django.test.utils").get_runner(settings)

    def run_suite(self: Any, suite: Any, **_: Any) -> unittest.TestResult:
        tests = sorted(_flat(suite), key=place)  # stable: else in Django's order
        result.collected = len(tests)  # type: ignore[attr-defined]
        around(lambda: unittest.TestSuite(tests).run(result))
        return result

    def run_checks(self: Any, *args: Any, **named: Any) -> None:
        try:
            chosen.run_checks(self, *args, **named)
        except Exception:
            if not django_apps.MISSING:
                raise  # else routes ask for what was left out: tests that do not go there run

    ours = type("GateRunner", (chosen,), {"run_suite": run_suite, "run_checks": run_checks})
    try:
        return ours(verbosity=0, interactive=False)
    except TypeError:  # a runner with arguments of its own
        return ours()


def _flat(suite: Any) -> Iterator[Any]:
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from _flat(one)
        else:
            yield one
