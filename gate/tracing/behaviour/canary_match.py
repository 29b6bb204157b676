"""Finds planted secrets in data that leaves, whatever it was wrapped in. Bounded in time and memory.

Looked through: raw, backwards, in other letters (rot13, rot47, any case; the two outer layers), XOR with any
one byte (the outer layer also with up to eight that are repeated), base64 (every alignment, both alphabets),
base32, hex, URL-encoding, gzip, zlib and raw deflate, those of canary_wraps.py, and these inside each other
to a depth of three. A secret counts as seen when a run of twelve of its bytes is (so pieces cut at a packet's
end are found as well).
Encryption and encodings made for the purpose are not seen; the new connection itself still is.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final
from urllib.parse import unquote_to_bytes

from gate.dataclass import dataclass
from gate.model.canary import DATABASE_FILE, DATABASE_SCHEME, Canary
from gate.regex import regex
from gate.tracing.behaviour.canary_encodings import (
    EIGHTYFIVE,
    ROT13,
    ROT47,
    STREAMS,
    eightyfive,
    unwrapped,
)

CHUNK: Final = 12
DEPTH: Final = 3
LAYER_BYTES: Final = 128 << 10
"""Of one layer, no more is decoded further; what is there plainly is found in all of it."""
TOTAL_BYTES: Final = 1 << 20
"""Of all decoded layers of one piece of data together."""
_RUNS: Final = 200
_OUTER: Final = 1
"""Wrappings around letters that were exchanged, at most."""
_REMEMBERED: Final = 512
"""Pieces of data of which a matcher remembers what it found: runs of one program send much the same."""
_LONGEST_KEY: Final = 8
"""Bytes of a repeated XOR key that is looked for."""

_BASE64 = regex(rb"[A-Za-z0-9+/_-]{16,}")
_BASE32 = regex(rb"[A-Za-z2-7]{20,}")
_HEX = regex(rb"(?:[0-9a-fA-F]{2}){12,}")
_SPACED_HEX = regex(rb"(?:(?:\\x|0x|%)?[0-9a-fA-F]{2}[ :,.-]?){12,}")
_BREAKS = regex(rb"[\s.\"'\\,;:]+")
_BEFORE, _BEHIND = (re.escape(part.encode()) for part in (DATABASE_SCHEME + DATABASE_FILE).split("{}"))
_PASSWORD = regex(rb"://[^:/@]*:([^@]+)@|\A%s(\w+)%s\Z" % (_BEFORE, _BEHIND))
_URL = regex(rb"%[0-9a-fA-F]{2}")
_PACKED = regex(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")


@dataclass(frozen=True, slots=True)
class Sighting:
    """``canary`` is the canary's name, ``encoding`` how it was wrapped, outermost first (``base64+gzip``)."""

    canary: str
    encoding: str


class Matcher:
    """Built once for a set of canaries; ``find`` may be called from several threads."""

    def __init__(self, canaries: Iterable[Canary]) -> None:
        self._plain: list[tuple[bytes, str, str]] = []
        self._turned: list[tuple[bytes, str, str]] = []
        self._small: list[tuple[bytes, str, str]] = []
        """Looked for in small letters, and with the former in the outer layers only: each costs a walk."""
        self._xored: list[tuple[bytes, str]] = []
        self._keyed: list[tuple[int, bytes, str]] = []
        self._known: dict[bytes, tuple[Sighting, ...]] = {}
        """By the data's digest."""
        for canary in canaries:
            for secret in canary.secrets:
                data = secret.encode("utf-8", "surrogateescape")
                for chunk in _chunks(data):
                    self._plain.append((chunk, canary.name, ""))
                    self._plain.append((chunk[::-1], canary.name, "reversed"))
                    self._turned.append((chunk.translate(ROT47), canary.name, "rot47"))
                    self._small.append((chunk.lower(), canary.name, "case"))
                    self._small.append((chunk.translate(ROT13).lower(), canary.name, "rot13"))
                    self._xored.append((_steps(chunk), canary.name))
                secret_part = _told_apart(data)
                for width in range(2, _LONGEST_KEY + 1):
                    if len(secret_part) >= CHUNK + width:
                        at = secret_part[: CHUNK + width], secret_part[-CHUNK - width :]
                        self._keyed += [(width, _steps(part, width), canary.name) for part in at]

    def find(self, data: bytes) -> tuple[Sighting, ...]:
        """Every canary seen in the data, each once, with the plainest wrapping."""
        if not self._plain or len(data) < CHUNK:
            return ()
        digest = hashlib.sha256(data).digest()
        known = self._known.get(digest)
        if known is None:
            known = self._search(data)
            if len(self._known) < _REMEMBERED:
                self._known[digest] = known
        return known

    def _search(self, data: bytes) -> tuple[Sighting, ...]:
        found: dict[str, str] = {}
        for layer, how in _layers(data):
            _seek(self._plain, layer, how, found)
            if len(how) <= _OUTER:
                _seek(self._turned, layer, how, found)
                _seek(self._small, layer.lower(), how, found)
            if len(how) < DEPTH and not EIGHTYFIVE & {*how}:
                steps = _steps(layer)
                for chunk, name in self._xored:
                    if name not in found and chunk in steps:
                        found[name] = _joined(how, "xor")
        for width in range(2, _LONGEST_KEY + 1):
            steps = _steps(data[:LAYER_BYTES], width)
            for size, chunk, name in self._keyed:
                if size == width and name not in found and chunk in steps:
                    found[name] = "xor"
        return tuple(Sighting(name, how) for name, how in sorted(found.items()))


