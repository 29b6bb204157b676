"""Where the programs of test runners are found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gate.inside.driver.javascript import tests as javascript_tests
from tests.unit.inside.driver.harness import lay_tree


@pytest.mark.parametrize(
    ("runner", "package", "said"),
    [
        ("ava", "ava", {"ava": "entrypoints/cli.js"}),
        ("ava", "ava", {"ava": "./entrypoints/cli.mjs"}),
        ("mocha", "mocha", {"mocha": "./bin/mocha.js", "_mocha": "bin/_mocha"}),
        ("jest", "jest", "./bin/jest.js"),
        ("vitest", "vite-plus", {"vp": "bin/vp"}),
    ],
)
def test_a_runner_is_found_by_what_its_package_says(
    runner: str, package: str, said: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = str(said if isinstance(said, str) else next(iter(said.values()))).removeprefix("./")  # type: ignore[attr-defined]
    files = {f"node_modules/{package}/package.json": json.dumps({"bin": said})}
    tree = lay_tree(tmp_path / "t", {**files, f"node_modules/{package}/{script}": "", "pkg/a.test.js": ""})
    monkeypatch.chdir(tree)
    for folder in (".", "pkg"):
        assert javascript_tests._program(runner, folder) == str(tree / "node_modules" / package / script)
    (tree / "node_modules" / package / script).unlink()
    assert javascript_tests._program(runner, "pkg") is None
