"""What changes the meaning of lines that stay, and what only looks like it."""

# ruff: noqa: E501 - a row of a table a line

from __future__ import annotations

import pytest

from gate.prescreen.meanings.read import read
from gate.prescreen.scanners.meanings import Meanings
from tests.prescreen_support import make_request

Files = dict[str, str]


def told(head: Files, base: Files) -> list[str]:
    for path, text in [*base.items(), *head.items()]:
        read(path, text.encode(), {})  # here as well: what the child runs is not measured
    found = Meanings().scan(make_request(head, base)).findings
    return [f"{f.severity.value} {f.rule_id.removeprefix('meaning.')}" for f in found]


BASE_JS = "const A = /x/i;\nexport function keep(name) { return A.test(name) ? 'text' : name; }\n"


@pytest.mark.parametrize(
    "head",
    [
        BASE_JS.replace("/x/i", "/x/gi"),
        BASE_JS.replace("/x/i", "new RegExp('x', 'y')"),
        "class N { keep(a) { return list.filter((x) => !P.test(x)); } }\nconst P = /[<>]/g;\n",
        "const P = { bad: /x/g };\nexport function keep(name) { return P.bad.test(name); }\n",
        "class N { static P = /x/g; keep(name) { return N.P.test(name); } }\n",
        "const P = /x/g;\nexport function keep(name) { const m = P.exec(name); if (!m) return null; return m[0]; }\n",
        "export const check = (() => { const P = /a/y; return (s) => { if (P.test(s)) throw new Error(); }; })();\n",
    ],
)
@pytest.mark.parametrize("path", ["src/names.js", "src/names.ts"])
def test_a_pattern_that_remembers(path: str, head: str) -> None:
    assert told({path: head}, {path: BASE_JS}) == ["medium pattern-keeps-place"]


@pytest.mark.parametrize(
    "head",
    [
        BASE_JS.replace("/x/i", "/y/i"),
        BASE_JS.replace("A.test(name)", "name.replace(A, '')").replace("/x/i", "/x/g"),
        BASE_JS.replace("/x/i", "/x/g").replace("return A", "A.lastIndex = 0; return A"),
        "const A = /x/g;\nexport function all(text) { while (A.test(text)) count(A.lastIndex); }\n",
        "const A = /x/g;\nexport function all(t) { let m = A.exec(t); while (m) { use(m); m = A.exec(t); } }\n",
        "const A = /x/g;\nexport function all(t) { for (;;) { const m = A.exec(t); if (!m) break; use(m); } }\n",
        "const A = /x/g;\nexport function all(t) { let m; while ((m = A.exec(t)) !== null) { use(m); } }\n",
        "export function once(name) { const A = /x/g; return A.test(name); }\n",
        "const A = /x/g;\nconsole.log(A.test(process.argv[2]));\n",
        "const A = /x/g;\nexport const split = (text) => text.split(A);\n",
    ],
)
def test_patterns_that_are_in_order(head: str) -> None:
    assert told({"src/names.js": head}, {"src/names.js": BASE_JS}) == []


def test_a_pattern_of_base_is_not_new() -> None:
    bad = BASE_JS.replace("/x/i", "/x/g")
    assert told({"a.js": bad + "export const more = 1;\n"}, {"a.js": bad}) == []
    assert told({"test/a.test.js": bad}, {"test/a.test.js": BASE_JS}) == []


MEMO = """
class Memo:
    def __init__(self):
        self.values = {}
    def of(self, request, work):
        place = id(request)
        if place not in self.values:
            self.values[place] = work()
        return self.values[place]
"""


@pytest.mark.parametrize(
    "head",
    [
        MEMO,
        "KEPT = {}\ndef of(user):\n    if id(user) not in KEPT:\n        KEPT[id(user)] = rights(user)\n    return KEPT[id(user)]\n",
        "KEPT = {}\ndef of(user):\n    return KEPT.setdefault(id(user), rights(user))\n",
        "class A:\n    def put(self, request, context):\n        self.kept[id(request)] = context\n    def get(self, request):\n        return self.kept.get(id(request))\n",
        "KEPT = dict()\ndef of(user):\n    had = KEPT.get(id(user))\n    if had is None:\n        KEPT[id(user)] = had = rights(user.name)\n    return had\n",
    ],
)
def test_a_key_that_comes_again(head: str) -> None:
    assert told({"memo.py": head}, {"memo.py": "x = 1\n"}) == ["medium identity-reused"]


