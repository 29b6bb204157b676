"""Names of functions whose answer lets somebody in, and of what they refuse with."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from gate.languages.naming import snake
from gate.regex import regex

_PROTECTED: Final = (
    r"permissions?|perms?|permitted|allowed|authori[sz]\w*|authenti\w*|auth|signature|signed|token|login|logged"
    r"|admin|staff|superuser|owner|owned|owns|access|credentials?|roles?|scopes?|csrf|session|password|otp|totp"
    r"|mfa|trusted|tenant|webhook|hmac|replay(?:ed)?|nonce|revoked|banned|blocked|suspended|locked|lockout"
    r"|traversal|moderator|invitation|invite"
)
_PLACES: Final = (
    r"origin|hosts?|expired|fresh|rate|limit(?:ed)?|throttled?|quota|private|internal|inside|within|contained"
    r"|subpath"
    r"|escapes|safe|member|url|redirect|path|address|ip|sender|key|code|license"
)
"""Words that validators have in their names, too."""
_ASKS: Final = (
    r"is|has|have|can|may|might|check|checks|verify|verifies|validate|require|requires|required|ensure|assert|must"
    r"|allow|allows|enforce|needs|guard|deny|reject|refuse|permit|permits|matches|match|accept|accepts|valid"
)
_ADMITS: Final = (
    r"may|allow|allows|allowed|permit|permits|deny|reject|refuse|require|requires|must|enforce|guard"
    r"|verify|trusted|block"
)
_DEEDS: Final = (
    r"edit|delete|remove|view|see|read|write|manage|approve|access|publish|pay|transfer|withdraw|invite|download"
    r"|upload|comment|join|admin|moderate|change|update|create|open|refund|export|share|merge|deploy|impersonate"
)
_GUARD: Final = regex(
    rf"(?:^|_)(?:{_ADMITS})_(?:\w+_)?(?:{_PLACES})(?:_|$)"
    rf"|(?:^|_)(?:{_PLACES})_(?:allowed|permitted|ok|denied)(?:_|$)"
    r"|(?:^|_)is_(?:\w+_)?(?:expired|fresh|private|internal|inside|within|contained|safe|member|limited"
    r"|throttled)(?:_|$)|"
    rf"(?:^|_)(?:{_ASKS})_(?:\w+_)?(?:{_PROTECTED})(?:_|$)|(?:^|_)(?:{_PROTECTED})_(?:{_ASKS}|ok)(?:_|$)"
    rf"|(?:^|_)(?:can|may)_(?:{_DEEDS})(?:_|$)"
    r"|^(?:verify|authenticate|authori[sz]e|permits?|allows?|allowed|admits?|may|owns|covers|is_valid|check_login)$"
    r"|(?:^|_)(?:authenticate|authori[sz]e|login_required|owner_of|current_user|verify)(?:_|$)"
)
_NEGATIVE: Final = regex(
    r"(?:^|_)(?:blocked|banned|denied|expired|locked|revoked|forbidden|suspended|private|internal|anonymous"
    r"|limited|throttled|exceeded|replayed|escapes|traversal|reserved|needs|unsafe|over|too_many)(?:_|$)"
)
_ANSWERS: Final = regex(r"^(?:is|has|was|are|needs)_|^_(?:is|has|was|are|needs)_")
REFUSING: Final = regex(
    r"\w*(?:Permission|Denied|Forbidden|Unauthori[sz]ed|NotAuthenticated|AuthenticationFailed|NotAllowed"
    r"|AuthError|InvalidSignature|BadSignature|ExpiredSignature|SignatureExpired|InvalidToken|Csrf|Suspicious"
    r"|SecurityError|InvalidTag|LoginRequired)\w*|HTTP_40[13]\w*"
)
"""Names of what is raised or called to refuse."""


PRINCIPAL: Final = regex(
    r"(?:^|[._\[])(?:(?:current_|request_|auth_)?user(?:_id)?|viewer|actor|principal|account(?:_id)?|tenant(?:_id)?"
    r"|requester|caller|member|customer(?:_id)?|owner(?:_id)?|identity|subject|session|claims)(?:$|[._\[(])"
)
"""In a path or a name: who asks."""


def is_guard(name: str, uses: Collection[str] = ()) -> bool:
    """Is it one by its name, does it refuse in so many words, or does it look at who asks?"""
    return is_named_guard(name) or any(REFUSING.fullmatch(one) or is_principal(one) for one in uses)


def is_principal(name: str) -> bool:
    """Does a name or a path say who asks? ``ownerId`` as ``owner_id``."""
    return bool(PRINCIPAL.search(name) or (name[:1].islower() and PRINCIPAL.search(snake(name))))


def is_named_guard(name: str) -> bool:
    """Does the last part of a qualified name say that somebody is let in or not?"""
    return bool(_GUARD.search(snake(name.rpartition(".")[2]).strip("_")))


def says_no_with_true(name: str) -> bool:
    """``is_blocked``: true is the refusal."""
    last = snake(name.rpartition(".")[2])
    return bool(_ANSWERS.search(last) and _NEGATIVE.search(last.strip("_")))
