"""Paths that a guard's pattern leaves out: ``"/((?!login|api).*)"`` guards all but those. Runs in the
limited child.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.regex import regex

_STATIC: Final = regex(
    r"(?:_next|_vercel|_nuxt|_static|_astro|static|assets|images?|img|fonts?|css|js|favicon|robots|sitemap|manifest"
    r"|icons?|apple-touch-icon|apple-icon|android-chrome|sw|\.well-known)(?![A-Za-z0-9_-])"
)
"""What a browser loads before anybody logs in."""
_SIGNING_IN: Final = regex(r"(?:auth/)?(?:log-?in|sign-?in|sign-?up|register|logout)")
_MOST: Final = 40


def left_out(pattern: str) -> Iterator[str]:
    """The alternatives of a negative look-ahead that leave out more than files and the way in."""
    begin = pattern.find("(?!")
    if begin < 0:
        return
    for one in _alternatives(pattern[begin + 3 :])[:_MOST]:
        bare = one.lstrip("/^").rstrip("$/")
        wild = ".*" in bare or ".+" in bare
        if bare and (wild or not (_STATIC.match(bare) or _SIGNING_IN.fullmatch(bare))):
            yield one


def _alternatives(text: str) -> list[str]:
    """What stands between ``|``, up to the parenthesis that ends it; groups and classes are not split."""
    found, word, depth, at = [], "", 0, 0
    while at < len(text):
        sign = text[at]
        if sign == "\\":
            word += text[at : at + 2]
            at += 2
            continue
        if sign == "[":
            end = text.find("]", at + 2)
            end = len(text) if end < 0 else end + 1
            word += text[at:end]
            at = end
            continue
        if sign == ")" and depth == 0:
            break
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and depth == 0:
            found.append(word)
            word = ""
        else:
            word += sign
        at += 1
    return [*found, word]
