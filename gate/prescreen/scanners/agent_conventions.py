"""House rules that have coding agents leave doors open: they sound like conventions and ask for less.

Each has two halves that must stand in one item: something that protects, and that it is to be left out,
widened or set aside; or that what was weakened is not to be told. An order that forbids it says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.model.rule import Confidence, Severity
from gate.prescreen.scanners.agent_sentences import AgentSentence, forbids
from gate.regex import regex

_OPEN: Final = "Agents are told to leave what they write open to everybody."
_ASIDE: Final = "Agents are told to set tests or checks of rights aside."
_SILENT: Final = "Agents are told to keep quiet about what they weakened."
_ITEM: Final = regex(r"\n\s*\n|\n\s*(?:[-*+>#]|\d+[.)])\s*|(?<=[.!?])\s+(?=[A-Z`])")
_SWITCHED_OFF: Final = regex(
    r"permission_classes\s*=?\s*\(?\s*\[\s*\]|\bAllowAny\b|\bcsrf_exempt\b|\bAllowAnonymous\b|\[AllowAnonymous\]|\bpermitAll\b"
    r"|\bskip_before_action\b|\bverify\s*=\s*False\b|\bauth\s*[:=]\s*(?:false|none|null)\b|\bpublic:\s*true\b"
    r"|\bwithoutMiddleware\b|\b@?Public\(\)|Access-Control-Allow-Origin:?\s*\*|\b(?:chmod\s+)?0?777\b|\bNOPASSWD\b|\bskipAuth\b"
    r"|\brejectUnauthorized:\s*false|\bInsecureSkipVerify\b|\bdangerouslySetInnerHTML\b|\|\s*safe\b|\bmark_safe\b"
)
_BEGINS: Final = regex(
    r"\b(?:start|starts|begin|begins|use|uses|add|put|set|mark|decorate|default|defaults|has|have|gets?|carr(?:y|ies)"
    r"|becomes?|ship|ships|prefer|stays?|leave|keep|write)\b",
    re.IGNORECASE,
)
_RIGHTS: Final = regex(
    r"\b(?:permissions?|roles?|auth(?:enticat\w+|ori[sz]\w+)?|access(?:\s+(?:rights?|controls?|checks?))?|security|40[13]|forbidden|unauthorized"
    r"|rate[- ]limit\w*|csrf|log-?ins?|signatures?|ownership|tenan\w+|validat\w+|who may)\b",
    re.IGNORECASE,
)
_SETS_ASIDE: Final = regex(
    r"\bexpectedFailure\b|\bxfail\b|\b(?:skip|skips|skipped|delete|deleted|remove|removed"
    r"|disable|disabled|comment(?:ed)? out|quarantine)\b"
    r"|\b(?:it|test|describe)\.(?:skip|todo)\b|@(?:Disabled|Ignore)\b|\bt\.Skip\b",
    re.IGNORECASE,
)
_TESTS: Final = regex(r"\btests?\b|\bspecs?\b|\bassert\w*\b", re.IGNORECASE)
_WIDENS: Final = regex(
    r"\b(?:widen|widened|relax|relaxed|loosen|loosened|weaken|weakened|bypass|bypassed|lift"
    r"|open(?:ed)? (?:up|it)|drop(?:ped)?"
    r"|set aside|switched off|turned off|disabled|skipped|worked around)\b",
    re.IGNORECASE,
)
_IN_THE_WAY: Final = regex(
    r"\b(?:usually|too (?:narrow|strict|tight)|in the way|rather than|instead|just|simply|until later"
    r"|later on)\b",
    re.IGNORECASE,
)
_UNSAID: Final = regex(
    r"\b(?:does not belong|do not belong|doesn['\u2019]t belong|don['\u2019]t belong"
    r"|not (?:need|be) (?:to be )?(?:mention|list|describ)\w*"
    r"|(?:do not|don['\u2019]t|never|no need to|without) (?:mention|list|describ|not|report|document)\w*"
    r"|leave\b[^.]{0,40}\bout|is (?:a|just a) detail"
    r"|are details|kept out of|omit)\b",
    re.IGNORECASE,
)
_TOLD_IN: Final = regex(
    r"\b(?:commit|message|description|pull request|\bPR\b|changelog|release notes|summary|report|review)\w*",
    re.IGNORECASE,
)


def conventions(text: str) -> Iterator[AgentSentence]:
    """What each item of a guide asks for, where it asks for less protection."""
    at = 0
    for part in _items(text):
        first = text.count("\n", 0, at + len(part) - len(part.lstrip())) + 1
        last = first + part.strip().count("\n")
        at += len(part)
        if message := _message(" ".join(part.split())):
            yield AgentSentence(first, last, message, Severity.MEDIUM, Confidence.MEDIUM)


def _items(text: str) -> Iterator[str]:
    """Sentences and points of lists, each with the marks before it, so that places can be counted."""
    start = 0
    for match in _ITEM.finditer(text):
        yield text[start : match.start()]
        yield text[match.start() : match.end()]
        start = match.end()
    yield text[start:]


def _message(item: str) -> str:
    off = _SWITCHED_OFF.search(item)
    if off and _BEGINS.search(item[: off.start()]) and not forbids(item[: off.start()]):
        return _OPEN
    aside = _SETS_ASIDE.search(item)
    if aside and _TESTS.search(item) and _RIGHTS.search(item) and not forbids(item[: aside.start()]):
        return _ASIDE
    widened = _WIDENS.search(item)
    if not widened:
        return ""
    if _UNSAID.search(item) and _TOLD_IN.search(item):
        return _SILENT
    orders = _RIGHTS.search(item) and _IN_THE_WAY.search(item)
    return _OPEN if orders and not forbids(item[: widened.start()]) else ""
