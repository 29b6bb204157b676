"""Lines that stay as they are and mean something else: a pattern with a memory, a key that comes again, a
name that the module takes for itself.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from gate.languages.limited_child import Reader
from gate.languages.path_roles import is_example, is_no_product, is_test_code
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.meanings.around import Call, calls_of, fresh, patterns_asked, stands_before
from gate.prescreen.meanings.facts import Meaning
from gate.prescreen.meanings.others import better_import
from gate.prescreen.meanings.read import is_read
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import Unread, first_files, read_files, says_newly
from gate.prescreen.scanners.lowered_levels import LEVEL, level_findings
from gate.prescreen.scanners.unbound_rows import FITS, UNBOUND, unbound_findings
from gate.prescreen.scanners.unheeded_checks import UNHEEDED, unheeded_findings
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex

PATTERN: Final = rule.meta(
    "meaning.pattern-keeps-place",
    "A condition asks a pattern that remembers where it stopped",
    severity="medium",
    confidence="high",
    topic="weak-check",
    cwe=(185, 697),
    why="A pattern of JavaScript with the flag `g` or `y` begins where its last match ended. Kept outside "
    "of the function, it answers *no* at every second call for the same text: a check lets every second "
    "one in.",
    fix="Take the flag away from the pattern that is asked, make it inside of the function, or set "
    "`lastIndex` to 0 before it is asked.",
)
IDENTITY: Final = rule.meta(
    "meaning.identity-reused",
    "Something is kept under an object's address, which the next object gets",
    severity="medium",
    confidence="medium",
    topic="identity",
    cwe=(488, 694),
    why="`id(x)` is unique only as long as `x` lives. What is kept under it longer is handed to whichever "
    "object comes to lie there: another request, another user.",
    fix="Keep the value on the object itself, in a `WeakKeyDictionary`, or keep the object beside the value.",
)
KEPT: Final = rule.meta(
    "meaning.answer-kept",
    "An answer that depends on who asks is kept for everybody",
    severity="medium",
    confidence="high",
    topic="identity",
    cwe=(488, 524),
    why="The function reads the request or its user outside of its arguments, and its answers are kept by "
    "its arguments alone: whoever asks next gets what the first one was told.",
    fix="Give the function what it depends on as arguments, or keep the answer on the request.",
)
NAME: Final = rule.meta(
    "meaning.name-taken",
    "A name of the language stands for something else in lines that did not change",
    severity="medium",
    confidence="medium",
    topic="weak-check",
    cwe=(684, 427),
    attack=("T1574",),
    why="A function, a constant or an import takes a name that the language or its library gives: `time` "
    "of a name space, `Math` of a module, `len` of a package, `==` of every text. Checks that use the name "
    "read as before, and ask somebody else.",
    fix="Give it a name of its own, and change the lines that are to use it.",
)
PROMISE: Final = rule.meta(
    "meaning.promise-asked",
    "A condition asks a promise, which is always true",
    severity="medium",
    confidence="high",
    topic="weak-check",
    cwe=(571, 253),
    why="A function that becomes `async` answers with a promise (in Python with a coroutine). Asked without "
    "`await`, or given to `filter`, `some`, `every` or `find`, that is always true: a check lets everybody "
    "in.",
    fix="Await the answer before the condition; ask all with `Promise.all` first, and filter by the answers.",
)
RULES: Final[tuple[RuleMeta, ...]] = (
    PATTERN, IDENTITY, KEPT, NAME, PROMISE, LEVEL, UNHEEDED, UNBOUND, FITS,
)  # fmt: skip
_RULE_OF: Final = {"pattern": PATTERN, "identity": IDENTITY, "kept": KEPT, "name": NAME, "promise": PROMISE}
_SAID: Final = {
    "pattern": "A pattern remembers where it stopped, and a condition asks it at the next call.",
    "identity": "What is kept under an object's address is handed to the next object that lies there.",
    "kept": "Whoever asks next gets the answer that was meant for the first one.",
    "promise": "A condition asks a promise, which is always true.",
}
_READER: Final = Reader("gate.prescreen.meanings.read:read", list[Meaning], parses=True, pure=True)
_MATTERS: Final = regex(
    rb"/[a-z]*[gy][a-z]*\b|RegExp\(|\.test\(|\bid\(|cache|memo|\bfunction\s+\w+\s*\(|\bdef\s|\bfunc?\s+\w|use\s+function|\bimport\b"
    rb"|^\s*\(?[\w.]*\s*\"|\bvar\b|\bconst\b|\blet\b|\bclass\b|\bmodule\b|\brefine\b|\w\.\w+\s*=[^=]|prototype|^\s*\w+\s*=|\btype\b|\basync\b"
)
_UNREAD: Final = regex(
    r"(?:^|/)(?:vendor|node_modules|dist|generated|third_party)/|\.min\.js$|\.d\.ts$|_pb2?\."
)
_LARGEST: Final = 1 << 19
_MOST_FILES: Final = 300
_MOST: Final = 4


class Meanings:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "meanings"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare what both sides of the changed programs take, keep and ask."""
        until = time.monotonic() + request.deadline
        every = [one for one in sources(request).files if _is_looked_at(one.path)]
        files, left = first_files([one for one in every if says_newly(one, _MATTERS)], _MOST_FILES, _LARGEST)
        unread = [*left]
        found = [*_meanings(request, files, until, unread), *_modules(request)]
        found += [*level_findings(request, unread), *unheeded_findings(request, unread)]
        found += unbound_findings(request, unread)
        return ended(self.name, found, unread)


