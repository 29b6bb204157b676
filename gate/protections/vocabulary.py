"""Words that name a protection, by family. Names are compared in snake case, whatever they are written in."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from gate.languages.naming import snake
from gate.protections.facts import Family
from gate.regex import regex

_FAMILIES: Final[tuple[tuple[Family, re.Pattern[str]], ...]] = (
    (
        "csrf",
        regex(r"csrf|xsrf|csurf|lusca|same_origin|check_origin|(?:allowed|trusted)_origin|origin_check"),
    ),
    (
        "rate limit",
        regex(
            r"rate_?limit|limiter|throttl|too_many|max_(?:login_)?attempts|attempts_(?:left|exceeded)|lock_?out"
            r"|locked_out|account_locked|(?:verify|check|valid|validate)_\w*captcha|recaptcha|hcaptcha|captcha_(?:valid|ok|token)|brute_?force|slow_down"
        ),
    ),
    (
        "integrity",
        regex(
            r"compare_digest|constant_time|timing_safe|signature|(?:^|_)hmac|verify_sig|(?:^|_)unsign|signed_with"
            r"|checksum|webhook_secret|check_hostname|verify_(?:hash|digest|mode|webhook)|(?:hash|digest)_(?:matches|valid)"
        ),
    ),
    (
        "place",
        regex(
            r"is_relative_to|(?:^|_)relative_to|common_?path|is_safe_(?:url|path)|url_has_allowed_host|is_private$|is_loopback"
            r"|is_link_local|is_reserved|allowed_(?:hosts?|domains?|paths?|urls?|schemes?)|trusted_host|safe_join"
            r"|^allowed$|allowed_(?:types|ext\w*|suffixes|mime\w*|files|content\w*|commands|ips?|networks)"
            r"|block(?:ed)?_?list|(?:deny|allow|white|black)_?list|is_within|ssrf|check_host|helmet|talisman"
            r"|security_(?:middleware|headers)|https_redirect|clickjacking|x_frame|content_security"
        ),
    ),
    (
        "authorisation",
        regex(
            r"permission|(?:^|_)perms?(?:$|_)|authori[sz]|(?:^|_)admins?(?:$|_)|is_staff|is_superuser|super_?user"
            r"|staff_(?:member|required|only)|(?:^|_)owners?(?:$|_)|owned_by|owns(?:$|_)|(?:^|_)roles?(?:$|_)|(?:^|_)scopes(?:$|_)|_scope(?:$|_)"
            r"|privilege|^_*can_(?:view|read|see|edit|write|delete|remove|access|manage|create|update|change|modify|admin"
            r"|download|upload|approve|publish|invite|use|do|act|set|get|list|run|execute|transfer|grant|assign|join)(?:_|$)|(?:^|_)may_(?:read|write|edit|view|delete|see|change|update|manage|access)|has_access|access_(?:control|allowed|denied|level)"
            r"|check_access|no_access|(?:^|_)acls?(?:$|_)|forbid|user_passes_test|is_member|membership|is_moderator"
            r"|(?:get|check)\w*_for_user|visible_to|accessible_(?:by|to)|get_rw_|is_allowed|require_(?:role|owner|staff)"
            r"|is_readonly|^is_manager|permitted"
        ),
    ),
    (
        "authentication",
        regex(
            r"login|logged_in|(?:^|_)authed|authenticat|is_anonymous|current_(?:active_)?user|(?:^|_)auth(?:$|_)|requires?_user"
            r"|(?:require|ensure)s?_(?:customer|member|reader|editor|player|tenant|merchant|seller|buyer|doctor|teacher|student|employee|subscriber)$"
            r"|session_user|jwt|bearer|api_?key|(?:access|auth|csrf|api|id|session|reset|invite|verif\w*|user)_token"
            r"|(?:verify|check|valid|validate|decode)_\w*token|token_(?:valid|required|auth)|is_valid_token"
            r"|(?:verify|check|validate)_password|(?:^|_)t?otp(?:$|_)|(?:^|_)mfa|2fa|two_factor|sudo_mode|identity_required"
            r"|requires?_\w*token|oauth2|require_(?:session|sudo|account)|signed_in|credentials|token_expired|is_expired|expires_at|expiry"
            r"|(?:user|protected|private|secured?|authed)_?(?:api)?_?(?:router|controller|view|mixin|blueprint|procedure)"
        ),
    ),
)
_REFUSED: Final = regex(
    r"(?:^|_)(?:un_?authori[sz]ed|forbidden|permission_(?:denied|error)|not_authenticated|access_denied|login_required"
    r"|authentication_(?:failed|error|required)|auth(?:orization)?_?(?:error|exception|failed)|not_authori[sz]ed|invalid_token"
    r"|invalid_(?:credentials|signature|login)|bad_signature|csrf_error|invalid_csrf|suspicious_\w+|disallowed_\w+"
    r"|unauthenticated|not_allowed|denied|too_many_requests|rate_limit\w*|throttled|signature_\w+|security_(?:error|exception))"
    r"(?:$|_)"
)
_VERBS: Final = regex(
    r"^_*(?:is|has|can|may|check|verify|validate|authenticate|authori[sz]e|ensure|require|requires|allow|allows|assert)(?:_|$)"
)
_SUBJECTS: Final = regex(
    r"auth|perm|access|admin|owner|role|token|signature|password|credential|session|login|csrf|hmac|origin|host"
    r"|(?:^|_)(?:url|path|safe|trusted|allowed|webhook|cert|secret|api_?key|scope|upload|redirect|member|staff|mfa|otp)(?:$|_|s)"
    r"|^_*can_(?!\w*(?:parse|convert|encode|handle|fetch|load|import|send))|^_*may_"
)
_DECIDING: Final = frozenset({
    "origin", "host", "hostname", "referer", "referrer", "signature", "token", "credential", "credentials",
    "role", "roles", "redirect", "redirect_uri", "return_to", "next_url",
})  # fmt: skip
"""Parameters that a question about them decides who may."""
_CHECKS: Final = frozenset({"test_func", "permitted", "allowed", "authenticate", "authorize"})
_RAISING: Final = regex(
    r"^_*(?:require|requires|ensure|enforce|authenticate|authori[sz]e|assert|guard|protect|deny|must)(?:_|$)|_or_(?:40\d|abort|raise)$"
    r"|current_\w*user|_for_user(?:$|_)|^get_rw_|(?:^|_)permitted_|(?:visible|accessible)_(?:to|by|for)"
)
_CHECKING: Final = regex(
    r"^_*(?:check|verify|validate|require|requires|ensure|enforce|assert|authenticate|authori[sz]e|guard|protect|deny"
    r"|throttle|rate_?limit)"
)
_SWITCH: Final = regex(
    r"environ|getenv|headers?\b|query_params|request\.(?:args|values|form|cookies|json|GET|POST|query|body|params)"
    r"|process\.env|debug|bypass|skip|\bdev_|testing|settings?\b|config\b|feature|\bflags?\b|enabled|toggle|disable|no_auth|insecure|localhost|127\.0"
    r"|remote_addr|__debug__|\btrue\b|\bfalse\b|^[+-]\d+$",
    re.IGNORECASE,
)
_OPENING: Final = regex(
    r"csrf_exempt|(?:bypass|skip|disable|without|no)_(?:csrf|auth|login|permission|check|rate|security)\w*"
    r"|(?:auth|login|csrf|ratelimit|limiter)_(?:exempt|not_required|optional)|login_not_required|allow_any(?:$|_)"
    r"|(?:^|_)(?:optional|maybe)(?:$|_)|_or_(?:none|anonymous)$|allow_(?:anonymous|unauthenticated)|(?:^|_)exempt$|^anonymous_allowed$|^is_public$|^public_(?:route|endpoint|access)$"
)
_MEANT_OPEN: Final = frozenset({
    "login", "log_in", "signin", "sign_in", "signup", "sign_up", "register", "logout", "health", "healthz",
    "ping", "ready", "readyz", "livez", "status", "version", "callback", "forgot", "reset", "public",
    "robots", "favicon", "metrics", "home", "docs", "webhook", "hook", "options", "csrf",
})  # fmt: skip
"""Words in the name of what is meant to be open to everybody."""
_OWNER: Final = regex(
    r"(?:^|_)(?:tenant|account|owner|user|org|organi[sz]ation|workspace|customer|team|company|member|author|creator"
    r"|merchant|household|created_by|owned_by|subscriber|employee|patient)(?:_*(?:id|uuid|pk|key|ref))?$"
)
_GRANTING: Final = regex(
    r"(?:^|_)(?:roles?|is_?admin|admin|is_?staff|is_?superuser|superuser|permissions?|scopes?|privileges?|verified"
    r"|is_?verified|email_verified|approved|is_?active|balance|credits?|quota|owner|tenant|password|password_hash"
    r"|account_id|owner_id|tenant_id|user_id|org(?:anization)?_id|groups?|mfa_enabled|is_?owner)$"
)
_EDITABLE: Final = regex(
    r"editable|updat(?:e)?able|writ(?:e)?able|mutable|assignable|fillable|patchable|settable|changeable|modifiable"
    r"|(?:allowed|permitted|accepted|update|edit|patch|user|profile|safe|public)_(?:fields|keys|attributes|columns)"
)
_HIDING: Final = regex(
    r"hidden|scrub|redact|(?:^|_)mask|sensitive|censor|saniti[sz]|secret_(?:keys|names|headers|fields)|never_log"
    r"|private_(?:keys|headers|fields)|confidential|obfuscat|do_not_(?:log|send)"
)
_SECRET: Final = regex(
    r"authori[sz]ation|cookie|passw|passphrase|secret|token|api_?key|credential|session|private_key|ssn|card|cvv|iban"
)
_KEY: Final = regex(
    r"(?:^|_)(?:code|token|key|secret|voucher|coupon|passw\w*|pass_?hash|pin|otp|e?_?mail|login|user_?name|session|invite"
    r"|invitation|hash|digest|serial|licen[cs]e|signature|nonce|iban|card|fingerprint)(?:_?(?:id|no|number|hash|hex|value))?$"
)
_IDENTITY: Final = regex(
    r"^_*(?:get_|load_|find_|resolve_|fetch_)?(?:(?:current|request|session|logged_in|acting|authenticated)_(?:user|account"
    r"|member|principal|actor|identity|subject)|user|actor|principal|viewer|who_?ami|who|identity|requester|caller)"
    r"(?:_id|_name|name)?$"
)
_PROOF_HEADER: Final = regex(r"auth|token|key|sign|csrf|xsrf|secret|agent|request_id|trace|bearer|jwt|cookie")
CLEANERS: Final = {
    "escape": "html", "conditional_escape": "html", "format_html": "html", "clean": "html",
    "sanitize": "html", "sanitise": "html", "sanitize_html": "html", "bleach_clean": "html", "purify": "html",
    "escape_html": "html", "clean_html": "html", "secure_filename": "file name", "safe_join": "file name",
    "get_valid_filename": "file name", "compare_digest": "constant time", "safe_str_cmp": "constant time",
    "constant_time_compare": "constant time", "timing_safe_equal": "constant time",
}  # fmt: skip
"""Calls that make a value harmless, with the group in which one may stand for another."""
_FILE_NAMES: Final = frozenset({"base", "basename", "get_file_name", "base_name", "path_basename"})
"""Calls that keep the last part of a path: a protection where the path is somebody's."""
_HTML: Final = frozenset({
    "escape_string", "htmlspecialchars", "htmlentities", "strip_tags", "html_escape", "escape_html4",
    "html_escape_string", "encode_for_html", "quote_html",
})  # fmt: skip
_ASKED: Final = regex(
    r"\b(?:req|request|ctx|context|params|query|form|upload(?:ed)?|flask\.request|r\.URL|r\.Form|c\.Param|\$_\w+)\b"
    r"|\.(?:FormValue|PathValue|Query|Param|originalname|filename|get_?Original\w*|getParameter|fileName)\b"
)


