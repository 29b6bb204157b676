"""Which keys say that their value is somebody: an account, a tenant, a recipient, a key that is trusted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gate.languages.naming import snake

_PARTY: Final = re.compile(
    r"(?:^|-)(?:iban|bic|swift-code|bank-account|account-(?:id|no|number|iban)|(?:connect|stripe|payout|destination|bank)-account"
    r"|payee|beneficiary|creditor|payout-to|merchant(?:-(?:id|account|no|number))?|seller-id|recipient(?:-id|s)?"
    r"|paypal-(?:business|email|account|id)|tenant(?:-id|-name)?|(?:organi[sz]ation|org)-(?:id|uid|uuid)"
    r"|(?:workspace|project|principal|object|group|subscription|billing-account|cloud|team|property|site|publisher|partner)-(?:uu)?id"
    r"|wallet(?:-(?:address|id))?|bucket(?:-name)?|customer-(?:id|no|number)|(?:public|verify|verification|signing|release)-key"
    r"|key-id|kid|(?:key-)?fingerprint|client-id|app-client-id|audience-id|account)$"
)
_BROAD: Final = frozenset({"account", "bucket", "bucket-name", "recipient", "recipients", "kid"})
"""Names that are also given to what is nobody in particular: their value needs a shape of its own."""
_SECRET: Final = re.compile(
    r"(?:^|-)(?:secret|password|passwd|passphrase|token|private|api-key|apikey|credential|salt|nonce|csrf|cookie|session|jwt"
    r"|integrity|checksum|digest|hash|sha\d*|md5|etag|revision|rev|commit|version|snapshot|seed|cursor|trace|span|build"
    r"|upgrade-code|guid|color|colour|class|class-name|test-id|testid|query-hash|cache-key|model|image)(?:-|$)"
)
"""Keys whose values change for honest reasons, or that other scanners judge."""


def words_of(name: str) -> str:
    """``tenantId``, ``TENANT_ID`` and ``tenant.id`` as ``tenant-id``."""
    return re.sub(r"[^a-z0-9]+", "-", snake(name[:200])).strip("-")


def party_of(path: Sequence[str]) -> str:
    """The words of the last key, with those of the one around it, that name a party; empty where none do."""
    if not path:
        return ""
    last = words_of(path[-1])
    around = words_of(path[-2]) if len(path) > 1 else ""
    for words in (last, f"{around}-{last}"):
        if match := _PARTY.search(words):
            return match[0].strip("-")
    return ""


def is_broad(party: str) -> bool:
    """Does the name stand for many things beside parties?"""
    return party in _BROAD


def is_left_out(path: Sequence[str]) -> bool:
    """Is the value a secret, a checksum, a version: judged elsewhere, or nobody?"""
    return bool(path) and bool(_SECRET.search(words_of(path[-1])))
