"""Owners that stand nowhere in base: where they are told, and what is no such thing."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.destinations import Destinations
from tests.prescreen_support import make_request

BASE = {
    "app/main.py": 'API = "https://api.fleet.example/v1"\n',
    "docs/a.md": "We use https://hub.partner.example/.\n",
}

PAGE = "app/templates/home.html"


def told(path: str, text: str, before: str = "") -> list[tuple[str, str]]:
    base = {**BASE, path: before} if before else BASE
    found = Destinations().scan(make_request({**base, path: text}, base)).findings
    return [(f.severity.value, f.evidence["owner"]) for f in found if f.rule_id == "destination.new"]


@pytest.mark.parametrize(
    ("path", "line", "owner"),
    [
        ("svc/logging.json", '  "host": "alerts.observe.example", "url": "/in"', "observe.example"),
        ("config/desk.toml", 'helpdesk_endpoint = "https://t.desk-hub.example/api"', "desk-hub.example"),
        ("config/desk.toml", 'bug_report_endpoint = "https://t.desk-hub.example/api"', "desk-hub.example"),
        ("etc/fluent.conf", "    Host   203.0.113.24", "203.0.113.24"),
        ("etc/nginx.conf", "  proxy_pass https://shadow.observe.example$request_uri;", "observe.example"),
        ("etc/rsyslog.d/a.conf", "*.* @@logs.observe.example:514", "observe.example"),
        ("zones/a.zone", "@  IN MX 5 mx0.fleet-mail.example.", "fleet-mail.example"),
        ("docker-compose.yml", '    extra_hosts: ["ledger.fleet.example:203.0.113.9"]', "203.0.113.9"),
        ("k8s/app.yaml", "        - ip: 203.0.113.9", "203.0.113.9"),
        ("dns.tf", '  records = ["10 mx0.fleet-mail.example"]', "fleet-mail.example"),
        ("sso/a.json", '{"cors": ["https://fleet.example", "https://stage.example"]}', "stage.example"),
        ("data/payees.csv", "adventure,DE02701500000000594937,EUR", "de02701500000000594937"),
        ("iam/trust.json", '"AWS": "arn:aws:iam::444455556666:root"', "444455556666"),
        (".env", "LOG_SINK=logs.observe.example:514", "observe.example"),
        ("pip.conf", "proxy = http://cache.observe.example:3128", "observe.example"),
        (".env.production", "SENTRY_DSN=https://k@o482916.ingest.sentry.io/1", "o482916.ingest.sentry.io"),
        ("mailer/reset.txt", "    https://app.accounts.example/reset/$token", "accounts.example"),
        ("app/mail/reset.html", '<a href="https://app.accounts.example/login">In</a>', "accounts.example"),
        (PAGE, '<base href="https://cdn.portal.example/">', "portal.example"),
        (PAGE, '<form method="post" action="https://in.portal.example/">', "portal.example"),
        (PAGE, '<img src="https://m.portal.example/p.gif?u={{ user }}">', "portal.example"),
        ("locale/de/a.po", 'msgstr "https://app.accounts.example/reset/%s"', "accounts.example"),
        ("src/Footer.tsx", "<img src={`https://b.observe.example/p?c=${token()}`} />", "observe.example"),
    ],
)  # fmt: skip
def test_settings_and_templates_are_medium(path: str, line: str, owner: str) -> None:
    assert told(path, f"{line}\n") == [("medium", owner)]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("src/a.js", '  #beat() { post("https://status.observe.example/beat", this.key) }'),
        ("src/a.js", ';post("https://status.observe.example/beat", key)'),
        ("client.go", '    c.Post("https://status.observe.example/beat", body)'),
        ("app/a.py", '    os.environ["HTTPS_PROXY"] = "http://cache.observe.example:3128"'),
        ("app/a.py", '    write("[global]\\nindex-url = https://pypi.observe.example/simple")'),
        ("app/a.py", '    message["Bcc"] = "archive@observe.example"'),
        ("src/a.ts", "const sink = `https://${zone}.observe.example/in`;"),
    ],
)
def test_in_code_it_is_low_until_it_is_known_what_ran(path: str, line: str) -> None:
    assert told(path, f"{line}\n") == [("low", "observe.example")]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("config/a.toml", 'url = "https://eu.fleet.example/v2"'),
        ("chart/templates/policy.yaml", "apiVersion: networking.k8s.io/v1"),
        ("chart/templates/role.yaml", '  - apiGroups: ["monitoring.coreos.com", "batch.k8s.io"]'),
        ("config/a.toml", 'url = "https://hub.partner.example/in"'),
        ("config/a.toml", 'homepage = "https://tool.other.example/"'),
        ("config/a.toml", 'documentation_url = "https://tool.other.example/"'),
        ("config/a.toml", 'host = "localhost"'),
        ("config/a.toml", 'host = "10.1.2.3"'),
        ("config/a.toml", 'host = "redis.internal"'),
        ("config/a.toml", 'version = "12.0.4.1"'),
        ("config/a.toml", 'mail = "you@example.com"'),
        ("config/a.toml", "# see https://tool.other.example/"),
        ("config/a.toml", 'name = "x"  # https://tool.other.example/'),
        ("config/a.json", '"$schema": "https://tool.other.example/s.json",'),
        ("config/a.json", '"description": "see https://tool.other.example/ for more",'),
        ("src/a.ts", " * @see https://tool.other.example/"),
        ("config/a.toml", 'index = "https://pypi.org/project/other/"'),
        ("README.md", "curl https://tool.other.example/"),
        ("docs/conf.toml", 'url = "https://tool.other.example/"'),
        ("tests/data/a.json", '{"url": "https://tool.other.example/"}'),
        ("notes.txt", "https://tool.other.example/"),
        ("app/a.py", "# https://tool.other.example/"),
        ("app/a.py", 'raise ValueError("see https://tool.other.example/a for more")'),
        ("app/a.py", "settings.email = user.info"),
        ("src/a.tsx", '<a href="https://tool.other.example/docs">Documentation</a>'),
        (PAGE, '<a href="https://tool.other.example/">Made with Tool</a>'),
        (PAGE, '<html xmlns="http://www.w3.org/1999/xhtml">'),
        ("package.json", '  "repository": "https://tool.other.example/a.git",'),
        ("requirements.txt", "a @ https://tool.other.example/a.whl"),
        ("pip.conf", "index-url = https://tool.other.example/simple"),
        (".env", "PIP_INDEX_URL=https://tool.other.example/simple"),
        ("go.mod", "require go.other.example v1.2.0"),
        (".pre-commit-config.yaml", "  - repo: https://tool.other.example/a"),
        ("uv.lock", 'source = { registry = "https://tool.other.example/simple" }'),
        (".github/workflows/ci.yml", "      - run: curl https://tool.other.example/"),
        ("Dockerfile", "FROM registry.other.example/a:1"),
        ("data/payees.csv", "adventure,DE02701500000000594973,EUR"),
        ("k8s/app.yaml", '        scrape.observe.example/scrape: "true"'),
        ("k8s/app.yaml", "        observe.example/part-of: shop"),
    ],
)  # fmt: skip
def test_what_people_read_and_what_is_judged_elsewhere_is_nothing(path: str, line: str) -> None:
    assert told(path, f"{line}\n") == []


def test_an_owner_is_told_once_and_never_beside_a_change_of_the_same_line() -> None:
    line = 'a = "https://in.observe.example/{}"\n'
    assert len(told("config/a.toml", line.replace("{}", "1") + line.replace("{}", "2"))) == 1
    assert (
        told("config/a.toml", 'a = "https://in.observe.example/"\n', 'a = "https://in.fleet.example/"\n')
        == []
    )


def test_a_longer_name_in_base_is_another_one() -> None:
    base = {"a.toml": 'u = "https://observe.example.fleet.example/ https://my-hub.example/"\n'}
    for name in ("observe.example", "hub.example"):
        head = {**base, "b.toml": f'u = "https://{name}/"\n'}
        assert len(Destinations().scan(make_request(head, base)).findings) == 1


def test_the_first_commit_has_no_base_to_compare_with() -> None:
    assert (
        Destinations().scan(make_request({"a.toml": 'u = "https://in.observe.example/"\n'}, {})).findings
        == ()
    )


def test_an_account_that_base_writes_in_groups_is_known() -> None:
    base = {"a.py": 'PAY_TO = "DE02 1203 0000 0000 2020 51"\n'}
    for account, known in (("DE02120300000000202051", True), ("DE02701500000000594937", False)):
        head = {**base, "a.json": f'{{"iban": "{account}"}}\n'}
        found = Destinations().scan(make_request(head, base)).findings
        assert (not [f for f in found if f.rule_id == "destination.new"]) is known


CATALOGUE = "".join(f"- name: n{n}\n  search_url: https://find.n{n}owner.example/?q=\n" for n in range(12))
ONE_MORE = "- name: more\n  search_url: https://find.more-owner.example/?q=\n"


def test_one_entry_more_of_a_catalogue_is_low() -> None:
    assert told("app/settings.yml", CATALOGUE + ONE_MORE, CATALOGUE) == [("low", "more-owner.example")]


def test_another_key_than_the_catalogues_is_medium() -> None:
    head = CATALOGUE + ONE_MORE.replace("search_url", "report_url")
    assert told("app/settings.yml", head, CATALOGUE) == [("medium", "more-owner.example")]


def test_what_takes_an_entrys_place_is_no_entry_more() -> None:
    head = "".join(CATALOGUE.splitlines(keepends=True)[2:]) + ONE_MORE
    found = Destinations().scan(make_request({"s.yml": head}, {"s.yml": CATALOGUE})).findings
    assert [f.severity.value for f in found if "more-owner" in str(f.evidence)] == ["high"]


def test_few_addresses_are_no_catalogue() -> None:
    few = "".join(CATALOGUE.splitlines(keepends=True)[:20])
    assert told("app/settings.yml", few + ONE_MORE, few) == [("medium", "more-owner.example")]
