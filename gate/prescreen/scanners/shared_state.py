"""What one caller has and the next one gets: pooled values, threads that are used again, cached answers."""

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
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import SEARCHED, first_files, read_files
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.protections.shared.facts import Shared
from gate.regex import regex

POOLED: Final = rule.meta(
    "shared.pooled-value",
    "A value is handed out that belongs to a pool again",
    severity="medium",
    confidence="high",
    topic="race",
    cwe=(416, 488, 362),
    why="Whoever takes the buffer next writes into what this caller still holds: under load, one customer's "
    "answer has another one's content. Tests with one request at a time pass.",
    fix="Copy what is handed out (`bytes.Clone`, `ToArray`), or let the caller give it back.",
)
CONTEXT: Final = rule.meta(
    "shared.kept-context",
    "A thread may keep for whom it worked before",
    severity="medium",
    confidence="medium",
    topic="race",
    cwe=(488, 501, 362),
    why="Threads of a pool are used again. A tenant, a user or a session that a thread inherits, that is no "
    "longer taken away after the work, or that the work no longer gets, is that of another request.",
    fix="Set the value within the work and take it away in `finally`; run the work in a scope that ends.",
)
CACHED: Final = rule.meta(
    "shared.cache-key",
    "A cache's key lacks whose the answer is",
    severity="medium",
    confidence="medium",
    topic="race",
    cwe=(488, 524, 639),
    why="What decides an answer and is no part of its key is that of whoever asked first: everybody after "
    "gets their answer, until it expires. A tag that only clears an entry, a parameter that the key "
    "leaves out and a user who is read from the request are no part of the key.",
    fix="Put the id of whose the answer is into the key, or hand it to the cached function as an argument.",
)
RULES: Final[tuple[RuleMeta, ...]] = (POOLED, CONTEXT, CACHED)
_READER: Final = Reader("gate.protections.shared.read:read", list[Shared], parses=True, pure=True)
_MATTERS: Final = regex(
    rb"(?i)pool|\bput\w*buf|release\w*buf|free\w*buf|return\w*buf|InheritableThreadLocal|ThreadContextInheritable"
    rb"|setRequestAttributes|context|holder|tenant|cache|memo|remember|singleflight|storage|\bcurrent\b"
)
_LARGEST: Final = 1 << 19
_MOST_FILES: Final = 300
_MOST: Final = 3
_SAID: Final = {
    "left": "What says for whom a thread works is set and no longer taken away when the work ends.",
    "handed": "Work of another thread no longer gets for whom it is done: it takes what the thread has.",
    "standing": "What says for whom the work is done ended with the work; now it stays with the thread.",
}


class SharedState:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "shared-state"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare the places of all changed programs, function by function."""
        until = time.monotonic() + request.deadline
        every = [one for one in sources(request).files if _matters(one)]
        files, unread = first_files(every, _MOST_FILES, _LARGEST)
        head = read_files(_READER, [(one.path, one.head) for one in files], until, unread)
        some = [one for one in files if head.get(one.path)]
        base = read_files(_READER, [(one.path, one.base or b"") for one in some], until, unread)
        found: list[Finding] = []
        for source in some:
            if source.path in base:
                found += [*_told(source, base[source.path], head[source.path])][:_MOST]
        return ended(self.name, found, unread)


def _matters(source: Source) -> bool:
    path = source.path
    if not is_read(path) or is_no_product(path) or is_example(path) or source.base == source.head:
        return False
    return len(source.head) > SEARCHED or _MATTERS.search(source.head) is not None


def _told(source: Source, old: list[Shared], new: list[Shared]) -> Iterator[Finding]:
    for one in new:
        same = [was for was in old if was.what == one.what and was.function == one.function]
        if one.what == "pooled" and not same:
            message = f"`{one.word}` is the pool's again when its content is handed out."
            yield _finding(POOLED, source, one, message)
        elif one.what == "cached" and not any(was.name == one.name for was in same):
            message = f"The key of the cache has nothing of `{one.word}`, which decides the answer."
            yield _finding(CACHED, source, one, message)
        elif one.what == "inherits" and not any(was.what == "inherits" for was in old):
            yield _finding(CONTEXT, source, one, "Threads of a pool inherit for whom they work, and keep it.")
        elif one.what in _SAID and not one.holds:
            was = _held(one, same, new)
            if was is not None:
                yield _finding(CONTEXT, source, one, _SAID[one.what], was.text)


def _held(one: Shared, same: list[Shared], new: list[Shared]) -> Shared | None:
    """The place of base that ended with the work, where head's function has none."""
    if any(now.what == one.what and now.function == one.function and now.holds for now in new):
        return None
    if any(not was.holds and (one.what == "standing" or was.name == one.name) for was in same):
        return None
    return next((was for was in same if was.holds and (one.what == "standing" or was.name == one.name)), None)


def _finding(meta: RuleMeta, source: Source, one: Shared, message: str, before: str = "") -> Finding:
    evidence = {"function": one.function or "the module", "now": one.text}
    if meta is CACHED:
        evidence = {"function": one.function or "the module", "key": one.text, "not in it": one.word}
    return finding(
        meta,
        message,
        Location(path=source.path, line=one.line),
        shape=f"{one.what} {one.function} {one.name} {one.word}"[:300],
        evidence={**evidence, **({"before": before} if before else {})},
    )
