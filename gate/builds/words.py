"""Names of files and of settings: which a bundler takes for public, and which hold a secret. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gate.regex import regex

_PRIVATE: Final = regex(
    r"(?:^|_)(?:SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?|CONNECTION_STRING|SERVICE_ROLE|ADMIN_TOKEN"
    r"|(?:PRIVATE|SECRET|SIGNING|ENCRYPTION|MASTER|ADMIN|SERVICE_ACCOUNT|SERVICE_ROLE|WEBHOOK|HMAC|JWT)_KEY"
    r"|(?:DATABASE|DB|REDIS|MONGO(?:DB)?|POSTGRES(?:QL)?|MYSQL|AMQP)_UR[IL])"
    r"(?:_(?:KEY|BASE64|B64|PEM|PROD|LIVE|TEST|DEV|STAGING|VALUE|TOKEN|[A-Z]?\d))?$"
)
"""What no browser is ever to know. Keys of interfaces and tokens may be made for browsers."""
_MIN: Final = regex(r"(?:^|_)(?:MIN|MAX|HAS|IS|NO|USE|SHOW|HIDE|ENABLE|DISABLE|REQUIRE|ALLOW|RESET|FORGOT)_")
_PUBLIC: Final = regex(
    rb"\b(?:NEXT_PUBLIC|NUXT_PUBLIC|EXPO_PUBLIC|BUN_PUBLIC|REACT_APP|VUE_APP|GATSBY|STORYBOOK|VITE|PUBLIC)_([A-Z0-9_]{3,80})\b"
)


def is_private(name: str) -> bool:
    """Does a setting of this name hold what no browser is to know?"""
    return _PRIVATE.search(name) is not None and _MIN.search(name) is None


def public_names(text: bytes) -> Iterator[tuple[str, int]]:
    """Public names of secrets, each with its line."""
    for match in _PUBLIC.finditer(text):
        if is_private(match[1].decode()):
            yield match[0].decode(), text.count(b"\n", 0, match.start()) + 1


def names_after(prefix: str, texts: Sequence[bytes]) -> Iterator[str]:
    """Names of settings in these texts that begin with ``prefix`` and go on."""
    pattern = regex(rb"\b" + prefix.encode() + rb"[A-Z0-9_]{2,80}\b") if prefix.isidentifier() else None
    if pattern is None and not prefix:
        pattern = regex(rb"\b[A-Z][A-Z0-9]{1,30}_[A-Z0-9_]{2,80}\b")
    for text in texts if pattern is not None else ():
        yield from [match[0].decode() for match in pattern.finditer(text)] if pattern is not None else []