def cleaner_group(name: str, argument: str) -> str:
    """What a call of this name keeps harmless; empty for other calls. ``argument``: its first, as text: the
    last part of a path is a protection where the path comes with a request.
    """
    plain = snake(name)
    if plain in _FILE_NAMES:
        return "file name" if _ASKED.search(argument) else ""
    return "html" if plain in _HTML else CLEANERS.get(plain, "")


def is_constant_time(name: str) -> bool:
    """Does a call of this name compare in constant time?"""
    return CLEANERS.get(snake(name)) == "constant time"


@lru_cache(4096)
def family_of(name: str) -> Family | None:
    """The family of protections that a name speaks of; None for a name that speaks of none."""
    plain = snake(name)
    if _OPENING.search(plain):
        return None
    return next((family for family, words in _FAMILIES if words.search(plain)), None)


def is_refusing(name: str) -> bool:
    """Does an exception, a response or a function of this name mean *no*?"""
    return _REFUSED.search(snake(name)) is not None


def is_check(name: str) -> bool:
    """Is a function of this name one whose answer decides whether something is allowed?"""
    plain = snake(name)
    return (
        plain in _CHECKS
        or (_VERBS.search(plain) is not None and _SUBJECTS.search(plain) is not None)
        or (plain.endswith(("_required", "_only")) and family_of(plain) is not None)
    )


