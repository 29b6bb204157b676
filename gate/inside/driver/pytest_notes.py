"""What is noted while pytest runs: what became of each test, what was lost and why, which come first."""

from __future__ import annotations

import importlib
import inspect
import re
import time
from collections.abc import Callable
from typing import Any

from . import password_costs, put_off_imports

MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
USAGE = 4
"""Pytest's exit code for options that it does not know."""
MOST = 20
"""Files of which it is told why they could not be collected."""
_MANY = 8
"""Tests from which those that the change touches are run first, and then those that name what changed."""


class Notes:
    """A pytest plugin that counts outcomes, notes which modules were missing, and ends in time.

    ``lines``: changed lines by path; ``until``: time.monotonic() after which no test is begun; ``names``: of
    what changed; ``tell``: called after each test.
    """

    def __init__(
        self, lines: dict[str, Any], until: float, names: frozenset[str], tell: Callable[[], None]
    ) -> None:
        self.names = names
        self.tell = tell
        self.counts: dict[str, int] = {}
        self.missing: list[str] = []
        self.lines = lines
        self.until = until
        self.collected = 0
        self.ended = 0
        self.why: dict[str, str] = {}
        self.broken: dict[str, str] = {}
        self.begun: set[str] = set()
        self.conftest: BaseException | None = None
        self.usage = ""
        self.lost: list[BaseException] = []

    def pytest_collection_modifyitems(self, session: Any, items: list[object]) -> None:
        self.collected = len(items)
        self.session = session
        if len(items) >= _MANY:
            items.sort(key=lambda item: place_of(getattr(item, "function", None), self.lines, self.names))

    def pytest_runtest_logstart(self) -> None:
        password_costs.lower()

    def pytest_runtest_logfinish(self) -> None:
        self.ended += 1
        self.tell()
        if time.monotonic() >= self.until and self.ended < self.collected:
            self.session.shouldstop = "no time for more"

    def left(self) -> int:
        """Tests that were not run to their end."""
        return max(0, self.collected - self.ended)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.counts["uncollected"] = self.counts.get("uncollected", 0) + 1
            text = str(report.longrepr)[-5000:]
            self.missing += MISSING.findall(text)
            if len(self.why) < MOST:
                self.why[str(report.nodeid)[:300]] = raised(text)

    def main(self, pytest: Any, words: list[str]) -> int:
        """Pytest's exit code; one for its words where it raises (a plugin that cannot be imported)."""
        try:
            return int(pytest.main(words, plugins=[self]))
        except Exception as error:
            self.lost.append(error)
            self.usage = self.usage or f"{type(error).__name__}: {error}"[:200]
            return USAGE

    def pytest_internalerror(self, excinfo: Any) -> None:
        """Keep what kept all tests from being begun."""
        self.lost.append(excinfo.value)

    def pytest_exception_interact(self, call: Any, report: Any) -> None:
        """Keep what kept a file from being collected, or a fixture from being set up."""
        if getattr(report, "when", "") in ("collect", "setup") and len(self.lost) < MOST:
            self.lost.append(call.excinfo.value)

    def lacks(self, roots: list[str]) -> str:
        """A package that cannot be loaded, for which tests were lost; empty: none."""
        lost = [*self.lost, self.conftest]
        return next(filter(None, (put_off_imports.unloadable(error, roots) for error in lost)), "")

    def watch_start(self) -> None:
        """Note with which exception pytest gives up before any test: it prints it and gives no report."""
        config: Any = importlib.import_module("_pytest.config")
        usage = getattr(config, "UsageError", None)
        if usage is not None:

            def refusing(itself: Any, *args: Any) -> None:
                self.usage = f"UsageError: {args[0] if args else ''}"[:200]

            usage.__init__ = refusing
        failure = getattr(config, "ConftestImportFailure", None)
        if failure is None:
            return
        made = failure.__init__

        def noting(itself: Any, *args: Any, **named: Any) -> None:
            made(itself, *args, **named)
            old = args[1][1] if len(args) > 1 and isinstance(args[1], tuple) else None  # before pytest 8.1
            self.conftest = named.get("cause") or getattr(itself, "cause", None) or old

        failure.__init__ = noting

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "setup" and report.failed:  # pytest's "error": the test itself did not run
            self.counts["errors"] = self.counts.get("errors", 0) + 1
            if len(self.broken) < MOST:
                self.broken.setdefault(_file_of(report), raised(str(report.longrepr)[-5000:]))
        elif report.when == "call" or report.outcome != "passed":
            self.counts[report.outcome] = self.counts.get(report.outcome, 0) + 1
            self.begun.add(_file_of(report))

    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        """Print nothing of what went well: another dot for a new test would make two runs differ."""
        well = report.outcome == "skipped" or (report.outcome == "passed" and report.when == "call")
        return (report.outcome, "", "") if well and not hasattr(report, "wasxfail") else None

    def not_run(self) -> dict[str, str]:
        """Why, of each file (or part of one) of which no test ran: not collected, or no fixture of its tests
        could be set up.
        """
        return {**{name: why for name, why in self.broken.items() if name not in self.begun}, **self.why}


def _file_of(report: Any) -> str:
    return str(report.nodeid).partition("::")[0][:300]


def _code_of(function: Any) -> Any:
    """The code of a test, behind its decorators. None for what is no function."""
    try:
        function = inspect.unwrap(function)
    except ValueError:  # wrapped in itself
        return None
    return getattr(getattr(function, "__func__", function), "__code__", None)


def _is_touched(function: Any, lines: dict[str, Any]) -> bool:
    """Is a changed line in that test's own function? ``lines``: spans by path in the tree."""
    code = _code_of(function)
    if code is None:
        return False
    spans = next((spans for path, spans in lines.items() if code.co_filename.endswith("/" + path)), ())
    first = code.co_firstlineno
    last = max([first, *(line for *_, line in code.co_lines() if line)])
    return any(begin <= last and end >= first for begin, end in spans)


def place_of(function: Any, lines: dict[str, Any], names: frozenset[str]) -> int:
    """The lower, the earlier: changed tests, those that name what changed, the others."""
    if _is_touched(function, lines):
        return 0
    code = _code_of(function)
    words = {*getattr(code, "co_names", ()), *str(getattr(code, "co_name", "")).split("test_")}
    return 1 if words & names else 2


def raised(text: str) -> str:
    """The exception of a collection report: its last line that pytest marks with an E."""
    marked = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    return (marked or text.strip().splitlines() or [""])[-1][:200]
