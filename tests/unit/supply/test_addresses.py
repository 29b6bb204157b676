"""Addresses in lines: what is one, and what only looks like one."""

from __future__ import annotations

import time

import pytest

from gate.supply.addresses import addresses_in, is_account


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ('extra_hosts: ["ledger.fleet.example:203.0.113.9"]', ["ledger.fleet.example", "203.0.113.9"]),
        ("@       IN MX  5  mx0.fleet-mail.example.", ["mx0.fleet-mail.example"]),
        ("    Host   203.0.113.24", ["203.0.113.24"]),
        ('relay = "203.0.113.25:2525"', ["203.0.113.25"]),
        ("access_log syslog:server=logs.fleet.example:514 main;", ["logs.fleet.example:514"]),
        ("Bcc: archive@fleet-archive.example", ["archive@fleet-archive.example"]),
        ("topic: arn:aws:sns:eu-1:111122223333:orders", ["arn:aws:sns:eu-1:111122223333:orders"]),
        ("dsn = postgres://u:p@db.fleet.example:5432/a", ["postgres://u:p@db.fleet.example:5432/a"]),
        ("northwind,DE02120300000000202051,EUR", ["DE02120300000000202051"]),
        ('fetch("https://${zone}.fleet.example/in")', ["https://${zone}.fleet.example/in"]),
        ("Server=tcp:sql.fleet.example,1433;Database=a", ["sql.fleet.example"]),
    ],
)
def test_addresses(line: str, wanted: list[str]) -> None:
    assert [one.text for one in addresses_in(line)] == wanted


@pytest.mark.parametrize(
    "line", ["x = 1.2", "v1.2.3.4.5", "0.0.0.0", "self.settings.load()", "DE0212030000", "a.b:c", "AB12CDEF"]
)
def test_no_addresses(line: str) -> None:
    assert list(addresses_in(line)) == []


def test_a_bank_account_has_check_digits() -> None:
    assert is_account("DE02 1203 0000 0000 2020 51")
    assert not is_account("DE02120300000000202015")
    assert not is_account("DE0212030000000020205")


@pytest.mark.parametrize("part", ["a.", "a-", "://", "{", "1.", "arn:", "AA11 ", "x@", "$"])
def test_long_lines_take_no_time(part: str) -> None:
    start = time.monotonic()
    list(addresses_in(part * 2_000))
    assert time.monotonic() - start < 2
