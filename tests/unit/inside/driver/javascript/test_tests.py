"""Where the programs of test runners are found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gate.inside.driver.javascript import tests as javascript_tests
from tests.unit.inside.driver.harness import PATH, drive, lay_tree


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


_FAKE = """
const fs = require("fs");
const out = process.argv.find((word) => word.startsWith("--outputFile=")).split("=")[1];
const tests = [];
for (let n = 0; n < 3000; n++) tests.push({ title: "x".repeat(200), status: "passed" });
const said = process.argv.some((word) => word.includes("many"))
  ? { numPassedTests: tests.length, testResults: [{ assertionResults: tests, message: "" }] }
  : { numPassedTests: 0, testResults: [{ assertionResults: [], message: "Error: no such table\\n at x" }] };
fs.writeFileSync(out, JSON.stringify(said));
console.log("JSON report written to", out);
"""


@pytest.mark.skipif(shutil.which("node", path=PATH) is None, reason="needs node")
@pytest.mark.parametrize(
    ("name", "counts", "message"), [("many", {"passed": 3000}, None), ("none", {}, "Error: no such table")]
)
def test_what_a_runner_tells_is_read_to_its_end(
    name: str, counts: dict[str, int], message: str | None, tmp_path: Path
) -> None:
    files = {
        "node_modules/vitest/package.json": json.dumps({"bin": "run.cjs"}),
        "node_modules/vitest/run.cjs": _FAKE,
        f"{name}.test.js": "import { test } from 'vitest'\n",
    }
    tree = lay_tree(tmp_path / "t", files)
    seen = drive(tree, {"items": [{"do": "javascript_test", "paths": [f"{name}.test.js"]}]})
    assert seen.item["tests"] == counts
    assert seen.item.get("message") == message


@pytest.mark.parametrize(
    ("scripts", "found"),
    [
        ({"test": "vitest run --config ./test/vitest.config.mts"}, (".", "test/vitest.config.mts")),
        ({"test:unit": "vitest --config=test/vitest.config.mts"}, (".", "test/vitest.config.mts")),
        ({"test": "vitest run --config ./gone.mts"}, ("", "")),
        ({"test": "jest --config test/vitest.config.mts"}, ("", "")),
        ({"build": "vitest run --config ./test/vitest.config.mts"}, ("", "")),
        ({"test": "vitest run"}, ("", "")),
    ],
)
def test_settings_that_the_projects_script_names_count(
    scripts: dict[str, str], found: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "package.json": json.dumps({"scripts": scripts}),
        "test/vitest.config.mts": "",
        "test/a.test.ts": "",
    }
    monkeypatch.chdir(lay_tree(tmp_path / "t", files))
    assert javascript_tests.settings_named("vitest", "test/a.test.ts") == found
    assert javascript_tests._folder("vitest", "test/a.test.ts") == (found[0] or "test")


def test_settings_of_the_script_that_names_the_folder_of_the_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = {
        "test": "jest --config js/jest.config.js js/tests/",  # which is not there
        "test-browser": "jest --config js/browser.config.js js/tests/browser/",
        "test-unit": "jest --config js/unit.config.js js/tests/unit/",
    }
    (tmp_path / "js/tests/unit").mkdir(parents=True)
    (tmp_path / "js/tests/browser").mkdir()
    (tmp_path / "package.json").write_text(json.dumps({"scripts": scripts}))
    for name in ("browser", "unit"):
        (tmp_path / f"js/{name}.config.js").write_text("module.exports = {}")
    monkeypatch.chdir(tmp_path)
    assert javascript_tests.settings_named("jest", "js/tests/unit/a.test.js") == (".", "js/unit.config.js")
    assert javascript_tests.settings_named("jest", "js/tests/browser/a.js") == (".", "js/browser.config.js")
