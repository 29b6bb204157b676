"""Sums that leave out some states: what counts towards a limit. Pure.

``state != "rejected"`` counts whatever may still come; ``state == "settled"`` counts only what came. Where a
limit is asked of the sum, what is on its way is spent twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.protections.facts import Strength
from gate.protections.overall.said import Compared, Script
from gate.protections.strengths import kept
from gate.regex import regex

STATES: Final = "states that a sum counts towards a limit"
_STATE: Final = regex(r"(?:^|[._])(?:state|status)(?:_id)?(?:__in)?$|(?:^|[._])is_\w+$|[.]is[A-Z]\w+$")
_LIMIT: Final = regex(
    r"remaining|available|left|limit|exceed|too_?m(?:uch|any)|over_?d|insufficient|quota|max_|refundable|balance"
)
_QUANTITY: Final = regex(
    r"cents|amount|total|balance|paid|refund|price|credit|quota|used|spent|hours|quantity|qty|points"
)


def sum_facts(script: Script) -> Iterator[Strength]:
    """Sums of quantities over things that have a state, in a file that speaks of limits."""
    names = [*script.words, *(one.name for one in script.functions)]
    if not any(_LIMIT.search(word.lower()) for word in names if len(word) < 40):
        return
    for one in script.functions:
        for call in one.calls:
            amounts = {_amount(compared) for compared in call.within} - {0}
            if amounts and _QUANTITY.search(f"{call.text} {one.name}".lower()):
                yield kept(STATES, min(amounts) == 2, call.text, call.line)


def _amount(compared: Compared) -> int:
    """2 where all states but some count, 1 where only some do, 0 where no state is asked for."""
    if not _STATE.search(compared.left):
        return 0
    return 2 if compared.operator in ("!=", "not in", "is not") else 1
