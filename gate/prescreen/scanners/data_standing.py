"""Views, functions and policies of a database that a migration makes anew without what protected in them.

The protection stands in an older file, which does not change; the new one merely does not repeat it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gate.infrastructure.sql_constraints import is_schema
from gate.infrastructure.sql_standing import Standing, is_program
from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_unshipped
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta, Severity
from gate.prescreen.interface import PrescreenRequest, Source
from gate.prescreen.read_files import Unread
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding
from gate.regex import regex

_READER: Final = Reader("gate.infrastructure.sql_standing:read", list[Standing], parses=True, pure=True)
_SURROUNDING: Final = 800
_SAYS: Final = regex(rb"(?i)\b(?:create|alter)\b[\s\S]{0,60}?\b(?:view|policy|function|procedure)\b")
_LONGEST: Final = 1 << 19
_MOST: Final = 5
_SAID: Final = {
    "view": "A view is made anew without an option that it had: it shows rows that it did not show.",
    "function": "A function that runs with its owner's rights no longer fixes where it looks names up.",
    "policy": "A policy of rows is made anew and lets every row through.",
}


def standing_findings(request: PrescreenRequest, lost: RuleMeta, unread: Unread) -> Iterator[Finding]:
    """Findings about what is said anew; ``lost`` is the rule about guards. What could not be read is added
    to ``unread``.
    """
    changed = [one for one in sources(request).files if _is_read(one.path) and not is_unshipped(one.path)]
    changed = [one for one in changed if not is_program(one.path) or _SAYS.search(one.head)]
    if not changed:
        return
    results = scan_isolated(_READER, [(one.path, one.head) for one in changed], deadline=request.deadline)
    heads = {one.path: one.value for one in results if one.value is not None}
    unread += [(one.path, one.reason or one.outcome) for one in results if one.value is None]
    if not any(heads.values()):
        return
    before = _base(request)
    later = [one for said in heads.values() for one in said if not one.whole]
    told = 0
    for source in changed:
        for one, options in _losses(source, heads.get(source.path, ()), before, later):
            if told < _MOST:
                told += 1
                yield _told(source, one, options, lost)


def _is_read(path: str) -> bool:
    return (is_schema(path) and not path.endswith(".prisma")) or is_program(path)


def _losses(
    source: Source,
    now: Sequence[Standing],
    before: Sequence[tuple[str, Standing]],
    later: Sequence[Standing],
) -> Iterator[tuple[Standing, list[str]]]:
    last = {(one.what, one.name): one for one in now if one.whole or one.gone}
    for key, one in last.items():
        was = _before(source.path, key, before)
        kept = {option for other in later if (other.what, other.name) == key for option in other.options}
        gone = [
            option
            for option in was
            if (option in one.gone or (one.whole and one.what != "policy" and option not in one.options))
            and option not in kept
        ]
        if gone:
            yield one, gone


def _before(path: str, key: tuple[str, str], base: Sequence[tuple[str, Standing]]) -> list[str]:
    """What protected in it at base: as the same file says, else as the last of all files does."""
    same = [one for at, one in base if at == path and (one.what, one.name) == key]
    every = [one for _, one in base if (one.what, one.name) == key]
    options: list[str] = []
    for one in same if any(one.whole for one in same) else every:
        had = [] if one.whole else options
        options = [option for option in dict.fromkeys([*had, *one.options]) if option not in one.gone]
    return options


def _base(request: PrescreenRequest) -> list[tuple[str, Standing]]:
    """What base's files say, in the order of their paths, which is that of migrations."""
    entries = request.base.entries()
    paths = sorted(one.path for one in entries if _is_read(one.path) and one.size <= _LONGEST)
    every = request.base.read_many(tuple(paths[-_SURROUNDING:]))
    files = [(path, data) for path, data in every if not is_program(path) or _SAYS.search(data)]
    results = scan_isolated(_READER, files, deadline=request.deadline)
    return [(one.path, said) for one in results if one.value is not None for said in one.value]


def _told(source: Source, one: Standing, options: list[str], lost: RuleMeta) -> Finding:
    return finding(
        lost,
        _SAID[one.what],
        Location(path=source.path, line=one.line),
        shape=f"{one.what} {one.name} {' '.join(options)}",
        evidence={"what": f"{one.what} {one.name}", "before": ", ".join(options), "after": one.text},
        severity=Severity.MEDIUM,
    )
