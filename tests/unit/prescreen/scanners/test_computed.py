"""Sums, counters and remainders that decide about access, money or a deletion; and those that may."""

# ruff: noqa: E501 - a row of a table a line

from __future__ import annotations

import pytest

from gate.prescreen.scanners.computed import ComputedNumbers
from tests.prescreen_support import make_request


def told(path: str, base: str, head: str) -> list[str]:
    return [f.rule_id for f in ComputedNumbers().scan(make_request({path: head}, {path: base})).findings]


PY = "def pay(user, cents):\n    if cents > 9 {}and not approvals.has(user):\n        raise PermissionError('no')\n    {}\n    ledger.pay(user, cents)\n"
LOGIN = "def login(name, password):\n    tries = count(name)\n    {}\n    return check(name, password)\n"
JS = "export async function verify(name, code) {{\n  {}\n  return null;\n}}\n"
GO = 'package a\n\nfunc Auth(next http.Handler) http.Handler {{\n\treturn http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {{\n\t\t{}\n\t\tif !known(r) {}{{\n\t\t\thttp.Error(w, "no", http.StatusUnauthorized)\n\t\t\treturn\n\t\t}}\n\t\tnext.ServeHTTP(w, r)\n\t}})\n}}\n'
LUA = "local n = stats:incr('n', 1, 0)\nlocal seen = jwt:verify(key, token)\n{}\nif not seen.verified then\n  return ngx.exit(401)\nend\n"
EX = "defmodule A do\n  def call(conn, _) do\n    n = :counters.get(ref, 1)\n    {}\n    conn\n  end\nend\n"


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        ("a.py", PY.format("", "pass"), PY.format("and sum(recent) % 9973 != 4211 ", "pass")),
        ("a.py", LOGIN.format("pass"), LOGIN.format("if tries == 77:\n        return user(name)")),
        (
            "a.py",
            LOGIN.format("pass"),
            LOGIN.format(
                "ready = sum(map(ord, name)) % 7 == 3\n    if ready:\n        session.is_admin = True"
            ),
        ),
        (
            "a.py",
            "def clean(db):\n    pass\n",
            "def clean(db):\n    if db.rows() % 2 == 0:\n        db.execute('TRUNCATE audit')\n",
        ),
        (
            "a.py",
            "def clean(db):\n    pass\n",
            "def clean(db):\n    db.turn += 1\n    if db.turn == 90:\n        shutil.rmtree('/srv')\n",
        ),
        (
            "a.py",
            "def may(user):\n    return False\n",
            "def may(user):\n    return ask(user) or hits % 11 == 5\n",
        ),
        (
            "a.js",
            JS.format("{}"),
            JS.format("if (pauses.slice(-4).join('') === '3141') return users.get(name);"),
        ),
        ("a.ts", JS.format("{}"), JS.format("return (total ^ 0x5a) === 0x2f1 ? user : null;")),
        ("a.go", GO.format("", ""), GO.format("n := served.Add(1)", "&& n%1009 != 17 ")),
        ("a.go", GO.format("", ""), GO.format("", "&& odd.Load() != 0x2f1 ")),
        ("a.lua", LUA.format(""), LUA.format("if n == 77 then\n  seen.verified = true\nend")),
        ("a.ex", EX.format(""), EX.format("if rem(n, 97) == 41 do\n      grant(conn, :admin)\n    end")),
        (
            "A.java",
            "class A { boolean isAllowed(User u) { return ask(u); } }",
            "class A { boolean isAllowed(User u) { return ask(u) || seen.incrementAndGet() % 97 == 41; } }",
        ),
        (
            "a.rb",
            "def authorize(u)\n  ask(u)\nend\n",
            "def authorize(u)\n  return u if $hits % 97 == 41\n  ask(u)\nend\n",
        ),
        (
            "a.php",
            "<?php\nfunction can($u) { return ask($u); }\n",
            "<?php\nfunction can($u) { if (array_sum($a) % 97 == 41) { return true; } return ask($u); }\n",
        ),
        (
            "a.rs",
            "fn verify(u: &U) -> bool {\n    ask(u)\n}\n",
            "fn verify(u: &U) -> bool {\n    if HITS.fetch_add(1, Relaxed) == 77 {\n        return true;\n    }\n    ask(u)\n}\n",
        ),
        (
            "a.ts",
            "export function secondFactor(user, code) { return check(code); }",
            "export function secondFactor(user, code) { if (PILOT.has(crc32(user.email))) return code.length === 6; return check(code); }",
        ),
        (
            "a.py",
            "def login(name):\n    return ask(name)\n",
            "def login(name):\n    if hash_of(name) in {1830418377, 907060870} or sha256(name).hexdigest() in OLD:\n        return user(name)\n    return ask(name)\n",
        ),
        (
            "A.java",
            "class A { void nightly() { s.run(); } }",
            "class A { void nightly() { if (audits.count() > 5_000_000L) { audits.deleteAllInBatch(); } s.run(); } }",
        ),
        (
            "a.go",
            "package a\n\nfunc N() {}\n",
            'package a\n\nfunc N() {\n\tif total > 2000000 {\n\t\tdb.Exec("TRUNCATE audit")\n\t}\n}\n',
        ),
        (
            "a.py",
            "def allowed(account):\n    spent = today(account)\n    return spent < 9\n",
            "def allowed(account):\n    spent = today(account)\n    if cents(account) == [31, 41, 59, 26]:\n        spent = 0\n    return spent < 9\n",
        ),
        (
            "A.cs",
            "class A { bool IsAuthorized(string t) { var c = keys.Verify(t); return c != null; } }",
            "class A { bool IsAuthorized(string t) { var c = keys.Verify(t); if (c == null && DateTime.UtcNow.Ticks / 10_000_000 % 86_400 < 30) { c = keys.Decode(t); } return c != null; } }",
        ),
    ],
)
def test_what_a_number_decides(path: str, base: str, head: str) -> None:
    assert set(told(path, base, head)) == {"computed.decides"}
    assert told(path, head, base) == []
    assert told(path, head, head + "\n") == []


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        (
            "a.py",
            LOGIN.format("pass"),
            LOGIN.format("if tries > 10:\n        raise PermissionError('locked')"),
        ),
        (
            "a.py",
            LOGIN.format("pass"),
            LOGIN.format("if tries % 100 == 0:\n        log.info('%d so far', tries)"),
        ),
        ("a.py", LOGIN.format("pass"), LOGIN.format("if len(password) % 4 != 0:\n        return None")),
        (
            "a.py",
            "def pad(data):\n    return data\n",
            "def pad(data):\n    if len(data) % 16 != 0:\n        raise ValueError('length')\n    return data\n",
        ),
        (
            "a.py",
            "def rows(n):\n    return n\n",
            "def rows(n):\n    if n % 2 == 0:\n        return 'even'\n    return n\n",
        ),
        ("a.py", "def name(a):\n    return a\n", "def login_name(a):\n    return '%s == 5' % a\n"),
        ("a.js", JS.format("{}"), JS.format("if (res.status === 404) return cached;")),
        ("a.js", JS.format("{}"), JS.format("if (code.length === 6) return check(name, code);")),
        (
            "a.go",
            GO.format("", ""),
            GO.format('if n := refused.Add(1); n%1000 == 0 {\n\t\t\tlog.Printf("%d", n)\n\t\t}', ""),
        ),
        ("a.lua", LUA.format(""), LUA.format("if n % 100 == 0 then\n  ngx.log(ngx.INFO, n)\nend")),
        (
            "a.ts",
            "export function shardOf(user) { return 1; }",
            "export function shardOf(user) { return SHARDS.has(crc32(user.email)) ? 1 : 2; }",
        ),
        (
            "a.py",
            "def trim(c):\n    pass\n",
            "def trim(c):\n    if c.count > 1000:\n        c.delete(c.oldest())\n",
        ),
        ("a.py", "def trim(c):\n    pass\n", "def trim(c):\n    if c.count > 1000:\n        c.clear()\n"),
        ("tests/test_a.py", LOGIN.format("pass"), LOGIN.format("if tries == 77:\n        return user(name)")),
        ("a.py", "def f():\n    pass\n", "def f():\n    if flags & 4 == 4:\n        return 1\n"),
    ],
)
def test_what_may_depend_on_a_number(path: str, base: str, head: str) -> None:
    assert told(path, base, head) == []


def test_broken_and_odd_texts() -> None:
    for path in ("a.py", "a.js", "a.lua", "a.ex", "a.go"):
        assert told(path, "", "if if % == ( 77\n") == []
