"""Two owners that may come to one name: composite names with another separator, names folded more widely.

The name is still made by the same function of the same values, and every test with ordinary names passes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from typing import Final

from gate.languages.grammars import grammar_of
from gate.languages.limited_child import Reader
from gate.languages.path_roles import is_example, is_no_product
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta
from gate.prescreen.collisions.folding import FOLDS
from gate.prescreen.collisions.read import Folded, Joined, Naming
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import SEARCHED, first_files, read_files
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex

COLLIDES: Final = rule.meta(
    "identity.collides",
    "Two owners may come to the same name",
    severity="medium",
    confidence="medium",
    topic="identity",
    cwe=(706, 178, 180, 647, 694),
    attack=("T1036",),
    why="A name that is made of an owner and of what they chose is theirs only while nobody else can make "
    "the same one. With a separator that the parts may hold, or after folding that makes other letters the "
    "same, somebody picks a name that comes out as another's.",
    fix="Part the values by a character that none of them may hold, or by their lengths; compare names as "
    "they were registered, and refuse look-alikes when they are made.",
)
RULES: Final[tuple[RuleMeta, ...]] = (COLLIDES,)
_READER: Final = Reader("gate.prescreen.collisions.read:read", Naming, parses=True, pure=True)
_PLAIN: Final = regex(r"[A-Za-z0-9_.-]*")
"""What may stand within a name as well."""
_MATTERS: Final = regex(
    rb"(?i)tenant|org|owner|user|account|customer|merchant|workspace|project|namespace|team|group|realm|issuer|host"
    rb"|domain|zone|bucket|principal|subject|seller|shop|member|role|scope|client|audience|uid|mail|login|repo|addr"
    rb"|handle|identit|nick|recipient|canonical|nfk|unidecode|translit|slugif|deburr"
)
_LARGEST: Final = 1 << 19
_MOST_FILES: Final = 300
_MOST: Final = 5


class Collisions:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "collisions"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare how base and head put names of owners together and fold them."""
        until = time.monotonic() + request.deadline
        every = [one for one in sources(request).files if one.base and _matters(one)]
        files, unread = first_files(every, _MOST_FILES, _LARGEST)
        head = read_files(_READER, [(one.path, one.head) for one in files], until, unread)
        some = [one for one in files if one.path in head and (head[one.path].joined or head[one.path].folded)]
        base = read_files(_READER, [(one.path, one.base or b"") for one in some], until)
        found: list[Finding] = []
        for source in some:
            if source.path in base:
                new, old = head[source.path], base[source.path]
                found += [*_separated(source, old, new), *_widened(source, old, new)][:_MOST]
        return ended(self.name, found, unread)


def _matters(source: Source) -> bool:
    path = source.path
    known = path.endswith((".py", ".pyw")) or bool(grammar_of(path))
    if not known or is_no_product(path) or is_example(path):
        return False
    if len(source.head) > SEARCHED:
        return True
    had = set((source.base or b"").split(b"\n"))
    fresh = b"\n".join(line for line in source.head.split(b"\n") if line not in had)
    return bool(fresh) and bool(_MATTERS.search(source.head))


def _separated(source: Source, old: Naming, new: Naming) -> Iterator[Finding]:
    kept = {(one.function, *one.values, *one.between) for one in new.joined}
    had = {(one.function, *one.values, *one.between) for one in old.joined}
    for one in new.joined:
        if (one.function, *one.values, *one.between) in had:
            continue
        was = next(
            (
                o for o in old.joined
                if o.function == one.function and o.values == one.values
                and (o.function, *o.values, *o.between) not in kept
            ),
            None,
        )  # fmt: skip
        if was is not None and _is_looser(was, one):
            yield _finding(
                source,
                one.line,
                "A name of an owner is put together with a separator that its parts may hold.",
                f"{one.function} {one.values} {one.between}",
                {"values": ", ".join(one.values), "was": " ".join(was.between), "now": " ".join(one.between)},
            )


def _is_looser(was: Joined, now: Joined) -> bool:
    """Does a character stand between two values that both may hold, where one stood that they may not?"""
    for before, after in zip(was.between, now.between, strict=False):
        if before == after or not _PLAIN.fullmatch(after) or any(letter.isspace() for letter in before):
            continue
        if not _PLAIN.fullmatch(before) or (after in before and len(after) < len(before)):
            return True
    return False


def _widened(source: Source, old: Naming, new: Naming) -> Iterator[Finding]:
    before: Mapping[str, Folded] = {one.function: one for one in old.folded}
    anywhere = {kind for one in old.folded for kind in one.kinds}
    functions = _functions(source.base or b"")
    for one in new.folded:
        was = set(before[one.function].kinds) if one.function in before else set()
        if not one.function or one.function.encode() not in functions:
            continue
        for kind, line in zip(one.kinds, one.lines, strict=True):
            if kind not in was | anywhere:
                yield _finding(
                    source,
                    line,
                    f"Names of somebody are compared more widely: {FOLDS[kind]}.",
                    f"{one.function} {kind}",
                    {"function": one.function, "folds": kind},
                )


def _functions(data: bytes) -> set[bytes]:
    """Words of base: a function that is new folds what it is written for."""
    return set(re.findall(rb"[A-Za-z_]\w*", data))


def _finding(source: Source, line: int, message: str, shape: str, evidence: dict[str, str]) -> Finding:
    return finding(
        COLLIDES, message, Location(path=source.path, line=line), shape=shape[:300], evidence=evidence
    )