@pytest.mark.parametrize(
    "head",
    [
        MEMO.replace("= work()", "= (request, work())"),
        MEMO.replace(
            "return self.values[place]",
            "return self.values[place]\n    def end(self, request):\n        self.values.pop(id(request), None)",
        ),
        "import weakref\n" + MEMO,
        "def walk(node):\n    seen = {}\n    if id(node) in seen:\n        return seen[id(node)]\n    seen[id(node)] = copy(node)\n    return seen[id(node)]\n",
        "KEPT = {}\ndef put(user):\n    KEPT[id(user)] = rights(user)\n",
        "KEPT = {}\ndef of(user):\n    KEPT[user.id] = rights(user)\n    return KEPT[user.id]\n",
    ],
)
def test_keys_that_are_in_order(head: str) -> None:
    assert told({"memo.py": head}, {"memo.py": "x = 1\n"}) == []


FLASK = "from functools import lru_cache\nfrom flask import request, session\n\n{}def menu(page):\n    return render({})\n"


def test_an_answer_that_is_kept_for_everybody() -> None:
    base = FLASK.format("", "session['user'], page")
    assert told(
        {"a.py": FLASK.format("@lru_cache(maxsize=None)\n", "session['user'], page")}, {"a.py": base}
    ) == ["medium answer-kept"]
    assert told({"a.py": FLASK.format("@lru_cache\n", "page")}, {"a.py": base}) == []
    own = "from functools import cache\nfrom shop.context import current_tenant\n\n{}def prices():\n    return load(current_tenant())\n"
    assert told({"b.py": own.format("@cache\n")}, {"b.py": own.format("")}) == ["medium answer-kept"]
    held = "from functools import cache\nfrom contextvars import ContextVar\nWHO = ContextVar('who')\n\n{}def may(right):\n    return right in WHO.get()\n"
    assert told({"b.py": held.format("@cache\n")}, {"b.py": held.format("")}) == ["medium answer-kept"]
    named = "from functools import cache\nfrom flask import request\n@cache\ndef menu(request):\n    return request.path\n"
    assert told({"a.py": named}, {"a.py": base}) == []


PASS = "<?php\nnamespace Club\\Entry;\nclass Pass { function over() { return $this->until < time(); } }\n"
TIME = "<?php\nnamespace Club\\Entry;\nfunction time(): int { return 0; }\n"


