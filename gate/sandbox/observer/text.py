"""Bytes of the watched program as trace text: the rule stands in gate/trace/events.py (``text_of``).

Twin of that function, because this folder must run without the rest of the project; a test holds the
two together. Standard library only.
"""

from __future__ import annotations

import re

_SAFE = re.compile(rb"[\x20-\x5b\x5d-\x7e]*\Z")


def text_of(raw: bytes) -> str:
    """UTF-8 where valid, backslash-xNN for other bytes and control characters, backslashes doubled."""
    if _SAFE.match(raw):
        return raw.decode("ascii")
    out = raw.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    return "".join(f"\\x{ord(c):02x}" if c < " " or c == "\x7f" else c for c in out)
