"""Findings about queries that were bound to an owner by a join or a condition, and no longer are; and about
those that take a pattern where a code had to be known.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final

from gate.languages.grammars import grammar_of
from gate.languages.limited_child import Reader
from gate.languages.path_roles import is_example, is_test_code
from gate.model.finding import Finding
from gate.model.location import Location
from gate.prescreen.interface import PrescreenRequest, Source
from gate.prescreen.meanings.joins import Query
from gate.prescreen.read_files import Unread, first_files, read_files
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex

UNBOUND: Final = rule.meta(
    "meaning.rows-unbound",
    "A query no longer leaves out what belongs to others",
    severity="medium",
    confidence="medium",
    topic="auth",
    cwe=(639, 863),
    why="An inner join on who asks (`JOIN memberships m ON ... AND m.user_id = ?`) leaves out what belongs "
    "to others. As an outer join it has the same words and leaves nothing out; a condition that moves from "
    "WHERE into its ON, or that stands beside an OR, does neither.",
    fix="Keep the inner join, or ask in WHERE that the joined row is there (`m.user_id IS NOT NULL`).",
)
FITS: Final = rule.meta(
    "meaning.match-loosened",
    "A query takes a pattern where a code, a token or a name had to be the same",
    severity="medium",
    confidence="medium",
    topic="auth",
    cwe=(155, 639),
    why="`code = ?` asks for one value. `code LIKE ?` lets whoever gives the value use `%` and `_`: the code "
    "`%` fits every row, so that nobody has to know one.",
    fix="Compare both in one case: `lower(code) = lower(?)`, or give the column `COLLATE NOCASE`.",
)
_READER: Final = Reader("gate.prescreen.meanings.joins:read", list[Query], parses=True, pure=True)
_SELECTS: Final = regex(rb"(?i)\bselect\s")
_BINDS: Final = regex(rb"(?i)\b(?:join|where)\s")
_BUILDS: Final = regex(rb"(?:\.|->)\s{0,80}(?:inner_?)?[jJ]oin\w{0,20}\(")
_LARGEST: Final = 1 << 19
_MOST_FILES: Final = 200
_MOST: Final = 5
_ALIKE: Final = 0.6


def unbound_findings(request: PrescreenRequest, unread: Unread) -> Iterator[Finding]:
    """Of every changed program with queries, and of SQL with named ones. What could not be read is added to
    ``unread``.
    """
    until = time.monotonic() + request.deadline
    files, left = first_files([one for one in sources(request).files if _is_read(one)], _MOST_FILES, _LARGEST)
    unread += left
    if not files:
        return
    base = read_files(_READER, [(one.path, one.base or b"") for one in files], until, unread)
    some = [one for one in files if any(q.inner or q.where or q.keys for q in base.get(one.path, ()))]
    head = read_files(_READER, [(one.path, one.head) for one in some], until, unread)
    told = 0
    for source in some:
        for query, column in _loosened(base[source.path], head.get(source.path, ())):
            yield finding(
                FITS,
                f"A query takes a pattern for `{column}`, which had to be the same: `%` fits every row.",
                Location(path=source.path, line=query.line),
                shape=f"{query.name} {column}",
                evidence={"query": query.name or query.table, "column": column},
            )
        for query, columns, how in _unbound(base[source.path], head.get(source.path, ())):
            if told < _MOST:
                told += 1
                yield finding(
                    UNBOUND,
                    f"A query {how}.",
                    Location(path=source.path, line=query.line),
                    shape=f"{query.name} {' '.join(columns)}",
                    evidence={"query": query.name or query.table, "columns": ", ".join(columns)},
                )


def _is_read(source: Source) -> bool:
    path = source.path
    if source.base is None or is_test_code(path) or is_example(path):
        return False
    known = path.endswith((".py", ".pyw", ".sql")) or bool(grammar_of(path))
    return known and _asks(source.base)


def _asks(data: bytes) -> bool:
    return bool((_SELECTS.search(data) and _BINDS.search(data)) or _BUILDS.search(data))


def _loosened(old: Sequence[Query], new: Sequence[Query]) -> Iterator[tuple[Query, str]]:
    for was in old:
        now = _same(was, new, old) if was.keys else None
        if now is not None:
            yield from [(now, one) for one in sorted({*was.keys} & ({*now.patterns} - {*now.keys}))]


def _unbound(old: Sequence[Query], new: Sequence[Query]) -> Iterator[tuple[Query, list[str], str]]:
    for was in old:
        now = _same(was, new, old)
        if now is None:
            continue
        kept = {*now.inner, *now.where}
        loose = sorted({*was.inner, *was.where} & {*now.outer} - kept)
        if loose:
            yield now, loose, "asks for the owner in an outer join only, which leaves no row out"
        elif was.table.startswith("join "):
            continue  # of a builder: what else the function asks is not known
        elif was.inner and not kept and not now.outer:
            yield now, was.inner, "no longer joins what says whose the rows are"
        elif was.where and not was.in_function and not kept and not now.outer:
            # Within a function the reader of protections tells it.
            yield now, was.where, "no longer asks whose the rows are"


def _same(was: Query, new: Sequence[Query], old: Sequence[Query]) -> Query | None:
    """The query of head under the same name that has most of its words."""
    same = [one for one in new if one.name == was.name and one.table == was.table]
    same = [one for one in same if all(one.words != other.words for other in old)] or same
    best = max(same, key=lambda one: _alike(was, one), default=None)
    return best if best is not None and _alike(was, best) >= _ALIKE else None


def _alike(a: Query, b: Query) -> float:
    return len({*a.words} & {*b.words}) / max(1, min(len(a.words), len(b.words)))
