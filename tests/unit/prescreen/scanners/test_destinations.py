"""Addresses that changed while all around them stayed: whose they are now, and what is no such thing."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.destinations import Destinations
from gate.supply.owners import owner_of
from tests.prescreen_support import make_request

CODE = """import urllib.request

ENDPOINT = "{}"


def send(data):
    return urllib.request.urlopen(ENDPOINT, data)
"""


def told(before: str, after: str, path: str = "app/report.py", text: str = CODE) -> list[tuple[str, str]]:
    base, head = (text.replace("{}", value) for value in (before, after))
    result = Destinations().scan(make_request({path: head}, {path: base}))
    found = [f for f in result.findings if f.rule_id == "destination.changed"]
    return [(f.severity.value, f.confidence.value) for f in found]


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ("https://collect.fleet.example/v1", "https://collect-fleet.example/v1", ("critical", "high")),
        ("https://api.payments.com/v1", "https://api.payrnents.com/v1", ("critical", "high")),
        ("https://vault.example/srv", "https://vault.example.net/srv", ("critical", "high")),
        ("https://collect.fleet.example/v1", "https://in.metrics-hub.io/v1", ("high", "medium")),
        ("https://raw.githubusercontent.com/us/x/main/a.sh", "https://raw.githubusercontent.com/them/x/main/a.sh",
         ("high", "medium")),
        ("https://our-data.s3.us-east-1.amazonaws.com/a", "https://spare.s3.us-east-1.amazonaws.com/a",
         ("high", "medium")),
        ("https://hooks.chat.example/services/T024BE7LD/B03", "https://hooks.chat.example/services/T09ZZK2P1/B03",
         ("high", "medium")),
        ("https://queue.fleet.example/111122223333/a", "https://queue.fleet.example/111122233333/a",
         ("medium", "medium")),
        ("203.0.113.7", "198.51.100.7", ("high", "medium")),
        ("arn:aws:sns:eu-1:111122223333:a", "arn:aws:sns:eu-1:111122233333:a", ("high", "medium")),
        ("DE02300209000106531065", "DE02300209000160531065", ("high", "high")),
        ("s3://shop-invoices-48102/", "s3://shop-invoices-48120/", ("high", "medium")),
        ("gs://shop-invoices/a", "gs://reports-2/a", ("medium", "medium")),
        ("https://api.tool.com/v1", "https://api.tool.io/v1", ("medium", "low")),
        ("https://api.tool.com/v1", "http://203.0.113.9/v1", ("high", "medium")),
        ("0x7A3fE1c2B49d05e8A6C71d2F4b8E90aD13c5F6b7", "0x7A3fE9c2B49d05e8A6C71d2F4b8E90aD13c5F6b7",
         ("high", "high")),
    ],
)  # fmt: skip
def test_another_owner_is_told(before: str, after: str, wanted: tuple[str, str]) -> None:
    assert told(before, after) == [wanted]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("https://api.tool.com/v1", "https://api.tool.com/v2"),
        ("https://api.tool.com/v1", "https://eu.api.tool.com/v1"),
        ("http://api.tool.com/v1", "https://api.tool.com/v1"),
        ("http://localhost:8000/", "http://127.0.0.1:9000/"),
        ("https://api.tool.com/v1", "http://localhost:9000/"),
        ("s3://shop-invoices/2024/", "s3://shop-invoices/2025/"),
        (
            "https://raw.githubusercontent.com/us/x/main/a.sh",
            "https://raw.githubusercontent.com/us/x/main/b.sh",
        ),
    ],
)
def test_the_same_owner_is_nothing(before: str, after: str) -> None:
    assert told(before, after) == []


def test_a_further_receiver_beside_the_known_one_is_told() -> None:
    text = "server.sendmail(sender, [{}], message)\n"
    assert told('"ops@fleet.example"', '"ops@fleet.example", "ops@fleet-mail.example"', text=text) == [
        ("high", "medium")
    ]


def test_what_people_read_and_other_lines_are_nothing() -> None:
    before, after = "https://docs.tool.com/a", "https://guide.other.org/a"
    assert told(before, after, text='HELP = "see {} for more"\n') == []
    assert told(before, after, path="README.md") == []
    assert told(before, after, text="# {}\nx = 1\n") == []
    assert told(before, after, path="tests/test_a.py") == [("low", "medium")]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("config/desk.toml", 'helpdesk_endpoint = "{}"\n'),
        ("config/desk.toml", 'bug_report_endpoint = "{}"\n'),
        ("mailer/reset.txt", "    {}$token\n"),
        ("mailer/reset.html", '<a class="button" href="{}$token">Choose</a>\n'),
        ("terraform/main.tf", '  endpoint = "{}"\n'),
        ("docker-compose.yml", '    environment: {LEDGER: "{}"}\n'),
    ],
)
def test_settings_and_letters_are_read(path: str, text: str) -> None:
    before, after = "https://app.fleet.example/a/", "https://in.other-accounts.example/a/"
    assert told(before, after, path=path, text=text) == [("high", "medium")]


def test_figures_beside_the_address_may_change_with_it() -> None:
    base, head = (
        '{"to": "https://a.fleet.example/", "percent": 1.5}\n',
        '{"to": "https://b.other.example/", "percent": 2}\n',
    )
    assert [
        f.rule_id for f in Destinations().scan(make_request({"a.json": head}, {"a.json": base})).findings
    ] == ["destination.changed"]


def test_whose_an_address_is() -> None:
    assert owner_of("https://a.b.example.co.uk/x").name == "example.co.uk"
    assert owner_of("deploy@app.example:/srv").name == "app.example"
    assert owner_of("https://us.herokuapp.com/").name == "us.herokuapp.com"
    assert owner_of("not an address").host == ""