def test_a_name_of_php_in_a_name_space() -> None:
    base = {"src/Pass.php": PASS}
    assert told({**base, "src/moment.php": TIME}, base) == ["medium name-taken"]
    assert told({**base, "src/moment.php": TIME.replace("Entry;", "Entry {") + "}\n"}, base) == [
        "medium name-taken"
    ]
    wrapped = TIME.replace("function time", "if (!function_exists('x')) { function time") + "}\n"
    assert told({**base, "src/moment.php": wrapped}, base) == ["medium name-taken"]
    used = PASS.replace("class Pass", "use function Shop\\Clock\\time;\nclass Pass")
    assert told({"src/Pass.php": used}, base) == ["medium name-taken"]
    assert told({"src/Pass.php": used.replace("Shop\\Clock", "Safe")}, base) == []
    assert told({"src/Pass.php": used.replace("time;", "moment;")}, base) == []
    assert told({**base, "tests/moment.php": TIME}, base) == []
    assert told({**base, "src/moment.php": TIME.replace("Entry", "Other")}, base) == []
    assert told({**base, "src/moment.php": TIME.replace("time", "moment")}, base) == []
    assert (
        told(
            {
                **base,
                "src/Clock.php": "<?php\nnamespace Club\\Entry;\nclass Clock { function time() { return 0; } }\n",
            },
            base,
        )
        == []
    )
    rooted = {"src/Pass.php": PASS.replace("time()", "\\time()")}
    assert told({**rooted, "src/moment.php": TIME}, rooted) == []


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        ("a.js", "export const late = (t) => Date.now() > t;\n", "const Date = { now: () => 0 };\n{}"),
        (
            "a.ts",
            "export const token = () => crypto.randomUUID();\n",
            "import { crypto } from './ids.js';\n{}",
        ),
        ("a.js", "export const f = (n) => parseInt(n, 10);\n", "function parseInt(n) { return n; }\n{}"),
        ("a.js", "export const f = 1;\n", "Math.random = () => 0.5;\n{}"),
        ("a.js", "export const f = 1;\n", "Array.prototype.includes = function () { return true; };\n{}"),
        (
            "a.py",
            "def check(x):\n    if not isinstance(x, int):\n        raise ValueError\n",
            "def isinstance(a, b):\n    return True\n{}",
        ),
        ("a.py", "def check(x):\n    return any(x)\n", "from .helpers import any\n{}"),
        (
            "a.go",
            "package a\nfunc f(s string) bool { return len(s) > 8 }\n",
            "{}func len(s string) int { return 9 }\n",
        ),
        ("a.rb", "class A\nend\n", "class String\n  def ==(other)\n    true\n  end\nend\n{}"),
        (
            "a.rb",
            "class A\nend\n",
            "module Wide\n  refine Array do\n    def include?(one)\n      true\n    end\n  end\nend\n{}",
        ),
    ],
)
def test_names_that_are_taken(path: str, base: str, head: str) -> None:
    assert told({path: head.replace("{}", base)}, {path: base}) == ["medium name-taken"]


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        (
            "a.js",
            "export const token = () => crypto.randomUUID();\n",
            "import crypto from 'node:crypto';\n{}",
        ),
        (
            "a.js",
            "export const token = () => crypto.randomUUID();\n",
            "const crypto = require('crypto');\n{}",
        ),
        (
            "a.js",
            "export const token = () => crypto.randomUUID();\n",
            "const crypto = globalThis.crypto;\n{}",
        ),
        ("a.js", "export const f = 1;\n", "const Date = { now: () => 0 };\n{}"),
        (
            "a.js",
            "export const f = 1;\n",
            "if (!Array.prototype.includes) { Array.prototype.includes = function () {}; }\n{}",
        ),
        ("a.py", "def check(x):\n    return x\n", "def compile(a):\n    return a\n{}"),
        ("a.py", "def check(x):\n    return max(x)\n", "from numpy import max\n{}"),
        (
            "a.go",
            "package a\nfunc f(s string) bool { return true }\n",
            "{}func max(a, b int) int { return a }\n",
        ),
        (
            "a.go",
            "package a\nfunc f(s string) bool { return len(s) > 8 }\n",
            "{}type T struct{}\nfunc (t T) len() int { return 9 }\n",
        ),
        ("a.rb", "class A\nend\n", "class String\n  def shout\n    upcase\n  end\nend\n{}"),
        (
            "a.rb",
            "class A\nend\n",
            "module Shop\n  class Set\n    def include?(one)\n      true\n    end\n  end\nend\n{}",
        ),
    ],
)
def test_names_that_are_in_order(path: str, base: str, head: str) -> None:
    assert told({path: head.replace("{}", base)}, {path: base}) == []


def test_an_import_under_the_name_of_a_better_one() -> None:
    base = 'package a\nimport (\n\t"crypto/rand"\n)\nfunc f() { rand.Read(nil) }\n'
    assert told({"a.go": base.replace('"crypto/rand"', 'rand "math/rand"')}, {"a.go": base}) == [
        "medium name-taken"
    ]
    page = 'package a\nimport "html/template"\nvar t = template.New("x")\n'
    assert told({"a.go": page.replace("html/", "text/")}, {"a.go": page}) == ["medium name-taken"]
    both = base.replace('"crypto/rand"', 'crand "crypto/rand"\n\t"math/rand"')
    assert told({"a.go": both}, {"a.go": base}) == []
    assert told({"b.go": 'package a\nimport "math/rand"\n'}, {"a.go": base}) == []


