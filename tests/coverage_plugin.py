"""A pytest plugin: measures which statements and branches of gate run. ``-p tests.coverage_plugin``.

Every process of a test run (each worker of pytest-xdist is one) writes what it saw as
``.coverage.d/NAME.json`` below the repository; ``scripts/coverage_floor.py`` adds them up. SlipCover puts
probes into the code as it is imported and takes them out once hit: a run takes a few percent longer, where a
trace function makes it more than twice as long on this suite. So gate must not be imported before this.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import slipcover

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("GATE_COVERAGE_DIR") or ROOT / ".coverage.d")
"""Where the files are; `make test` clears it, since every worker adds one."""

_MATCHER = slipcover.FileMatcher(sources=[str(ROOT / "gate")])
_MEASURED = slipcover.Slipcover(branch=True)
slipcover.wrap_spec_from_file_location(_MEASURED, _MATCHER)
_IMPORTS = slipcover.ImportManager(_MEASURED, _MATCHER)
_IMPORTS.__enter__()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Write what this process saw."""
    os.chdir(ROOT)  # paths are told from the current folder
    FOLDER.mkdir(exist_ok=True)
    name = f"{os.environ.get('PYTEST_XDIST_WORKER', 'main')}-{os.getpid()}.json"
    (FOLDER / name).write_text(json.dumps(_MEASURED.get_coverage()), encoding="utf-8")
