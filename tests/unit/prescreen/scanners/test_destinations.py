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
    found = Destinations().scan(make_request({path: head}, {path: base})).findings
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


def test_whose_an_address_is() -> None:
    assert owner_of("https://a.b.example.co.uk/x").name == "example.co.uk"
    assert owner_of("deploy@app.example:/srv").name == "app.example"
    assert owner_of("https://us.herokuapp.com/").name == "us.herokuapp.com"
    assert owner_of("not an address").host == ""
