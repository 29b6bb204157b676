"""Runs test files: by pytest where it is installed, else by unittest and by calling ``test_*``."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import signal
import time
import types
import unittest
from collections.abc import Callable
from typing import Any

from . import (
    call_runner,
    django_project,
    django_tests,
    environment_files,
    password_costs,
    put_off_imports,
    pytest_options,
    stand_in,
)
from .pytest_notes import MISSING, MOST, USAGE, Notes, place_of, raised

_OUT_OF_DATE = ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning")
_MARGIN, _SHARE = 1.5, 0.2
"""Seconds, and share of what there is, kept at the end: no test is begun then, what was seen is told."""


class OutOfTime(BaseException):
    """Raised by the alarm inside a test that would take all the time there is."""


def run(
    paths: list[str],
    context: Any,
    describe: Callable[[BaseException, list[str]], Any],
    item: dict[str, Any],
) -> dict[str, Any]:
    """Run the files, as many tests as there is time for. ``tests`` counts what became of them (``not_run``:
    there was no time); a missing module is told, not raised. ``item``: its ``folder`` is where the project's
    own runner would be started, its ``django`` the project's ``manage.py``.
    """
    done = _by_its_runner(paths, context, describe, item)
    if context.django_failed and done["outcome"] == "uncollected":
        # That the registry is not ready is no reason: this is.
        why = describe(context.django_failed[0], context.roots)
        if why["outcome"] == "missing":
            return {**done, **why}
        done["message"] = f"{why.get('exception', '')}: {why.get('message', '')}"[:200]
        done.pop("uncollected", None)
    return done


def _by_its_runner(
    paths: list[str],
    context: Any,
    describe: Callable[[BaseException, list[str]], Any],
    item: dict[str, Any],
) -> dict[str, Any]:
    if item.get("folder") and os.path.isdir(item["folder"]):
        paths = [os.path.abspath(path) for path in paths]
        item = {**item, "django": item.get("django") and os.path.abspath(item["django"])}
        os.chdir(item["folder"])
        paths = [os.path.relpath(path) for path in paths]
    names = frozenset(item.get("names") or ())
    if context.django and not django_project.is_there("pytest_django"):
        return _django(paths, context, item["django"], names)
    spec = importlib.util.find_spec("pytest")
    if spec is not None and not isinstance(spec.loader, stand_in.Finder):
        try:
            pytest = importlib.import_module("pytest")
        except Exception as error:  # too old for this Python, or without its own dependencies
            return _without_pytest(error, _plain(paths, context, describe))
        return _pytest(pytest, paths, context, describe, names, item)
    return _plain(paths, context, describe)


def _without_pytest(error: Exception, done: dict[str, Any]) -> dict[str, Any]:
    """The report of tests that were called without it: where none could be, the reason is pytest's."""
    if done["outcome"] in ("uncollected", "missing"):
        message = f"pytest cannot be imported: {type(error).__name__}: {error}"[:200]
        return {**done, "outcome": "uncollected", "message": message}
    return done


def _end_of(context: Any) -> float:
    """When no further test is begun, on time.monotonic()'s clock."""
    left = float(context.until) - time.monotonic()
    return float(context.until) - max(_MARGIN, _SHARE * left)


def _teller(context: Any) -> Callable[[], None]:
    """Says which lines ran meanwhile: what a test that never ends would otherwise take with it."""

    def tell() -> None:
        news = context.seen.news()
        if news:
            context.channel.say("seen", **news)

    return tell


def _with_alarm(until: float, work: Callable[[], object]) -> tuple[Any, bool]:
    """What ``work`` gives (None when the alarm ended all of it) and whether the alarm rang at ``until``: then
    one test at least was not run to its end. The code may take the alarm away: then the driver's own clock,
    in another process, ends everything.
    """
    rang = []

    def over(_signal: int, _frame: object) -> None:
        rang.append(True)
        raise OutOfTime

    was = signal.signal(signal.SIGALRM, over)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(0.05, until - time.monotonic()))
        return work(), bool(rang)
    except OutOfTime:
        return None, True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, was)


def _ran(counts: dict[str, int]) -> bool:
    """Did anything become of any test?"""
    return bool(set(counts) - {"uncollected", "errors"})


def _first(why: dict[str, str]) -> str:
    return next(iter(why.values()), "")


