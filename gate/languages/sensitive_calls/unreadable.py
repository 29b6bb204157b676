"""Texts that are no program text a person reviews: binary, too large, in no known encoding, minified."""

from __future__ import annotations

from typing import Final

from gate.regex import regex

LARGEST: Final = 2 << 20
"""Bytes of a file that is read. Larger ones are generated, and would cost a parser too much time."""
LONGEST: Final = 100_000
"""Bytes of one line, strings included: beyond, nobody has read it."""
WIDE: Final = 1_000
"""Bytes of code (no string, no comment) on one line from which a text counts as minified or generated."""
_COOKIE: Final = regex(rb"\A(?:[^\n]*\n)?[ \t\f]*#.*?coding[:=][ \t]*(?:latin-1|iso-8859-1|cp1252)\b")
_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def unreadable(text: bytes) -> str:
    """Why these bytes are not read as a program; empty when they are. Costs no parser."""
    if len(text) > LARGEST:
        return f"larger than {LARGEST >> 20} MiB"
    plain = utf8(text)
    if plain is None:
        return "not UTF-8 text"
    if b"\0" in plain:
        return "binary data"
    if max((len(line) for line in plain.split(b"\n")), default=0) > LONGEST:
        return f"a line of more than {LONGEST:,} bytes"
    return ""


def utf8(text: bytes) -> bytes | None:
    """The text as UTF-8 without a byte order mark; None when it cannot be decoded."""
    for mark, encoding in _BOMS:
        if text.startswith(mark):
            return _recoded(text[len(mark) :], encoding)
    return _recoded(text, "latin-1" if _COOKIE.match(text[:400]) else "utf-8")


def _recoded(text: bytes, encoding: str) -> bytes | None:
    try:
        return text.decode(encoding).encode()
    except UnicodeError:
        return None


def minified(code: bytes) -> bool:
    """True where a line holds more code than a person reads; ``code`` has strings and comments blanked."""
    return any(
        len(line.split()) > 1 and _width(line) > WIDE for line in code.split(b"\n") if len(line) > WIDE
    )


def _width(line: bytes) -> int:
    return sum(len(word) for word in line.split())
