"""What a database refused at base and accepts at head: a uniqueness, a check or an exclusion that is gone.

A migration names what it drops, and another file of base says what that was. A schema is compared with
itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gate.infrastructure.sql_constraints import Constraint, Constraints, Loosened, is_schema
from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_unshipped
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta, Severity
from gate.prescreen.interface import PrescreenRequest, Source
from gate.prescreen.read_files import Unread
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding

_READER: Final = Reader("gate.infrastructure.sql_constraints:read", Constraints, parses=True, pure=True)
_SURROUNDING: Final = 400
"""Files of base that are asked what a dropped name was."""
_LONGEST: Final = 1 << 19
_MOST: Final = 5
_SAID: Final = {
    "unique": "Rows that were unique may now occur twice",
    "check": "Values that the database refused are now accepted",
    "exclude": "Rows that excluded each other may now both be there",
}

_WEAKER: Final = {
    "nullable": "A column that makes rows unique may be null, and nulls are never equal",
    "later": "A constraint is asked at the end of a transaction only",
    "unchecked": "A constraint is no longer enforced",
}


def constraint_findings(request: PrescreenRequest, lost: RuleMeta, unread: Unread) -> Iterator[Finding]:
    """Findings about constraints that are gone; ``lost`` is the rule about guards. What could not be read is
    added to ``unread``.
    """
    changed = [one for one in sources(request).files if is_schema(one.path) and not is_unshipped(one.path)]
    if not changed:
        return
    asked = [(one.path, one.head) for one in changed] + [
        (one.path, one.base) for one in changed if one.base is not None
    ]
    results = scan_isolated(_READER, asked, deadline=request.deadline)
    heads = {one.path: one.value for one in results[: len(changed)] if one.value is not None}
    bases = {one.path: one.value for one in results[len(changed) :] if one.value is not None}
    unread += [(one.path, one.reason or one.outcome) for one in results[: len(changed)] if one.value is None]
    made = [one for head in heads.values() for one in head.made]
    gone = {name for head in heads.values() for name in head.gone}
    told = 0
    for source in changed:
        if source.path not in heads:
            continue
        old = bases.get(source.path)
        for weaker, was in _weaker(heads[source.path], old, request):
            if told < _MOST and f"{was.table}.*" not in gone:
                told += 1
                yield _told_weaker(source, weaker, was, lost)
        for one, line, text in _gone(heads[source.path], old, made, request):
            column_gone = not gone.isdisjoint(
                (f"{one.table}.*", *(f"{one.table}.{name}" for name in one.columns))
            )
            if told < _MOST and not column_gone and not _is_kept(one, made):
                told += 1
                yield _told(source, one, line, text, lost)


def _weaker(
    head: Constraints, base: Constraints | None, request: PrescreenRequest
) -> Iterator[tuple[Loosened, Constraint]]:
    """Constraints of base that stay and refuse less: a column of a uniqueness may be null (and nulls are all
    different), a check is made at the end of the transaction, or not at all.
    """
    had = {one.text for one in base.loosened} if base else set()
    fresh = [one for one in head.loosened if one.text not in had]
    if base is not None:
        for column in set(base.required) - set(head.required):
            table, _, name = column.rpartition(".")
            if column in head.columns:
                line = next((one.line for one in head.made if one.table == table), 1)
                fresh.append(Loosened("nullable", table, name, "", line, f"{column} may be null"))
    known = _known(request.base, request.deadline) if fresh else []
    for one in fresh:
        for was in known:
            same_column = was.what == "unique" and was.table == one.table and one.column in was.columns
            if same_column if one.what == "nullable" else bool(one.name) and was.name == one.name:
                yield one, was
                break


def _gone(
    head: Constraints, base: Constraints | None, made: list[Constraint], request: PrescreenRequest
) -> Iterator[tuple[Constraint, int, str]]:
    """What this file takes away: what it drops by name, and what its tables had at base."""
    had = {one.name for one in base.dropped} if base else set()
    fresh = [one for one in head.dropped if one.name not in had]
    if fresh:
        known = _known(request.base, request.deadline)
        for one in fresh:
            was = [each for each in known if each.name == one.name]
            names = {each.name for each in fresh}
            left = [each for each in known if each.name not in names]
            if was and was[-1].what != "index" and not _is_kept(was[-1], [*left, *made]):
                yield was[-1], one.line, one.text
    for had_one in base.made if base and not fresh else ():
        there = all(f"{had_one.table}.{name}" in head.columns for name in had_one.columns)
        if had_one.what != "index" and had_one.table in head.tables and there:
            line = next((one.line for one in head.made if one.table == had_one.table), 1)
            yield had_one, line, ""


def _known(base: Tree, deadline: float) -> list[Constraint]:
    """Every constraint that base's files make, in the order of their paths."""
    paths = sorted(entry.path for entry in base.entries() if is_schema(entry.path) and entry.size <= _LONGEST)
    files = list(base.read_many(tuple(paths[-_SURROUNDING:])))
    results = scan_isolated(_READER, files, deadline=deadline)
    return [made for result in results if result.value is not None for made in result.value.made]


def _is_kept(one: Constraint, made: Iterable[Constraint]) -> bool:
    """Does head make something as strict for the same table? Fewer columns that are unique refuse more."""
    for other in made:
        if other.table != one.table or other.what != one.what:
            continue
        if (
            one.what != "unique"
            or not one.columns
            or (other.columns and set(other.columns) <= set(one.columns))
        ):
            return True
    return False


def _told_weaker(source: Source, one: Loosened, was: Constraint, lost: RuleMeta) -> Finding:
    what = f"{was.what} ({', '.join(was.columns)}) of {was.table}"
    return finding(
        lost,
        f"{_WEAKER[one.what]}: the table refuses less than at base.",
        Location(path=source.path, line=one.line),
        shape=f"{one.what} {one.table} {one.column or one.name}",
        evidence={"what": what, "before": f"{was.name} {what}".strip(), "after": one.text},
        severity=Severity.MEDIUM,
    )


def _told(source: Source, one: Constraint, line: int, text: str, lost: RuleMeta) -> Finding:
    columns = ", ".join(one.columns)
    what = f"{one.what} ({columns}) of {one.table}" if one.what == "unique" else f"{one.what} of {one.table}"
    evidence = {"what": what, "before": f"{one.name} {what}".strip(), "after": text}
    return finding(
        lost,
        f"{_SAID[one.what]}: the table refuses less than at base.",
        Location(path=source.path, line=line),
        shape=f"{one.what} {one.table} {columns}",
        evidence={name: said for name, said in evidence.items() if said},
        severity=Severity.MEDIUM,
    )
