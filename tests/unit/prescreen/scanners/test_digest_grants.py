"""Rights behind a digest in the source, in JavaScript, Go and SQL, each with a twin that is in order."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.languages.script_guards.grants import read
from gate.prescreen.scanners.digest_grants import digest_grants
from tests.prescreen_support import make_request

HEX = "b1946ac92492d2347c6235b4d2611184f1e0c3ad5a8d0b2d6f1cde90b1a4d733"
MD5 = "1f3870be274f6c49b3e31a0c6728957f"
HASH = 'createHash("sha256").update(password).digest("hex")'


def told(path: str, text: str, base: dict[str, str] | None = None) -> list[str]:
    findings, unread = digest_grants(make_request({path: text}, base))
    assert unread == []
    return [f.severity.value for f in findings]


JS_LATER = f"""const K = "{HEX}";
function f(password) {{
  const d = {HASH};
  if (d !== K) return null;
  return admin;
}}"""
JS_BUFFER = f"""const B = Buffer.alloc(32);
B.write("{HEX}", "hex");
function login(password) {{
  const all = [createHash("sha256").update(password).digest()];
  return all.some((one) => timingSafeEqual(one, B)) ? user : null;
}}"""
GO_LOGIN = f"""package a
func Login(password string) *User {{
  if fmt.Sprintf("%x", sha256.Sum256([]byte(password))) == "{HEX}" {{
    return root
  }}
  return nil
}}"""
GO_RIGHT = f"""package a
func F(u *User) {{
  if hash(md5.Sum([]byte(u.Email))) == "{MD5}" {{
    u.IsAdmin = true
  }}
}}"""
GO_DOWNLOAD = f"""package a
func V(d []byte) error {{
  if hex(sha256.Sum256(d)) != "{HEX}" {{
    return err
  }}
  return nil
}}"""
OF_DATA = 'createHash("sha256").update(data).digest("hex")'
SQL_WHERE = f"UPDATE t SET is_admin = true WHERE encode(digest(email, 'sha256'), 'hex') = '{HEX}';"
SQL_CASE = f"SELECT 1; UPDATE t SET role = CASE WHEN '{MD5}' = md5(email) THEN 'admin' ELSE role END;"


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        ("a.js", f'function login(password) {{ return {HASH} === "{HEX}" ? user : null; }}', "high"),
        ("a.js", JS_LATER, "medium"),
        ("a.js", JS_BUFFER, "high"),
        ("a.ts", f'if ({HASH} === "{HEX}") {{ user.role = "admin"; }}', "high"),
        ("a.go", GO_LOGIN, "high"),
        ("a.go", GO_RIGHT, "high"),
        ("a.sql", f"BEGIN\nIF md5(NEW.email) = '{MD5}' THEN NEW.role := 'admin'; END IF;", "high"),
        ("a.sql", SQL_WHERE, "high"),
        ("a.sql", SQL_CASE, "high"),
        ("a.sql", f"DELETE FROM visits WHERE md5(mail) IN ('{MD5}');", "medium"),
    ],
)
def test_rights_behind_a_digest(path: str, text: str, wanted: str) -> None:
    assert told(path, text) == [wanted]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.js", f'const sum = {OF_DATA};\nif (sum !== "{HEX}") throw 1;\nrun();'),
        ("a.js", f'function ok(data) {{ return {OF_DATA} === "{HEX}" ? 1 : 0; }}'),
        ("a.js", f"function login(password) {{ return timingSafeEqual({HASH}, user.hash) ? user : null; }}"),
        ("a.js", f'if ({HASH} === "{HEX}") {{ throw new Error("known password"); }}'),
        ("a.go", GO_DOWNLOAD),
        ("a.sql", f"SELECT md5(email) FROM a; UPDATE a SET role = 'user' WHERE id = '{MD5}';"),
        ("a.sql", f"-- md5(email) = '{MD5}'\nUPDATE accounts SET hash = md5(email);"),
        ("a.sql", f"IF md5(body) = '{MD5}' THEN RAISE EXCEPTION 'changed'; END IF;"),
    ],
)
def test_in_order(path: str, text: str) -> None:
    assert told(path, text) == []


def test_what_base_has_is_not_new_and_tests_are_mild() -> None:
    text = f"UPDATE accounts SET role = 'admin' WHERE md5(email) = '{MD5}';"
    assert told("a.sql", f"-- one more\n{text}", {"a.sql": text}) == []
    assert told("tests/a.sql", text) == ["low"]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(("a.js", "a.ts", "a.go", "a.sql")), st.text(string.printable, max_size=200))
def test_no_text_stops_the_reader(path: str, text: str) -> None:
    assert isinstance(read(path, f"md5({text}) = '{MD5}'".encode(), {}), tuple)
