"""Migrations: rights given to everybody, functions that run as their owner, accounts that become admin.

Statements are found by words, not by a grammar: dialects differ, and a migration is applied once, by
whoever has every right. Comments and the texts of literals are blanked first: they say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.infrastructure.facts import Fact, FileFacts
from gate.regex import regex

_ROWS_OPEN: Final = regex(
    r"\b(?:DISABLE\s+ROW\s+LEVEL\s+SECURITY|NO\s+FORCE\s+ROW\s+LEVEL\s+SECURITY|\bBYPASSRLS\b"
    r"|DROP\s+POLICY\s+(?:IF\s+EXISTS\s+)?[\w\".]{1,80})",
    re.IGNORECASE,
)
_MADE: Final = regex(r"\bCREATE\s+POLICY\s+([\w\".]{1,80})", re.IGNORECASE)
_BLANK: Final = regex(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", re.DOTALL)
_PUBLIC: Final = regex(
    r"\bGRANT\s+[^;]{1,400}?\bTO\s+(?:[\w\", ]{0,200}\b)?(?:PUBLIC|anon|anonymous)\b(?!\s*\.)", re.IGNORECASE
)
_HARMLESS: Final = regex(r"\bGRANT\s+(?:USAGE|CONNECT|EXECUTE)\b", re.IGNORECASE)
_EVERYTHING: Final = regex(
    r"\bGRANT\s+ALL\s+(?:PRIVILEGES\s+)?ON\s+\*\.\*"
    r"|\b(?:CREATE|ALTER)\s+(?:ROLE|USER)\s+[^;]{1,200}?\bSUPERUSER\b",
    re.IGNORECASE,
)
_DEFINER: Final = regex(r"\bSECURITY\s+DEFINER\b", re.IGNORECASE)
_FUNCTION: Final = regex(
    r"\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:FUNCTION|PROCEDURE)\s+([\w\".]{1,120})", re.IGNORECASE
)
_RIGHT: Final = (
    r"(?:is_?(?:admin|superuser|staff|root|owner|verified)|admin|superuser|can_\w{1,40}|email_verified"
    r"|role|permissions?)"
)
_DEFAULT: Final = regex(
    rf"\b({_RIGHT})\"?(?:\s+(?:SET|TYPE)|\s+BOOL(?:EAN)?|\s+TINYINT\(1\)|\s+(?:VAR)?CHAR(?:\(\d+\))?|\s+TEXT|\s+NOT\s+NULL)*"
    r"\s+DEFAULT\s+(TRUE|1|b?'(?:[^']{0,40})')",
    re.IGNORECASE,
)
_MAKES_ADMIN: Final = regex(r"\b(?:INSERT\s+INTO|UPDATE)\s+[^;]{1,2000}", re.IGNORECASE)
_ADMIN_COLUMN: Final = regex(r"\b(?:is_?(?:admin|superuser|staff|root)|admin|superuser)\b", re.IGNORECASE)
_TRUE: Final = regex(r"(?<![\w.])(?:TRUE|1)(?![\w.])", re.IGNORECASE)
_ADMIN_VALUE: Final = regex(r"'(?:super_?admin|admin(?:istrator)?|superuser|root|owner)'", re.IGNORECASE)
_ACCOUNTS: Final = regex(
    r"\b(?:INSERT\s+INTO|UPDATE)\s+[\w\".`]*(?:user|account|member|principal|role_?assign|grant)\w*",
    re.IGNORECASE,
)


def sql_facts(text: str, path: str) -> FileFacts:
    """What a migration takes away or gives; a policy that is dropped and made anew is not told."""
    bare = _BLANK.sub(_blanked, text)
    without_comments = _BLANK.sub(lambda match: match[0] if match[0][0] == "'" else _spaces(match[0]), text)
    facts = [*_rows(bare, path), *_rights(bare, path), *_admins(bare, without_comments, path)]
    return FileFacts(facts=facts, subjects=[path])


def _rows(text: str, path: str) -> Iterator[Fact]:
    made = {name.strip('"').lower() for name in _MADE.findall(text)}
    for match in _ROWS_OPEN.finditer(text):
        words = match[0].split()
        if words[0].upper() == "DROP" and words[-1].strip('"').lower() in made:
            continue
        said = " ".join(words)
        yield Fact("grant", "rows-open", f"{path} {said}", _line(text, match), said)


def _rights(text: str, path: str) -> Iterator[Fact]:
    for match in _PUBLIC.finditer(text):
        if not _HARMLESS.match(match[0]):
            said = " ".join(match[0].split())[:120]
            yield Fact("grant", "rows-to-all", f"{path} {said}", _line(text, match), said)
    for match in _EVERYTHING.finditer(text):
        said = " ".join(match[0].split())
        yield Fact("grant", "every-right", f"{path} {said}", _line(text, match), said)
    for match in _DEFINER.finditer(text):
        before = [*_FUNCTION.finditer(text, 0, match.start())]
        name = before[-1][1] if before else "?"
        yield Fact(
            "grant", "runs-as-owner", f"{path} {name}", _line(text, match), f"{name}: SECURITY DEFINER"
        )


def _admins(bare: str, text: str, path: str) -> Iterator[Fact]:
    """``text`` has its literals, ``bare`` has not; both have the same length."""
    for match in _DEFAULT.finditer(text):
        value = match[2].strip("b'").lower()
        if value in ("true", "1", "t", "y") or _ADMIN_VALUE.match(f"'{value}'"):
            said = " ".join(match[0].split())
            yield Fact("grant", "admin-given", f"{path} {said}", _line(text, match), said[:120])
    for match in _MAKES_ADMIN.finditer(bare):
        whole = text[match.start() : match.end()]
        column = _ADMIN_COLUMN.search(match[0]) and _TRUE.search(match[0])
        if _ACCOUNTS.match(whole) and (column or _ADMIN_VALUE.search(whole.partition("WHERE")[0])):
            said = " ".join(whole.split())[:120]
            yield Fact("grant", "admin-given", f"{path} {said}", _line(bare, match), said)


def _blanked(match: re.Match[str]) -> str:
    return f"'{_spaces(match[0][1:-1])}'" if match[0][0] == "'" else _spaces(match[0])


def _spaces(text: str) -> str:
    return "".join("\n" if one == "\n" else " " for one in text)


def _line(text: str, match: re.Match[str]) -> int:
    return text.count("\n", 0, match.start()) + 1
