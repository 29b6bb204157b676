"""Tests of JavaScript projects in a real sandbox: the project's runner, and which lines are known to have
run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from gate.model.behaviour import BehaviourKind
from gate.plan.line_coverage import coverage
from gate.sandbox.images import runtimes
from tests.contract.capabilities import capability
from tests.integration.test_reach import Look, look

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(runtimes.find_node() is None, reason="no Node of a wheel on this machine"),
]
SOURCE: Final = """export function total(items) {
  const sum = items.reduce((a, b) => a + b, 0);
  return sum;
}
export function never() {
  return 1;
}
"""
TESTS: Final = """import test from "node:test";
import assert from "node:assert";
import { total } from "../build/total.js";
test("adds", () => {
  assert.equal(total([1, 2]), 3);
});
"""
MANIFEST: Final = '{"name": "shop", "type": "module", "scripts": {"test": "node --test"}}'


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Look:
    found = capability("bubblewrap")
    if not found.available:
        pytest.skip(found.reason)
    base: dict[str, str | bytes | None] = {
        "package.json": MANIFEST,
        "test/total.test.js": TESTS,
        "src/total.js": "export {};\n",
    }
    head: dict[str, str | bytes | None] = {"src/total.js": SOURCE}
    return look(tmp_path_factory.mktemp("project"), head, base, deadline=30)


def test_the_test_that_imports_what_changed_is_run_by_the_projects_runner(looked: Look) -> None:
    (run,) = [
        run for run in looked.runs if run.probe.phase == "test" and run.side == "head" and not run.repeat
    ]
    items = run.driver_report["items"]
    assert isinstance(items, list)
    item = items[0]
    assert item["outcome"] == "completed"
    assert item["tests"].get("passed", 0) >= 1
    assert set(item["lines"]["src/total.js"]) >= {2, 3}
    assert 6 not in item["lines"]["src/total.js"]


def test_the_runner_itself_is_not_told(looked: Look) -> None:
    assert [b.subject for b in looked.diff.new if b.kind in (BehaviourKind.EXEC, BehaviourKind.WRITE)] == []


def test_a_test_that_acts_is_told(tmp_path: Path) -> None:
    found = capability("bubblewrap")
    if not found.available:
        pytest.skip(found.reason)
    act = 'import net from "node:net";\n'
    act += 'net.connect({ host: "203.0.113.7", port: 4444 }).on("error", () => {});\n'
    base: dict[str, str | bytes | None] = {
        "package.json": MANIFEST,
        "src/total.js": SOURCE,
        "test/total.test.js": TESTS,
    }
    seen = look(tmp_path, {"test/total.test.js": act + TESTS}, base, deadline=30)
    assert "203.0.113.7:4444" in seen.new(BehaviourKind.CONNECT)


def test_a_runner_that_is_not_installed_is_named(tmp_path: Path) -> None:
    found = capability("bubblewrap")
    if not found.available:
        pytest.skip(found.reason)
    text = 'import { test } from "vitest";\ntest("x", () => {});\n'
    seen = look(tmp_path, {"package.json": MANIFEST, "src/a.test.js": text}, {"README": ""}, deadline=30)
    told = coverage(seen.runs, seen.plan).why["src/a.test.js"]
    assert told[1] == "vitest"


def test_lines_are_known_of_a_file_that_a_runner_wraps_and_leaves_as_it_is(tmp_path: Path) -> None:
    """As jest does where its ``transform`` does not name the file: no source map tells of it."""
    found = capability("bubblewrap")
    if not found.available:
        pytest.skip(found.reason)
    wrapping = """import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import vm from "node:vm";
test("wrapped", () => {
  const file = path.resolve("lib/option.cjs");
  const text = fs.readFileSync(file, "utf8");
  const around = `({"Object.<anonymous>":function(module,exports,require,jest){${text}\\n}});`;
  const made = { exports: {} };
  new vm.Script(around, { filename: file }).runInThisContext()["Object.<anonymous>"](made, made.exports);
  if (made.exports.total([1, 2]) !== 3) throw new Error("wrong");
});
"""
    source = SOURCE.replace("export function total", "exports.total = function").replace("export ", "")
    head: dict[str, str | bytes | None] = {"test/a.test.js": wrapping, "lib/option.cjs": source}
    seen = look(tmp_path, head, {"package.json": MANIFEST}, deadline=30)
    (run,) = [r for r in seen.runs if r.probe.phase == "test" and r.side == "head" and not r.repeat]
    items = run.driver_report["items"]
    assert isinstance(items, list)
    assert set(items[0]["lines"]["lib/option.cjs"]) >= {2, 3}
    assert 6 not in items[0]["lines"]["lib/option.cjs"]
