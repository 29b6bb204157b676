"""What a call or a whole file says of a protection: so much where it is safe, less where it is not. Pure.

A rule yields nothing where it has no opinion. What it yields is compared over the whole change (compare.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.protections.facts import Strength
from gate.protections.overall.said import Said, Script, Spoken
from gate.protections.strengths import kept
from gate.regex import regex

PURPOSE: Final = "what a signed value is for"
CERTIFICATES: Final = "certificates of a server that are checked"
ENCRYPTED: Final = "connections that are encrypted"
ALL: Final = "how many of the permissions that are asked for somebody must have"
COUNTED: Final = "whom a limit counts"
RESOLVED: Final = "paths that are resolved before it is asked where they lie"
STRICT: Final = "values that are compared with their type"
SEPARATED: Final = "whole names of folders in what is asked of a path"

_SIGNED_IDS: Final = frozenset({"find_signed", "signed_id"})
_SERIALIZERS: Final = frozenset({
    "url_safe_timed_serializer", "url_safe_serializer", "timed_serializer", "timestamp_signer", "signer",
    "json_web_signature_serializer",
})  # fmt: skip
_SIGNING: Final = frozenset({"loads", "dumps", "sign_object", "unsign_object"})
_VERIFIED: Final = frozenset({"generate", "verify", "verified", "encrypt_and_sign", "decrypt_and_verify"})
_CONTEXTS: Final = frozenset({
    "starttls", "smtp_ssl", "imap4_ssl", "pop3_ssl", "stls", "ftp_tls", "nntp_ssl",
})  # fmt: skip
_CONTEXT_AT: Final = {"stls": 0}
_ALL: Final = frozenset({
    "every", "all", "contains_all", "issubset", "issuperset", "is_subset", "is_superset",
    "is_subset_of", "is_superset_of", "all_match", "subset", "superset", "array_diff", "require_all",
})  # fmt: skip
_ANY: Final = frozenset({
    "some", "any", "contains_any", "isdisjoint", "is_disjoint", "is_disjoint_from", "disjoint",
    "overlaps", "any_match", "none_match", "intersect", "array_intersect", "intersection", "has_any_role",
    "has_any_authority", "has_any_scope", "require_any", "is_intersect",
})  # fmt: skip
_WRITTEN: Final = frozenset({"pre_authorize", "post_authorize", "is_granted", "security"})
"""Annotations whose text is an expression."""
_ABOUT: Final = regex(
    r"grant|scope|(?:^|[^a-z])roles?(?:[^a-z]|$)|permission|claim|privilege|authorit|entitle|(?:^|_)acls?(?:_|$)",
    re.IGNORECASE,
)
_PREFIX: Final = frozenset({
    "starts_with", "startswith", "start_with", "has_prefix", "str_starts_with", "is_relative_to",
    "relative_to", "strpos", "index_of", "commonpath", "common_path",
})  # fmt: skip
_ROOT: Final = regex(
    r"root|base|(?:^|[^a-z])dirs?(?:[^a-z]|$)|_dir|dir_|folder|upload|storage|prefix", re.IGNORECASE
)
_PATH: Final = regex(r"path|file|(?:^|[^a-z])(?:name|full|target|real|abs|candidate|resolved)", re.IGNORECASE)
_RESOLVES: Final = regex(
    r"resolve|real_?path|canonical|normali[sz]|normpath|abs_?path|get_full_path|expand_path|eval_symlinks|clean"
    r"|absolute|^abs$"
)
_SEPARATORS: Final = ("sep", "separator", '"/"', "'/'", "`/", "/`", "'\\\\'", '"\\\\"', "DS")
_OPEN_CHANNELS: Final = frozenset({"insecure_channel", "create_insecure", "use_plaintext", "with_insecure"})
_SAFE_CHANNELS: Final = frozenset({
    "secure_channel", "create_ssl", "use_transport_security", "new_tls", "new_client_tls_from_cert",
})  # fmt: skip
_KEYED: Final = frozenset(
    {"rate_limit", "limiter", "slow_down", "express_rate_limit", "rate_limiter", "limit"}
)
_KEYS: Final = ("key_generator", "key_func", "key_fn", "key_by")
_ADDRESS: Final = regex(r"(?:^|[^a-z])ip(?:[^a-z]|$)|addr|user|account|session|tenant|ipKeyGenerator")
_CHOSEN: Final = regex(r"headers?\b|\bbody\b|\bquery\b|cookies?\b|get\(")

_COMPARING: Final = {"in_array": 3, "array_search": 3, "hash_equals": 0}
"""PHP's comparisons, with how many arguments they are given where they compare types, too."""

