"""The same call that main refuses is accepted by the change.

Base and head are called alike. Where base raised an exception that refuses (`PermissionError`, an invalid
signature, HTTP 401 or 403), answered with such a status, or said `False` in a function that checks, and head
answers otherwise, a check is gone or lets more through. High where most is accepted that base refused by an
exception or a status, where a function named for permission or proof now says `True` to everything, or where
one named for proof says `True` to no proof at all (an empty text, `none`); another check that says `True`
more often may simply be better.

Compare both versions of the check. If more is meant to be allowed, say who may and test that others may not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.run import RunRecord
from gate.plan.item_outcomes import items_of, paths_of
from gate.regex import regex
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import HIGH, MEDIUM, rule

_REFUSES: Final = regex(
    r"\b\w*(?:Permission|Denied|Forbidden|Unauthori[sz]|Unauthenticated|NotAuthenticated|AuthenticationFailed"
    r"|AuthError|NotAllowed|InvalidSignature|BadSignature|SignatureExpired|ExpiredSignature|InvalidToken"
    r"|Csrf|CSRF|Suspicious|SecurityError|InvalidTag|LoginRequired)\w*|\bstatus 40[13]\b"
)
_GUARDS: Final = regex(
    r"verif|authenti|authori|permi|allow|password|signature|token|login|admin|owner|access|credential|role",
    re.IGNORECASE,
)
_PROVES: Final = regex(
    r"genuine|authentic|signature|signed|verif(?:y|ied)_?(?!email)|hmac|proof|webhook|(?:check|valid)\w*"
    r"(?:token|password|otp|pin)|(?:token|password)_?(?:ok|valid|match)",
    re.IGNORECASE,
)
"""Names of functions that are given a proof."""
_SEVERAL: Final = 3
"""Different values that base refuses and head accepts, before `False` counts as a refusal."""
_WORD: Final = regex(r"(?:true|value|none|ran|status 2\d\d)")
_REQUEST_REFUSED: Final = regex(r"status 40[13]")
"""What a client was answered; a function that is called by itself raises."""
_MOST: Final = 5

_Said = dict[str, str]
"""Answers by what was asked (gate/inside/driver/answers.py)."""
_Answers = dict[tuple[str, str, str], _Said]
"""By probe, function and signature."""


@rule(
    "refused-then-accepted",
    "What base refuses is accepted",
    severity="high",
    confidence="medium",
    topic="auth",
    cwe=(863, 862, 347),
    attack=("T1556",),
    why="A check that lets through what it refused yesterday is how a door is opened in plain sight.",
    fix="Compare both versions of the check, and test that those who may not still cannot.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each function, at most a few."""
    base = [_answers(run) for run in context.runs if run.side == "base" and run.probe.phase == "call"]
    told = 0
    for run in context.runs:
        if run.side != "head" or run.probe.phase != "call" or run.probe.condition or run.repeat:
            continue
        for key, head in _answers(run).items():
            before = [answers[key] for answers in base if key in answers]
            level = _opened(key[1], before, head)
            if level is None or told == _MOST:
                continue
            told += 1
            yield Finding.of(
                check.meta,
                "Accepts in the same call what base refuses.",
                Location(path=_path(run, key[1]) or (run.probe.path or ".")),
                shape=f"{key[1]} {key[2]}",
                severity=HIGH if level else MEDIUM,
                evidence={
                    "function": key[1] + key[2],
                    "base": "; ".join(before[0].values())[:200],
                    "head": "; ".join(head.values())[:200],
                    "probe": run.probe.target,
                },
            )


def _opened(name: str, base: list[_Said], head: _Said) -> bool | None:
    """None: nothing was opened. True: what base refused in so many words, head nearly always accepts, and no
    request that goes through the application is still refused: there the check may stand before the function.
    """
    if not base or any(said != base[0] for said in base):
        return None
    pairs = [(word, head[asked]) for asked, word in base[0].items() if _same(asked, base[0], head)]
    opened = sum(1 for b, h in pairs if _REFUSES.search(b) and _WORD.fullmatch(h))
    if opened:
        still = any(b == h and _REQUEST_REFUSED.fullmatch(b) for b, h in pairs)
        return not still and opened > sum(1 for _, h in pairs if _REFUSES.search(h))
    said_no = [h for b, h in pairs if b == "false"]
    if _PROVES.search(name) and any(
        asked.endswith("-") and word == "false" and head.get(asked) == "true"
        for asked, word in base[0].items()
    ):
        return True
    every = len(said_no) >= _SEVERAL and all(h == "true" for h in said_no) and "false" not in head.values()
    return True if every and _GUARDS.search(name) else None


def _same(asked: str, base: _Said, head: _Said) -> bool:
    """The same question: by its values, or by its number where both were asked as many."""
    return asked in head and (asked.startswith("v") or len(base) == len(head))


def _answers(run: RunRecord) -> _Answers:
    """What the driver says that each function answered; a hint that the code can forge."""
    found: _Answers = {}
    for _, item in items_of(run):
        table = item.get("answers") if item else None
        for name, said in table.items() if isinstance(table, Mapping) else ():
            if isinstance(said, list) and len(said) == 2 and isinstance(said[1], list):
                pairs = [pair for pair in said[1] if isinstance(pair, list) and len(pair) == 2]
                found[run.probe.id, str(name), str(said[0] or "")] = {str(a): str(w) for a, w in pairs}
    return found


def _path(run: RunRecord, name: str) -> str:
    for item, answer in items_of(run):
        table = answer.get("answers") if answer else None
        if isinstance(table, Mapping) and name in table:
            return next(iter(paths_of(item)), "")
    return ""
