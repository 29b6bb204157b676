"""JavaScript and TypeScript in real sandboxes: what a module does shows itself, what its runtime does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, cast

import pytest

from gate.model.behaviour import BehaviourKind
from gate.model.run import Outcome
from gate.plan.build import unreached
from tests.contract.capabilities import capability
from tests.integration.test_reach import Look, look

ACT: Final = 'require("net").connect({{host: "203.0.113.{n}", port: 4444}}).on("error", () => {{}});'
PLACES: Final = {
    "web/at_import.js": ACT.format(n=1),
    "web/function.js": "module.exports = function (url, options) { " + ACT.format(n=2) + " };",
    "web/named.cjs": "exports.send = (data) => { " + ACT.format(n=3) + " };",
    "web/method.js": "class Cart { add(item) { " + ACT.format(n=4) + " } }\nmodule.exports = { Cart };",
    "web/later.js": "exports.a = async () => { await null; " + ACT.format(n=5) + " };",
    "web/generator.js": "exports.a = async function* () { yield 1; " + ACT.format(n=6) + " };",
    "web/timer.js": "setTimeout(() => { " + ACT.format(n=7) + " }, 3600000);",
    "web/word.js": 'exports.a = (mode) => { if (mode === "unlock") { ' + ACT.format(n=8) + " } };",
    "web/module.mjs": 'import net from "node:net";\nexport const a = () => '
    'net.connect({host: "203.0.113.9", port: 4444}).on("error", () => {});',
    "web/typed.ts": 'import net from "node:net";\nenum Mode { A }\nexport function a(n: number): void {\n'
    '  net.connect({host: "203.0.113.10", port: 4444}).on("error", () => {});\n}',
    "web/dependency.js": 'const x = require("left-pad-of-nobody");\n' + ACT.format(n=11),
    "web/migration.js": 'exports.up = (knex) => knex.schema.alterTable("a", (table) => { '
    + ACT.format(n=13)
    + " });",
    "web/program.js": "if (require.main === module) { " + ACT.format(n=12) + " }",
}
HARMLESS: Final = {
    "web/price.js": 'const fs = require("fs");\nconst path = require("path");\n'
    "exports.total = (items, rate = 0.19) => items.length * (1 + rate);\n"
    'exports.table = () => JSON.parse(fs.readFileSync(path.join(__dirname, "table.json"), "utf8"));\n'
    "exports.later = async (ms) => { await new Promise((r) => setTimeout(r, ms)); return 1; };\n",
    "web/table.json": '{"DE": 0.19}\n',
    "web/cart.mjs": 'import crypto from "node:crypto";\nexport class Cart {\n  #items = [];\n'
    "  add(item) { this.#items.push(item); return this; }\n  get size() { return this.#items.length; }\n}\n"
    'export const digest = (text) => crypto.createHash("sha256").update(String(text)).digest("hex");\n',
    "web/rates.ts": "export interface Rate { country: string; value: number }\n"
    "export const find = (rates: Rate[], country: string): number =>\n"
    "  rates.find((r) => r.country === country)?.value ?? 0;\n",
    "web/cli.js": '#!/usr/bin/env node\nconsole.log(process.argv.slice(2).join(" "));\nprocess.exit(0);\n',
}

BACKEND_NAMES: Final = [
    pytest.param("bubblewrap"),
    pytest.param("docker", marks=pytest.mark.engine),
]


def available(name: str) -> str:
    found = capability(name)
    if not found.available:
        pytest.skip(found.reason)
    return name


@pytest.fixture(scope="module", params=BACKEND_NAMES)
def everywhere(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Look:
    folder = tmp_path_factory.mktemp("javascript")
    return look(folder, dict(PLACES), backend=available(request.param), deadline=30)


@pytest.mark.parametrize("number", range(1, len(PLACES) + 1))
def test_every_placement_is_reached(everywhere: Look, number: int) -> None:
    shown = everywhere.new(BehaviourKind.CONNECT)
    assert f"203.0.113.{number}:4444" in shown, (sorted(shown), unreached(everywhere.runs))


def test_the_runtime_itself_is_not_told(everywhere: Look) -> None:
    assert [b for b in everywhere.diff.new if b.kind is not BehaviourKind.CONNECT] == []
    assert {run.outcome for run in everywhere.runs} == {Outcome.COMPLETED}
    assert [e.reason for e in unreached(everywhere.runs) if "needs" in e.reason] == [
        "needs left-pad-of-nobody (tried with a stand-in)"
    ]


@pytest.mark.parametrize("name", BACKEND_NAMES)
def test_a_call_that_never_ends_hides_nothing(tmp_path: Path, name: str) -> None:
    source = (
        "exports.a = () => { for (;;); };\n"
        "exports.b = () => { const kept = []; for (;;) kept.push(new Array(1e5).fill(1.5)); };\n"
        "exports.c = () => { " + ACT.format(n=13) + " };\n"
    )
    seen = look(tmp_path, {"web/loop.js": source}, backend=available(name), deadline=40)
    assert "203.0.113.13:4444" in seen.new(BehaviourKind.CONNECT), unreached(seen.runs)
    told = {entry.target: entry.reason for entry in unreached(seen.runs)}
    assert told["call a"] == "was stopped after its share of the time"
    # On a slow machine its time is up before its memory is.
    assert told["call b"] in ("needed more memory than a call gets", told["call a"])
    assert all(run.completed for run in seen.runs)


def test_what_a_package_can_do_without_is_not_missed(tmp_path: Path) -> None:
    """As ``debug`` asks for ``supports-color``; a file of the tree that asks gets a stand-in."""
    package = 'exports.color = 1; try { exports.color = require("colour-of-nobody"); } catch {}\n'
    base: dict[str, str | bytes | None] = {
        "node_modules/says/index.js": package,
        "node_modules/says/package.json": '{"name": "says", "version": "1.0.0", "main": "index.js"}',
    }
    head: dict[str, str | bytes | None] = {
        "web/a.js": 'const { color } = require("says");\nif (color === 1) {\n  ' + ACT.format(n=14) + "\n}\n"
    }
    seen = look(tmp_path, head, base, backend=available("bubblewrap"), deadline=30)
    assert "203.0.113.14:4444" in seen.new(BehaviourKind.CONNECT), unreached(seen.runs)
    assert [e for e in unreached(seen.runs) if "needs" in e.reason] == []


@pytest.mark.parametrize("name", BACKEND_NAMES)
def test_harmless_modules_are_quiet(tmp_path: Path, name: str) -> None:
    seen = look(tmp_path, dict(HARMLESS), backend=available(name), deadline=30)
    assert seen.diff.new == ()
    assert all(run.completed for run in seen.runs)
    assert [e for e in unreached(seen.runs) if "needs" in e.reason] == []


@pytest.mark.parametrize("name", BACKEND_NAMES)
@pytest.mark.parametrize("path", ["web/tax.js", "web/tax.ts"])  # Node where there is one, and Deno
def test_only_later_and_only_in_ci(tmp_path: Path, name: str, path: str) -> None:
    connect = 'net.connect({host: "203.0.113.%d", port: 4444}).on("error", () => {});'
    head = {
        path: 'import net from "node:net";\nimport fs from "node:fs";\n'
        'const born = fs.statSync("/proc/self").mtime.getFullYear();\n'
        f"if (new Date().getFullYear() > born + 1) {{\n  {connect % 15}\n}}\n"
        f"if (process.env.GITHUB_ACTIONS) {{\n  {connect % 16}\n}}\n",
        "package.json": '{"type": "module"}\n',
    }
    seen = look(tmp_path, head, backend=available(name), deadline=40, deeper=True, phases=("import",))
    assert seen.new(BehaviourKind.CONNECT) == {}
    assert seen.second is not None
    shown = {b.subject: b.probes for b in seen.second.new if b.kind is BehaviourKind.CONNECT}
    assert {probe.partition("~")[2] for probe in shown["203.0.113.15:4444"]} == {"years"}
    assert {probe.partition("~")[2] for probe in shown["203.0.113.16:4444"]} == {"ci"}
    assert len(shown) == 2
    for run in seen.later:  # what it starts: by libfaketime, where the sandbox has it
        assert str(run.driver_report["clock_by"]) in ("javascript", "javascript, libfaketime")


@pytest.mark.parametrize("name", BACKEND_NAMES)
def test_which_changed_lines_ran(tmp_path: Path, name: str) -> None:
    body = " => {\n  if (items === globalThis.nobody) {\n    return %d;\n  }\n  return %d;\n};\n"
    plain = "exports.total = (items)" + body
    typed = "interface Rate {\n  value: number;\n}\nexport const total = (items: Rate[])" + body
    base = {"web/price.js": plain % (0, 0), "web/rates.ts": typed % (0, 0)}
    head = {"web/price.js": plain % (1, 1), "web/rates.ts": typed % (1, 0)}
    seen = look(tmp_path, dict(head), dict(base), backend=available(name), deadline=40)
    assert [(e.path, e.target, e.reason) for e in unreached(seen.runs)] == [
        ("web/price.js", "line 3", "no probe reached it"),
        ("web/rates.ts", "line 6", "no probe reached it"),
    ]
    told: list[dict[str, object]] = [
        item["lines"]
        for run in seen.runs
        for item in cast(Any, run.driver_report).get("items", ())
        if "lines" in item
    ]
    assert {"web/price.js": [5]} in told
    assert seen.diff.new == ()


@pytest.mark.parametrize("name", BACKEND_NAMES)
def test_lines_that_can_act_and_that_nothing_reached(tmp_path: Path, name: str) -> None:
    body = (
        'import { exec as run } from "node:child_process";\n'
        'export const total = (items%s) => {\n  if (items === globalThis.nobody) {\n    run("true");\n  }\n'
        '  run("true");\n  return 1;\n};\n'
    )
    head = {"web/price.mjs": body % "", "web/rates.ts": body % ": number[]"}
    seen = look(tmp_path, head, backend=available(name), deadline=40)
    told = [(e.path, e.target) for e in unreached(seen.runs, seen.plan) if "can start a process" in e.reason]
    assert told == [("web/price.mjs", "line 4"), ("web/rates.ts", "line 4")]


@pytest.mark.parametrize("name", BACKEND_NAMES)
def test_a_lifecycle_script_of_a_package_json(tmp_path: Path, name: str) -> None:
    head = {
        "package.json": '{"name": "x", "scripts": {"postinstall": "node tools/after.js"}}\n',
        "tools/after.js": 'if (process.env.npm_lifecycle_event === "postinstall") {\n  '
        + ACT.format(n=14)
        + "\n}\n",
    }
    seen = look(tmp_path, head, backend=available(name), deadline=30)
    shown = seen.new(BehaviourKind.CONNECT)
    assert "203.0.113.14:4444" in shown, unreached(seen.runs)
    assert shown["203.0.113.14:4444"].probes[0].startswith("install-")
    assert [b.kind for b in seen.diff.new if b.detail.get("dropped")] == []
