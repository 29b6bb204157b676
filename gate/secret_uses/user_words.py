"""Words: which parameters, fields and entries hold what a user types or holds, in all languages.

A row of the table has what a name ends in. Words that many things have (``number``, ``expires``) count behind
the word of what they belong to only.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from gate.regex import regex
from gate.secret_uses.names import snake

_TYPED: Final = (
    "password", "passwords", "passwd", "passphrase", "passcode", "pin_code",
    "cvv", "cvv2", "cvc", "cvc2", "card_number", "cardnumber", "card_no", "credit_card", "card_pan",
    "card_expiry", "card_expires",
    "iban", "bank_account_number", "ssn", "social_security_number", "national_id", "passport_number",
    "personal_number", "tax_number",
    "otp", "otp_code", "totp_code", "one_time_code", "one_time_password", "mfa_code", "two_factor_code",
    "recovery_code", "backup_code", "private_key", "mnemonic", "seed_phrase",
)  # fmt: skip
"""What somebody types or has to keep: it belongs in no log and in no header, in any form."""
_HELD: Final = (
    "session_id", "sessionid", "session_token", "session_key", "session_cookie", "sid", "access_token",
    "refresh_token", "auth_token", "bearer_token", "id_token", "login_token", "reset_token",
    "remember_token", "magic_token", "jwt", "phpsessid", "jsessionid",
)  # fmt: skip
"""What programs hand on for a user: ordinary as it is and as a digest, not in another alphabet."""
_OF_CARDS: Final = ("number", "expires", "expiry", "expiration", "cvc", "cvv", "pan", "security_code")
_CARDS: Final = regex(r"(?:^|_)(?:card|credit_card|debit_card|payment_card)$")
_OWNERS: Final[dict[str, str]] = {"session": "id"}
_AGAIN: Final = r"(?:_(?:confirm|confirmation|again|repeat|repeated|value|text|input|\d))?$"
_TYPED_NAME: Final = regex(rf"(?:^|_)(?:{'|'.join(_TYPED)}){_AGAIN}")
_HELD_NAME: Final = regex(rf"(?:^|_)(?:{'|'.join(_HELD)})$")
_NO_VALUE: Final = regex(
    r"^(?:has|is|use|no|show|hide|hash|hashed|encrypted|enc|masked|redacted|set|reset|change|check|forgot|verify|send|validate"
    r"|require|requires|required|needs|wants|with|without|max|min|num|public|fake|invalid|wrong|missing|toggle|update|get|generate"
    r"|make|confirm_reset|account|message|call|service|allow|enable|disable|store|save|should|can|on|handle|crypt)_"
    r"|(?:^|_)(?:hashed|encrypted|masked|redacted|account_sid|message_sid|call_sid)(?:_|$)"
)
"""Functions, questions and settings about it, and what was made of it."""
_ABOUT: Final = frozenset({
    "errors", "error", "labels", "label", "messages", "strings", "texts", "text", "t", "i18n", "translations",
    "locale", "touched", "dirty", "schema", "schemas", "rules", "validators", "validation", "props_types",
    "styles", "classes", "icons", "icon", "types", "type", "fields", "columns", "column", "routes", "paths",
    "urls", "placeholders", "hints", "help_texts", "widgets", "constants", "enum", "kinds", "refs", "config",
    "settings", "environ", "env", "process", "permissions", "features", "flags", "table",
})  # fmt: skip
"""Objects of texts and rules about fields, by whose names nothing is held; settings are not a user's."""


@lru_cache(8192)
def user_secret(path: tuple[str, ...]) -> str:
    """What the secret of a user is called that this path reads; empty where it reads none."""
    if path[-1] in ("value", "text") and len(path) > 2:  # of a field of a form
        path = path[:-1]
    last = path[-1]
    if last.isupper() and len(path) > 1 and not last.startswith(("PHPSESSID", "JSESSIONID")):
        return ""
    before = [snake(one) for one in path[:-1]]
    if not _ABOUT.isdisjoint(before):
        return ""
    plain = snake(last)
    owner = before[-1] if before else ""
    if _CARDS.search(owner) and plain in _OF_CARDS:
        return f"{path[-2]}.{last}"
    if _OWNERS.get(owner) == plain:
        return f"{path[-2]}.{last}"
    if _NO_VALUE.search(plain):
        return ""
    return last if _TYPED_NAME.search(plain) or _HELD_NAME.search(plain) else ""


@lru_cache(8192)
def is_typed(secret: str) -> bool:
    """Is it what somebody types or keeps, and no session or token?"""
    owner, _, last = secret.rpartition(".")
    return bool(owner and _CARDS.search(snake(owner))) or _TYPED_NAME.search(snake(last)) is not None
