"""Bytes of the watched program as the text of a trace, and back: total and reversible.

Here and not beside the vocabulary (gate/tracing/events.py), because this folder must run without the rest of
the project. Standard library only.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\\\|\\x([0-9a-f]{2})")
_SAFE = re.compile(rb"[\x20-\x5b\x5d-\x7e]*\Z")


def text_of(raw: bytes) -> str:
    """UTF-8 where valid, backslash-xNN for other bytes and control characters, backslashes doubled."""
    if _SAFE.match(raw):
        return raw.decode("ascii")
    out = raw.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    return "".join(f"\\x{ord(c):02x}" if c < " " or c == "\x7f" else c for c in out)


def bytes_of(text: str) -> bytes:
    """The bytes that ``text_of`` was given. Text not made by it comes back as its UTF-8, lone
    surrogates included; never raises.
    """
    if "\\" not in text:
        return text.encode("utf-8", "surrogatepass")
    out = bytearray()
    last = 0
    for match in _ESCAPE.finditer(text):
        out += text[last : match.start()].encode("utf-8", "surrogatepass")
        out += bytes([int(match[1], 16)]) if match[1] else b"\\"
        last = match.end()
    return bytes(out + text[last:].encode("utf-8", "surrogatepass"))
