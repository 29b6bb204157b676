"""New conditions on a sum, a counter or a remainder that decide about access, money or a deletion."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from gate.languages.grammars import is_read
from gate.languages.limited_child import Reader
from gate.languages.path_roles import is_example, is_no_product
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta
from gate.prescreen.computed.read import Unlocking
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import first_files, read_files, says_newly
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex

DECIDES: Final = rule.meta(
    "computed.decides",
    "A computed number decides about access, money or a deletion",
    severity="medium",
    confidence="medium",
    topic="guard",
    cwe=(511, 693, 841),
    attack=("T1480",),
    why="Whoever knows the number lets the sum or the counter come to it: a row of small amounts, the 77th "
    "request, a rhythm of wrong passwords. No test meets it by chance, and until then nothing happens.",
    fix="Ask who somebody is and what they may; let a limit refuse more, never less.",
)
RULES: Final[tuple[RuleMeta, ...]] = (DECIDES,)
_READER: Final = Reader("gate.prescreen.computed.read:read", list[Unlocking], parses=True, pure=True)
_MATTERS: Final = regex(
    rb"[%<>]|\b(?:rem|mod|fmod|modulo|floorMod)\b|==|!=|~=|&|>>|\b(?:has|in|includes?|[cC]ontains)\b|\^"
)
_LARGEST: Final = 1 << 19
_MOST_FILES: Final = 300
_MOST: Final = 3


class ComputedNumbers:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "computed"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare the conditions of all changed programs."""
        until = time.monotonic() + request.deadline
        every = [one for one in sources(request).files if _matters(one)]
        files, unread = first_files(every, _MOST_FILES, _LARGEST)
        head = read_files(_READER, [(one.path, one.head) for one in files], until, unread)
        some = [one for one in files if head.get(one.path)]
        base = read_files(_READER, [(one.path, one.base) for one in some if one.base], until)
        found: list[Finding] = []
        for source in some:
            found += [*_fresh(source, base.get(source.path, []), head[source.path])][:_MOST]
        return ended(self.name, found, unread)


def _matters(source: Source) -> bool:
    path = source.path
    if not is_read(path) or is_no_product(path) or is_example(path):
        return False
    return says_newly(source, _MATTERS)


def _fresh(source: Source, old: list[Unlocking], new: list[Unlocking]) -> Iterator[Finding]:
    """Of a refusal only one that base made without the number: there, the number lets somebody through."""
    had = {one.atom for one in old}
    text = " ".join((source.base or b"").decode("utf-8", "replace").split())
    told: set[tuple[str, str]] = set()
    for one in new:
        key = (one.function, one.atom)
        narrowed = not one.refuses or any(other in text for other in one.others)
        if one.atom in had or one.atom in text or key in told or not narrowed:
            continue
        told.add(key)
        yield finding(
            DECIDES,
            f"Whether {one.what} happens depends on a computed number.",
            Location(path=source.path, line=one.line),
            shape=f"{one.function} {one.atom} {one.what}"[:300],
            evidence={"function": one.function or "the module", "decides": one.atom, "about": one.what},
        )
