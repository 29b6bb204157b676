"""Guards that stand as they were while what they read became another thing: types, clocks, equality, answers.

The condition, its file and its constants do not change. A field gets narrower, a helper gives what no
comparison refuses, two values are newly equal, or a method stands before the one that was asked.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from gate.languages.grammars import grammar_of
from gate.languages.limited_child import Reader
from gate.languages.naming import snake
from gate.languages.path_roles import is_example, is_no_product
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta, Severity
from gate.prescreen.guard_inputs.facts import Facts
from gate.prescreen.guard_inputs.reach import Reached, first_names, reached
from gate.prescreen.guard_inputs.vocabulary import IDENTITY
from gate.prescreen.guard_inputs.weaker import Weaker, elsewhere, shadows, weaker
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import first_files, read_files
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule

CHANGED: Final = rule.meta(
    "guard.input-changed",
    "An unchanged guard reads something else than before",
    severity="medium",
    confidence="medium",
    topic="guard",
    cwe=(693, 697, 190, 1025),
    attack=("T1556",),
    why="The condition that refuses is as it was, but what it compares is not: a counter that begins again, "
    "a number that is neither less nor more than any other, values that are newly equal, a clock in another "
    "unit, an answer that is kept. Whoever reads the guard sees nothing of it.",
    fix="Keep the type, the unit and the comparison that the guard was written for, or change the guard with "
    "them and test it with the edge of what the new type holds.",
)
RULES: Final[tuple[RuleMeta, ...]] = (CHANGED,)
_READER: Final = Reader("gate.prescreen.guard_inputs.read:read", Facts, parses=True, pure=True)
_LARGEST: Final = 1 << 19
_MOST_FILES: Final = 300
_MOST_TREE: Final = 60
_MOST_BYTES: Final = 24 << 20
_MOST: Final = 4
_HIGH: Final = frozenset({"equality", "shadows"})


class GuardInputs:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "guard-inputs"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare what changed files declare and answer, then look for the guards that read it."""
        until = time.monotonic() + request.deadline / 2
        every = [one for one in sources(request).files if _is_product(one.path)]
        files, unread = first_files(every, _MOST_FILES, _LARGEST)
        head = read_files(_READER, [(one.path, one.head) for one in files], until, unread)
        old = [(one.path, one.base) for one in files if one.base]
        base: dict[str, Facts] = read_files(_READER, old, until)
        both = [one for one in files if one.path in head]
        changes = {one.path: [*weaker(base.get(one.path), head[one.path])] for one in both}
        tree = _Tree(request, until)
        for one in both:
            changes[one.path] += _shadowing(base.get(one.path), head[one.path], head, tree)
            for change, was in elsewhere(base.get(one.path), head[one.path]):
                changes[one.path] += [change] if _is_there(request, was, change.name, tree) else []
        found = [f for one in both for f in _told(one, changes[one.path], head, tree)]
        return ended(self.name, found, unread)


def _is_product(path: str) -> bool:
    known = path.endswith((".py", ".pyw")) or bool(grammar_of(path))
    return known and not path.endswith(".sh") and not (is_no_product(path) or is_example(path))


def _is_there(request: PrescreenRequest, module: str, name: str, tree: _Tree) -> bool:
    """Does head still have the module of the tree that a name came from, with that name, as base had it?"""
    stem = module.replace(".", "/").strip("/").rpartition("/")[2] if "/" not in module else ""
    stem = stem or module.rpartition("/")[2].partition(".")[0]
    changed = {one.path for one in request.change.files}
    word = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
    files = (path for path in tree.texts() if path not in changed)
    same = (path for path in files if path.rpartition("/")[2].partition(".")[0] == stem)
    return any(word.search(tree.texts()[path]) for path in same)


