"""Message authentication with Python's own SHA-256: loading OpenSSL takes longer than all else of a start."""

from __future__ import annotations

import sys

sys.modules["_hashlib"] = None  # type: ignore[assignment]

import hashlib
import hmac


def mac(key: bytes, data: bytes) -> bytes:
    """HMAC-SHA256, 32 bytes."""
    return hmac.new(key, data, hashlib.sha256).digest()
