"""The process tree: small, and no text of a change means anything in it."""

from __future__ import annotations

import re

from hypothesis import given, settings

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.report.mermaid import MOST_NODES, process_tree
from tests.unit.test_escape import HOSTILE

LINE = re.compile(
    r'  (n\d+(\["[\w.:/-]+"\]|\(\["[\w.:/-]+"\]\))'
    r'|n\d+ -->(\|(connects to|listens on)\|)? n\d+|more\["\d+ more in report\.json"\])',
    re.ASCII,
)


def _seen(kind: BehaviourKind, subject: str, actor: str) -> Behaviour:
    return Behaviour(kind=kind, subject=subject, actor=actor)


def test_who_starts_whom_and_talks_to_where() -> None:
    tree = process_tree(
        [
            _seen(BehaviourKind.EXEC, "/bin/sh", "python>sh"),
            _seen(BehaviourKind.CONNECT, "198.51.100.7:443", "python>sh>curl"),
            _seen(BehaviourKind.WRITE, "/etc/x", "python"),
        ]
    )
    assert tree.splitlines() == [
        "```mermaid",
        "flowchart LR",
        '  n0["python"]',
        '  n1["sh"]',
        "  n0 --> n1",
        '  n2["curl"]',
        '  n3(["198.51.100.7:443"])',
        "  n1 --> n2",
        "  n2 -->|connects to| n3",
        "```",
    ]


def test_nothing_to_draw() -> None:
    assert process_tree([_seen(BehaviourKind.READ, "/etc/passwd", "python")]) == ""


def test_many_are_counted() -> None:
    tree = process_tree([_seen(BehaviourKind.CONNECT, f"192.0.2.{n}:1", "python") for n in range(200)])
    assert tree.count("([") == MOST_NODES - 1
    assert f"{200 - MOST_NODES + 1} more in report.json" in tree


@settings(deadline=None, max_examples=100)
@given(HOSTILE, HOSTILE)
def test_no_text_of_a_change_means_anything(subject: str, actor: str) -> None:
    for kind in (BehaviourKind.EXEC, BehaviourKind.CONNECT, BehaviourKind.LISTEN):
        lines = process_tree([_seen(kind, subject, actor)]).splitlines()
        assert lines[:2] == ["```mermaid", "flowchart LR"]
        assert lines[-1] == "```"
        assert all(LINE.fullmatch(line) for line in lines[2:-1]), lines
