"""What follows the secret: runs with one set laid beside runs with another."""

from __future__ import annotations

import pytest

from gate.model.varied import Channel
from gate.tracing.outgoing import Outgoing
from gate.tracing.varied import differences, undecided

BODY = Channel(kind="http", to="metrics.example", part="body.id")


def runs(*values: tuple[bytes, ...]) -> list[Outgoing]:
    return [{BODY: value} if value else {} for value in values]


@pytest.mark.parametrize(
    ("same", "others", "how"),
    [
        ([(b"a",), (b"a",)], [(b"b",)], "content"),
        ([(b"a",), (b"a",)], [(b"a",)], None),
        ([(b"a",), (b"b",)], [(b"c",)], None),
        ([(b"a" * 20,), (b"b" * 20,)], [(b"c" * 27,)], "size"),
        ([(b"0.123",), (b"0.12",)], [(b"0.1234567",)], None),
        ([(b"0.123",), (b"0.124",)], [(b"0.12",)], None),  # a number loses a digit by itself
        ([(b"a", b"a"), (b"a", b"a")], [(b"a",)], "count"),
        ([(b"a", b"a"), (b"a",)], [(b"a", b"a", b"a")], None),
        ([(b"a",), (b"a",)], [()], "presence"),
        ([(), ()], [(b"a",)], "presence"),
        ([(b"a", b"b"), (b"a", b"b")], [(b"b", b"a")], "order"),
        ([(b"a", b"b"), (b"b", b"a")], [(b"b", b"a")], None),
        ([(b"a", b"b"), (b"b", b"a")], [(b"b", b"c")], "content"),  # a bag: who is first varies by itself
        ([(b"at 12:01 key=abc",), (b"at 12:02 key=abc",)], [(b"at 12:03 key=xyz",)], "content"),
        ([(b"at 12:01 key=abc",), (b"at 12:02 key=abc",)], [(b"at 12:03 key=abc",)], None),
        ([(b"a",), (b"a",), (b"a",)], [(b"b",), (b"c",)], None),  # with others it varies by itself
    ],
)
def test_what_decides(
    same: list[tuple[bytes, ...]], others: list[tuple[bytes, ...]], how: str | None
) -> None:
    found = differences(runs(*same), runs(*others))
    assert [one.how for one in found] == ([how] if how else [])


def test_noise_that_could_hold_a_secret_is_undecided() -> None:
    noise = runs((b"q" * 16,), (b"r" * 16,))
    assert undecided(noise, runs((b"s" * 16,))) == [BODY]
    assert undecided(runs((b"1",), (b"2",)), runs((b"3",))) == []
    assert undecided(noise, runs((b"s" * 40,))) == []  # its size follows the secret: that is told


@pytest.mark.parametrize(
    ("same", "others", "told"),
    [
        ((b"0.05",) * 6, (b"0.05",) * 4, False),  # a loop that waits for something to end
        ((b"0.05",) * 6, (b"0.05", b"0.20", b"0.05"), True),
        ((b"0.05",), (b"0.20",), True),
        ((b"0.05",), (), True),
    ],
)
def test_how_often_the_same_time_was_slept_is_the_machines(
    same: tuple[bytes, ...], others: tuple[bytes, ...], told: bool
) -> None:
    slept = Channel(kind="sleep")
    found = differences([{slept: same}, {slept: same}], [{slept: others} if others else {}])
    assert bool(found) is told


def test_the_same_pieces_in_another_order_hold_nothing() -> None:
    first, second = b"q" * 16, b"r" * 16
    assert undecided(runs((first, second), (second, first)), runs((first, second))) == []
    assert undecided(runs((first, second), (second, b"t" * 16)), runs((first, b"s" * 16))) == [BODY]


def test_among_many_files_of_one_kind_some_agree_by_accident() -> None:
    """Certificates that tests make in threads: each run gets some of the same, in another order."""

    def made(*texts: str) -> list[Outgoing]:
        return [
            {
                Channel(kind="file", to="machine", part=f"/tmp/certs{n}/ca.pem"): (c.encode() * 9,)
                for n, c in enumerate(t)
            }
            for t in texts
        ]

    assert differences(made("abcd", "abdd", "abcd"), made("aecd", "aecd")) == []
    assert [d.channel.part for d in differences(made("abcd", "abcd"), made("aecd"))] == ["/tmp/certs1/ca.pem"]
    assert differences(made("ab", "ac"), made("ed", "ee")) != []  # two are no crowd
