"""Planted secrets in whatever wrapping; quiet on everything else; bounded on hostile data."""

from __future__ import annotations

import base64
import bz2
import codecs
import gzip
import itertools
import lzma
import random
import time
import urllib.parse
import zlib
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.model.canary import Canary
from gate.sandbox.canaries import plant
from gate.tracing.behaviour import canary_match
from gate.tracing.behaviour.canary_match import LAYER_BYTES, Matcher, Sighting

SECRET = "wJalrXUtnFEMI7K7MDENGbPxRfiCYEXAMPLEKEY1"
RAW = SECRET.encode()
KEY = Canary(name="key", path="/k", secrets=(SECRET,))
NOISE = random.Random(1).randbytes(100_000)
MATCHER = Matcher((KEY, *plant()))


def packed(data: bytes, bits: int) -> bytes:
    stream = zlib.compressobj(9, zlib.DEFLATED, bits)
    return stream.compress(data) + stream.flush()


@pytest.mark.parametrize(
    ("data", "how"),
    [
        (RAW, "raw"),
        (b"x=" + RAW + b"&y", "raw"),
        (RAW[:24], "raw"),
        (RAW[-24:], "raw"),
        (RAW[::-1], "reversed"),
        (base64.b64encode(RAW), "base64"),
        (base64.b64encode(b"a" + RAW), "base64"),
        (b"token=" + base64.b64encode(b"ab" + RAW + b"c"), "base64"),
        (b"glued" + base64.b64encode(RAW), "base64"),
        (base64.urlsafe_b64encode(b"\xff\xfe" + RAW), "base64"),
        (base64.encodebytes(b"head " * 20 + RAW), "base64"),
        (b"==".join([base64.b64encode(RAW[:15]).rstrip(b"="), base64.b64encode(RAW[15:])]), "base64"),
        (base64.b64encode(RAW)[::-1], "reversed+base64"),
        (base64.b32encode(RAW), "base32"),
        (base64.b32encode(RAW + b"1").rstrip(b"=").lower(), "base32"),
        (RAW.hex().encode(), "hex"),
        (RAW.hex().upper().encode(), "hex"),
        (RAW.hex(" ").encode(), "hex"),
        (RAW.hex(":").encode(), "hex"),
        ("".join(f"\\x{b:02x}" for b in RAW).encode(), "hex"),
        (b".".join(RAW.hex().encode()[i : i + 20] for i in range(0, 80, 20)), "hex"),
        ("".join(f"%{b:02x}" for b in RAW).encode(), "url"),
        (urllib.parse.quote("k=" + SECRET + "/ü").encode(), "raw"),
        (gzip.compress(b"body " + RAW), "gzip"),
        (b"POST / HTTP/1.1\r\n\r\n" + gzip.compress(RAW), "gzip"),
        (gzip.compress(b"lorem ipsum " * 9 + RAW)[:-9], "gzip"),
        (zlib.compress(RAW), "zlib"),
        (packed(RAW, -15), "deflate"),
        (bytes(b ^ 0x5A for b in b"hello " + RAW), "xor"),
        (base64.b64encode(bytes(b ^ 7 for b in RAW)), "base64+xor"),
        (base64.b64encode(gzip.compress(RAW)), "base64+gzip"),
        (base64.b64encode(RAW).hex().encode(), "hex+base64"),
        (base64.b64encode(base64.b64encode(base64.b64encode(RAW))), "base64+base64+base64"),
        (codecs.encode(SECRET, "rot13").encode(), "rot13"),
        (bytes(33 + (b - 33 + 47) % 94 for b in RAW), "rot47"),
        (RAW.swapcase(), "case"),
        (RAW.lower(), "case"),
        (base64.b85encode(lzma.compress(b"ab" * 900 + RAW * 3)), "base85+xz"),
        (b"q=" + base64.b85encode(RAW), "base85"),
        (base64.a85encode(RAW), "ascii85"),
        (b"ab " + base64.a85encode(b"x" + RAW, wrapcol=20), "ascii85"),
        (base64.b85encode(lzma.compress(RAW)), "base85"),
        (base64.b85encode(lzma.compress(RAW)).hex().encode(), "hex+base85"),
        (lzma.compress(RAW, format=lzma.FORMAT_ALONE), "xz"),
        (bz2.compress(b"body " + RAW), "bzip2"),
        (codecs.encode(b"head\n" + RAW, "uu"), "uuencode"),
        ("".join(f"={b:02X}" for b in RAW).encode(), "quoted-printable"),
        ("".join(f"\\u{b:04x}" for b in RAW).encode(), "json"),
        ("".join(f"\\{b:03o}" for b in RAW).encode(), "octal"),
        (str(list(RAW)).encode(), "decimal"),
        ("".join(f"&#{b};" for b in RAW).encode(), "decimal"),
        (SECRET.encode("utf-16"), "utf-16"),
        (SECRET.encode("utf-32-be"), "utf-16"),
        (bytes(b ^ k for b, k in zip(b"some text " + RAW, itertools.cycle(b"k3y"))), "xor"),
        (bytes(b ^ k for b, k in zip(RAW, itertools.cycle(b"8 bytes!"))), "xor"),
    ],
    ids=map(str, range(55)),
)
def test_seen(data: bytes, how: str) -> None:
    assert MATCHER.find(data) == (Sighting("key", how),)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"short",
        RAW[:11],
        b"hello world " * 1000,
        b"postgres://app:other@db.example/app",
        NOISE,
    ],
    ids=["nothing", "short", "piece", "text", "other-url", "noise"],
)
def test_not_seen(data: bytes) -> None:
    assert MATCHER.find(data) == ()


