"""What stands in the place of something that main did, and head does no more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.model.behaviour import Behaviour
from gate.model.run import Phase
from gate.signals.rules import http_request, new_outbound_connection
from tests.unit.signals.cases import http, net
from tests.unit.signals.context import context

OLD = net("203.0.113.7:443", host="reports-01.example", port="443")
NEW = net("203.0.113.8:443", host="reports-07.example", port="443")


def connection(*gone: Behaviour, phase: Phase = "test") -> str:
    (one,) = new_outbound_connection.check.check(context(NEW, phase=phase, gone=gone))
    return f"{one.severity.value}/{one.confidence.value}"


def test_a_test_whose_connection_goes_elsewhere_weighs_in_full() -> None:
    assert connection() == "medium/high"
    assert connection(OLD) == "high/medium"
    assert connection(net("127.0.0.1:80", "loopback")) == "medium/high"
    assert connection(net("203.0.113.7:443", host="reports-01.example", actor="python>curl")) == "medium/high"


def test_mains_connection_at_another_machine_of_the_same_shape() -> None:
    moved = replace(NEW, shape="reports-NN.example:443")
    (one,) = new_outbound_connection.check.check(context(moved, phase="test"))
    assert (one.severity.value, one.confidence.value) == ("high", "high")
    assert one.message.startswith("Opens main's connection, but to another machine")


def request(path: str, method: str = "POST", host: str = "hooks.example") -> Behaviour:
    return http(method, host, path=path)


@pytest.mark.parametrize(
    ("old", "new", "severity"),
    [
        (request("/services/T024/B1001/abcd"), request("/services/T777/B2002/wxyz"), "high"),
        (request("/v1/charges"), request("/v2/charges"), "low"),
        (request("/v1/charges"), request("/v1/refunds"), "low"),
        (request("/items/1", "GET"), request("/items/2", "GET"), "low"),
        (request("/a/T1", host="other.example"), request("/a/T2"), "low"),
        (request("/a/T1"), request("/a/b/T2"), "low"),
    ],
)
def test_another_account_of_the_same_host(old: Behaviour, new: Behaviour, severity: str) -> None:
    (one,) = http_request.check.check(context(new, phase="test", gone=(old,)))
    assert one.severity.value == severity