KNOWN: Final = (
    _SIGNED_IDS | _SERIALIZERS | _SIGNING | _VERIFIED | _CONTEXTS | _ALL | _ANY | _PREFIX | _OPEN_CHANNELS
    | _SAFE_CHANNELS | _KEYED | _WRITTEN | _COMPARING.keys()
    | {"create_transport", "new_credentials"}
)  # fmt: skip
"""Names of calls that a rule asks about; of others only the names are read."""


def call_facts(script: Script) -> Iterator[Strength]:
    """What the calls of a file say."""
    for one in script.functions:
        for call in one.calls:
            yield from _purpose(call)
            yield from _transport(call)
            yield from _limited(call)
            if call.name in _COMPARING:  # ``in_array(true, ["a"])`` holds in PHP
                yield kept(STRICT, len(call.given) >= _COMPARING[call.name], call.text, call.line)
        yield from _quantity(one)
        yield from _places(one)


def _purpose(call: Said) -> Iterator[Strength]:
    """``find_signed!(token, purpose: :reset)``: a token that was made for another purpose is none."""
    about = call.owner.lower()
    if call.name in _SIGNED_IDS:
        holds = "purpose" in call.keywords
    elif call.name in _SERIALIZERS:
        holds = "salt" in call.keywords or len(call.given) > 1
    elif call.name in _SIGNING and about.endswith(("signing", "signer", "core.signing")):
        holds = "salt" in call.keywords
    elif call.name in _VERIFIED and about.endswith(("verifier", "encryptor")):
        holds = "purpose" in call.keywords
    else:
        return
    yield kept(PURPOSE, holds, call.text, call.line)


def _transport(call: Said) -> Iterator[Strength]:
    """``starttls()`` without a context takes any certificate; an insecure channel asks for none."""
    if call.name in _CONTEXTS:
        holds = bool({"context", "ssl_context", "tls_context"} & call.keywords.keys())
        holds = holds or len(call.given) > _CONTEXT_AT.get(call.name, 5 if call.name != "starttls" else 2)
        if call.name == "starttls" and ("validate_certs" in call.keywords or call.given[:1] == ("ctx",)):
            holds = True
        yield kept(CERTIFICATES, holds, call.text, call.line)
    elif call.name == "create_transport" and call.keywords:
        holds = call.keywords.get("require_tls", call.keywords.get("secure", "")) in ("true", "!0")
        yield kept(ENCRYPTED, holds, call.text, call.line)
    elif call.name == "new_credentials" and call.owner.endswith("insecure"):
        yield kept(ENCRYPTED, False, call.text, call.line)
    elif call.name in _OPEN_CHANNELS | _SAFE_CHANNELS:
        yield kept(ENCRYPTED, call.name in _SAFE_CHANNELS, call.text, call.line)


def _limited(call: Said) -> Iterator[Strength]:
    """Whom a limit counts: an address or a user, or what whoever asks writes into a header."""
    if call.name in _KEYED:
        key = next((call.keywords[one] for one in _KEYS if one in call.keywords), None)
        if key is not None:
            holds = _ADDRESS.search(key) is not None and not _CHOSEN.search(key)
            yield kept(COUNTED, holds, call.text, call.line)


def _quantity(one: Spoken) -> Iterator[Strength]:
    """Must all that is asked for be granted, or is some of it enough?"""
    named = _ABOUT.search(one.name) is not None
    for call in one.calls:
        if call.name in _ALL | _ANY and (named or _ABOUT.search(call.text)):
            yield kept(ALL, call.name in _ALL, call.text, call.line)
    for call in (one_call for one_call in one.calls if one_call.name in _WRITTEN):
        some = " or " in call.text or "hasAny" in call.text
        if some or " and " in call.text:
            yield kept(ALL, not some, call.text, call.line)
    for compared, text, line in one.sets:
        sides = f"{compared.left} {compared.right}"
        if _ABOUT.search(sides) and ("set(" in sides or "scope" in sides or "permission" in sides):
            yield kept(ALL, True, text, line)


def _places(one: Spoken) -> Iterator[Strength]:
    """Is a path resolved before its beginning is compared, and does the comparison end at a separator?"""
    for call in one.calls:
        if call.name not in _PREFIX:
            continue
        given = " ".join(call.given)
        if not _ROOT.search(given) or not _PATH.search(f"{call.owner} {given}"):
            continue
        holds = any(_RESOLVES.search(name) for name in one.names)
        yield kept(RESOLVED, holds, call.text, call.line)
        yield kept(SEPARATED, any(mark in given for mark in _SEPARATORS), call.text, call.line)
