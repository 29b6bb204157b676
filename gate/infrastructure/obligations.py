"""Settings named for an obligation: whom a protection covers, what is refused, what guards by its number.

A list of trust is worse with a new member; a list of an obligation is worse with one that is gone. A list of
what is allowed is worse where a pattern takes in what stood there by name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final

from gate.infrastructure.facts import Width
from gate.regex import regex

_OBLIGED: Final = regex(
    r"(?:^|-)(?:required|enforced|mandatory)-(?:for|on|of|by)$"
    r"|(?:^|-)required-(?:(?:status-)?checks|contexts|reviewers|approvers|signers|roles|groups|claims|scopes)$"
    r"|(?:^|-)protected-(?:branches|tags|paths|routes|fields|headers|files|environments)$"
    r"|^(?:deny|denied|forbidden|blocked|banned|disallowed|rejected|deny-?list|block-?list|black-?list)"
    r"(?:-(?:list|commands?|tools?|patterns?|paths?|hosts?|ips?|cidrs?|users?|domains?|urls?|countries))?$"
    r"|^(?:redact|mask|scrub|saniti[sz]e)(?:ed)?-(?:fields|headers|keys|params|paths|names)$"
)
_ALLOWED: Final = regex(
    r"^(?:always-|auto-)?(?:allow|allowed|permit|permitted|approve|approved)"
    r"(?:-(?:list|commands?|tools?|patterns?|paths?|urls?|actions?|programs?|scripts?))?$"
)
_LOCKS: Final = regex(
    r"(?:^|-)(?:lock(?:ed)?(?:-?out)?|cool-?down|ban)-(?:minutes|seconds|hours|time|period|duration)$"
)
_APPROVES: Final = regex(r"(?:^|-)(?:approvals?|approvers?|mfa|2fa|step-up|four-eyes)(?:-|$)")
_FROM: Final = regex(r"(?:^|-)(?:over|above|threshold|from-amount|min(?:imum)?-amount)$")
_KEPT: Final = regex(r"(?:^|-)retention(?:-|$)|(?:^|-)(?:retain|keep)-(?:days|for)$")
_EVIDENCE: Final = regex(r"(?:^|-)(?:audit|backups?|snapshots?|evidence|trail|security)(?:-|$)")
_AUDITS: Final = regex(r"(?:^|-)(?:audit(?:ed|ing)?|trail|security-events?|siem|alert(?:s|ing)?)(?:-|$)")
_RECORDED: Final = regex(
    r"(?:^|-)(?:events?|actions|categories|log-types|types|verbs|resources|objects|operations|fields|enabled-types)$"
)
_COUNTED: Final = regex(
    r"(?:^|-)(?:approvers|approvals|reviewers|signers|signatures)(?:-(?:count|required|needed))?$"
)
_LOOSENS: Final = regex(
    r"(?:^|-)(?:own|self)-(?:approval|approve|review|merge)$"
    r"|^trust-(?:e?mail|all|any|forward|x-|proxy|headers?|client|user|server-cert|self-signed|device|remember)"
    r"|(?:^|-)auto-(?:link|approve|accept|merge-accounts)(?:-|$)"
    r"|(?:^|-)allow-(?:own|self|unsigned|unverified|untrusted|anonymous|guests?|empty-passwords?|any-\w+|all-\w+)(?:-|$)"
)
_PREVENTS: Final = regex(
    r"^(?:prevent|forbid|deny|disallow|restrict|dismiss-stale)-(?!.*(?:default|scroll|zoom|focus))"
)
_VERIFIES: Final = regex(r"verif|identit|attest|cosign|keyless|signature|oidc|provenance")
_SIGNER: Final = regex(
    r"(?:^|-)(?:subjects?|issuers?|san|identity|principal|signer|source-repository|workflow)"
    r"(?:-(?:reg-?exp?|pattern|match))?$"
)
_PATTERN: Final = regex(r"\.[*+]|[\^$|\\*]")
_STEPS: Final = regex(r"^(?:processors|transforms|interceptors|sanitizers|filters|scrubbers)$")
_CLEANS: Final = regex(
    r"redact|mask|scrub|saniti[sz]|anonymi[sz]|pseudonymi[sz]|pii|secret|credential", re.IGNORECASE
)
"""Steps of a pipeline that take out what nobody else is to see."""
_NEARLY_TEN: Final = 0.95
"""In powers of ten: what is kept for a ninth of the time is not tuned, it is gone when it is asked for."""


def is_counted(key: str, value: object) -> bool:
    """Is this a number of people, where others write a list of them?"""
    return bool(_COUNTED.search(key)) and isinstance(value, str) and value.strip().isdigit()


def obligations(
    keys: Sequence[str], value: object, members: list[str], subject: str, line: int, text: str
) -> Iterator[Width]:
    """What one setting is worth; ``keys`` are the names on the way to it, in one spelling."""
    key = keys[-1]
    if isinstance(value, list):
        audited = _RECORDED.search(key) and any(_AUDITS.search(one) for one in keys)
        if audited or _OBLIGED.search(key):
            yield Width("covered", subject, line, text, members=members)
        elif _ALLOWED.search(key):
            yield Width("allowed", subject, line, text, members=members)
        elif _STEPS.search(key):
            yield Width("covered", subject, line, text, members=[m for m in members if _CLEANS.search(m)])
    elif isinstance(value, str):
        yield from _switched(key, value.strip().lower(), subject, line, text)
        yield from _counted(keys, value.strip().lower(), subject, line, text)


def signer(keys: Sequence[str], value: object, subject: str, line: int, text: str) -> Width | None:
    """Whose signature is taken: a name, or a pattern, which is the weaker the more it lets open. None for any
    other setting. Entries of a list are one setting: they have no name but what they say.
    """
    key = keys[-1]
    verifies = _SIGNER.search(key) and any(_VERIFIES.search(one) for one in keys)
    if not isinstance(value, str) or not value or not verifies:
        return None
    name = f"{subject.partition('[')[0]} {key}"
    if not _PATTERN.search(value):
        return Width("trusted", name, line, text, members=[value])
    ends = 2 * (not value.startswith("^")) + (not value.endswith("$"))
    return Width("weaker", name, line, text, measure=float(ends + value.count("*") + value.count("|")))


def _switched(key: str, value: str, subject: str, line: int, text: str) -> Iterator[Width]:
    if value in ("true", "false"):
        if _PREVENTS.search(key):
            yield Width("weaker", subject, line, text, measure=float(value == "false"))
        elif _LOOSENS.search(key):
            yield Width("weaker", subject, line, text, measure=float(value == "true"))


def _counted(keys: Sequence[str], value: str, subject: str, line: int, text: str) -> Iterator[Width]:
    key = keys[-1]
    low = "0" if value in ("null", "none", "false", "off") else value
    if not re.fullmatch(r"\d{1,12}", low):
        return
    amount = float(low)
    if is_counted(key, low):
        yield Width("weaker", subject, line, text, measure=-amount)
    elif _LOCKS.search(key):
        yield Width("weaker", subject, line, text, measure=-min(amount, 1.0))
    elif _FROM.search(key) and any(_APPROVES.search(one) for one in keys):
        yield Width("weaker", subject, line, text, measure=math.log10(amount + 1), slack=_NEARLY_TEN)
    elif any(_KEPT.search(one) for one in keys) and any(_EVIDENCE.search(one) for one in keys):
        yield Width("weaker", subject, line, text, measure=-math.log10(amount + 0.1), slack=_NEARLY_TEN)