def test_a_module_in_front_of_the_standard_librarys() -> None:
    base = {"tools/sign.py": "import hashlib\n", "pkg/__init__.py": "", "pkg/a.py": "import logging\n"}
    assert told({**base, "tools/hashlib.py": "x = 1\n"}, base) == ["medium name-taken"]
    assert told({**base, "tools/hashlib/__init__.py": "x = 1\n"}, base) == ["medium name-taken"]
    assert told({**base, "pkg/logging.py": "x = 1\n"}, base) == []
    assert told({**base, "tools/json.py": "x = 1\n"}, base) == []


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        ("export const P = /x/{};\n", "import { P } from './p.js';\nexport const bad = (s) => P.test(s);\n"),
        (
            "const P = /x/{};\nmodule.exports = { P };\n",
            "const { P } = require('./p');\nmodule.exports = (s) => P.test(s);\n",
        ),
        (
            "const P = /x/{};\nexport { P };\n",
            "import * as p from './p.js';\nexport const bad = (s) => p.P.test(s);\n",
        ),
    ],
)
def test_a_pattern_that_another_module_asks(pattern: str, use: str) -> None:
    base = {"p.js": pattern.replace("{}", "i", 1), "use.js": use}
    assert told({**base, "p.js": pattern.replace("{}", "gi", 1)}, base) == ["medium pattern-keeps-place"]
    unasked = {**base, "use.js": use.replace("P.test(s)", "s.replace(P, '')")}
    assert told({**unasked, "p.js": pattern.replace("{}", "gi", 1)}, unasked) == []


def test_names_of_kotlin_and_java_in_a_package() -> None:
    base = {"a/Guard.kt": 'package a\nfun open(u: User) { require(u.admin) { "no" } }\n'}
    taken = {**base, "a/More.kt": "package a\nfun require(v: Boolean, m: () -> Any) {}\n"}
    assert told(taken, base) == ["medium name-taken"]
    assert told({**base, "b/More.kt": "package b\nfun require(v: Boolean) {}\n"}, base) == []
    assert (
        told({**base, "a/More.kt": "package a\nfun User.require() {}\nclass A { fun check() {} }\n"}, base)
        == []
    )
    java = {"a/Sum.java": "package a;\nclass Sum { int of(int a) { return Math.addExact(a, 1); } }\n"}
    assert told({**java, "a/Math.java": "package a;\nfinal class Math {}\n"}, java) == ["medium name-taken"]
    assert told({**java, "a/Maths.java": "package a;\nfinal class Maths {}\n"}, java) == []


@pytest.mark.parametrize(
    ("path", "base"),
    [
        ("install.sh", "set -e\nfetch\n"),
        ("Makefile", "all:\n\tsha256sum -c a.sum\n"),
        ("queries.py", 'Q = "SELECT a FROM t JOIN m ON m.user_id = ? WHERE a = 1"\n'),
    ],
)
def test_a_file_that_is_too_large_is_named(path: str, base: str) -> None:
    result = Meanings().scan(make_request({path: base + "# x\n" * 200_000}, {path: base}))
    assert {one.primary.path for one in result.findings if one.rule_id == "unscanned-file"} == {path}


def test_a_large_file_is_looked_at_for_levels_and_a_huge_one_named() -> None:
    base = "module a\n\ngo 1.22\n"
    for lines, rule in ((200_000, "meaning.level-lowered"), (900_000, "unscanned-file")):
        head = base.replace("1.22", "1.21") + "//\n" * lines
        result = Meanings().scan(make_request({"go.mod": head}, {"go.mod": base}))
        assert [one.rule_id for one in result.findings] == [rule]


def test_each_pattern_that_modules_ask_is_told() -> None:
    names = ("FIRST", "SECOND", "THIRD")
    head = {"p.js": "".join(f"export const {name} = /{name}/g;\n" for name in names)}
    users = {
        f"u{name}.js": f"import {{ {name} }} from './p.js';\nexport const f = (x) => {name}.test(x);\n"
        for name in names
    }
    request = make_request({**head, **users}, {"p.js": "", **users})
    result = Meanings().scan(request)
    told = {
        one.evidence["asked at"].partition(":")[0] for one in result.findings if "asked at" in one.evidence
    }
    assert told == {f"u{name}.js" for name in names}
