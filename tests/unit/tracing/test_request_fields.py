"""The fields of a request that base makes, too: what is new in them, and whom they name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gate.model.change import Side
from gate.model.request_fields import FieldChange
from gate.model.run import Outcome, RunRecord
from gate.tracing.request_fields import field_changes, names_whom
from tests.unit.signals.context import run
from tests.unit.tracing.test_outgoing import b64, log, request

Events = Sequence[dict[str, object]]


def record(folder: Path, side: Side, turn: int, events: Events, host: str = "chat.example") -> RunRecord:
    place = folder / f"{side}{turn}"
    place.mkdir()
    network = log(place, *events, name=host)
    return replace(run("call"), side=side, repeat=turn, network=network)


def changes(folder: Path, base: Sequence[Events], head: Sequence[Events]) -> list[FieldChange]:
    """``base``, ``head``: what each run of the probe sends."""
    runs = [record(folder, "base", turn, events) for turn, events in enumerate(base)]
    runs += [record(folder, "head", turn, events) for turn, events in enumerate(head)]
    return list(field_changes(runs))


def posted(body: str, **headers: str) -> list[dict[str, object]]:
    return [request(body, "/api/post", "chat.example", **headers)]


def mailed(*recipients: str, headers: str = "") -> list[dict[str, object]]:
    text = "ehlo x\r\nmail FROM:<a@b.example> size=3\r\n"
    text += "".join(f"rcpt TO:<{name}>\r\n" for name in recipients)
    text += f"data\r\nSubject: x\r\nDate: now\r\n{headers}\r\nBcc: none of the headers\r\n.\r\nquit\r\n"
    return [
        {"ev": "connect", "id": 2, "addr": "198.18.0.2", "port": 587, "name": "mail.example", "source": 5},
        {"ev": "data", "id": 2, "data": b64(text[:40])},
        {"ev": "data", "id": 2, "data": b64(text[40:])},
    ]


def test_another_channel_of_the_same_service(tmp_path: Path) -> None:
    base, head = posted('{"channel": "C1", "text": "a"}'), posted('{"channel": "C2", "text": "b"}')
    (one,) = changes(tmp_path, [base, base], [head])
    assert (one.host, one.request, one.part) == ("chat.example", "POST /api/post", "body.channel")
    assert (one.before, one.after, one.names_whom, one.is_new) == (('"C1"',), ('"C2"',), True, False)


def test_base_that_ran_once_does_not_say_whether_it_varies(tmp_path: Path) -> None:
    base, head = posted('{"channel": "C1"}'), posted('{"channel": "C2"}')
    runs = [record(tmp_path, "base", 0, base), record(tmp_path, "head", 0, head)]
    assert field_changes(runs) == ()
    assert len(field_changes(runs, tentative=True)) == 1


@pytest.mark.parametrize(
    ("base", "head"),
    [
        (["C1", "C3"], ["C2"]),  # base varies by itself
        (["C1", "C1"], ["C2", "C4"]),  # so does head
        (["C1", "C1"], ["C1"]),
    ],
)
def test_what_varies_or_is_the_same_is_no_change(tmp_path: Path, base: list[str], head: list[str]) -> None:
    def sent(names: list[str]) -> list[Events]:
        return [posted(f'{{"channel": "{name}"}}') for name in names]

    assert changes(tmp_path, sent(base), sent(head)) == []


def test_values_that_the_probe_made_up_later_are_not_compared(tmp_path: Path) -> None:
    first, drawn = posted('{"channel": "C1"}'), posted('{"channel": "gate", "gate": 1}')
    assert changes(tmp_path, [first, first], [[*first, *drawn]]) == []
    (tmp_path / "more").mkdir()
    known = [*first, *posted('{"channel": "C2"}')]
    assert changes(tmp_path / "more", [known, known], [posted('{"channel": "C2"}')]) == []


def test_a_field_that_base_does_not_send(tmp_path: Path) -> None:
    base, head = posted('{"text": "a"}'), posted('{"text": "b", "client": "4d4b"}', X_Trace="7")
    found = changes(tmp_path, [base], [head])
    assert [(one.part, one.is_new, one.names_whom) for one in found] == [
        ("header x-trace", True, False),
        ("body.client", True, False),
    ]


def test_a_request_that_base_does_not_make_is_told_elsewhere(tmp_path: Path) -> None:
    other = [request('{"channel": "C2"}', "/api/other", "chat.example")]
    assert changes(tmp_path, [posted("{}")], [other]) == []
    (tmp_path / "none").mkdir()
    assert changes(tmp_path / "none", [], [other]) == []


def test_runs_that_did_not_come_to_their_end_count_for_nothing(tmp_path: Path) -> None:
    base, head = posted("{}"), posted('{"channel": "C2"}')
    runs = [record(tmp_path, "base", 0, base), record(tmp_path, "head", 0, head)]
    assert field_changes([runs[0], replace(runs[1], outcome=Outcome.TIMED_OUT)]) == ()


def test_a_copy_to_another_mailbox(tmp_path: Path) -> None:
    base = mailed("ida@b.example")
    head = mailed("ida@b.example", "Archive@c.example", headers="Reply-To: x@c.example\r\n")
    found = changes(tmp_path, [base, base], [head])
    assert [(one.host, one.request, one.part, one.after) for one in found] == [
        ("mail.example", "mail", "recipient", ("archive@c.example",)),
        ("mail.example", "mail", "header reply-to", ("x@c.example",)),
    ]


@pytest.mark.parametrize(
    ("part", "whom"),
    [
        ("body.channel", True),
        ("body.message.slackChannelId", True),
        ("header x-org-id", True),
        ("query webhook_url", True),
        ("header reply-to", True),
        ("body.to", True),
        ("body.items[].account", True),
        ("recipient", True),
        ("body.valid_to", False),
        ("body.account_type", False),
        ("body.text", False),
        ("header x-request-id", False),
        ("body.project_version", False),
        ("query q", False),
        ("body", False),
        ("", False),
    ],
)
def test_names_of_fields_that_say_whose(part: str, whom: bool) -> None:
    assert names_whom(part) is whom
