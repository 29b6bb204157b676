"""Texts of which only plain signs are left: what a replacement by a negated class of signs does."""

from __future__ import annotations

from typing import Final

from gate.regex import regex

_REPLACES: Final = frozenset(
    {"replace", "replaceall", "preg_replace", "gsub", "gsub!", "replaceallstring", "str_replace", "tr"}
)
_NEGATED: Final = regex(r"[/~#(]?\[\^((?:\\.|[^\]\\])+)\][+*]?\)?[/~#]?([a-z]*)")
_PLAIN: Final = regex(r"(?:\\[wdsAZ]|[A-Za-z0-9_ ,-]|\\-|a-z|A-Z|0-9)*")
"""Signs that mean nothing in a path, a query, a shell, an address or markup."""
_WITH_DOTS: Final = regex(r"(?:\\[wdsAZ.]|[A-Za-z0-9_ ,.-]|\\-)*")
HARMLESS: Final = frozenset({"path", "sql", "shell", "code", "xss", "template", "ssrf", "redirect", "regex"})


def leaves_plain(name: str, arguments: list[str | None], language: str) -> frozenset[str]:
    """The rules for which nothing harmful is left behind such a call: a class that names what may stay, all
    else taken out everywhere. JavaScript's ``replace`` takes out the first sign alone without the flag ``g``.
    """
    if name.lower() not in _REPLACES:
        return frozenset()
    known = [text for text in arguments if text is not None]
    everywhere = name.lower() != "replace" or language in ("java", "kotlin", "csharp")
    if everywhere and known[:1] in (["/"], [r"/\//g"], [r"\/"]) and "/" not in "".join(known[1:2]):
        return frozenset({"path"})  # no part of a path is left
    for text in arguments:
        found = _NEGATED.fullmatch(text or "")
        if found is None:
            continue
        if language == "javascript" and "g" not in found[2]:
            return frozenset()
        if _PLAIN.fullmatch(found[1]):
            return HARMLESS
        if _WITH_DOTS.fullmatch(found[1]):
            return HARMLESS - {"ssrf", "path"}
    return frozenset()
