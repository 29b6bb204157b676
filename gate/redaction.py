"""Secrets out of texts: the ones we planted, and whatever looks like a token (RP-6)."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from gate.regex import regex

REDACTED: Final = "[redacted]"
SHORTEST: Final = 6
"""Characters below which a known secret is too short to be looked for."""

# Published prefixes: GitHub, GitLab, AWS, Slack, Google, npm, PyPI, Stripe, OpenAI/Anthropic; JSON Web
# Tokens; PEM private keys; passwords in URLs and Authorization headers.
_SHAPES: Final = regex(
    r"gh[pousr]_[A-Za-z0-9]{20,255}"
    r"|github_pat_[A-Za-z0-9_]{20,255}"
    r"|glpat-[A-Za-z0-9_-]{16,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}"
    r"|AIza[A-Za-z0-9_-]{30,}"
    r"|npm_[A-Za-z0-9]{30,}"
    r"|pypi-[A-Za-z0-9_-]{40,}"
    r"|[rs]k_live_[A-Za-z0-9]{16,}"
    r"|sk-[A-Za-z0-9_-]{20,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
    r"|(?<=://)[^\s:/@]{1,100}:[^\s/@]{1,200}(?=@)"
    r"|(?i:(?<=bearer )|(?<=basic ))[A-Za-z0-9+/=._~-]{16,}"
)


_LONGEST_FORGED: Final = 2_000


def _forms(secret: str) -> set[str]:
    """The secret as it is, in hex, URL-encoded, backwards, and its stable part in base64 at any offset."""
    data = secret.encode("utf-8", "surrogateescape")
    out = {secret, secret[::-1], data.hex(), data.hex().upper(), quote(secret, safe="", errors="replace")}
    for offset in range(3):
        coded = base64.b64encode(bytes(offset) + data).decode().rstrip("=")
        # characters that also depend on the neighbours before and behind the secret are not stable
        stable = coded[(0, 2, 3)[offset] :]
        if (offset + len(data)) % 3:
            stable = stable[:-1]
        out |= {stable, stable.replace("+", "-").replace("/", "_")}
    return {form for form in out if len(form) >= SHORTEST}


@lru_cache(maxsize=16)
def _all_forms(known: tuple[str, ...]) -> tuple[str, ...]:
    """Those of every secret that is long enough, the longest first."""
    forms = {form for secret in known if len(secret) >= SHORTEST for form in _forms(secret)}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


@lru_cache(maxsize=16)
def _pattern(known: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, _all_forms(known))))


_SAME_FOR_ALL: Final = regex(r"[a-z][a-z0-9+]*://[^:/]*:|AKIA|[A-Za-z]{2,10}[_-]|")
"""What a secret begins with that says nothing of it."""
_ENDS: Final = "\u2026\"'` \n"
"""What may stand behind a text that was cut."""
_LEAST_PIECE: Final = 4


@lru_cache(maxsize=16)
def _beginnings(known: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Each secret with so much of its beginning that no word, path or address ends with it by accident."""
    out = []
    for secret in known:
        fixed = len(_SAME_FOR_ALL.match(secret)[0])  # type: ignore[index]  # matches nothing, too
        for end in range(fixed + _LEAST_PIECE, len(secret)):
            own = secret[fixed:end]
            kinds = (any(map(str.islower, own)), any(map(str.isupper, own)), any(map(str.isdigit, own)))
            if sum(kinds) > 1:
                out.append((secret[:end], secret))
                break
    return tuple(out)


def _without_cut_one(text: str, known: tuple[str, ...]) -> str:
    """The text without the secret that begins at its end, where it was cut: as it is, not encoded."""
    body = text.rstrip(_ENDS)
    for beginning, secret in _beginnings(known):
        at = body.rfind(beginning)
        if at >= 0 and secret.startswith(body[at:]):
            return text[:at] + REDACTED + text[len(body) :]
    return text


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """The text with every known secret (six characters and longer, in its usual encodings; where the text was
    cut, what is left of it) and every token of a published shape replaced by ``[redacted]``, those of our own
    attacks (docs/exploit.md) not.
    """
    known = tuple(secrets)
    if holds(text, known):
        text = _pattern(known).sub(REDACTED, text)
    if _all_forms(known):
        text = _without_cut_one(text, known)
    return _SHAPES.sub(_replaced, text)


def holds(text: str, secrets: Iterable[str]) -> bool:
    """Does the text hold one of these, in any of its usual encodings?"""
    return any(form in text for form in _all_forms(tuple(secrets)))


def _replaced(found: re.Match[str]) -> str:
    text = found.group()
    return text if _is_forged(text) else REDACTED


def _is_forged(text: str) -> bool:
    """True for a token of an attack of ours: nobody signed it, and whoever repeats the attack needs it."""
    parts = text.split(".")
    if len(parts) != 3 or len(text) > _LONGEST_FORGED:
        return False
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, RecursionError):
        return False
    return isinstance(claims, dict) and claims.get("gate_asked") == "claim"


def without(text: str, secrets: Iterable[str]) -> str:
    """The text with these replaced as they stand, and nothing else."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return text
