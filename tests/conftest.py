"""What all tests share: which of them start sandboxes, and no time limits on property tests."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import Final

import pytest
from hypothesis import settings

from gate.errors import GateError
from tests import prescreen_support
from tests.paths import TESTS

SANDBOXED: Final = ("contract", "integration", "e2e", "behaviours")
"""Folders whose tests start sandboxes. Elsewhere such a test says so with a mark of its own."""
_FREE: Final = ("unit", "rules", "golden", "forge")
"""Folders whose tests start none: a run of the others does not import them, and no test in them may."""
_BACKENDS: Final = ("microvm", "gvisor", "docker", "bubblewrap", "bubblewrap-strace")
_FIRST: Final = ("microvm", "act")
"""Groups that take longest begin first, then the large ones: one that begins last would run alone."""

_LONG: Final = 200
"""Characters of a parameter's text that its test is named with."""

# A busy machine is no reason to fail: what must be quick has a bench.
# In CI the same examples each time: a red build is the change's. At a desk new ones, which find new bugs.
settings.register_profile("gate", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("gate")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Half of the suite (``-m sandboxed``, ``-m "not sandboxed"``) is collected without the other's folders:
    each worker would import hundreds of files for nothing.
    """
    expression = config.option.markexpr
    unwanted = SANDBOXED if expression.startswith("not sandboxed") else _FREE * (expression == "sandboxed")
    return True if collection_path in {TESTS / folder for folder in unwanted} else None


def pytest_make_parametrize_id(val: object) -> str | None:
    """A long text is named by its beginning and its digest: whole ones made 14 MB of names, which each worker
    sends and every failure shows.
    """
    if not isinstance(val, str | bytes) or len(val) <= _LONG:
        return None
    text = val.encode("utf-8", "surrogatepass") if isinstance(val, str) else val
    begin = text[:_LONG].decode("latin-1").encode("unicode_escape").decode("ascii")
    return f"{begin[:_LONG]}...{hashlib.sha256(text).hexdigest()[:8]}"


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in its own hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts a sandbox, and group what must not run side by side (`--dist loadgroup`)."""
    groups: dict[pytest.Item, str] = {}
    for item in items:
        folder = _below_tests(item.path)[0]
        if folder in SANDBOXED or item.get_closest_marker("backend"):
            item.add_marker(pytest.mark.sandboxed)
        if folder in _FREE and item.get_closest_marker("sandboxed"):
            raise pytest.UsageError(f"{item.nodeid} starts sandboxes: it belongs in tests/integration")
        groups[item] = _group(item)
        item.add_marker(pytest.mark.xdist_group(groups[item]))
    sizes = Counter(groups[item] for item in items if item.get_closest_marker("sandboxed"))
    items.sort(key=lambda item: (groups[item] not in _FIRST, -sizes[groups[item]]))  # a stable sort


def _group(item: pytest.Item) -> str:
    """One file and backend: fixtures of a module are made once. All microVMs: each takes a processor."""
    if own := item.get_closest_marker("xdist_group"):
        return str(own.args[0])
    if item.get_closest_marker("spread"):
        return item.nodeid
    parameters = getattr(item, "callspec", None)
    values = parameters.params.values() if parameters else ()
    backends = [value for value in values if isinstance(value, str) and value in _BACKENDS]
    if "microvm" in backends:
        return "microvm"
    return "-".join(["/".join(_below_tests(item.path)), *backends])


@cache
def _below_tests(path: Path) -> tuple[str, ...]:
    return path.relative_to(TESTS).parts


@cache
def _why_no_backend() -> str:
    """Empty when some backend works here."""
    from gate.sandbox.backends.registry import choose

    try:
        choose("auto", "process")
    except GateError as error:
        return f"no sandbox works here: {error.message}"
    return ""


@pytest.fixture(autouse=True, scope="session")
def _no_set_up_unless_asked() -> Iterator[None]:
    """Checks of made-up projects ask no index (tests/e2e/test_automatic.py and others say otherwise)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GATE_SANDBOX_SETUP", "none")
        patch.setenv("GATE_CACHE_ENABLED", "false")  # each test looks
        yield


@pytest.fixture(autouse=True, scope="session")
def _scratch_folders_go(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A run makes thousands of them: left among temporary files, every check has to read past them."""
    folder = tmp_path_factory.mktemp("scratch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prescreen_support, "SCRATCH", str(folder))
        # A pytest that a test starts would remove the folders of earlier runs when it ends: minutes.
        patch.setenv("PYTEST_DEBUG_TEMPROOT", str(folder))
        yield
    shutil.rmtree(folder, ignore_errors=True)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests that need any backend say so when there is none."""
    if item.get_closest_marker("backend") and _why_no_backend():
        pytest.skip(_why_no_backend())


class _FailuresAtOnce:
    """One line for a failure when it happens, with the machine's state: a run that is cut off tells why."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.failed:
            return
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        free = shutil.disk_usage(gettempdir()).free >> 30
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = (str(crash.message if crash else report.longrepr).strip().splitlines() or ["no text"])[0][
            :300
        ]
        self._terminal.write_line(
            f"\n{report.when} of {report.nodeid} failed after {report.duration:.1f} s "
            f"(load {load:.1f}, {free} GiB free): {reason}"
        )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """In CI, failures are told when they happen."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if (
        isinstance(terminal, pytest.TerminalReporter)
        and "CI" in os.environ
        and not hasattr(config, "workerinput")
    ):
        config.pluginmanager.register(_FailuresAtOnce(terminal))
