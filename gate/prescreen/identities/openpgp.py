"""An OpenPGP public key as text, told from others by its primary key alone (RFC 9580, section 4.2).

A key that is good for longer has other signatures and is the same key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Final

BEGIN: Final = "-----BEGIN PGP PUBLIC KEY BLOCK-----"
SIGN: Final = "pgp:"
_PUBLIC_KEY: Final = 6


def primary_key(block: str) -> str:
    """``pgp:`` and the digest of the first packet; of the whole text where that is no public key."""
    lines = [line.strip() for line in block.replace("\\n", "\n").split("\n")]
    body = [line for line in lines if line and ":" not in line and not line.startswith(("-----", "="))]
    try:
        data = base64.b64decode("".join(body), validate=True)
    except (binascii.Error, ValueError):
        data = b""
    packet = _first_packet(data) or "".join(body).encode()
    return SIGN + hashlib.sha256(packet).hexdigest()


def _first_packet(data: bytes) -> bytes:
    """The body of a public key packet at the beginning; empty where there is none."""
    if len(data) < 6 or not data[0] & 0x80:
        return b""
    is_new = bool(data[0] & 0x40)
    kind = data[0] & 0x3F if is_new else (data[0] & 0x3C) >> 2
    if kind != _PUBLIC_KEY:
        return b""
    if is_new:
        if data[1] < 192:
            start, size = 2, data[1]
        elif data[1] < 224:
            start, size = 3, ((data[1] - 192) << 8) + data[2] + 192
        else:
            start, size = 6, int.from_bytes(data[2:6], "big")
    else:
        width = {0: 1, 1: 2, 2: 4}.get(data[0] & 3, 0)
        start, size = 1 + width, int.from_bytes(data[1 : 1 + width], "big")
    return data[start : start + size]
