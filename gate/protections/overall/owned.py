"""Things that are looked for among those of somebody, and then among all. Pure.

``current_user.documents.find(id)`` finds what is one's own; ``Document.find(id)`` whatever has the number
(CWE-639). Told by what is looked for, so that another query of the same function tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.languages.naming import snake
from gate.protections.facts import Strength
from gate.protections.overall.said import Said, Script
from gate.protections.strengths import kept
from gate.protections.vocabulary import is_owner
from gate.regex import regex

OWN: Final = "things that are looked for among somebody's own"
LOOKING: Final = frozenset({
    "find", "find_by", "find_or_fail", "first_or_fail", "find_by_id", "first_or_default",
    "single_or_default", "first_or_default_async", "single_or_default_async", "find_async",
    "single_async", "first_async", "find_one", "find_one_by", "find_one_or_fail", "find_unique",
    "find_first", "get_reference_by_id",
})  # fmt: skip
_WHO: Final = regex(
    r"(?:^|[^a-z_])(?:@?current_?(?:user|account|tenant|organi[sz]ation|team|customer|member)|user\(\)|auth\(\)"
    r"|Auth::user|[Rr]equest(?:->|\.)user|@(?:user|account|tenant|organi[sz]ation|team|project|company|workspace|customer))"
    r"(?:\(\))?(?:->|\.|&\.)(\w+)",
    re.IGNORECASE,
)
_BY_NAME: Final = regex(r"^(?:find|get|read|exists)\w*_by_(?:id|uuid|slug)(?:_and_(\w+))?$")
_PLAIN: Final = frozenset({"find", "find_or_fail", "first_or_fail", "find_async", "get_reference_by_id"})
_STORE: Final = regex(r"db|context|repo|Set<|prisma|manager", re.IGNORECASE)
_BY_NUMBER: Final = regex(r"(?:^|[^a-z])(?:id|uuid|slug|params|number|pk)", re.IGNORECASE)


def owned_facts(script: Script) -> Iterator[Strength]:
    """Each look-up by a number, with what is looked for."""
    for one in script.functions:
        for call in one.calls:
            yield from _of_call(call)


def is_looking(name: str) -> bool:
    """Does a call of this name look for one thing?"""
    return name in LOOKING or _BY_NAME.match(name) is not None


def _of_call(call: Said) -> Iterator[Strength]:
    if not is_looking(call.name) or not call.owner:
        return
    among = _WHO.search(call.owner)
    named = _BY_NAME.match(call.name)
    if among is not None:
        yield kept(f"{OWN}: {_thing(among[1])}", True, call.text, call.line)
    elif named is not None:
        holds = named[1] is not None and is_owner(named[1].partition("_and_")[0])
        yield kept(f"{OWN}: {_thing(call.owner)}", holds, call.text, call.line)
    elif call.name in _PLAIN:
        last = re.split(r"[.\\]|::|->", call.owner)[-1]
        if last[:1].isupper() and "=>" not in " ".join(call.given):  # a model, no list
            yield kept(f"{OWN}: {_thing(call.owner)}", False, call.text, call.line)
    else:
        asked = " ".join((*call.given, *call.keywords))
        stored = "=>" not in asked or _STORE.search(call.owner) is not None
        if stored and _BY_NUMBER.search(asked):
            holds = any(map(is_owner, re.findall(r"\w+", asked)))
            yield kept(f"{OWN}: {_thing(call.owner)}", holds, call.text, call.line)


def _thing(text: str) -> str:
    """``document`` of ``Document``, ``db.Documents`` and ``documents()``."""
    for mark in ("::", "->", "&.", "?."):
        text = text.replace(mark, ".")
    last = snake(text.rstrip("()").rpartition(".")[2]).strip("_@$")
    last = last.removesuffix("_repository").removesuffix("_repo").removesuffix("_set")
    return last.removesuffix("es") if last.endswith(("sses", "xes")) else last.removesuffix("s")
