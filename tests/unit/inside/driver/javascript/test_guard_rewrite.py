# ruff: noqa: E501 - texts of modules
"""Rewritten modules do what they did before, line by line, and tell what they compare."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.unit.inside.driver.harness import DRIVER
from tests.unit.inside.driver.javascript.job import node

GUARDS = DRIVER / "javascript" / "guards"

SNIPPETS = {
    "brackets": "(1) === (1 /* one */) && ((2)) !== (3)",
    "nested": "[1, 2, 3].filter((x) => x > 1 === true).length === 2",
    "type-of-nothing": 'typeof nowhere === "undefined" && typeof [].x !== "string"',
    "optional-lookup": "((o, k) => [o[k]?.b, o?.[k]?.b, o?.a[k], o[k]?.[k], undefined?.[k][k]])({ a: { b: 1, a: 2 } }, 'a')",
    "optional": "[undefined?.a[0], { a: [4] }?.a[0], { a: { b: () => 5 } }.a?.b()]",
    "this-of-a-call": "{ a: { k: 7, f() { return this.k; } }, n: 'f', go() { return this.a[this.n](); } }.go()",
    "targets": "(() => { const o = { a: {} }; const k = 'a'; o[k]['b'] = 1; o[k].c = o[k]['b'] + 1; delete o[k].b; [o['z']] = [3]; o['z']++; return o; })()",
    "switch": "((x) => { switch (x) { case 'a': return 1; case `b`: return 2; default: return 3; } })('b')",
    "thrown": "(() => { try { throw new TypeError('x'); } catch (e) { return e instanceof TypeError && 'message' in e; } })()",
    "private": "new (class { #x = 1; has(o) { return #x in o && this.#x === 1; } is() { return this.has(this); } })().is()",
    "directive": "(function () { 'use strict'; return this === undefined; })()",
    "loops": "(() => { let n = 0; for (const k in { a: 1, b: 2 }) n += k === 'a' ? 1 : 10; while (n < 20) n++; return n; })()",
    "template": "`${1 < 2 ? `${'a' === 'a'}` : ''}`",
    "defaults": "((a, b = a === 1, { c = b ? 2 : 3 } = {}) => [a, b, c])(1)",
    "generator": "[...(function* () { yield 1 === 1; const x = yield 2; return x === 3; })()]",
    "sequence": "(1, 2) === 2 && !(0, null)",
    "regex": "/a/.test('a') === /b/.test('b')",
    "big": "10n > 9 && 1n !== 1 && 1n == 1",
    "moments": "new Date(5) < new Date(6) && new Date(5).getTime() === 5",
    "class": "(() => { class A { static t = 1 === 1; get g() { return this.v ?? 4; } } return [A.t, new A().g]; })()",
    "without-semicolons": "(() => { let a = 1\n let b = a\n  === 1\n if (b) a = 2\n return a })()",
}  # fmt: skip


def printed(program: str) -> Any:
    done = subprocess.run(
        [node(), "--expose-internals", "--no-warnings", "--input-type=module", "-e", program],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_says_the_same_and_moves_no_line() -> None:
    made = printed(
        f"""
        import {{ rewrite }} from {json.dumps(str(GUARDS / "rewrite.mjs"))};
        import {json.dumps(str(GUARDS / "listening.mjs"))};
        const texts = {json.dumps(SNIPPETS)};
        const shown = (value) => JSON.stringify(value, (_, one) => (typeof one === "bigint" ? String(one) : one));
        const out = {{}};
        for (const [name, text] of Object.entries(texts)) {{
          const code = `globalThis.out = (${{text}})`;
          const made = rewrite(code);
          (0, eval)(code);
          const before = shown(globalThis.out);
          (0, eval)(made);
          out[name] = [before === shown(globalThis.out), code.split("\\n").length === made.split("\\n").length, made !== code];
        }}
        console.log(JSON.stringify(out));
        """
    )
    unchanged = {"optional"}  # holds nothing that is told
    assert {name: said[:2] for name, said in made.items()} == {name: [True, True] for name in SNIPPETS}
    assert {name for name, said in made.items() if not said[2]} <= unchanged


def test_what_cannot_be_parsed_stays_as_it_is() -> None:
    program = f"""
        import {{ rewrite }} from {json.dumps(str(GUARDS / "rewrite.mjs"))};
        console.log(JSON.stringify(rewrite("const = 1 === 2")));
    """
    assert printed(program) == "const = 1 === 2"


@pytest.mark.parametrize(
    ("code", "fact"),
    [
        ('user.role === "admin"', ["user.role", "==", "admin"]),
        ('["a", "b"].includes(user.role)', ["user.role", "==", "a"]),
        ('new Set(["a"]).has(user.role)', ["user.role", "==", "a"]),
        ('({ a: 1 })[user.role] === 1', ["user.role", "==", "a"]),
        ('({ a: ["x"] })[user.role]?.includes("x") ?? false', ["user.role", "==", "a"]),
        ('user.name.startsWith("x-")', ["user.name", "begins", "x-"]),
        ("user.id === note.ownerId", ["user.id", "==", ["same", "note.ownerId"]]),
        ("user.age >= 18", ["user.age", "<", 18]),
        ('`Bearer ${user.token}` === "Bearer k1"', ["user.token", "==", "k1"]),
        ('user.name.toLowerCase() === "kim"', ["user.name", "==", "kim"]),
        ("user.seen + 5 > 100", ["user.seen", "<", 95]),
    ],
)  # fmt: skip
def test_what_is_compared_is_told(code: str, fact: list[Any], tmp_path: Path) -> None:
    guard = tmp_path / "guard.mjs"
    guard.write_text(f"export const isOk = (user, note) => {code};\n")
    facts = printed(
        f"""
        import fs from "node:fs";
        import process from "node:process";
        process.chdir({json.dumps(str(tmp_path))});
        const {{ Asker }} = await import({json.dumps(str(GUARDS / "asker.mjs"))});
        const {{ listen }} = await import({json.dumps(str(GUARDS / "builtins.mjs"))});
        const {{ rewrite }} = await import({json.dumps(str(GUARDS / "rewrite.mjs"))});
        listen();
        const space = await import("data:text/javascript," + encodeURIComponent(rewrite(fs.readFileSync("guard.mjs", "utf8"))));
        const asker = new Asker(space, {{ clock: 1.8e9, bounded: (one) => one }});
        asker.open("isOk");
        console.log(JSON.stringify((await asker.call({{}})).facts));
        """
    )
    assert fact in facts
