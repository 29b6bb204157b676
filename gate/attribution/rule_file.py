"""Reads rules/attribution.toml: strict, every pattern compiled once."""

from __future__ import annotations

import datetime as dt
import re
from functools import cache, cached_property
from typing import Final

import msgspec

from gate.model.attribution import Role, Strength
from gate.resources import rules_dir

FLAGS: Final = re.IGNORECASE
_SHORT: Final = 3
"""Words up to this many letters must stand alone."""


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    source: str
    """Where the fact is from."""


class _ToolEntry(_Entry, frozen=True, kw_only=True):
    tool: str


class Address(_ToolEntry, frozen=True, kw_only=True):
    """E-mail addresses compared whole."""

    emails: tuple[str, ...]
    confidence: Strength


class Login(_ToolEntry, frozen=True, kw_only=True):
    """Accounts of a forge. ``number`` narrows an entry to one numeric id."""

    logins: tuple[str, ...]
    confidence: Strength
    role: Role | None = None
    number: str | None = None


class Name(_ToolEntry, frozen=True, kw_only=True):
    """A display name. ``person``: also a first name. ``prose``: may be looked for in sentences."""

    pattern: str
    role: Role | None = None
    person: bool = False
    prose: bool = True
    generic: bool = False


class People(_Entry, frozen=True, kw_only=True):
    """Trailer keys whose value is a person."""

    key: str
    role: Role


class TrailerRule(_ToolEntry, frozen=True, kw_only=True):
    """A trailer that only a tool writes."""

    key: str
    value: str
    confidence: Strength
    role: Role


class TextRule(_ToolEntry, frozen=True, kw_only=True, dict=True):
    """A pattern for a line, a subject, a branch, a label or a marker."""

    pattern: str
    confidence: Strength
    role: Role = "author"

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The compiled pattern, any case."""
        return re.compile(self.pattern, FLAGS)


class Bots(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Automation without AI; compared whole, lower case."""

    logins: frozenset[str]
    names: frozenset[str]
    emails: frozenset[str]


class Window(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename={"since": "from"}):
    """Days on which an address proved nothing, first and last included."""

    email: str
    since: dt.date
    until: dt.date
    confidence: Strength


class _Prefilter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    words: tuple[str, ...]


class _Notes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    aliases: dict[str, str]
    ignored_tools: frozenset[str]


class AttributionRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """The whole file."""

    prefilter: _Prefilter
    address: tuple[Address, ...]
    login: tuple[Login, ...]
    name: tuple[Name, ...]
    people: tuple[People, ...]
    trailer: tuple[TrailerRule, ...]
    line: tuple[TextRule, ...]
    subject: tuple[TextRule, ...]
    branch: tuple[TextRule, ...]
    label: tuple[TextRule, ...]
    marker: tuple[TextRule, ...]
    bots: Bots
    window: tuple[Window, ...]
    notes: _Notes

    @cached_property
    def addresses(self) -> dict[str, Address]:
        """Entry by lower-case address."""
        return {email.lower(): entry for entry in self.address for email in entry.emails}

    @cached_property
    def logins(self) -> dict[tuple[str, str | None], Login]:
        """Entry by (lower-case login, number or None)."""
        return {(login.lower(), entry.number): entry for entry in self.login for login in entry.logins}

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return tuple(word for word in self.prefilter.words if len(word) > _SHORT)

    @cached_property
    def _short(self) -> re.Pattern[str]:
        words = (re.escape(word) for word in self.prefilter.words if len(word) <= _SHORT)
        return re.compile(rf"(?<![a-z])(?:{'|'.join(words)})(?![a-z])")

    def hinted(self, text: str) -> bool:
        """True when the text has a word without which no message rule can match.

        Plain substring searches: many times faster than one large pattern, and this runs on
        every commit of a history.
        """
        low = text.lower()
        return any(word in low for word in self._words) or self._short.search(low) is not None


@cache
def attribution_rules() -> AttributionRules:
    """The rules, read once. Raises ValidationError when the shipped file is broken."""
    raw = (rules_dir() / "attribution.toml").read_bytes()
    return msgspec.toml.decode(raw, type=AttributionRules)
