"""Who a name and an e-mail address are: an AI tool, plain automation, or nobody we know."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, Literal

from gate.attribution.rule_file import FLAGS, Login, Name, attribution_rules
from gate.dataclass import dataclass
from gate.model.attribution import Role, Strength
from gate.regex import regex

_NOREPLY: Final = regex(r"(?:(\d+)\+)?([^@+]+)@users\.noreply\.github\.com", FLAGS)
_BOT_NAME: Final = regex(r"(?:\[bot\]|[ _-]bot|-robot)", FLAGS)
# An app that names its trade: sourcery-ai[bot], devin-ai-integration[bot].
_AI_LOGIN: Final = regex(r"(?:^|[-_])(?:ai|gpt|llm|copilot|codex|claude|gemini)(?:[-_]|\[bot\]$)", FLAGS)
_AI_TITLE: Final = regex(r"\b(?:ai[ -](?:agent|assistant)|agentic|coding agent)\b", FLAGS)
_SUFFIX: Final = regex(r".+\(([^()]{2,60})\)\s*")
# What may follow a tool's name: versions, models, remarks in brackets. Atomic groups, here and below: a
# text made for it must not make matching slow.
_TAIL: Final = (
    r"(?P<tail>(?>(?:[ :/-]+(?:v?\d[\w.:-]*|\([^()]*\)|\[[^\[\]]*\]|agent|ai|bot|assistant|cli|code"
    r"|[a-z]+(?:-[a-z]+)*-v?\d[\w.:-]*"
    r"|opus|sonnet|haiku|fable|pro|flash|mini|max|high|low|medium|xhigh|fast|latest|thinking|preview|experimental|ultra|lite))*)"
    r"(?:\s+(?:via|in|with|using|through|running|on behalf of|powered by)\b.*)?)"
)
_VENDOR: Final = (
    r"(?:(?:openai|google|anthropic|microsoft|amazon|aws|alibaba|meta|the|an?|charm)(?:'s)?[ /:-]+)?"
)
_MOST_NAME: Final = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """Who wrote it. ``kind`` says by what that is known: an address, an account, a name, or plain
    automation.
    """

    tool: str
    kind: Literal["address", "login", "name", "bot"]
    confidence: Strength
    role: Role | None = None


@lru_cache(maxsize=8192)
def identify(name: str, email: str) -> Identity | None:
    """Whose identity this is; None for a person as far as anyone can tell."""
    name, email = name.strip()[:_MOST_NAME], email.strip(" \t<>\"'\\").lower()[:_MOST_NAME]
    low = name.lower()
    rules = attribution_rules()
    if low in rules.bots.names:
        return Identity(tool=low, kind="bot", confidence="definite", role="bot")
    accounts = _accounts(low, email)
    for number, login in accounts:
        entry = rules.logins.get((login, number)) or rules.logins.get((login, None))
        if entry:
            return _by_login(entry)
    address = rules.addresses.get(email)
    if address:
        return Identity(tool=address.tool, kind="address", confidence=address.confidence)
    return _by_name(name, email) or _automation(low, email, accounts)


def _accounts(low: str, email: str) -> list[tuple[str | None, str]]:
    match = _NOREPLY.fullmatch(email)
    found: list[tuple[str | None, str]] = [(match[1], match[2])] if match else []
    if low.endswith("[bot]"):
        found.append((None, low))
    return found


def _by_login(entry: Login) -> Identity:
    return Identity(tool=entry.tool, kind="login", confidence=entry.confidence, role=entry.role)


def _by_name(name: str, email: str) -> Identity | None:
    found = named(name, has_email=bool(email))
    if found:
        return found
    suffix = _SUFFIX.fullmatch(name)
    inner = named(suffix[1], has_email=False) if suffix else None
    if inner and inner.confidence == "strong":
        sure: Strength = "definite" if inner.tool == "aider" else "strong"
        return Identity(tool=inner.tool, kind="name", confidence=sure, role=inner.role)
    if _AI_TITLE.search(name):
        return Identity(tool="ai", kind="name", confidence="strong")
    return None


def _automation(low: str, email: str, accounts: list[tuple[str | None, str]]) -> Identity | None:
    bots = attribution_rules().bots
    known = email in bots.emails or any(login in bots.logins for _, login in accounts)
    if not known:
        for _, login in accounts:
            if login.endswith("[bot]") and _AI_LOGIN.search(login):
                return Identity(tool=login.removesuffix("[bot]"), kind="login", confidence="strong")
    if (
        known
        or low in bots.logins
        or _BOT_NAME.search(low[-8:])
        or any(a.endswith("[bot]") for _, a in accounts)
    ):
        return Identity(tool=low or email, kind="bot", confidence="strong", role="bot")
    return None


def named(text: str, *, has_email: bool) -> Identity | None:
    """The tool that a whole display name means.

    A bare first name (Claude, Devin, Jules) with somebody's address is weak: people bear them.
    """
    text = text.strip().strip("\"'`*_").strip()
    if not _any_name().search(text):  # most are people: one short pattern tells, and none of the long is made
        return None
    for entry, pattern in _names():
        match = pattern.fullmatch(text)
        if match:
            core = match["core"]
            bare = entry.person and not match["tail"] and not re.search(r"[\s\d-]", core)
            weak = bare and has_email
            return Identity(
                tool=entry.tool, kind="name", confidence="weak" if weak else "strong", role=entry.role
            )
    return None


def mentioned(text: str) -> Identity | None:
    """The first tool named anywhere in a short value; a bare first name does not count."""
    for entry, pattern in _inside():
        if pattern.search(text):
            return Identity(tool=entry.tool, kind="name", confidence="strong", role=entry.role)
    return None


@cache
def _any_name() -> re.Pattern[str]:
    """What stands in every text that one of ``_names`` matches."""
    return re.compile("|".join(f"(?:{entry.pattern})" for entry in attribution_rules().name), FLAGS)


@cache
def _names() -> tuple[tuple[Name, re.Pattern[str]], ...]:
    return tuple(
        (entry, re.compile(rf"{_VENDOR}(?P<core>(?>{entry.pattern})){_TAIL}", FLAGS))
        for entry in attribution_rules().name
    )


@cache
def _inside() -> tuple[tuple[Name, re.Pattern[str]], ...]:
    words = (entry for entry in attribution_rules().name if not entry.person or entry.tool == "claude-code")
    return tuple((e, re.compile(rf"(?<![\w.@-])(?:{e.pattern})(?![\w@]|\.\w)", FLAGS)) for e in words)


@cache
def prose_names() -> str:
    """One alternation of the names that may be looked for in sentences."""
    names = "|".join(f"(?:{entry.pattern})" for entry in attribution_rules().name if entry.prose)
    return f"(?>{names})"