class _Tree:
    """Files of head that hold a name, read once each."""

    def __init__(self, request: PrescreenRequest, until: float) -> None:
        self._request, self._until = request, until
        self._texts: dict[str, bytes] | None = None
        self._read: dict[str, Facts] = {}

    def texts(self) -> Mapping[str, bytes]:
        """All programs of head that are small enough."""
        if self._texts is None:
            entries = [e for e in self._request.head.entries() if _is_product(e.path) and e.size <= _LARGEST]
            paths, total = [], 0
            for entry in entries:
                total += entry.size
                if total > _MOST_BYTES:
                    break
                paths.append(entry.path)
            self._texts = dict(self._request.head.read_many(tuple(paths)))
        return self._texts

    def holding(self, names: set[str], suffix: str) -> dict[str, Facts]:
        """What the files say that hold one of the names, in the languages of a suffix."""
        if not names:
            return {}
        words = re.compile(b"|".join(rb"\b" + re.escape(name.encode()) + rb"\b" for name in sorted(names)))
        kin = _kin(suffix)
        fit = [path for path, data in self.texts().items() if _kin(path) == kin and words.search(data)]
        fresh = [(path, self.texts()[path]) for path in fit[:_MOST_TREE] if path not in self._read]
        self._read |= read_files(_READER, fresh, self._until)
        return {path: self._read[path] for path in fit if path in self._read}


def _kin(path: str) -> str:
    suffix = path.rpartition(".")[2].lower()
    if suffix in ("js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"):
        return "script"
    return {"kt": "jvm", "kts": "jvm", "java": "jvm", "pyw": "py"}.get(suffix, suffix)


def _shadowing(old: Facts | None, new: Facts, head: Mapping[str, Facts], tree: _Tree) -> Iterator[Weaker]:
    had = {(one.owner, one.name) for one in (old.functions if old else ())}
    added = (one for one in new.functions if one.owner and (one.owner, one.name) not in had)
    fresh = {one.owner for one in added if IDENTITY.match(snake(one.name))}
    if not fresh:
        return
    suffix = next(path for path, facts in head.items() if facts is new)
    facts = tree.holding(fresh, suffix)
    embeds: dict[str, set[str]] = defaultdict(set)
    for one in facts.values():
        for owner, above in one.embeds:
            if owner in fresh:
                embeds[owner].add(above)
    types = {name for many in embeds.values() for name in many}
    members: dict[str, set[str]] = defaultdict(set)
    for one in tree.holding(types, suffix).values():
        for function in one.functions:
            members[function.owner].add(function.name)
    existing = {owner for owner in fresh if _stood(owner, old, new, facts, head)}
    yield from shadows(new, old, embeds, members, existing)


def _stood(
    owner: str, old: Facts | None, new: Facts, tree: Mapping[str, Facts], head: Mapping[str, Facts]
) -> bool:
    """Did base have the type: in the file itself, or in one that does not change?"""
    owners = {one.owner for one in old.functions} | {one.owner for one in old.declared} if old else set()
    if owner in owners:
        return True
    others = (facts for path, facts in tree.items() if path not in head)
    return any(name == owner for facts in others for name, _ in facts.embeds) and new is not old


def _told(source: Source, changes: list[Weaker], head: Mapping[str, Facts], tree: _Tree) -> Iterator[Finding]:
    told: set[tuple[str, str]] = set()
    for change in changes:
        if (change.kind, change.name) in told or len(told) >= _MOST:
            continue
        guard = _guard(source.path, change, head, tree)
        if guard is None and not change.direct:
            continue
        told.add((change.kind, change.name))
        evidence = {"reads": change.name, "change": change.kind}
        if guard is not None:
            evidence |= {"guard": guard.guard.text[:160], "at": f"{guard.path}:{guard.guard.line}"}
        yield finding(
            CHANGED,
            change.message,
            Location(path=source.path, line=change.line),
            shape=f"{change.kind} {change.owner} {change.name}",
            evidence=evidence,
            severity=Severity.HIGH if change.kind in _HIGH else Severity.MEDIUM,
        )


def _guard(path: str, change: Weaker, head: Mapping[str, Facts], tree: _Tree) -> Reached | None:
    names = {change.name}
    facts = tree.holding(names, path)
    for _ in range(2):
        more = first_names(change, facts) | {
            one.name for f in facts.values() for one in f.functions if {change.name} & {*one.returns}
        }
        more -= {""}
        if more <= names:
            break
        names |= more
        facts |= tree.holding(names, path)
    found = [*reached(change, facts, path)]
    beside = [one for one in found if one.path not in head]
    # Of a clock whose unit changes, files of the change may have followed; those beside it have not.
    return next(iter(beside or (found if change.kind != "unit" else [])), None)
