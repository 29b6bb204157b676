"""What an existing deletion takes has changed: the loop around it, or the count of what stays.

The deleting line is the one of base, so no rule about deletions says anything; what is handed to it is
computed anew, and one value of it may be everything.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from gate.languages.limited_child import Reader
from gate.languages.path_roles import is_no_product
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta
from gate.prescreen.deletions.read import Deletions
from gate.prescreen.interface import Prescreened, PrescreenRequest
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import first_files, read_files
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule

CHANGED: Final = rule.meta(
    "deletion.takes-more",
    "What an existing deletion takes is chosen in another way",
    severity="medium",
    confidence="medium",
    topic="delete",
    cwe=(682, 459),
    attack=("T1485",),
    languages=("python",),
    why="The deletion itself is old and trusted. Which files it gets, or how many stay, is computed anew: a "
    "count that becomes zero, a pattern that fits everything, and all of them are gone.",
    fix="Test the empty and the extreme values; refuse to delete everything without being asked twice.",
)
RULES: Final[tuple[RuleMeta, ...]] = (CHANGED,)
_READER: Final = Reader("gate.prescreen.deletions.read:read", Deletions, parses=True, pure=True)
_MARKS: Final = (b"unlink", b"rmtree", b"rmdir", b"os.remove", b"removedirs")
_KEPT: Final = (b"keep", b"retain", b"retention", b"backups", b"generations", b"copies")
_LARGEST: Final = 1 << 19
_MOST: Final = 3
_MOST_FILES: Final = 100


class DeletionsTaken:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "deletions"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare the loops that delete, and look for new counts of what stays."""
        until = time.monotonic() + request.deadline
        every = [
            one for one in sources(request).of("python")
            if one.base and not is_no_product(one.path)
            and any(mark in one.head for mark in (*_MARKS, *_KEPT))
        ]  # fmt: skip
        files, unread = first_files(every, len(every), _LARGEST)
        head = read_files(_READER, [(one.path, one.head) for one in files], until, unread)
        base = read_files(_READER, [(one.path, one.base or b"") for one in files], until)
        found = [*_taken(base, head), *_kept(request, base, head, until)]
        return ended(self.name, found[:_MOST], unread)


def _taken(base: dict[str, Deletions], head: dict[str, Deletions]) -> Iterator[Finding]:
    for path, now in head.items():
        old = base[path].taken if path in base else []
        for function in {one.function for one in now.taken} & {one.function for one in old}:
            was = {one.over for one in old if one.function == function}
            fresh = [one for one in now.taken if one.function == function and one.over not in was]
            gone = was - {one.over for one in now.taken if one.function == function}
            if fresh and gone:
                yield _finding(path, fresh[0].line, function, min(gone), fresh[0].over)


def _kept(
    request: PrescreenRequest, base: dict[str, Deletions], head: dict[str, Deletions], until: float
) -> Iterator[Finding]:
    """A count that is computed anew, where some function that deletes asks for it by this name."""
    fresh = []
    for path, now in head.items():
        had = {one.text for one in base[path].kept} if path in base else set()
        fresh += [(path, one) for one in now.kept if one.text not in had]
    if not fresh:
        return
    code = [
        e.path for e in request.head.entries()
        if e.path.endswith(".py") and e.size <= _LARGEST and not is_no_product(e.path)
    ]  # fmt: skip
    texts = [
        (path, data)
        for path, data in request.head.read_many(tuple(code))
        if any(mark in data for mark in _MARKS) and any(word in data for word in _KEPT)
    ]
    asked = {name for one in read_files(_READER, texts[:_MOST_FILES], until).values() for name in one.asks}
    for path, one in fresh:
        if one.name in asked:
            yield _finding(path, one.line, one.name, "", one.text)


def _finding(path: str, line: int, name: str, before: str, after: str) -> Finding:
    return finding(
        CHANGED,
        f"What is deleted, or kept, by {name} is computed in another way.",
        Location(path=path, line=line),
        shape=f"{name} {after}"[:300],
        evidence={"before": before, "after": after},
    )
