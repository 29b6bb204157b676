"""What SQL does where a digest is equal to a written one, by words. For the limited child."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_DIGESTS: Final = frozenset({
    "md5", "sha", "sha1", "sha2", "sha224", "sha256", "sha384", "sha512", "digest", "hashbytes", "crc32",
    "hmac", "standard_hash",
})  # fmt: skip
_ACTS: Final = frozenset({"update", "delete", "insert", "set", "return", ":=", "grant", "perform", "call"})
_RIGHTS: Final = frozenset({
    "role", "roles", "is_admin", "is_staff", "is_superuser", "superuser", "admin", "password", "permissions",
    "permission", "grant", "is_owner", "group_id", "groups", "privilege", "password_hash",
})  # fmt: skip
_ENDS: Final = frozenset({";", "then"})
_BRANCH_ENDS: Final = frozenset({"else", "elsif", "elseif", "end"})
_HEX: Final = frozenset("0123456789abcdef")
_SHORTEST: Final = 6
_NEAR: Final = 14
"""Words between a digest's arguments and the text that it is compared with (``, 'hex')``, ``::text =``)."""
_MOST_WORDS: Final = 200_000
_BEHIND: Final = 200


class Word(NamedTuple):
    """One word, sign or text of SQL. ``is_text``: it stood in quotes."""

    text: str
    line: int
    is_text: bool = False


class SqlGrant(NamedTuple):
    """As DigestGrant of grants.py."""

    line: int
    act: str
    grave: bool
    text: str


def words(text: str) -> Iterator[Word]:
    """Words in small letters, signs, and texts without their quotes; comments and ``$$`` are left out."""
    at, line, count = 0, 1, 0
    while at < len(text) and count < _MOST_WORDS:
        char, start = text[at], at
        if text.startswith("--", at):
            at = _end(text, "\n", at)
        elif text.startswith("/*", at):
            at = _end(text, "*/", at + 2)
        elif char == "'":
            at = _end(text, "'", at + 1)
            yield Word(text[start + 1 : at - 1], line, True)
        elif char.isalnum() or char == "_":
            while at < len(text) and (text[at].isalnum() or text[at] == "_"):
                at += 1
            yield Word(text[start:at].lower(), line)
        elif char.isspace() or char in '$"`':
            at += 1
        else:
            at += 2 if text[at : at + 2] in (":=", "<>", "!=", "::", "||", "==") else 1
            yield Word(text[start:at], line)
        line += text.count("\n", start, at)
        count += 1


def _end(text: str, mark: str, start: int) -> int:
    found = text.find(mark, start)
    return len(text) if found < 0 else found + len(mark)


def sql_grants(text: str) -> Iterator[SqlGrant]:
    """Branches and statements that only one digest reaches, and that change something."""
    found = [*words(text)]
    for at, word in enumerate(found):
        if word.is_text or word.text not in _DIGESTS or found[at + 1 : at + 2] == []:
            continue
        if found[at + 1].text != "(" or not _is_compared(found, at):
            continue
        behind = _branch(found, at)
        does = {one.text for one in behind if not one.is_text}
        if "raise" in does or not does & _ACTS:
            continue
        grave = bool({one.text.lower() for one in behind} & _RIGHTS)
        shown = " ".join(one.text for one in found[at : at + _NEAR])[:160]
        yield SqlGrant(word.line, "rights are set" if grave else "rows are changed", grave, shown)


def _is_compared(found: Sequence[Word], at: int) -> bool:
    """``md5(...) = '1f38…'``, also behind ``encode(..., 'hex')``; or the text stands first."""
    if at > 1 and found[at - 1].text in ("=", "==") and _is_digest(found[at - 2]):
        return True
    depth, here = 0, at + 1
    while here < len(found):
        depth += {"(": 1, ")": -1}.get(found[here].text, 0) if not found[here].is_text else 0
        here += 1
        if depth == 0:
            break
    near = found[here : here + _NEAR]
    sign = next(
        (n for n, one in enumerate(near) if not one.is_text and one.text in ("=", "==", "in", "like")), None
    )
    between = {one.text for one in near[: sign or 0]}
    if sign is None or between & {"and", "or", "then", ";", "select", "<>", "!=", "not"}:
        return False
    return any(_is_digest(one) for one in near[sign + 1 : sign + 4])


def _is_digest(word: Word) -> bool:
    plain = word.text.lower().removeprefix("\\x").removeprefix("0x").rstrip("%")
    return word.is_text and len(plain) >= _SHORTEST and _HEX.issuperset(plain)


def _branch(found: Sequence[Word], at: int) -> Sequence[Word]:
    """What stands behind THEN; without one, the statement that the condition is a part of."""
    behind = found[at : at + _BEHIND]
    end = next((n for n, one in enumerate(behind) if not one.is_text and one.text in _ENDS), len(behind))
    if end < len(behind) and behind[end].text == "then":
        rest = behind[end + 1 :]
        stop = next(
            (n for n, one in enumerate(rest) if not one.is_text and one.text in _BRANCH_ENDS), len(rest)
        )
        inside = rest[:stop]
        start = max((n for n in range(at) if found[n].text == ";"), default=-1)
        is_case = any(one.text == "case" for one in found[max(start, at - _BEHIND) : at])
        return [*found[max(start + 1, at - _BEHIND) : at], *inside] if is_case else inside
    start = max((n for n in range(max(0, at - _BEHIND), at) if found[n].text == ";"), default=at - _BEHIND)
    return found[max(0, start + 1) : at + end]