def is_check_of(name: str, parameters: Collection[str]) -> bool:
    """``isOurs(origin)``: a question whose name says little, asked about what decides who may."""
    plain = snake(name)
    asks = re.match(r"_*(?:is|are|has|may|can|same|valid|accepts|trusts)(?:_|$)", plain) is not None
    return is_check(name) or (asks and any(snake(one) in _DECIDING for one in parameters))


def is_raising(name: str) -> bool:
    """Does a function of this name refuse by itself, whatever is done with what it returns? A hook of React
    (``useCurrentUser``) only tells.
    """
    plain = snake(name)
    return _RAISING.search(plain) is not None and not plain.startswith("use_")


def is_checking(name: str) -> bool:
    """Is a call of this name, its result unused, a check?"""
    return _CHECKING.search(snake(name)) is not None


def is_switch(atom: str) -> bool:
    """Does a condition ask for what whoever starts the program or sends the request can set?"""
    return _SWITCH.search(atom) is not None


def is_opening(name: str) -> bool:
    """Does a decorator or class of this name take a protection away?"""
    return _OPENING.search(snake(name)) is not None


_BODY: Final = frozenset({"body", "payload", "data", "content", "message", "msg", "raw", "canonical"})
_ABOUT: Final = ("id", "type", "length", "size", "name", "hash", "digest", "encoding")


