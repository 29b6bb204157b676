"""Lines for what was seen, from what the driver said: by name, by the only place, quick for very many."""

from __future__ import annotations

import time

import pytest

from gate.model.behaviour import BehaviourKind as Kind
from gate.tracing.behaviour.accumulator import Cell
from gate.tracing.behaviour.source_lines import Hints


def hints(*sites: list[object], items: int = 1) -> Hints:
    return Hints({"items": [{"sites": list(sites)}] * items})


@pytest.mark.parametrize(
    ("kind", "subject", "detail", "line"),
    [
        (Kind.READ, "/etc/motd", {}, 1),
        (Kind.READ, "tree:x/", {}, 2),
        (Kind.RENAME, "a to b", {"old": "/etc/motd"}, 5),
        (Kind.CONNECT, "192.0.2.1:80", {}, 3),
        (Kind.CONNECT, "192.0.2.2:80", {}, 3),
        (Kind.DNS, "a.example.com", {"name": "a.example"}, 4),
        (Kind.EXEC, "sh -c ls", {"program": "sh", "argv": "sh -c ls"}, 6),
        (Kind.READ, "/etc/other", {}, None),
        (Kind.LISTEN, "*:80", {}, None),
    ],
)
def test_the_line_that_says_so(kind: Kind, subject: str, detail: dict[str, str], line: int | None) -> None:
    told = hints(
        ["open", "/etc/motd", "a.py", 1], ["open", "x", "a.py", 2],
        ["socket.connect", "192.0.2.1:80", "a.py", 3], ["socket.getaddrinfo", "A.example:443", "a.py", 4],
        ["os.rename", "/etc/motd", "a.py", 5],
        ["os.system", "ls", "a.py", 6], ["open", "/etc/motd", "a.py", 7],
    )  # fmt: skip
    if kind is Kind.CONNECT:
        told = hints(["socket.connect", "192.0.2.1:80", "a.py", 3])
    at = told.at(Cell(kind, subject, "", detail, denied=False))
    assert (at.line if at else None) == line


def test_very_many_sites_and_very_many_things_seen() -> None:
    sites: list[list[object]] = [["open", f"/o/{n}", "a.py", 1] for n in range(2_000)]
    told = hints(*sites, items=4)
    began = time.process_time()
    for n in range(20_000):
        told.at(Cell(Kind.READ, f"/etc/{n}", "", {"path": f"/etc/{n}"}, denied=False))
    assert time.process_time() - began < 30  # it was four minutes
