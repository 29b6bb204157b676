"""A pytest plugin: how much processor time each test takes, its fixtures and ended children included.

``-p tests.processor_plugin`` lists the costliest files and tests at the end; all of them are written to the
file that ``GATE_PROCESSOR_JSON`` names. Processor time can be compared on a busy machine, the clock cannot.
A child counts once it was waited for; what the container engine's daemon does counts nowhere. Children that
templates fork are never waited for here: ``GATE_PROCESSOR_USAGE``, the ``cpuacct.usage`` of a control group
in which this process runs alone, counts them as well.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

_SHOWN: Final = 20
_KEY: Final = "processor_seconds"
_USAGE: Final = os.environ.get("GATE_PROCESSOR_USAGE", "")
_SECONDS: defaultdict[str, float] = defaultdict(float)


def _spent() -> float:
    """Seconds of processor time of this process and of its ended children, or of the whole control group."""
    return int(Path(_USAGE).read_text()) / 1e9 if _USAGE else sum(os.times()[:4])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note what one test took, from its fixtures' set-up to their end."""
    before = _spent()
    result = yield
    _SECONDS[item.nodeid] += _spent() - before
    return result


class _Sums:
    """Where the tests run in workers, each sends its sums when it ends."""

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_KEY] = {"": _spent(), **_SECONDS}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        for name, seconds in getattr(node, "workeroutput", {}).get(_KEY, {}).items():
            _SECONDS[name] += seconds

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        workers = _SECONDS.pop("", 0.0)
        files: defaultdict[str, float] = defaultdict(float)
        for test, seconds in _SECONDS.items():
            files[test.partition("::")[0]] += seconds
        total = max(_spent(), workers)
        terminalreporter.section(f"processor time: {total:.0f} s, {sum(files.values()):.0f} s of it in tests")
        for counted in (files, _SECONDS):
            for name, seconds in sorted(counted.items(), key=lambda item: -item[1])[:_SHOWN]:
                terminalreporter.write_line(f"{seconds:8.1f} s  {name}")
        if path := os.environ.get("GATE_PROCESSOR_JSON"):
            Path(path).write_text(json.dumps({"": total, **_SECONDS}, indent=0), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Begin."""
    config.pluginmanager.register(_Sums())
