"""The floor under test coverage: what is below it, what has none, and that it is only ever raised."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.paths import REPOSITORY


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("coverage_floor", REPOSITORY / "scripts/coverage_floor.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


FLOOR = _script()


def _file(covered: int, total: int, *missing: int, branches: tuple[int, int] = (0, 0)) -> dict[str, Any]:
    return {
        "summary": {
            "covered_lines": covered,
            "missing_lines": total - covered,
            "covered_branches": branches[0],
            "missing_branches": branches[1] - branches[0],
        },
        "missing_lines": list(missing),
        "missing_branches": [[3, 5]] if branches[0] < branches[1] else [],
    }


MEASURED = FLOOR.figures(
    {
        "gate/policy/points.py": _file(10, 10, branches=(3, 4)),
        "gate/policy/deep/more.py": _file(6, 6),
        "gate/cli.py": _file(1, 4, 7, 8, 9),
        "gate/model/empty.py": _file(0, 0),
    }
)


def test_a_package_is_a_folder_or_a_file_below_gate() -> None:
    percents = {name: round(figure.percent, 1) for name, figure in MEASURED.items()}
    assert percents == {"gate/policy": 95.0, "gate/cli.py": 25.0, "gate/model": 100.0}


def test_below_the_floor_is_reported_with_the_branch_that_is_missing() -> None:
    floors = {"gate/policy": 100.0, "gate/cli.py": 25.0, "gate/model": 100.0}
    (line,) = FLOOR.shortfalls(MEASURED, floors)
    assert line == "gate/policy: 95.0 %, floor 100.0 % gate/policy/points.py:3->5"


def test_a_renamed_package_does_not_lose_its_floor_unnoticed() -> None:
    lines = FLOOR.shortfalls(MEASURED, {"gate/rules": 90.0, "gate/cli.py": 20.0, "gate/model": 100.0})
    assert lines == ["gate/policy: no floor (it has 95.0 %)", "gate/rules: has a floor and was not measured"]


def test_floors_are_only_ever_raised() -> None:
    new = FLOOR.raised(MEASURED, {"gate/policy": 99.0, "gate/cli.py": 3.0})
    assert new == {"gate/policy": 99.0, "gate/cli.py": 24.0, "gate/model": 100.0}


@pytest.mark.slow
def test_real_coverage_is_compared_with_its_floors(tmp_path: Path) -> None:
    data, floors, test = tmp_path / "data", tmp_path / "floors.toml", tmp_path / "test_it.py"
    test.write_text("from gate.errors import UsageError\n\ndef test_it():\n    assert str(UsageError('x'))\n")
    words = ["-m", "pytest", "-q", "-p", "tests.coverage_plugin", "-p", "no:slipcover", "--noconftest"]
    subprocess.run(
        [sys.executable, *words, str(test)],
        cwd=REPOSITORY,
        check=True,
        env={**os.environ, "GATE_COVERAGE_DIR": str(data)},
    )
    words = ["scripts/coverage_floor.py", "--data", str(data), "--floors", str(floors)]

    def compared(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *words, *more]
        return subprocess.run(command, cwd=REPOSITORY, check=False, capture_output=True, text=True)

    assert compared("--raise").returncode == 0
    text = floors.read_text()
    assert '"gate/errors.py" = 0.0' not in text
    assert '"gate/serve" = 0.0' in text
    floors.write_text(text.replace('"gate/serve" = 0.0', '"gate/serve" = 50.0'))
    failed = compared()
    assert failed.returncode == 1
    assert "below its floor: gate/serve: 0.0 %, floor 50.0 %" in failed.stdout
