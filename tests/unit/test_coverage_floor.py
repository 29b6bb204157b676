"""The floor under test coverage: what is below it, what has none, and that it is only ever raised."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE
from types import ModuleType
from typing import Any

import pytest

from tests.paths import REPOSITORY

_MEASURED_ONCE = """
import contextlib, functools, io, json, sys
sys.path.insert(0, "scripts")
import coverage_floor
coverage_floor.measure = functools.cache(coverage_floor.measure)  # compiles all of gate, in a quarter minute
for line in sys.stdin:
    with contextlib.redirect_stdout(io.StringIO()) as told:
        code = coverage_floor.main(json.loads(line))
    print(json.dumps([code, told.getvalue()]), flush=True)
"""
"""The script, called with the words of each line: it answers with its exit code and what it printed."""


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
    words = ["--data", str(data), "--floors", str(floors)]
    with subprocess.Popen(
        [sys.executable, "-c", _MEASURED_ONCE], cwd=REPOSITORY, stdin=PIPE, stdout=PIPE, text=True
    ) as child:

        def compared(*more: str) -> tuple[int, str]:
            assert child.stdin is not None
            print(json.dumps([*words, *more]), file=child.stdin, flush=True)
            assert child.stdout is not None
            code, told = json.loads(child.stdout.readline())
            return code, told

        assert compared("--raise") == (0, "")
        text = floors.read_text()
        assert '"gate/errors.py" = 0.0' not in text
        assert '"gate/serve" = 0.0' in text
        floors.write_text(text.replace('"gate/serve" = 0.0', '"gate/serve" = 50.0'))
        code, told = compared()
        assert code == 1
        assert "below its floor: gate/serve: 0.0 %, floor 50.0 %" in told


def test_without_a_measurement_the_command_fails(tmp_path: Path) -> None:
    words = ["scripts/coverage_floor.py", "--data", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, *words], cwd=REPOSITORY, check=False, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "nothing was measured" in done.stdout
