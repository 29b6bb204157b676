"""Things that stand at another place than before, where the project reads them by place or keeps the place.

Every value of base is still there, and the code that takes them by place did not change.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from gate.languages.grammars import grammar_of
from gate.languages.limited_child import Reader
from gate.languages.path_roles import is_example, is_test_code
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.ordered.by_place import (
    has_columns_by_number,
    is_number_kept,
    is_read_by_place,
    is_unpacked,
    names_given,
    numbers_taken,
)
from gate.prescreen.ordered.enums import Numbered
from gate.prescreen.ordered.lists import Listed
from gate.prescreen.ordered.read import DATA, Orders
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import first_files, read_files
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex

SHIFTED: Final = rule.meta(
    "order.shifted",
    "What is read by its place, or kept as a number, stands at another place",
    severity="medium",
    confidence="medium",
    topic="behaviour",
    cwe=(1025, 683),
    attack=("T1565.001",),
    why="Code that takes values by place, and numbers that were stored, mean another one now: "
    "a share goes to another party, a stored role is read as the next one. No value changed, so "
    "nothing looks different.",
    fix="Put new members last, or give them numbers; leave the order, or let the code look values up by "
    "name.",
)
RULES: Final[tuple[RuleMeta, ...]] = (SHIFTED,)
_READER: Final = Reader("gate.prescreen.ordered.read:read", Orders, parses=True, pure=True)
_CODE: Final = (
    ".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go", ".java", ".kt", ".cs", ".rb",
    ".php", ".rs", ".sh",
)  # fmt: skip
_ROW: Final = regex(
    rb"^\s*[\w\"'`.:@$%-]+(?:\s*=\s*[\w.]*\(?\)?)?\s*,?\s*(?:(?://|#).*)?$|[\[{].*,|\breturn\b.*,|%[wi]\["
    rb"|\b(?:of|listOf|asList|range)\(|\benum\b|\biota\b"
)
"""Lines that may be a member of an enum, a list, or a row that is returned."""
_LARGEST: Final = 1 << 19
_MOST_FILES: Final = 600
_MOST: Final = 5
_MOST_ASKED: Final = 60
"""Lists of one file that the project is searched for."""
_MOST_CODE: Final = 3_000
_MOST_BYTES: Final = 48 << 20
_NEVER: Final = ("package-lock.json", "package.json", "tsconfig.json", "composer.json", "pyproject.toml")


class Ordered:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "ordered"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare the orders of changed files, and ask the project whether it reads them by place."""
        until = time.monotonic() + request.deadline
        every = [one for one in sources(request).files if one.base and _is_read(one)]
        files, unread = first_files(every, _MOST_FILES, _LARGEST)
        head = read_files(_READER, [(one.path, one.head) for one in files], until, unread)
        some = [one for one in files if one.path in head and (head[one.path].enums or head[one.path].lists)]
        base = read_files(_READER, [(one.path, one.base or b"") for one in some], until)
        asks = _Texts(request.head)
        found: list[Finding] = []
        for source in some:
            if time.monotonic() > until:
                unread.append((source.path, "past the time"))
            elif source.path in base:
                old, new = base[source.path], head[source.path]
                found += [*_renumbered(source, old, new, asks), *_moved(source, old, new, asks)][:_MOST]
        return ended(self.name, found, unread)