def test_nothing_planted_nothing_found() -> None:
    assert Matcher(()).find(RAW) == ()
    assert Matcher((Canary(name="short", env="S", secrets=("tiny",)),)).find(b"tiny " * 100) == ()


def test_of_a_database_url_only_the_password_counts() -> None:
    canary = Canary(name="url", env="U", secrets=("postgres://app:Zk3Vq8Lw1Xy5Tn7Rb2Md@db.example/app",))
    assert Matcher((canary,)).find(b"postgres://app:password@db.example/app") == ()
    assert Matcher((canary,)).find(b"Zk3Vq8Lw1Xy5Tn7Rb2Md") == (Sighting("url", "raw"),)


def test_every_planted_canary_is_found_by_its_secrets() -> None:
    planted = plant()
    matcher = Matcher(planted)
    for canary in planted:
        for secret in canary.secrets:
            assert canary.name in {s.canary for s in matcher.find(secret.encode())}, canary.name


@given(st.binary(max_size=400))
@settings(max_examples=150)
def test_any_bytes_are_survived(data: bytes) -> None:
    MATCHER.find(data)


@given(st.binary(max_size=60), st.binary(max_size=60), st.integers(0, 255))
def test_xor_by_any_byte_with_anything_around(before: bytes, after: bytes, key: int) -> None:
    data = bytes(b ^ key for b in before + RAW + after)
    assert "key" in {s.canary for s in MATCHER.find(data)}


@pytest.mark.parametrize(
    "made",
    [
        lambda: zlib.compress(b"\0" * (64 << 20)),
        lambda: gzip.compress(gzip.compress(b"\0" * (64 << 20))),
        lambda: b"\x1f\x8b\x08" * 100_000,
        lambda: base64.b64encode(NOISE * 3),
        lambda: b"%41" * 200_000,
    ],
    ids=["bomb", "bomb-in-bomb", "many-heads", "base64", "url"],
)
def test_bounded(made: Callable[[], bytes]) -> None:
    data = made()
    start = time.process_time()
    MATCHER.find(data[: 8 * LAYER_BYTES])
    assert time.process_time() - start < 30


def test_the_database_that_is_planted_needs_no_driver_and_its_name_alone_counts() -> None:
    (canary,) = [c for c in plant() if c.env == "DATABASE_URL"]
    (url,) = canary.secrets
    assert url.startswith("sqlite:////tmp/app-")
    assert url.endswith(".db")
    assert len(url.rpartition("/")[2]) < 40  # else the name of an open file is looked at as data
    name = url.removeprefix("sqlite:////tmp/app-").removesuffix(".db")
    matcher = Matcher((canary,))
    assert matcher.find(b"sqlite:////tmp/app-" + b"x" * 20 + b".db") == ()
    assert matcher.find(name.encode()) == (Sighting("env:DATABASE_URL", "raw"),)


def test_the_same_data_is_searched_once_and_other_data_is_not_taken_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched: list[bytes] = []
    layers = canary_match._layers

    def counted(data: bytes) -> Iterator[tuple[bytes, tuple[str, ...]]]:
        searched.append(data)
        return layers(data)

    monkeypatch.setattr(canary_match, "_layers", counted)
    matcher, sent = Matcher([KEY]), b"x" * 20 + RAW
    assert {matcher.find(sent) for _ in range(3)} == {(Sighting("key", "raw"),)}
    assert matcher.find(sent.replace(b"x", b"y")) == (Sighting("key", "raw"),)
    assert matcher.find(b"x" * len(sent)) == ()
    assert len(searched) == 3
    assert Matcher([]).find(sent) == ()


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canary_match, "_REMEMBERED", 4)
    matcher = Matcher([KEY])
    for number in range(9):
        assert matcher.find(b"%d " % number + RAW) == (Sighting("key", "raw"),)
    assert len(matcher._known) == 4
