"""Rarer wrappings of data that leaves: base85, uuencode, numbers, wide characters, xz and bzip2. Bounded like
canary_match.py, which uses them.
"""

from __future__ import annotations

import binascii
import bz2
import lzma
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from gate.regex import regex

EIGHTYFIVE: Final = frozenset(("base85", "ascii85"))
_EIGHTYFIVE_BYTES: Final = 4 << 10
"""Of one layer that are tried as base85: much text looks like it."""
_MEMORY: Final = 64 << 20
STREAMS: Final = 8
"""Compressed streams of one kind that are unpacked of one layer."""
_RUNS: Final = 20

_ASCII85: Final = regex(rb"[!-u]{15,}")
_BASE85: Final = regex(rb"[0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]{15,}")
_BASE85_DIGITS: Final = (
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
)
_OF_BASE85: Final = bytes(max(0, _BASE85_DIGITS.find(bytes((n,)))) for n in range(256))
_OF_ASCII85: Final = bytes(n - 33 if 33 <= n <= 117 else 0 for n in range(256))
_POWERS: Final = (85**4, 85**3, 85**2, 85, 1)
_MARKS: Final = regex(rb"[!#$%&()*+;<>?@^`{|}~]")
"""No twenty digits of base85 are without one; long words, paths and base64 are."""
_DECIMAL: Final = regex(rb"(?<!\d)\d{2,3}(?:[^\d\w]{1,4}\d{2,3}){11,}(?!\d)")
_OCTAL: Final = regex(rb"(?:\\[0-3]?[0-7]{2}){12,}")
_UNICODE: Final = regex(rb"(?:\\u00[0-9a-fA-F]{2}){4,}")
_QUOTED: Final = regex(rb"=([0-9A-F]{2})")
_UU_LINE: Final = regex(rb"^[!-M][ -`]{12,60}$", re.MULTILINE)
_XZ: Final = regex(rb"\xfd7zXZ\0|\x5d\0\0[\0-\xff]{2}")
_BZIP: Final = regex(rb"BZh[1-9]1AY")
_FROM: Final = bytes(range(256))
ROT13: Final = _FROM.translate(
    bytes.maketrans(
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        b"NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm",
    )
)
ROT47: Final = bytes(33 + (n - 33 + 47) % 94 if 33 <= n <= 126 else n for n in range(256))


def unwrapped(data: bytes, most: int) -> Iterator[tuple[bytes, str]]:
    """What the data decodes to, with the name of the wrapping. ``most``: bytes of what is unpacked."""
    if b"\0" in data:
        yield data.replace(b"\0", b""), "utf-16"
    if b"=" in data and len(_QUOTED.findall(data)) >= 4:
        soft = re.sub(rb"=\r?\n", b"", data)
        yield _QUOTED.sub(lambda found: binascii.unhexlify(found[1]), soft), "quoted-printable"
    if _UNICODE.search(data):
        yield re.sub(rb"\\u00([0-9a-fA-F]{2})", lambda found: binascii.unhexlify(found[1]), data), "json"
    for found in islice(_OCTAL.finditer(data), _RUNS):
        yield bytes(int(n, 8) & 255 for n in found[0].split(b"\\")[1:]), "octal"
    for found in islice(_DECIMAL.finditer(data), _RUNS):
        numbers = [int(n) for n in re.findall(rb"\d+", found[0])]
        yield bytes(n for n in numbers if n < 256), "decimal"
    if lines := _UU_LINE.findall(data):
        yield _uu(lines), "uuencode"
    for pattern, how in ((_XZ, "xz"), (_BZIP, "bzip2")):
        for place in islice(pattern.finditer(data), STREAMS):
            yield _unpacked(data[place.start() :], how, most), how


def eightyfive(data: bytes) -> Iterator[tuple[bytes, str]]:
    """Base85 in both alphabets, at each of the five alignments."""
    room = _EIGHTYFIVE_BYTES
    joined = re.sub(rb"(?<=[!-~]{15})\r?\n(?=[!-~])", b"", data[: 2 * room])
    for pattern, digits, how in ((_BASE85, _OF_BASE85, "base85"), (_ASCII85, _OF_ASCII85, "ascii85")):
        pieces: list[list[bytes]] = [[] for _ in range(5)]
        left = room
        for found in pattern.finditer(joined):
            run = found[0][:left]
            if not _MARKS.search(run):
                continue
            left -= len(run)
            for shift, piece in enumerate(pieces):
                piece.append(_of_eightyfive(run[shift:].translate(digits)))
            if left < 15:
                break
        for piece in pieces:
            if piece:
                yield b"".join(piece), how


def _of_eightyfive(values: bytes) -> bytes:
    short = -len(values) % 5
    padded = values + b"\x54" * short
    out = bytearray()
    for at in range(0, len(padded), 5):
        a, b, c, d, e = padded[at : at + 5]
        number = a * _POWERS[0] + b * _POWERS[1] + c * _POWERS[2] + d * _POWERS[3] + e
        out += (number & 0xFFFFFFFF).to_bytes(4, "big")
    return bytes(out[: len(out) - short] if short else out)


def _uu(lines: list[bytes]) -> bytes:
    """Lines whose length is the one that their first character tells."""
    out = []
    for line in lines[:2000]:
        if len(line) - 1 == -(-(line[0] - 32) // 3) * 4:
            try:
                out.append(binascii.a2b_uu(line))
            except binascii.Error:
                continue
    return b"".join(out)


def _unpacked(data: bytes, how: str, most: int) -> bytes:
    try:
        if how == "bzip2":
            return bz2.BZ2Decompressor().decompress(data, most)
        return lzma.LZMADecompressor(memlimit=_MEMORY).decompress(data, most)
    except (OSError, EOFError, ValueError, lzma.LZMAError):
        return b""
