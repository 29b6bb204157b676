"""The readers of what the simulated network saw: names, hellos, its log. None raises or believes too much."""

from __future__ import annotations

import functools
import json
import os
import socket
import ssl
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.inside.sinkhole import client_hello, names
from gate.inside.sinkhole.log import Log
from gate.tracing.behaviour.dns_query import query_name
from gate.tracing.readers.sinkhole import TcpConnection, plain, read_log


def _query(name: bytes, kind: int) -> bytes:
    labels = b"".join(bytes([len(part)]) + part for part in name.split(b"."))
    return b"\x12\x34\x01\x00\x00\x01" + bytes(6) + labels + b"\0" + kind.to_bytes(2, "big") + b"\0\1"


def _answered(name: bytes, kind: int, book: names.Names) -> bytes:
    packet = _query(name, kind)
    asked = names.question(packet)
    assert asked is not None
    return names.reply(packet, asked, book)


def test_each_name_has_addresses_of_its_own_and_gets_them_back() -> None:
    book = names.Names()
    seen = set()
    for number in range(2000):
        text = f"h{number}.example"
        four = socket.inet_ntop(socket.AF_INET, _answered(text.encode(), 1, book)[-4:])
        six = socket.inet_ntop(socket.AF_INET6, _answered(text.encode(), 28, book)[-16:])
        assert book.name_of(four) == book.name_of(six) == text
        assert four.startswith(("198.18.", "198.19."))
        seen.add(four)
    assert len(seen) == 2000
    assert names.Names().address("h7.example", socket.AF_INET) == book.address("h7.example", socket.AF_INET)
    assert book.name_of("203.0.113.7") == book.name_of("no address") == ""


@pytest.mark.parametrize("kind", [2, 5, 6, 12, 15, 16, 33, 64, 65, 99, 255])
def test_every_type_gets_an_answer_to_its_own_question(kind: int) -> None:
    packet = _query(b"a.example", kind)
    answer = _answered(b"a.example", kind, names.Names())
    assert answer[:2] == packet[:2]
    assert answer[2] & 0x80
    assert answer[3] & 0x0F == 0
    assert answer[12 : len(packet)] == packet[12:]


def test_localhost_is_this_machine() -> None:
    assert _answered(b"localhost", 1, names.Names())[-4:] == b"\x7f\0\0\1"


@given(st.binary(max_size=300))
def test_no_packet_breaks_the_reader(packet: bytes) -> None:
    asked = names.question(packet)
    if asked is not None:
        names.reply(packet, asked, names.Names())
        assert query_name(packet) == (asked.name, query_name(packet)[1])  # type: ignore[index]


@given(st.binary(max_size=400))
def test_no_hello_breaks_the_reader(data: bytes) -> None:
    client_hello.server_name(b"\x16\x03\x01" + data)


@given(st.integers(0, 600), st.integers(0, 255), st.integers(0, 600))
def test_a_damaged_hello_gives_a_name_or_none(at: int, value: int, cut: int) -> None:
    hello = bytearray(_hello("some.example"))
    hello[at % len(hello)] = value
    client_hello.server_name(bytes(hello[: max(1, cut)]))


@functools.cache
def _hello(name: str) -> bytes:
    out = ssl.MemoryBIO()
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return out.read()


def test_the_wanted_name_is_read() -> None:
    hello = _hello("some.example")
    assert client_hello.server_name(hello) == "some.example"
    assert client_hello.server_name(hello[:40]) is None


def _written(path: Path, budget: int = 1 << 20) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    log = Log(fd, budget)
    log.start()
    log.say(
        "dns",
        server="127.0.0.1",
        proto="udp",
        name="a.example",
        qtype="A",
        raw=b"a.example",
        answer="198.18.0.9",
    )
    log.say("connect", id=1, addr="198.18.0.9", port=443, name="a.example", source=40000)
    log.say("closed", id=1, size=0)
    log.end(connections=1, datagrams=1, refused=0)
    os.close(fd)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    _written(tmp_path / "log")
    log = read_log(tmp_path / "log")
    assert log.completeness.whole
    assert log.name_of("198.18.0.9") == log.name_of("::ffff:198.18.0.9") == "a.example"
    assert isinstance(log.connections[1], TcpConnection)


_ALMOST = [
    json.dumps({"ev": kind, "seq": seq, "addr": addr}).encode()
    for kind in ("start", "connect", "dns", "summary", "?")
    for seq in (-1, 0, 1, "0")
    for addr in ("", 7, None, "x" * 2000)
] + [b"[" * 5000, b"null", b'{"ev":"start","version":1,"seq":0}']


@pytest.mark.parametrize("cut", [1, 40, 200, 400])
def test_a_cut_log_is_not_whole(cut: int, tmp_path: Path) -> None:
    _written(tmp_path / "log")
    whole = (tmp_path / "log").read_bytes()
    (tmp_path / "log").write_bytes(whole[:-cut])
    assert not read_log(tmp_path / "log").completeness.whole


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: lines[1:],
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: [*lines, lines[1]],
        lambda lines: [lines[0], *lines],
        lambda lines: [lines[0], b"{}\n", *lines[1:]],
        lambda lines: [lines[0], lines[1].replace(b'"qtype"', b'"other"'), *lines[2:]],
        lambda lines: [*lines[:-1], lines[-1].replace(b'"dropped":0', b'"dropped":3')],
        lambda lines: [],
    ],
    ids=["no-start", "gap", "after-the-end", "two-starts", "no-event", "unknown-field", "dropped", "empty"],
)
def test_a_log_with_holes_is_not_whole(damage: object, tmp_path: Path) -> None:
    _written(tmp_path / "log")
    lines = (tmp_path / "log").read_bytes().splitlines(keepends=True)
    assert callable(damage)
    (tmp_path / "log").write_bytes(b"".join(damage(lines)))
    assert not read_log(tmp_path / "log").completeness.whole


def test_no_log_is_not_whole(tmp_path: Path) -> None:
    assert not read_log(tmp_path / "none").completeness.whole
    assert not read_log(None).completeness.whole


@settings(max_examples=60)
@given(st.lists(st.one_of(st.binary(max_size=40), st.sampled_from(_ALMOST)), max_size=6))
def test_no_log_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed"
    path.write_bytes(b"\n".join(lines))
    assert not read_log(path).completeness.whole


def test_a_flood_of_content_leaves_room_for_connections(tmp_path: Path) -> None:
    fd = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    log = Log(fd, 6 << 20)
    log.start()
    for _ in range(200):
        log.say("data", id=1, data=bytes(64 << 10))
    assert log.cut > 100
    assert log.say("connect", id=2, addr="203.0.113.7", port=1, name="", source=2)
    log.end(connections=2, datagrams=0, refused=0)
    os.close(fd)
    read = read_log(tmp_path / "log")
    assert read.completeness.whole
    assert read.cut == log.cut


@pytest.mark.parametrize(
    ("text", "same"),
    [("::ffff:1.2.3.4", "1.2.3.4"), ("2001:DB8::0:1", "2001:db8::1"), ("fe80::1%lo", "fe80::1"), ("x", "x")],
)
def test_an_address_has_one_form(text: str, same: str) -> None:
    assert plain(text) == same
