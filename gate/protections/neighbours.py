"""New entry points that ask for less than those beside them: the deviant one among neighbours. Pure.

After Engler et al., "Bugs as Deviant Behavior" (SOSP 2001): what every entry point of a file asked at base is
the file's own rule, and nobody has to write it down. Only rules of who may are compared, and only where
enough neighbours keep them.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from gate.languages.naming import snake
from gate.protections.effective import effective_guards
from gate.protections.facts import INCLUDED, QUERY, ROUTERS, WHO, FileFacts, Guard, Unit
from gate.protections.matching import Placed, Side, make_side
from gate.protections.unit_losses import Loss
from gate.protections.vocabulary import family_of, is_meant_open

_LEAST: Final = 3
"""Neighbours that make a rule; all of them keep it."""
_FEW: Final = 2
"""Of a new file that asks a database, where all entry points of its folder keep the rule."""
_FORMS: Final = ("decorator", "parameter", "class", "wide", "refusal", "call", "argument")
_ASKING: Final = frozenset({
    "execute", "executemany", "fetchone", "fetchall", "fetch_one", "fetch_all", "filter_by", "scalars",
    "scalar", "get_or_404", "first_or_404", "get_object_or_404", "get_list_or_404", "where", "find_one",
    "find_many", "find_first", "find_unique", "find_by_id", "find_by_pk", "find_all", "one_or_none",
    "get_by_id",
})  # fmt: skip
"""Calls that ask a database, and nothing else of these names."""


def new_entry_files(
    base: Mapping[str, FileFacts], head: Mapping[str, FileFacts], now_at: Mapping[str, str]
) -> list[str]:
    """Files that base had not and that answer requests: who stands beside them is asked (``around``)."""
    known = {*base, *now_at.values()}
    return [path for path, facts in head.items() if path not in known and any(map(_is_entry, facts.units))]


def is_beside(path: str, new: str) -> bool:
    """Is a file one of those that a new one is held against: in its folder, or of its kind in the folder
    beside (``orders/views.py`` and ``bills/views.py``)?
    """
    folder, of = posixpath.dirname(path), posixpath.dirname(new)
    if posixpath.splitext(path)[1] != posixpath.splitext(new)[1]:
        return False
    if folder == of:
        return True
    return posixpath.dirname(folder) == posixpath.dirname(of) != "" and _kind(path) == _kind(new)


def _kind(path: str) -> str:
    """``views`` of ``views.py``, ``controller`` of ``orders.controller.ts`` and ``OrdersController.java``."""
    stem = posixpath.basename(path).rpartition(".")[0]
    return snake(stem).replace(".", "_").rpartition("_")[2]


def deviants(
    base: Side,
    head: Side,
    known: frozenset[tuple[str, str]],
    now_at: Mapping[str, str],
    around: Mapping[str, FileFacts] | None = None,
) -> Iterator[Loss]:
    """Routes of head that base had not (``known``: path and name of those it had), where all those beside
    them at base ask who somebody is, or ask their queries for what is the user's, and they do not.

    ``around``: files that did not change, beside new ones (is_beside).
    """
    if around:
        base = make_side({**around, **base.files})
        head = make_side({**around, **head.files})
    before = {at: path for path, at in now_at.items()}
    at_base, at_head = _routers(base), _routers(head)
    for path, facts in head.files.items():
        if around and path in around:
            continue
        fresh = [u for u in facts.units if _is_entry(u) and (path, u.name) not in known]
        if not fresh:
            continue
        beside = [
            Placed(path=at, unit=u)
            for at in _beside(before.get(path, path), base)
            for u in base.files[at].units
            if _is_entry(u) and not _is_open(u)
        ]
        had = [(one, (*effective_guards(base, one), *_said(at_base, one.path))) for one in beside]
        for unit in fresh:
            if not _is_open(unit):
                has = effective_guards(head, Placed(path=path, unit=unit))
                few = path not in base.files and before.get(path, path) not in base.files
                least = _FEW if few and _queries(unit, has) else _LEAST
                yield from _missing(path, unit, (*has, *_said(at_head, path)), had, least)


def _beside(path: str, base: Side) -> list[str]:
    """The file itself at base; for a new one, what was read of base in its folder."""
    if path in base.files:
        return [path]
    return [at for at in base.files if is_beside(at, path)]


def _routers(side: Side) -> list[tuple[str, Guard]]:
    """What modules say of their routers, with the path of each."""
    modules = ((at, u) for at, facts in side.files.items() for u in facts.units if u.kind == "module")
    return [(at, g) for at, u in modules for g in u.guards if g.form == "argument" and g.of in ROUTERS]


def _said(routers: list[tuple[str, Guard]], path: str) -> list[Guard]:
    """What the routers of a file protect its entries by, which of them is an entry's own nobody asks; and
    where other files take routers in, whose nobody asks either.
    """
    return [guard for at, guard in routers if at == path or guard.of == INCLUDED]


def _missing(
    path: str, unit: Unit, has: tuple[Guard, ...], had: list[tuple[Placed, tuple[Guard, ...]]], least: int
) -> Iterator[Loss]:
    asked = [(one, [g for g in guards if _asks_who(g)]) for one, guards in had]
    rule = _rule(asked, least)
    if rule is not None and not any(g.family in WHO for g in has) and not _names(unit, rule[1]):
        yield _loss(path, unit, *rule)
        return
    bound = [(one, [g for g in guards if g.of == QUERY]) for one, guards in had if _queries(one.unit, guards)]
    rule = _rule(bound, _LEAST, any_of=True)
    if rule is not None and _queries(unit, has) and not _owns(has):
        yield _loss(path, unit, *rule)


def _rule(
    asked: list[tuple[Placed, list[Guard]]], least: int, *, any_of: bool = False
) -> tuple[Placed, Guard] | None:
    """The guard that all share, with one that has it; ``any_of``: any guard will do. None: no rule."""
    if len(asked) < least or not all(guards for _, guards in asked):
        return None
    shared = Counter(key for _, guards in asked for key in {g.must[0] for g in guards})
    key, count = shared.most_common(1)[0]
    if count < len(asked) and not any_of:
        return None
    return next((one, g) for one, guards in asked for g in guards if g.must[0] == key)


def _asks_who(g: Guard) -> bool:
    return g.family in WHO and g.form in _FORMS and not g.vague and g.of != QUERY


def _queries(unit: Unit, guards: tuple[Guard, ...]) -> bool:
    return any(g.of == QUERY for g in guards) or any(snake(call) in _ASKING for call in unit.calls)


def _owns(guards: tuple[Guard, ...]) -> bool:
    """Is its query kept to what is the user's, or does it ask what they may?"""
    return any(g.of == QUERY or (g.family == "authorisation" and g.form != "entry") for g in guards)


def _names(unit: Unit, guard: Guard) -> bool:
    """Does it use what the guard is called, in a way that nobody understood?"""
    words = {word for word in guard.must[0].strip("+-").replace("(", " ").replace(".", " ").split() if word}
    named = {word for word in words if family_of(word) is not None}
    return not named.isdisjoint(unit.mentions) or not named.isdisjoint(unit.calls)


def _is_entry(unit: Unit) -> bool:
    return unit.kind == "function" and unit.route


def _is_open(unit: Unit) -> bool:
    return is_meant_open(unit.name.rpartition(".")[2])


def _loss(path: str, unit: Unit, beside: Placed, guard: Guard) -> Loss:
    return Loss(
        how="missing",
        family=guard.family,
        path=path,
        line=unit.line,
        unit=unit.name,
        before=(guard.text,),
        before_at=f"{beside.path}:{guard.line}",
        after=f"{unit.name}: nothing",
        modest=True,
    )