def _is_looked_at(path: str) -> bool:
    return is_read(path) and not _UNREAD.search(path) and not is_example(path) and not is_test_code(path)


def _meanings(
    request: PrescreenRequest, files: Sequence[Source], until: float, unread: Unread
) -> Iterator[Finding]:
    head = read_files(_READER, [(one.path, one.head) for one in files], until, unread)
    some = [one for one in files if head.get(one.path)]
    base = read_files(_READER, [(one.path, one.base) for one in some if one.base], until)
    moved = [one for many in base.values() for one in many]
    new = [(source, [*fresh(head[source.path], moved)]) for source in some]
    exported = {one.name for _, many in new for one in many if one.asks == "export"}
    asked = patterns_asked(exported, request.head)
    for source, many in new:
        judged = (_judged(one, source, request, asked) for one in many)
        yield from islice((found for found in judged if found is not None), _MOST)


def _judged(
    one: Meaning, source: Source, request: PrescreenRequest, asked: Mapping[str, Call]
) -> Finding | None:
    if one.asks == "export":
        at = asked.get(one.name)
        where = {"text": one.text, "asked at": f"{at.path}:{at.line} {at.text}"} if at else {}
        return _finding(_SAID["pattern"], source.path, one, where) if at else None
    if one.kind != "name":
        return _finding(_SAID[one.kind], source.path, one, {"text": one.text})
    message = "Lines that did not change ask something else by this name."
    before = (source.base or b"").decode("utf-8", "replace")
    if one.asks == "import":
        better = f'"{better_import(one.name)}"'
        if better not in before or better in source.head.decode("utf-8", "replace"):
            return None
        return _finding(message, source.path, one, {"name": one.text, "was": better.strip('"')})
    if one.asks:
        calls = calls_of(one, source.path, request.base)
        return _finding(message, source.path, one, _called(one, calls)) if calls else None
    if source.path.endswith(".rb") or "." in one.name:
        return _finding(message, source.path, one, {"name": one.text})
    used = re.search(rf"(?<![\w.$>:\\]){re.escape(one.name)}[.(]", before)
    if not one.uses or used is None:
        return None
    return _finding(message, source.path, one, {"name": one.name, "is": one.text})


def _called(one: Meaning, calls: list[Call]) -> dict[str, str]:
    first = calls[0]
    return {
        "name": one.text,
        "calls": str(len(calls)),
        "for example": f"{first.path}:{first.line} {first.text}",
    }


def _modules(request: PrescreenRequest) -> Iterator[Finding]:
    """New modules under a name of the standard library, beside scripts that import it."""
    for file in request.change.files:
        if file.status != "added" or not file.path.endswith(".py") or is_test_code(file.path):
            continue
        if found := stands_before(file.path, request.head, request.base):
            name, call = found
            yield finding(
                NAME,
                "A module of the tree is found before the standard library's that a script imports.",
                Location(path=file.path, line=1),
                shape=f"module {name}",
                evidence={"name": name, "for example": f"{call.path}:{call.line} {call.text}"},
            )


def _finding(message: str, path: str, one: Meaning, evidence: dict[str, str]) -> Finding:
    return finding(
        _RULE_OF[one.kind],
        message,
        Location(path=path, line=one.line),
        shape=f"{one.kind} {one.asks} {one.name}",
        evidence=evidence,
        severity=Severity.LOW if is_no_product(path) else None,
    )