def _seek(
    chunks: Iterable[tuple[bytes, str, str]], layer: bytes, how: tuple[str, ...], found: dict[str, str]
) -> None:
    for chunk, name, turned in chunks:
        if chunk in layer and name not in found:
            found[name] = _joined(how, turned)


def _joined(how: tuple[str, ...], last: str) -> str:
    return "+".join((*how, last) if last else how) or "raw"


def _chunks(secret: bytes) -> Iterator[bytes]:
    """Aligned pieces: any run of 2 * CHUNK - 1 bytes of the secret holds one of them."""
    secret = _told_apart(secret)
    if len(secret) < CHUNK:
        return
    for at in range(0, len(secret) - CHUNK + 1, CHUNK):
        yield secret[at : at + CHUNK]
    yield secret[-CHUNK:]


def _told_apart(secret: bytes) -> bytes:
    """What is secret of an address: ``postgres://app:`` and ``sqlite:////tmp`` are not."""
    match = _PASSWORD.search(secret)
    return match[match.lastindex or 0] if match else secret


def _steps(data: bytes, width: int = 1) -> bytes:
    """XOR with what stands ``width`` further on: the same whatever key of so many bytes was repeated."""
    size = max(0, len(data) - width)
    first = int.from_bytes(data[:size], "big")
    second = int.from_bytes(data[width:], "big")
    return (first ^ second).to_bytes(size, "big")


def _layers(data: bytes) -> Iterator[tuple[bytes, tuple[str, ...]]]:
    """The data and everything it decodes to, plainest first, within the limits."""
    queue: list[tuple[bytes, tuple[str, ...]]] = [(data, ())]
    spent, seen = -len(data), set()
    while queue:
        layer, how = queue.pop(0)
        mark = (len(layer), hash(layer))
        if mark in seen or len(layer) < CHUNK:
            continue
        seen.add(mark)
        spent += len(layer)
        yield layer, how
        if spent > TOTAL_BYTES:
            return
        if not how:
            queue.append((layer[:LAYER_BYTES][::-1], ("reversed",)))
        if len(how) < DEPTH:
            part_of = layer[:LAYER_BYTES]
            queue.extend((part, (*how, name)) for part, name in _decoded(part_of))
            queue.extend((part, (*how, name)) for part, name in unwrapped(part_of, LAYER_BYTES))
            if len(how) <= _OUTER and not EIGHTYFIVE & {*how}:
                queue.extend((part, (*how, name)) for part, name in eightyfive(part_of))


def _decoded(data: bytes) -> Iterator[tuple[bytes, str]]:
    if _URL.search(data):
        yield unquote_to_bytes(data), "url"
    joined = _BREAKS.sub(b"", data)
    runs = [*_runs(_HEX, data)] or [*_runs(_HEX, joined)]
    pieces = [binascii.unhexlify(run) for run in runs]
    if pieces:
        yield b"".join(pieces), "hex"
    elif _SPACED_HEX.search(data):
        digits = re.sub(rb"\\x|0x|[^0-9a-fA-F]", b"", data)
        yield binascii.unhexlify(digits[: len(digits) & ~1]), "hex"
    yield from _base64(data, joined)
    for run in _runs(_BASE32, joined):
        yield _base32(run), "base32"
    for match in islice(_PACKED.finditer(data), STREAMS):
        yield _inflate(data[match.start() :], 47), "gzip" if data[match.start()] == 0x1F else "zlib"
    yield _inflate(data, -15), "deflate"


def _base64(data: bytes, joined: bytes) -> Iterator[tuple[bytes, str]]:
    """Every run at each of the four alignments; runs together too (a secret split and encoded in parts)."""
    for text in (data, joined) if joined != data else (data,):
        pieces: list[list[bytes]] = [[], [], [], []]
        for run in _runs(_BASE64, text):
            plain = run.replace(b"-", b"+").replace(b"_", b"/")
            for shift in range(4):
                part = plain[shift:]
                part = part[: len(part) - (len(part) % 4 == 1)]
                pieces[shift].append(base64.b64decode(part + b"=" * (-len(part) % 4)))
        for aligned in pieces:
            if aligned:
                yield b"".join(aligned), "base64"


def _base32(run: bytes) -> bytes:
    part = run.upper()
    part = part[: len(part) - {1: 1, 3: 1, 6: 1}.get(len(part) % 8, 0)]
    return base64.b32decode(part + b"=" * (-len(part) % 8))


def _runs(pattern: re.Pattern[bytes], data: bytes) -> Iterator[bytes]:
    for match in islice(pattern.finditer(data), _RUNS):
        yield match[0]


def _inflate(data: bytes, bits: int) -> bytes:
    """As much as can be unpacked of a stream that may be cut short; no more than LAYER_BYTES (bombs)."""
    try:
        return zlib.decompressobj(bits).decompress(data, LAYER_BYTES)
    except zlib.error:
        return b""
