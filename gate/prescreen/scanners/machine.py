"""Random values that can be guessed since, and decisions that a fact of the machine or of the run makes.

Where the change is tried, the machine is another one: the tests draw from the system as before.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.languages.grammars import grammar_of
from gate.languages.limited_child import Reader
from gate.languages.path_roles import is_example, is_test_code
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.machine.read import Facts
from gate.prescreen.machine.vocabulary import FACTS, RUN, SECURE
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import SEARCHED, first_files, read_files
from gate.prescreen.scanners.protections import REMOVED
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex

DECIDES: Final = rule.meta(
    "machine.decides",
    "A fact of the machine or of the test run decides about a check, a secret value or an act",
    severity="medium",
    confidence="medium",
    topic="guard",
    cwe=(511, 807),
    attack=("T1480", "T1497.001"),
    why="On one machine the check is made and the value is drawn, on another it is not: what tests, "
    "reviewers and sandboxes see is not what happens where it matters.",
    fix="Make it a setting with a name, and let the safe way be the same on every machine.",
)
RULES: Final[tuple[RuleMeta, ...]] = (DECIDES,)
_READER: Final = Reader("gate.prescreen.machine.read:read", Facts, parses=True, pure=True)
_BUILDS: Final = r"|#\[cfg|Conditional\(|debug_assert|Debug\.Assert|go:build|\+build"
_ANY: Final = regex(
    ("|".join(one.pattern for one in (SECURE, RUN, *FACTS.values())) + _BUILDS).encode(), re.IGNORECASE
)
_LARGEST: Final = 1 << 19
_MOST_FILES: Final = 300
_MOST: Final = 3


class Machine:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "machine"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare the random values and the decisions of changed programs."""
        until = time.monotonic() + request.deadline
        every = [one for one in sources(request).files if _matters(one)]
        files, unread = first_files(every, _MOST_FILES, _LARGEST)
        head = read_files(_READER, [(one.path, one.head) for one in files], until, unread)
        base = read_files(_READER, [(one.path, one.base) for one in files if one.base], until)
        found: list[Finding] = []
        for source in files:
            if source.path in head:
                old, new = base.get(source.path, Facts([], [])), head[source.path]
                weaker = [*_weaker(source, old, new)]
                found += [*weaker, *(() if weaker else _decided(source, old, new))][:_MOST]
        return ended(self.name, found, unread)


def _matters(source: Source) -> bool:
    path = source.path
    known = path.endswith((".py", ".pyw")) or bool(grammar_of(path))
    hook = PurePosixPath(path).name == "conftest.py"
    if not known or ((is_test_code(path) or is_example(path)) and not hook):
        return False
    if len(source.head) > SEARCHED:
        return True
    return any(side is not None and _ANY.search(side) for side in (source.base, source.head))


def _weaker(source: Source, old: Facts, new: Facts) -> Iterator[Finding]:
    before = {one.function: one for one in old.chances}
    words = set(re.findall(r"[A-Za-z_]\w*", source.head.decode("utf-8", "replace")))
    now = {one.function: one for one in new.chances}
    for name, was in before.items():
        one = now.get(name)
        if not was.always or one is None or one.always or (name and name not in words):
            continue
        fresh = [weak for weak in one.weak if weak not in was.weak]
        if fresh:
            yield finding(
                REMOVED,
                "Values that were drawn from the system's source of chance can be made of what others know.",
                Location(path=source.path, line=one.line),
                shape=f"chance {name} {' '.join(fresh)}"[:300],
                evidence={"function": name or "the module", "made of": ", ".join(fresh)[:160]},
            )


def _decided(source: Source, old: Facts, new: Facts) -> Iterator[Finding]:
    had = {(one.function, one.fact) for one in old.decided} | {("", one.fact) for one in old.decided}
    told: set[tuple[str, str]] = set()
    for one in new.decided:
        key = (one.function, one.fact)
        if key in had or ("", one.fact) in had or key in told:
            continue
        told.add(key)
        yield finding(
            DECIDES,
            f"Whether {one.what} is called depends on {one.fact}.",
            Location(path=source.path, line=one.line),
            shape=f"{one.function} {one.fact} {one.what}"[:300],
            evidence={"function": one.function or "the module", "decides": one.fact, "about": one.what},
        )
