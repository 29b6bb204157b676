"""Sources that only a bundler reads: JSX in plain scripts, names of CommonJS, customary aliases, styles."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.npm_packages import npm_packages
from tests.unit.inside.driver.harness import drive, lay_tree
from tests.unit.inside.driver.javascript.job import node as wheel_node
from tests.unit.inside.driver.javascript.job import run
from tests.unit.inside.driver.javascript.test_hooks import node

COMPILERS = {
    "babel": ("@babel/core@7.28.5", "@babel/preset-react@7.28.5"),
    "esbuild": ("esbuild@0.25.12",),
    "sucrase": ("sucrase@3.35.0",),
    "typescript": ("typescript@5.9.3",),
}
FILES = {
    "package.json": '{"name": "page"}',
    "app/parts/panel.js": (
        'import { extend, each as every } from "lodash";\n'
        'import "../look.less";\n'
        'import { name } from "@/names";\n'
        "every([1], (one) => one);\n"
        "export const joined = (one) => extend({}, one, { name });\n"
        "export function Panel(props) {\n"
        '  return <div className="x">{props.name}</div>;\n'
        "}\n"
    ),
    "app/names.js": 'export const name = "told";\n',
    "app/look.less": ".x { color: @blue }\n",
    "app/page.jsx": (
        'import { isEmpty } from "lodash";\n'
        'import { joined, Panel } from "./parts/panel";\n'
        "const made = <Panel name={joined({}).name} />;\n"
        "console.log(made.type === Panel, made.props.name, isEmpty([]));\n"
    ),
}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_page_that_a_bundler_would_read(tmp_path: Path, compiler: str) -> None:
    tree = lay_tree(tmp_path / "t", FILES)
    (tree / "node_modules").symlink_to(npm_packages("lodash@4.17.21", "react@18.3.1", *COMPILERS[compiler]))
    done = node(tree, "app/page.jsx", "--preserve-symlinks")
    assert (done.returncode, done.stdout) == (0, "true told true\n"), done.stderr


def test_a_file_of_a_package_without_its_ending_has_its_default(tmp_path: Path) -> None:
    files = {
        "package.json": '{"name": "page"}',
        "index.js": 'import notice, { shown } from "look/lib/notice";\nconsole.log(notice.config(), shown);',
        "node_modules/look/package.json": '{"name": "look"}',
        "node_modules/look/lib/notice.js": (
            "exports.__esModule = true;\nexports.default = { config: () => 1 };\nexports.shown = 2;"
        ),
    }
    done = node(lay_tree(tmp_path / "t", files), "index.js")
    assert (done.returncode, done.stdout) == (0, "1 2\n"), done.stderr


def test_a_script_of_a_package_that_says_module_is_read_as_node_does(tmp_path: Path) -> None:
    files = {
        "package.json": '{"type": "module"}',
        "index.js": 'import { extend } from "loose";\nconsole.log(extend);',
        "node_modules/loose/index.js": "const a = { extend: 1 };\nfor (const n in a) exports[n] = a[n];",
    }
    done = node(lay_tree(tmp_path / "t", files), "index.js")
    assert "does not provide an export named 'extend'" in done.stderr or "Named export" in done.stderr


HOLDS = "const page = (n) => `<p>Name: <b>${n}</b></p>`;\nexports.page = page;\n"
LOOSE = "const all = { extend: () => 1 };\nfor (const n in all) exports[n] = all[n];\n"


def test_html_in_a_text_is_no_markup(tmp_path: Path) -> None:
    done = run(tmp_path, {"package.json": "{}", "app.js": HOLDS}, "app.js")
    assert (done.lines, done.report["code"]) == ({1, 2}, {"app.js": [1, 2]}), done.report


def test_an_import_that_node_can_do_is_node_s(tmp_path: Path) -> None:
    files = {
        "package.json": "{}",
        "index.js": 'import("pkg").then((m) => console.log(typeof m.default, m.named, m.default.named));',
        "node_modules/pkg/index.js": (
            "exports.__esModule = true;\nexports.default = () => 1;\nexports.named = 1;"
        ),
    }
    done = node(lay_tree(tmp_path / "t", files), "index.js")
    assert done.stdout == "object 1 1\n", done.stderr


def test_what_node_cannot_link_is_tried_as_a_bundler_links_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.unit.inside.driver.harness.PATH", str(wheel_node().parent))
    text = 'import { extend } from "loose";\nexport const made = () => extend();\n'
    files = {"package.json": "{}", "node_modules/loose/index.js": LOOSE, "index.js": text}
    tree = lay_tree(tmp_path / "t", files)
    driven = drive(tree, {"items": [{"do": "javascript", "path": "index.js", "call": True}], "nap": 0.05})
    assert driven.item["outcome"] == "completed", driven
    assert driven.calls["made"] == "returned"


def test_a_comparison_is_no_markup(tmp_path: Path) -> None:
    files = {"index.js": "const a = 1, b = 2;\nconst c = (a <b);\nconsole.log(c, a <b || b> a);\n"}
    done = node(lay_tree(tmp_path / "t", files), "index.js")
    assert (done.returncode, done.stdout) == (0, "true true\n"), done.stderr