def is_meant_open(name: str) -> bool:
    """Is a route or a function of this name one that everybody may use?"""
    plain = snake(name.replace("/", "_").replace(" ", "_").replace("-", "_"))
    return plain in _MEANT_OPEN or not _MEANT_OPEN.isdisjoint(plain.strip("_").split("_"))


def is_owner(name: str) -> bool:
    """Does a column or a keyword of this name say whose something is?"""
    return _OWNER.search(snake(name)) is not None


def is_key(name: str) -> bool:
    """Does who knows the value of this column get in, or get something?"""
    return _KEY.search(snake(name)) is not None


def is_granting(name: str) -> bool:
    """Does a field of this name say what its owner may, or whose it is?"""
    return _GRANTING.search(snake(name)) is not None


def is_editable(name: str) -> bool:
    """Does a list of this name hold the fields that somebody from outside may set?"""
    return _EDITABLE.search(snake(name)) is not None


def is_hiding(name: str) -> bool:
    """Does a list of this name hold what must not be shown, logged or sent?"""
    return _HIDING.search(snake(name)) is not None


def is_secret(name: str) -> bool:
    """Is something of this name worth hiding?"""
    return _SECRET.search(snake(name)) is not None


def is_identity(name: str) -> bool:
    """Does a name of a function or a variable stand for who asks?"""
    return _IDENTITY.search(snake(name)) is not None


def is_proof(header: str) -> bool:
    """Does a header of this name carry a proof that is checked, rather than a claim?"""
    return _PROOF_HEADER.search(snake(header)) is not None


BROUGHT_KEYS: Final = frozenset({"jwk", "jku", "x5u", "x5c"})
"""Parameters of a token's header that bring a key (RFC 7515, 4.1): whoever writes the token chooses them."""


def is_body(name: str) -> bool:
    """Does a value of this name hold what was sent, as bytes or as text?"""
    words = snake(name).split("_")
    return not _BODY.isdisjoint(words) and words[-1] not in _ABOUT


def is_verifier(name: str) -> bool:
    """Does a call of this name prove that what it is given was made by who holds a key?"""
    plain = snake(name)
    return (
        is_constant_time(plain)
        or family_of(plain) == "integrity"
        or any(word in plain for word in ("verif", "decrypt", "unsign", "signature", "hmac"))
    )
