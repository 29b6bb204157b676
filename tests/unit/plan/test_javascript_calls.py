# ruff: noqa: E501 - one line for each case is easier to read
"""Which lines of JavaScript and TypeScript can act, told from the words of the text."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gate.languages.javascript import read
from gate.languages.limited_child import Reader, scan_isolated
from gate.plan.javascript.calls import MOST_ACTS, Act, acting_lines, read_bare_acts
from tests.unit.plan.planned import planned

READS = "gate.plan.javascript.calls:read_acts"
PROCESS, NETWORK, CODE = "start a process", "reach the network", "run code that it is given"
NATIVE, DELETE, SIGNAL, HIDDEN = (
    "load native code",
    "delete files",
    "signal other processes",
    "write hidden files",
)
TOLD = (
    ('const cp = require("child_process");\ncp.exec("id");', PROCESS),
    ('const cp = require("node:child_process");\ncp.spawnSync("id", []);', PROCESS),
    ('const { exec: run, fork } = require("child_process");\nrun("id");', PROCESS),
    ('const { exec: run, fork } = require("child_process");\nfork("a.js");', PROCESS),
    ('import cp from "child_process";\ncp.execFile("id");', PROCESS),
    ('import * as cp from "node:child_process";\ncp.execSync("id");', PROCESS),
    ('import { exec as run, spawn } from "child_process";\nrun("id");', PROCESS),
    ('import { exec as run, spawn } from "child_process";\nspawn("id");', PROCESS),
    ('import a, { spawn } from "child_process";\nspawn("id");', PROCESS),
    ('import cp = require("child_process");\ncp.exec("id");', PROCESS),
    ('import cp, { type Options } from "child_process";\ncp!.exec("id");', PROCESS),
    ('\nrequire("child_process").exec("id");', PROCESS),
    ('\n(await import("node:child_process")).exec("id");', PROCESS),
    ('const cp = await import("child_process");\ncp.default.exec("id");', PROCESS),
    ('const { exec } = await import("child_process");\nexec("id");', PROCESS),
    ('const run = require("util").promisify(require("child_process").exec);\nawait run("id");', PROCESS),
    ('import { promisify } from "util"; import { exec } from "child_process"; const r = promisify(exec);\nr("id");', PROCESS),
    ('const cp = require("child_process"); const run = cp.exec;\nrun("id");', PROCESS),
    ('const cp = require("child_process"); const { exec } = cp;\nexec("id");', PROCESS),
    ('import { createRequire } from "module"; const r = createRequire(import.meta.url);\nr("child_process").exec("id");', PROCESS),
    ('\nprocess.mainModule.require("child_process").exec("id");', PROCESS),
    ('\nprocess.getBuiltinModule("child_process").exec("id");', PROCESS),
    ('const cp = require("child_process");\ncp["exec"]("id");', PROCESS),
    ('const cp = require("child_process");\ncp?.exec?.("id");', PROCESS),
    ('const cp = require("child_process");\n(0, cp.exec)("id");', PROCESS),
    ('const cp = require("child_process");\ncp.exec.call(null, "id");', PROCESS),
    ("const cp = require(`child_process`);\ncp.exec(`id ${1}`);", PROCESS),
    ('\nnew Deno.Command("id").output();', PROCESS),
    ('\nDeno.run({cmd: ["id"]});', PROCESS),
    ("import { $ } from \"zx\";\nawait $`id`;", PROCESS),
    ('\nawait fetch("https://x.invalid");', NETWORK),
    ('\nglobalThis.fetch("https://x.invalid");', NETWORK),
    ('\n(globalThis as any).fetch("https://x.invalid");', NETWORK),
    ('\nconst a = fetch<Thing>("https://x.invalid");', NETWORK),
    ('import https from "https";\nhttps.get("https://x.invalid");', NETWORK),
    ('const http = require("http");\nhttp.request({});', NETWORK),
    ('const net = require("net");\nnet.connect(1);', NETWORK),
    ('import { connect } from "tls";\nconnect(1);', NETWORK),
    ('import dgram from "node:dgram";\ndgram.createSocket("udp4");', NETWORK),
    ('\nnew WebSocket("wss://x.invalid");', NETWORK),
    ('\nnew XMLHttpRequest;', NETWORK),
    ('\nDeno.connect({port: 1});', NETWORK),
    ('const axios = require("axios");\naxios.post("https://x.invalid");', NETWORK),
    ('import { lookup } from "dns/promises";\nlookup("x.invalid");', NETWORK),
    ('\neval("1");', CODE),
    ('\n(0, eval)("1");', CODE),
    ('\nev\\u0061l("1");', CODE),
    ('\nnew Function("return 1")();', CODE),
    ('\nFunction("return 1")();', CODE),
    ('\n[].constructor.constructor("return 1")();', CODE),
    ('const vm = require("vm");\nvm.runInNewContext("1");', CODE),
    ('const { Worker } = require("worker_threads");\nnew Worker("1", {eval: true});', CODE),
    ('const name = "child" + "_process";\nrequire(name).exec("id");', CODE),
    ('\nawait import(name);', CODE),
    ("\nrequire('child_' + 'process').exec('id');", PROCESS),
    ("\nrequire(`child_${'process'}`).exec('id');", PROCESS),
    ("const cp = require('child_process');\ncp['ex' + 'ec']('id');", PROCESS),
    ("const cp = require('child' + `_` + 'process');\ncp[`ex${'ec'}`]('id');", PROCESS),
    ("\nrequire('child_' + name).exec('id');", CODE),
    ("\nrequire(`${name}`).exec('id');", CODE),
    ("\nimport('child_process').then(m => m.exec('id'));", PROCESS),
    ("\nimport('child_process').then(async (m) => m.exec('id'));", PROCESS),
    ("\nimport('child_process').then(({ exec: e, spawn }) => e('id'));", PROCESS),
    ("\nimport('child_process').then(function (m) { m.exec('id'); });", PROCESS),
    ("import request from 'request';\nrequest.get('https://x.invalid');", NETWORK),
    ("const del = require('del');\ndel(['a']);", DELETE),
    ('\nsetTimeout("go()", 1);', CODE),
    ('\nprocess.binding("spawn_sync");', NATIVE),
    ('\nconst a = require("./a.node");', NATIVE),
    ('\nDeno.dlopen("a.so", {});', NATIVE),
    ('const fs = require("fs");\nfs.rmSync("a", {recursive: true});', DELETE),
    ('import { unlink } from "node:fs/promises";\nunlink("a");', DELETE),
    ('const fs = require("fs");\nfs.promises.rm("a");', DELETE),
    ('\nprocess.kill(1);', SIGNAL),
    ('const fs = require("fs");\nfs.appendFileSync(home + "/.bashrc", "x");', HIDDEN),
    ('import { writeFile } from "fs/promises";\nwriteFile(path.join(home, ".ssh", "authorized_keys"), "x");', HIDDEN),
    ('import fs from "fs";\nfs.writeFileSync(`${home}/.npmrc`, "x");', HIDDEN),
)  # fmt: skip
NOT_TOLD = (
    '// eval("1")\n/* fetch("x")\n eval("2") */',
    'const text = "eval(1); fetch(2)";',
    "const text = `eval(1)`;",
    "const found = /eval(1)/.exec(text);",
    'const found = pattern.exec("a");',
    "api.fetch(1); this.fetch(2); self2.eval(3);",
    "class A { fetch() { return 1; } async eval(a) { } static spawn(b): void { } }",
    "function fetch(a) { return a; }",
    "interface A { fetch(a: string): Promise<void>; }",
    'const fs = require("fs"); fs.writeFileSync("out/a.json", "{}"); fs.readFileSync(".env");',
    'import { exec } from "./mine"; exec("a");',
    'import { fetch } from "./mine"; fetch("a");',
    "const worker = options.Worker; type F = typeof fetch;",
    'setTimeout(() => {}, 1); require("./a");',
    'const cp = require("child_process"); module.exports = { exec: cp };',
    "element.remove(); list.del(1); socket.connect(2);",
    "x = a / b; y = c / eval2(1);",
    'const fs = require("fs"); fs.writeFileSync("./a.txt", "..");',
    "app.get('/', (request, response) => request.get('a'));",
    "function f(del, got) { del(1); got(2); }",
    "ws.send('a'); ws.on('message', f);",
    "require('./locale/' + name); require(`./locale/${name}`);",
    "import('./a').then(m => m.exec());",
)


@pytest.mark.parametrize("path", ["a.js", "a.ts", "a.tsx"])
@pytest.mark.parametrize(("source", "what"), TOLD)
def test_told(source: str, what: str, path: str) -> None:
    assert (2, 2, what) in acting_lines(source, path)
    assert {line for line, _, _ in acting_lines(source, path)} == {2}
    assert {(first, last) for first, last, _ in acting_lines("\n\n" + source, path)} == {(4, 4)}


@pytest.mark.parametrize("source", NOT_TOLD)
def test_not_told(source: str) -> None:
    assert acting_lines(source, "a.ts") == ()
    assert acting_lines(source, "a.tsx") == ()
    if not read(source, "a.js").doubtful:
        assert acting_lines(source, "a.js") == ()


def test_lines_of_a_call_and_of_what_is_in_a_template() -> None:
    source = "const a = `\n${fetch(\n  url,\n)} and ${`${eval(b)}`}\n`;\nfetch(1);\n"
    assert acting_lines(source) == ((2, 4, NETWORK), (4, 4, CODE), (6, 6, NETWORK))


def test_a_name_that_is_bound_below() -> None:
    source = 'function go() {\n  run("id");\n}\nconst { exec: run } = require("child_process");\n'
    assert acting_lines(source) == ((2, 2, PROCESS),)


def test_markup_with_apostrophes() -> None:
    source = (
        "const a = <p>Don't do that</p>;\nconst b = <b onClick={() => fetch('/x')}>it's</b>;\neval('1');\n"
    )
    assert acting_lines(source) == ((2, 2, NETWORK), (3, 3, CODE))


def test_bounded() -> None:
    assert len(acting_lines("eval(1);\n" * 999)) == 999 < MOST_ACTS


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50_000, "'" * 50_000, "`${" * 30_000, "a." * 50_000, "/" * 50_000, "/*" * 50_000, '"\\\n' * 30_000,
        "import " * 30_000, "await " * 30_000, "} = a;" * 20_000, "x<" * 30_000, "eval(" * 20_000, "\\u" * 30_000,
        "const a = b; " * 10_000, "[" * 50_000, "x" + "=/[" * 100_000, '"\\' * 100_000, "'\\\r\n" * 30_000,
        ")/[" * 50_000, ")/x" * 50_000, "</" * 50_000, "<p>'" * 30_000, "}`" * 50_000, "//\r" * 50_000, "${" * 50_000,
        "a\n/" * 50_000, "<!--" * 50_000, "require('a'+" * 10_000, "x = a" + ".b" * 30_000 + ";" + "x(" * 30_000,
    ],
)  # fmt: skip
@pytest.mark.slow
def test_texts_made_to_be_slow(text: str) -> None:
    start = time.process_time()
    read_bare_acts("a.js", text.encode(), {})
    assert time.process_time() - start < 30  # a tenth of that on a quiet machine


# What hides the rest of the text from a reader who takes it for something else.
HIDING = (
    "if (x) /`/.test(y);", "if (x) /'/.test(y);", 'if (x) /"/.test(y);', "{}\n/`/.test(y);", "if (x) /a/*2;",
    "if (x) /[`/*]/.test(y);", "type A = B[]\n/`/.test(y);", "type A = B\n/`/.test(y);", "type A = B\r/`/.test(y);",
    "a++ / 2; b = '`/';", "a! / 2; b = '`/';", "a = b.of / 2; c = '`/';", "x = y\n/ 2; z = '`/';", "if (x) /\\/`/.test(y);",
    "a = <p>`</p>;", "a = <p>/*</p>;", "a = <p>{b}`</p>;", "a = <p>{b}/*{c}</p>;", "a = <p\n>`{b}</p>;", "a = <>`</>;",
    "a = <A b={c} />; d = <p>`</p>;", "a</x>`/.y;", "a</`/.y;", "a</'/.y;", "if (x) />`/.test(y);",
    "<!-- ` ", "<!-- /*", "--> `", "a\n--> `", "#!/usr/bin/env node `", "#! /*", "// x `", "// it's /*",
    "a instanceof /`/;", "export default /`/;", "x = `${(() => { if (a) /}/.test(b); })()} /*`;",
    "type A = 'x'\n/`/.test(y);", "let a: 1\n/`/.test(y);", "type A = `x`\n/`/.test(y);", "class A { static a = /`/ }",
    "x = <T,>(a) => `b`;", "x = <div a='\\'>`</div>;", "x = <div a='\\'/>;", "x = a as any\n/`/.test(b)", "<any>/`/.exec(x);",
    "if (x) /[`]/v.test(y);", "a?.5:/`/;", "/* a */--> `", "x/*\n*/--> `", "x /*\n*/ /`/.test()", "'\\\r\n`';", "++/`/.lastIndex;",
    "if (x) /`/.test(y); (a) / 2; b = '`/'; /* ) { */", "if (x) /'/.test(y), /`/; // don't .",
)  # fmt: skip


@pytest.mark.parametrize("source", HIDING)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("path", ["a.js", "a.ts", "a.tsx"])
def test_nothing_hides_the_rest(source: str, end: str, path: str) -> None:
    line = (source + end).count("\n") + 1
    hidden = (
        f"{source}{end}const {{ exec: run }} = require('child_process');{end}run('id');{end}eval(b);{end}"
    )
    told = {(first, what) for first, _, what in acting_lines(hidden, path)}
    told_between = {(first, what) for first, _, what in acting_lines(hidden + source, path)}
    assert {(line + 1, PROCESS), (line + 2, CODE)} <= told & told_between


@pytest.mark.parametrize("end", ["\r", "\u2028", "\u2029"])
@pytest.mark.parametrize("source", ["// x", "<!-- x", "#! x", "if (x) /`/.test(y);", "// don't `"])
@pytest.mark.parametrize("path", ["a.js", "a.ts", "a.tsx"])
def test_every_line_end_of_javascript_ends_a_comment(source: str, end: str, path: str) -> None:
    assert (1, 1, CODE) in acting_lines(f"{source}{end}eval(a);{end}b();", path)


@pytest.mark.parametrize(
    "source",
    [
        "if (x) /'/.test(y); eval(a); b = '';", "a = <b>Don't</b>; eval(a); c = <b>don't</b>;", "a = <b>//</b>; eval(a);",
        "a = <p>{b}//{eval(a)}</p>", "a = <p>{b}'{eval('1')}</p>;", "a = <b></b>; eval(a); c = <b></b>;",
        "a = <A b={1} />; eval(a); c = <A b={1} />;", "if (x) /a//eval(a);", "\ufeffa;\ufeffeval(a);",
    ],
)  # fmt: skip
def test_nothing_hides_the_rest_of_its_line(source: str) -> None:
    for path in ("a.js", "a.tsx"):
        assert (1, CODE) in {(first, what) for first, _, what in acting_lines(source, path)}


@pytest.mark.parametrize(
    "source",
    [
        "const a = (b + c) / 2;\n// eval(1) isn't", "if (!/['\"`]/.test(a)) b(); // eval(1)", "const a = s.split(/`/); // eval(1)",
        "x = [/'/, /\"/g]; // eval(1)", "a = <p className='b'>text {'b'} {b(1)}</p>;", "a = b ? /`/ : /'/; // eval(1)",
        "const a = `${b}` + `${c({ d: 1 })}`; // eval(1)", "for (;n --> 0;) b(); // eval(1)", "if (a < b) { c(); } // eval(1)",
        "a = 'it\\'s' / 2 / 3; // eval(1)", "return /`/; // eval(1)", "const a = b[0] / c[1] / d(2);\n// eval(1)",
    ],
)  # fmt: skip
def test_what_is_clear_is_read_once(source: str) -> None:
    assert not read(source).doubtful
    assert acting_lines(source) == ()


def test_words_know_their_lines() -> None:
    said = read('a /* \n */ "b\\\nc" `d\n${e}\n` f').words
    assert [(w.kind, w.value, w.line) for w in said] == [
        ("name", "a", 1),
        ("text", "b\\\nc", 2),
        ("template", "d\n", 3),
        ("name", "e", 4),
        ("template", "\n", 4),
        ("name", "f", 5),
    ]


def test_a_cast_in_one_grammar_is_a_tag_in_another() -> None:
    source = "x = <T>foo(); eval(a) </T>/g;"
    assert acting_lines(source, "a.ts") == ((1, 1, CODE),)
    assert acting_lines(source, "a.tsx") == ()


def test_a_text_that_costs_the_parser_too_much_hides_nothing(tmp_path: Path) -> None:
    slow = "x" + "=/[" * 100_000 + "\neval(a);\n"
    (result,) = scan_isolated(Reader(READS, tuple[Act, ...], per_file=0.5), [("a.js", slow.encode())])
    assert result.outcome == "timed-out"
    plan = planned(tmp_path, {"a.js": slow, "b.js": "fetch(a);\n"}, {"b.js": "b();\n"})
    assert (2, 2, CODE) in plan.acts["a.js"]
    assert plan.acts["b.js"] == ((1, 1, NETWORK),)