def _pytest(
    pytest: types.ModuleType,
    paths: list[str],
    context: Any,
    describe: Callable[..., dict[str, Any]],
    names: frozenset[str],
    item: dict[str, Any],
) -> dict[str, Any]:
    """``uncollected`` is an outcome of its own: not one test ran, so nothing was looked at."""
    notes = Notes(context.job.get("lines") or {}, _end_of(context), names, _teller(context))
    notes.watch_start()
    put_off_imports.begin(item.get("put_off") or [])
    # Twice quiet, no share that is done: seconds and counts alone made two runs differ. Of the project's own
    # addopts (they may ask for plugins that are not here) what tests need to be found.
    words = [
        "-qq",
        "-o",
        "console_output_style=classic",
        "--maxfail=200",
        "--continue-on-collection-errors",
        "-p",
        "no:cacheprovider",
    ]
    # What is only out of date is no failure, whatever the project says of warnings: its Python and packages
    # are often newer here than those that it was written for.
    for warning in _OUT_OF_DATE:
        words += ["-W", f"default::{warning}"]
    # The same order on both sides, or nothing could be compared. (xdist stays: suites ask for its fixtures,
    # and without `-n` it starts no process.)
    words += ["-p", "no:randomly"]
    kept = pytest_options.kept(paths)
    # Assertions as they are written: code that was rewritten is not the file's own (own_code.py).
    words += ["-o", "addopts=", "--assert=plain", "--tb=line"]

    own = pytest_options.own_plugins()

    def work() -> int:
        ended = notes.main(pytest, [*words, *own, *kept, "--", *paths])
        for fewer in ([*words, *kept], words) if own else ([words] if kept else ()):
            if ended != USAGE or notes.collected:
                break
            notes.usage = ""
            ended = notes.main(pytest, [*fewer, "--", *paths])
        return ended

    code, rang = _with_alarm(notes.until + _MARGIN / 3, work)
    stopped = notes.left() if time.monotonic() >= notes.until else 0
    if stopped or rang:
        notes.counts["not_run"] = max(stopped, 1)
    why = notes.not_run()
    lost = notes.conftest or (FileNotFoundError(_first(why)) if not _ran(notes.counts) else None)
    may_help = lost is not None and not isinstance(lost, ModuleNotFoundError) and not notes.missing
    if lost is not None and may_help and environment_files.complete(item, lost):
        return _pytest(pytest, paths, context, describe, names, item)
    return _told(notes, code, context, describe)


