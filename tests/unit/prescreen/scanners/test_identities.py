"""Parties that became others, each with a twin that is in order."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.prescreen.identities.literals import read
from gate.prescreen.scanners.identities import Identities
from tests.prescreen_support import make_request

Files = dict[str, str]
OLD, OTHER = "DE75 5121 0800 1245 1261 99", "DE02 1203 0000 0000 2020 51"
ACCOUNT, NEAR = "acct_1MXb0qLk93hBfYpZ", "acct_1MXb0qLk93hBfYqZ"
UUID, NEAR_UUID = "2f6e0f67-9a1c-4a5e-9d5c-6c2a8b8f3e70", "2f6e0f67-9a1c-4a5e-9d5c-6c2a3b8f3e70"
KEY = "RWRvXk08KxqPfmlV0mHc1cQxJ2pVn3yD8kTgZ5sLbW0aHqR9uEoC7dXi"
OTHER_KEY = "RWRvXk08KxqPfoN2r7vY0wKp1bTtM4cQzXhGe9J5sVnL3aUd8iFqB6Cy"


def told(base: Files, head: Files) -> list[tuple[str, str]]:
    found = Identities().scan(make_request(head, base)).findings
    return [(f.rule_id.removeprefix("identity."), f.severity.value) for f in found]


@pytest.mark.parametrize(
    ("path", "before", "after", "wanted"),
    [
        ("config/pay.yaml", f"connect:\n  account: {ACCOUNT}\n", f"connect:\n  account: {NEAR}\n", "high"),
        ("app.tfvars", f'ops_group = "{UUID}"\n', f'ops_group = "{NEAR_UUID}"\n', "high"),
        ("main.tf", f'resource "a" "b" {{\n principal_id = "{UUID}"\n}}\n',
         'resource "a" "b" {\n principal_id = "91d3c0e5-52ab-4b0e-8f0f-3a8f9d2f8d11"\n}\n', "medium"),
        ("keys/release.pub", f"comment: a\n{KEY}\n", f"comment: a\n{OTHER_KEY}\n", "high"),
        ("src/verify.js", f'const PUBLIC_KEY = "{KEY}";\n', f'const PUBLIC_KEY = "{OTHER_KEY}";\n', "high"),
        ("app/config.py", 'TENANT = "acme"\n', 'TENANT = "acme-eu"\n', "medium"),
        ("app/config.py", 'T = env.get("TENANT", "acme")\n', 'T = env.get("TENANT", "acmee")\n', "medium"),
        ("app/config.py", 'pay(merchant_id="m-7731")\n', 'pay(merchant_id="m-7732")\n', "medium"),
        ("src/a.ts", 'o = { merchantId: "m-7731" };\n', 'o = { merchantId: "m-9000" };\n', "medium"),
        ("a.go", 'package a\nvar o = O{TenantID: "acme"}\n',
         'package a\nvar o = O{TenantID: "acne"}\n', "medium"),
        ("nx.json", '{"nxCloudId": "6641f3b2c19e5a0c3a7d9e21"}',
         '{"nxCloudId": "6641f3b2c19e5a0c3a7d9f21"}', "high"),
        (".env", f"IBAN={OLD}\n", f"IBAN={OTHER}\n", "medium"),
        ("pay.toml", f'[bank]\niban = "{OLD}"\n', f'[bank]\niban = "{OTHER}"\n', "medium"),
        ("shop.html", '<input name="business" value="7XJ3K9QVPLM2A">\n',
         '<input name="business" value="7XJ3K9QVPLN2A">\n', "high"),
    ],
)  # fmt: skip
def test_another_party_under_the_same_name(path: str, before: str, after: str, wanted: str) -> None:
    assert told({path: before}, {path: after}) == [("changed", wanted)]


def test_changed_while_it_moved() -> None:
    base = {"a/config.py": 'TENANT = "acme"\n'}
    head = {"a/config.py": "TENANT = load()['tenant']\n", "a/shop.json": '{"tenant": "acme-tea"}\n'}
    assert told(base, head) == [("changed", "medium")]
    base = {"a/config.py": f'ACCOUNT = "{ACCOUNT}"\n'}
    head = {"a/config.py": "X = 1\n", "a/pay.yaml": f"to: {NEAR}\n"}
    assert told(base, head) == [("changed", "high")]


def test_an_account_in_parts() -> None:
    base = {"a/bank.py": f'BANK = {{"iban": "{OLD}"}}\n'}
    parts = '{"country": "DE", "check": "02", "account": "120300000000202051"}\n'
    assert told(base, {"a/bank.py": "BANK = load()\n", "a/bank.json": parts}) == [("changed", "medium")]
    joined = 'TO = "".join(("DE", "02", "1203", "0000", "0000", "2020", "51"))\n'
    assert told({"a/s.py": "A = 1\n"}, {"a/s.py": f"A = 1\n{joined}"}) == [("new", "medium")]
    joined = 'const to = "DE02" + "1203" + "0000" + "0000" + "2020" + "51";\n'
    assert told({"a/s.js": "let a;\n"}, {"a/s.js": f"let a;\n{joined}"}) == [("new", "medium")]


def test_an_account_that_base_knows_is_not_new() -> None:
    base = {"a/s.py": "A = 1\n", "README.md": f"Pay to {OTHER}.\n"}
    assert told(base, base | {"a/s.py": f'A = 1\nTO = "{OTHER}"\n'}) == []


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("tests/test_pay.py", f'IBAN = "{OLD}"\n', f'IBAN = "{OTHER}"\n'),
        ("docs/pay.md", f"IBAN {OLD}\n", f"IBAN {OTHER}\n"),
        ("fixtures/pay.json", f'{{"iban": "{OLD}"}}', f'{{"iban": "{OTHER}"}}'),
        ("a/config.py", 'VERSION = "2024.1.7"\n', 'VERSION = "2024.1.8"\n'),
        ("a/config.py", 'MODEL = "gpt-4o-2024-05-13"\n', 'MODEL = "gpt-4o-2024-08-06"\n'),
        ("a/config.py", 'account = "user.account"\n', 'account = "billing.account"\n'),
        ("a/config.py", 'TENANT = os.environ["TENANT"]\n', 'TENANT = os.environ["TENANT_NAME"]\n'),
        ("a/config.py", 'session_token = "a1B2c3D4e5F6g7H8"\n', 'session_token = "a1B2c3D4e5F6g7H9"\n'),
        ("a/pay.yaml", f"account: {ACCOUNT}\n", f"# moved\naccount: {ACCOUNT}\n"),
        ("package-lock.json", '{"integrity": "sha512-aB3dE5fG7hJ9"}', '{"integrity": "sha512-aB3dE5fG7hJ8"}'),
        ("a/pay.yaml", "tenant: ${TENANT}\n", "tenant: ${TENANT_ID}\n"),
        ("a/k.yaml", "kind: ClientTrafficPolicy\n", "kind: BackendTrafficPolicy\n"),
        ("a/k.py", 'STEP = "0007_job_add_error_field"\n', 'STEP = "0008_job_add_error_field"\n'),
        ("a/style.html", '<p class="mt4x2b7y9">a</p>\n', '<p class="mt4x2b7y8">a</p>\n'),
    ],
)  # fmt: skip
def test_in_order(path: str, before: str, after: str) -> None:
    assert told({path: before}, {path: after}) == []


def test_what_only_moved_is_the_same_party() -> None:
    base = {"a/config.py": f'TENANT = "acme"\nIBAN = "{OLD}"\n'}
    head = {"a/config.py": "X = load()\n", "a/shop.json": f'{{"tenant": "acme", "iban": "{OLD}"}}\n'}
    assert told(base, head) == []


ENDINGS = (
    "py",
    "js",
    "ts",
    "go",
    "tf",
    "html",
    "sh",
    "yaml",
    "json",
    "toml",
    "env",
    "pub",
    "rb",
    "php",
    "rs",
)
LETTERS = string.ascii_letters + string.digits + "\"'=:(){}[],.+-_<>/ \n"


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(ENDINGS), st.text(LETTERS, max_size=200))
def test_no_text_stops_the_reader(ending: str, text: str) -> None:
    assert isinstance(read(f"a/config.{ending}", text.encode(), {}), list)


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(ENDINGS), st.binary(max_size=100))
def test_no_bytes_stop_the_reader(ending: str, data: bytes) -> None:
    assert isinstance(read(f"a/config.{ending}", data, {}), list)


def test_what_is_as_long_as_an_account_is_read_on() -> None:
    text = 'A = "de__________________ab"\nB = "DE\u00c9\u00c912345678901234567."\nTENANT = "acme"\n'
    found = read("a.py", text.encode(), {})
    assert [one.value for one in found if one.shape != "word"] == ["acme"]


def test_deep_texts_end() -> None:
    found = read("a.js", b"x = " + b'"a" + ' * 5_000 + b'"b";', {})
    assert [one for one in found if one.shape != "word"] == []
    assert read("a.json", b"[" * 50_000, {}) == []