class _Texts:
    """The programs of head; read when somebody asks."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._texts: list[tuple[str, str]] | None = None

    def all(self, like: str = "") -> list[str]:
        """The texts of all programs, or of those of the same language."""
        if self._texts is None:
            paths = [e.path for e in self._tree.entries() if e.path.endswith(_CODE) and e.size <= _LARGEST]
            paths = [path for path in paths if not is_test_code(path)][:_MOST_CODE]
            self._texts = []
            size = 0
            for path, data in self._tree.read_many(tuple(paths)):
                size += len(data)
                if size > _MOST_BYTES:
                    break
                self._texts.append((path, data.decode("utf-8", "replace")))
        return [text for path, text in self._texts if not like or path.endswith(like)]


def _is_read(source: Source) -> bool:
    path = source.path
    known = path.endswith((".py", ".pyw")) or bool(grammar_of(path)) or path.lower().endswith(DATA)
    aside = is_test_code(path) or is_example(path) or "lock" in PurePosixPath(path).name
    if not known or aside or path.endswith(_NEVER):
        return False
    if path.lower().endswith(DATA):
        return True
    old, new = set((source.base or b"").split(b"\n")), set(source.head.split(b"\n"))
    return any(len(line) < 2_000 and _ROW.search(line) for line in old ^ new) or old == new


def _renumbered(source: Source, old: Orders, new: Orders, asks: _Texts) -> Iterator[Finding]:
    before = {one.name: one for one in old.enums}
    for one in new.enums:
        was = before.get(one.name)
        shifted = _shifted(was, one) if was is not None else []
        if not shifted:
            continue
        texts = asks.all(PurePosixPath(source.path).suffix) if not one.stored else []
        if one.stored or is_number_kept(one.name, source.path, texts):
            name, number, line, had = shifted[0]
            yield _finding(
                source,
                line,
                f"Members of {one.name} have other numbers than before, and numbers are kept.",
                {"enum": one.name, "member": name, "was": str(had), "now": str(number)},
            )


def _shifted(was: Numbered, now: Numbered) -> list[tuple[str, int, int, int]]:
    had = {name: number for name, number, _, _ in was.members if name != "_"}
    found = [
        (name, number, line, had[name])
        for name, number, implicit, line in now.members
        if implicit and name in had and had[name] != number
    ]
    taken = {number for _, number, _, _ in now.members}
    # Members that went from the end, or counters behind the last one, mean nothing stored.
    return [
        one
        for one in found
        if one[3] in taken and not one[0].lower().startswith(("max", "num", "count", "_"))
    ]


def _moved(source: Source, old: Orders, new: Orders, asks: _Texts) -> Iterator[Finding]:
    before: dict[tuple[str, str], list[Listed]] = {}
    asked = 0
    for one in old.lists:
        before.setdefault((one.kind, one.name), []).append(one)
    for one in new.lists:
        twins = before.get((one.kind, one.name), [])
        if len(twins) != 1 or twins[0].values == one.values:
            continue
        was = twins[0].values
        asked += 1
        if asked > _MOST_ASKED:
            break
        permuted = sorted(was) == sorted(one.values)
        if (permuted and _is_by_place(one, source.path, asks)) or (
            not permuted and one.kind == "named" and _is_pushed(one, was, asks)
        ):
            at = next(i for i, pair in enumerate(zip(was, one.values, strict=False)) if pair[0] != pair[1])
            yield _finding(
                source,
                _line(source, one, at),
                "A list that is read by place has another order.",
                {
                    "list": one.name or source.path,
                    "place": str(at),
                    "was": was[at][:80],
                    "now": one.values[at][:80],
                },
            )


def _is_by_place(one: Listed, path: str, asks: _Texts) -> bool:
    texts = asks.all()
    if one.kind == "columns":
        return has_columns_by_number(path, texts)
    if one.kind == "returned":
        return is_unpacked(one.name, texts)
    if one.kind == "lines":
        return any(is_read_by_place(name, texts) for name in {*names_given(path, texts)})
    return is_read_by_place(one.name, texts)


def _is_pushed(one: Listed, was: Sequence[str], asks: _Texts) -> bool:
    """Does another value stand where the code takes one by a number, and the one it meant elsewhere?"""
    if len(one.name) < 3:
        return False
    return any(
        number < min(len(was), len(one.values))
        and one.values[number] != was[number]
        and was[number] in one.values
        for number in numbers_taken(one.name, asks.all())
    )


def _line(source: Source, one: Listed, at: int) -> int:
    if one.line > 1:
        return one.line
    text = source.head.decode("utf-8", "replace").split("\n")
    return next((n for n, line in enumerate(text, 1) if one.values[at] in line), 1)


def _finding(source: Source, line: int, message: str, evidence: dict[str, str]) -> Finding:
    shape = " ".join(evidence.values())
    return finding(
        SHIFTED, message, Location(path=source.path, line=line), shape=shape[:300], evidence=evidence
    )