def _told(notes: Notes, code: Any, context: Any, describe: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    """The report of tests that pytest ran, or did not come to. ``code``: its exit code, None where cut."""
    why = notes.not_run()
    result: dict[str, Any] = {
        "outcome": "completed",
        "tests": notes.counts,
        "exit_code": -1 if code is None else code,
    }
    if lacks := notes.lacks(context.roots):
        result["lacks"] = lacks[:100]
    if why:
        result["uncollected"] = why
    if notes.conftest is not None:
        result.update(describe(notes.conftest, context.roots))
        if result["outcome"] != "missing":
            result["outcome"] = "uncollected"
    elif notes.missing and not (notes.counts.get("passed") or notes.counts.get("failed")):
        result.update(outcome="missing", missing=notes.missing[0][:100])
    elif not _ran(notes.counts):
        message = _first(why) or notes.usage or f"pytest found no test in them (exit code {code})"
        result.update(outcome="uncollected", message=message)
    return result


def _django(paths: list[str], context: Any, manage: str, names: frozenset[str]) -> dict[str, Any]:
    """By the runner that the project's settings name, with its own test databases."""
    result = _Result(_end_of(context), _teller(context))
    rang: list[bool] = []

    def around(work: Callable[[], Any]) -> None:
        rang.append(_with_alarm(result.until + _MARGIN / 3, work)[1])

    lines = context.job.get("lines") or {}

    def place(test: Any) -> int:
        return place_of(getattr(test, str(getattr(test, "_testMethodName", "")), None), lines, names)

    if not any("/migrations/" in path for path in lines):
        django_project.skip_migrations()
    runner = django_tests.runner_for(result, around, place)
    labels = django_project.labels(paths, manage)
    for label in labels if put_off_imports.ALLOWED else ():
        _why_not(label)
    runner.run_tests(labels)
    lost = len([test for test, _ in result.errors if type(test).__name__ == "_FailedTest"])
    failed = len(result.errors) + len(result.failures)
    counts = {"passed": max(0, result.testsRun - failed), "failed": failed - lost}
    left = result.collected - result.testsRun if time.monotonic() >= result.until else 0
    if left or any(rang):
        counts["not_run"] = max(left, 1)
    done: dict[str, Any] = {"outcome": "completed", "tests": counts}
    if lost:
        lacks = (put_off_imports.unloadable(_why_not(label), context.roots) for label in labels[:MOST])
        if first := next(filter(None, lacks), ""):
            done["lacks"] = first[:100]
        counts["uncollected"] = lost
        done["uncollected"] = {
            str(test)[:300]: raised("E " + text.strip().splitlines()[-1])
            for test, text in result.errors[:MOST]
            if type(test).__name__ == "_FailedTest"
        }
    if not any(counts.get(name) for name in ("passed", "failed", "not_run")):
        why = next(iter(done.get("uncollected", {}).values()), "there is no test in them")
        done.update(outcome="uncollected", message=why)
        missing = MISSING.search(why)
        if missing:
            done.update(outcome="missing", missing=missing[1][:100])
    return done


def _why_not(name: str) -> BaseException | None:
    """What the import of a module raises, where nothing is put off for it."""
    try:
        put_off_imports.retried(lambda: importlib.import_module(name))
    except Exception as error:
        return error
    return None


class _Result(unittest.TestResult):
    """Stops before a test for which there is no time."""

    def __init__(self, until: float, tell: Callable[[], None]) -> None:
        super().__init__()
        self.until = until
        self.tell = tell
        self.collected = 0

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802  # its name in unittest
        password_costs.lower()
        super().startTest(test)

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802  # its name in unittest
        super().stopTest(test)
        self.tell()
        if time.monotonic() >= self.until:
            self.stop()


def _plain(
    paths: list[str], context: Any, describe: Callable[[BaseException, list[str]], Any]
) -> dict[str, Any]:
    counts = {"passed": 0, "failed": 0, "called": 0}
    missing: dict[str, Any] = {}
    until = _end_of(context)
    why: dict[str, str] = {}
    lacks = ""
    for path in paths:
        if time.monotonic() >= until:
            counts["not_run"] = counts.get("not_run", 0) + 1
            continue
        try:
            module = put_off_imports.retried(functools.partial(_load, path))
        except BaseException as error:
            told = describe(error, context.roots)
            lacks = lacks or told.get("lacks", "")
            counts["uncollected"] = counts.get("uncollected", 0) + 1
            if told["outcome"] == "missing":
                missing = told
            if len(why) < MOST:
                why[path[:300]] = f"{type(error).__name__}: {told.get('message') or told.get('missing')}"[
                    :200
                ]
            continue
        _cases(module, counts, until, _teller(context))
        names = [
            n for n, v in vars(module).items() if n.startswith("test") and isinstance(v, types.FunctionType)
        ]
        caller = call_runner.Caller(
            module,
            channel=context.channel,
            seen=context.seen,
            each=float(context.job.get("each", 1.0)) * 3,
            total=context.total,
            describe=lambda error: describe(error, context.roots),
        )
        counts["called"] += caller.run(names, 0)
    done: dict[str, Any] = {"outcome": "completed", "tests": counts}
    if lacks:
        done["lacks"] = lacks
    if why:
        done["uncollected"] = why
    if missing and not (counts["passed"] or counts["called"]):
        return {**done, **missing}
    if not any(counts.get(name) for name in ("passed", "failed", "called", "not_run")):
        done.update(outcome="uncollected", message=next(iter(why.values()), "there is no test in them"))
    return done


def _cases(module: types.ModuleType, counts: dict[str, int], until: float, tell: Callable[[], None]) -> None:
    """Run the module's unittest cases and add to the counts what became of them."""
    outcome = _Result(until, tell)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    cases = suite.countTestCases()
    _, rang = _with_alarm(until + _MARGIN / 3, lambda: suite.run(outcome))
    counts["passed"] += outcome.testsRun - len(outcome.errors) - len(outcome.failures)
    counts["failed"] += len(outcome.errors) + len(outcome.failures)
    stopped = cases - outcome.testsRun if time.monotonic() >= until else 0
    if stopped or rang:
        counts["not_run"] = counts.get("not_run", 0) + max(stopped, 1)


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
