"""Parties whose place, row, text or part changed, each with a twin that is in order."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.identities import Identities
from tests.prescreen_support import make_request

Files = dict[str, str]
ONE, TWO = "DE75512108001245126199", "DE02120300000000202051"


def told(base: Files, head: Files) -> list[tuple[str, str]]:
    found = Identities().scan(make_request(head, base)).findings
    return [(f.rule_id.removeprefix("identity."), f.severity.value) for f in found]


CHANGED = [("changed", "medium")]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("data/s.csv",
         f"id,name,account\n4,A,{ONE}\n9,B,{TWO}\n",
         f"id,name,account,x\n9,B,{ONE},1\n4,A,{TWO},1\n"),
        ("s.json", f'[{{"id": 4, "iban": "{ONE}"}}, {{"id": 9, "iban": "{TWO}"}}]',
         f'[{{"id": 4, "iban": "{TWO}"}}, {{"id": 9, "iban": "{ONE}"}}]'),
        ("s.yaml", "a:\n  tenant: acme-one\nb:\n  tenant: acme-two\n",
         "a:\n  tenant: acme-two\nb:\n  tenant: acme-two\n"),
        ("app/q.py", 'BANK_QUEUE = "bank-out"\nTRY_QUEUE = "partner-try"\n',
         'BANK_QUEUE = "partner-try"\nTRY_QUEUE = "bank-out"\n'),
        ("hooks.json", '{"ops": "https://chat.acme.io/hooks/aaa111", "web": "https://chat.acme.io/hooks/bbb222"}',
         '{"ops": "https://chat.acme.io/hooks/bbb222", "web": "https://chat.acme.io/hooks/aaa111"}'),
    ],
)  # fmt: skip
def test_two_that_change_places(path: str, before: str, after: str) -> None:
    assert told({path: before}, {path: after}) == CHANGED


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("data/s.csv",
         f"id,name,account\n4,A,{ONE}\n9,B,{TWO}\n",
         f"id,name,account\n9,B,{TWO}\n4,A,{ONE}\n"),
        ("data/s.csv",
         f"id,name,account\n4,A,{ONE}\n",
         f"id,name,account,x\n4,Anna,{ONE},7\n"),
        ("s.json", f'[{{"id": 4, "iban": "{ONE}"}}, {{"id": 9, "iban": "{TWO}"}}]',
         f'[{{"id": 9, "iban": "{TWO}"}}, {{"id": 4, "iban": "{ONE}"}}]'),
        ("app/ui.py", 'LEFT = "arrow-left"\nRIGHT = "arrow-right"\n',
         'LEFT = "arrow-right"\nRIGHT = "arrow-left"\n'),
    ],
)  # fmt: skip
def test_rows_that_are_sorted(path: str, before: str, after: str) -> None:
    assert told({path: before}, {path: after}) == []


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("compose.yml", 'services:\n  a:\n    command: ["serve", "--tenant", "31"]\n',
         'services:\n  a:\n    command: ["serve", "--tenant", "37"]\n'),
        ("compose.yml", "services:\n  a:\n    command: serve --org-id=31 -v\n",
         "services:\n  a:\n    command: serve --org-id=37 -v\n"),
        ("web.conf", "location / {\n  proxy_set_header X-Scope-OrgID 31;\n}\n",
         "location / {\n  proxy_set_header X-Scope-OrgID 37;\n}\n"),
        ("ship.service", "[Service]\nExecStart=/usr/bin/ship --log-scope 31\n",
         "[Service]\nExecStart=/usr/bin/ship --log-scope 37\n"),
        ("chart/values.yaml", 'headers:\n  - "X-Tenant-ID: acme"\n', 'headers:\n  - "X-Tenant-ID: acne"\n'),
        ("config/c.json", '{"ops": "https://chat.acme.io/hooks/in/kq7dmt"}',
         '{"ops": "https://chat.acme.io/hooks/v2/kq7dnt"}'),
        ("app/a.py", 'URL = "https://chat.acme.io/api/webhooks/77/abcde"\n',
         'URL = "https://chat.acme.io/api/webhooks/77/abcdf"\n'),
        ("config/m.toml", '[copy]\nto = "shop.orders@mail.io"\n', '[copy]\nto = "shop-orders@mail.io"\n'),
        ("src/a.rs", "use std::net::Ipv4Addr;\nconst A: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 16);\n",
         "use std::net::Ipv4Addr;\nconst A: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 61);\n"),
        ("a.go", "package a\nimport \"net\"\nvar A = net.IPv4(198, 51, 100, 16) // net.IP\n",
         "package a\nimport \"net\"\nvar A = net.IPv4(198, 51, 100, 17) // net.IP\n"),
        ("A.java",
         "class A { InetAddress a = InetAddress.getByAddress(new byte[] {(byte) 198, 51, 100, 16}); }\n",
         "class A { InetAddress a = InetAddress.getByAddress(new byte[] {(byte) 198, 51, 100, 17}); }\n"),
        ("a.py", "import ipaddress\nA = bytes([198, 51, 100, 16])\n",
         "import ipaddress\nA = bytes([198, 51, 100, OFF + 16])\n"),
    ],
)  # fmt: skip
def test_parts_that_say_who(path: str, before: str, after: str) -> None:
    assert told({path: before}, {path: after}) == CHANGED


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("locales/cy.json", '{"p": "Talwch i Rent, cod 20-18-93, cyfrif 00441277"}',
         '{"p": "Talwch i Rent, cod 20-19-83, cyfrif 00441277"}'),
        ("locale/de/django.po", 'msgid "pay"\nmsgstr "Konto bei der Bank: 1234 5678 90"\n',
         'msgid "pay"\nmsgstr "Konto bei der Bank: 1234 5678 91"\n'),
        ("i18n/fr.properties", "help=Appelez le +33 1 99 00 12 34 avant midi\n",
         "help=Appelez le +33 1 99 00 12 35 avant midi\n"),
        ("src/pay.js", 'const text = "Please pay to account 00441277, sort code 20-18-93.";\n',
         'const text = "Please pay to account 00447712, sort code 20-18-93.";\n'),
    ],
)  # fmt: skip
def test_numbers_in_a_sentence(path: str, before: str, after: str) -> None:
    assert told({path: before}, {path: after}) == CHANGED


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("locales/cy.json", '{"p": "Copyright 2019-2024 by us all"}',
         '{"p": "Copyright 2019-2025 by us all"}'),
        ("locales/cy.json", '{"p": "up to 1 000 000 rows here"}', '{"p": "up to 2 000 000 rows here"}'),
        ("locales/cy.json", '{"p": "Pay until 2026-10-12 please"}', '{"p": "Pay until 2026-11-12 please"}'),
        ("src/a.js", 'log("took 1234567 steps of work");\n', 'log("took 7654321 steps of work");\n'),
        ("src/a.rs", "const RED: [u8; 4] = [198, 51, 100, 16];\n",
         "const RED: [u8; 4] = [190, 51, 100, 16];\n"),
        ("a.go", "package a\nvar A = net.IPv4(127, 0, 0, 1)\n",
         "package a\nvar A = net.IPv4(127, 0, 0, 2)\n"),
        ("config/c.json", '{"docs": "https://acme.io/blog/one-post"}', '{"docs": "https://acme.io/blog/two-post"}'),
        ("pyproject.toml", '[[project.authors]]\nemail = "a@acme.io"\n',
         '[[project.authors]]\nemail = "b@acme.io"\n'),
        ("compose.yml", 'services:\n  a:\n    command: ["serve", "--workers", "4"]\n',
         'services:\n  a:\n    command: ["serve", "--workers", "6"]\n'),
        ("tests/fixtures/x.json", '{"mail": "a@acme.io"}', '{"mail": "b@acme.io"}'),
    ],
)  # fmt: skip
def test_what_says_nobody(path: str, before: str, after: str) -> None:
    assert told({path: before}, {path: after}) == []


def test_fixtures_that_a_deploy_loads() -> None:
    before = '[{"model": "a.box", "pk": 1, "fields": {"mail": "shop.orders@box.io"}}]'
    after = '[{"model": "a.box", "pk": 1, "fields": {"mail": "shop-orders@box.io"}}]'
    path = "orders/fixtures/start.json"
    assert told({path: before}, {path: after}) == []
    loads = {"deploy.sh": "python manage.py loaddata start\n"}
    assert told({path: before} | loads, {path: after} | loads) == CHANGED


def test_an_anchor_is_told_once() -> None:
    text = 'x: &o\n  loki-org: "{}"\na:\n  o: *o\nb:\n  o: *o\n'
    assert told({"c.yml": text.format(31)}, {"c.yml": text.format(37)}) == CHANGED


MAIN = 'data "aws_s3_bucket" "d" {\n  bucket = local.target\n}\n'
LOCALS = 'locals {\n  name = join("-", [var.org, var.stage])\n  target = "${local.name}-dumps"\n}\n'
VARIABLE = 'variable "org" {\n  default = "acme"\n}\nvariable "stage" {\n  default = "%s"\n}\n'


def test_a_name_that_terraform_puts_together() -> None:
    base = {"infra/main.tf": MAIN, "infra/locals.tf": LOCALS, "infra/v.tf": VARIABLE % "prod"}
    assert told(base, base | {"infra/v.tf": VARIABLE % "prd"}) == CHANGED
    assert told(base, base | {"infra/v.tf": VARIABLE % "prod" + "# a comment\n"}) == []
    base |= {"infra/envs/prod.tfvars": 'stage = "production"\n'}
    assert told(base, base | {"infra/envs/prod.tfvars": 'stage = "productions"\n'}) == CHANGED
    assert told(base, base | {"infra/envs/dev.tfvars": 'stage = "dev"\n'}) == []


@pytest.mark.parametrize(
    ("old", "before", "new", "after"),
    [
        ("conf.d/10-a.ini", "[export]\naccount = acct-north\n",
         "conf.d/40-b.ini", "[export]\naccount = acct-south\n"),
        ("app.yaml", "export:\n  bucket: acme-dumps\n",
         "app.override.yaml", "export:\n  bucket: acme-dumpz\n"),
        ("x/terraform.tfvars", 'account = "acme-main"\n', "x/z.auto.tfvars", 'account = "acme-mein"\n'),
    ],
)  # fmt: skip
def test_a_new_file_that_is_read_last(old: str, before: str, new: str, after: str) -> None:
    assert told({old: before}, {old: before, new: after}) == CHANGED


def test_a_new_file_beside_others() -> None:
    one, two = "[export]\naccount = acct-north\n", "[export]\naccount = acct-south\n"
    assert told({"customers/a.ini": one}, {"customers/a.ini": one, "customers/b.ini": two}) == []
    assert told({"conf.d/10-a.ini": one}, {"conf.d/10-a.ini": one, "conf.d/20-b.ini": one + "x = 1\n"}) == []
