"""Which keys say that their value is somebody: an account, a tenant, a recipient, a key that is trusted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gate.languages.naming import snake
from gate.regex import regex

_PARTY: Final = regex(
    r"(?:^|-)(?:iban|bic|swift-code|bank-account|account-(?:id|no|number|iban)|(?:connect|stripe|payout|destination|bank)-account"
    r"|payee|beneficiary|creditor|payout-to|merchant(?:-(?:id|account|no|number))?|seller-id|recipient(?:-id|s)?"
    r"|paypal-(?:business|email|account|id)|tenant(?:-id|-name)?|(?:organi[sz]ation|org)-(?:id|uid|uuid)"
    r"|(?:workspace|project|principal|object|group|subscription|billing-account|cloud|team|property|site|publisher|partner)-(?:uu)?id"
    r"|wallet(?:-(?:address|id))?|bucket(?:-name)?|customer-(?:id|no|number)|(?:public|verify|verification|signing|release)-key"
    r"|key-id|kid|(?:key-)?fingerprint|client-id|app-client-id|audience-id|account)$"
)
_TENANCY: Final = regex(
    r"(?:^|-)(?:(?:scope-)?org(?:-?id)?|org(?:ani[sz]ation)?(?:-(?:id|name))?|tenant(?:-?id|-name)?"
    r"|(?:audit|log|logs|tenant|data|customer|org)-scope|(?:account|project|subscription|workspace|customer)-id"
    r"|billing-account)$"
)
"""Names of what a shared service keeps apart: any value counts, be it one figure."""
_BROAD: Final = frozenset({"account", "bucket", "bucket-name", "recipient", "recipients", "kid"})
"""Names that are also given to what is nobody in particular: their value needs a shape of its own."""
_PEOPLE: Final = frozenset({
    "author", "authors", "maintainer", "maintainers", "contributor", "contributors", "owner", "owners",
    "user",
    "users", "username", "login", "creator", "person", "people", "committer", "support", "name", "git",
    "placeholder",
    "example", "examples", "developer", "developers", "bugs", "reviewer", "reviewers", "description",
    "title", "license",
})  # fmt: skip
"""Names on the way to a mail address that tells who somebody is."""
_SECRET: Final = regex(
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
        if match := _PARTY.search(words) or _TENANCY.search(words):
            return match[0].strip("-")
    return ""


def is_tenancy(name: str) -> bool:
    """Does the name say which part of a shared service is meant?"""
    return bool(_TENANCY.search(words_of(name)))


def is_person(path: Sequence[str]) -> bool:
    """Does a name on the way say that somebody is named, to whom nothing is sent?"""
    return any(not _PEOPLE.isdisjoint(words_of(name).split("-")) for name in path)


def is_broad(party: str) -> bool:
    """Does the name stand for many things beside parties?"""
    return party in _BROAD


def is_left_out(path: Sequence[str]) -> bool:
    """Is the value a secret, a checksum, a version: judged elsewhere, or nobody?"""
    return bool(path) and bool(_SECRET.search(words_of(path[-1])))
