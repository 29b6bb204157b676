"""Base's protections against head's: what is gone, what refuses less, what opens. Pure; values only."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from gate.dataclass import dataclass
from gate.languages.naming import snake
from gate.protections.covered import covered_losses
from gate.protections.effective import effective_guards
from gate.protections.extents import covers
from gate.protections.facts import QUERY, ROUTERS, SWALLOWED, WHO, FileFacts, Guard, Unit
from gate.protections.heard.compare import unheard_losses
from gate.protections.matching import Placed, Side, make_side, pairs
from gate.protections.members import member_losses
from gate.protections.neighbours import deviants
from gate.protections.overall.compare import overall_losses
from gate.protections.python.settings import ORDER
from gate.protections.routes.compare import guards_all, route_losses
from gate.protections.sequence.compare import order_losses, other_value_losses
from gate.protections.traits import BY_ADDRESS, QUIET, SIGNED
from gate.protections.unit_losses import (
    How,
    Loss,
    decides,
    dropped,
    is_as_before,
    late,
    let_by,
    opened,
    opened_anew,
    weaker,
)
from gate.protections.vocabulary import family_of, is_check, is_constant_time, is_switch
from gate.regex import regex

_WITHIN: Final = regex(r"[+-]'[^']*' in ([\w.]+)")
"""An atom that asks for a text within a value."""
_QUERIES: Final = frozenset({
    "get", "filter", "all", "first", "one", "exclude", "filter_by", "get_object_or_404", "get_or_404",
    "where", "find_one", "find", "scalars", "scalar", "execute", "select", "get_list_or_404", "exists",
    "fetch_one", "fetch_all", "aget", "first_or_404", "one_or_none", "select_related", "order_by",
    "prefetch_related", "get_or_create", "update_or_create",
})  # fmt: skip
_ASKING: Final = ("query", "find", "exec", "fetch", "select", "create_query", "delete_", "update_", "raw")
_BY_NAME: Final = ("decorator", "parameter", "call")
"""Forms of guards that another function makes."""
_ASKERS: Final = ("request", "req.", "current_user", "currentuser", "session", "g.user", "principal", "auth")
"""What the one who asks is called, where a query is kept to what is theirs."""
_NO_GUARD: Final = ("branch", "entry")
"""Forms that keep nobody out by themselves."""
_ANEW: Final = 0.25
_SEAM: Final = 4
"""Pairs of words that are new where one piece is cut out; a share of more than ``_ANEW`` is a new text."""


@dataclass
class _Compared:
    """One unit of base and its partner, with everything that protects them."""

    old: Placed
    new: Placed
    had: tuple[Guard, ...]
    has: tuple[Guard, ...]
    gained: list[Guard] = field(default_factory=list)
    common: list[Guard] = field(default_factory=list)
    gone: list[Guard] = field(default_factory=list)

    def split(self) -> None:
        """Tell what head has anew from what both have; own guards that have no equal are candidates."""
        left = Counter((g.must, g.context) for g in self.had)
        for g in self.has:
            known = left[(g.must, g.context)] > 0
            left[(g.must, g.context)] -= 1
            (self.common if known else self.gained).append(g)
        left = Counter((g.must, g.context) for g in self.has)
        for g in self.old.unit.guards:
            if left[(g.must, g.context)] > 0:
                left[(g.must, g.context)] -= 1
            else:
                self.gone.append(g)


def losses(
    base_files: Mapping[str, FileFacts],
    head_files: Mapping[str, FileFacts],
    now_at: Mapping[str, str],
    until: float = math.inf,
    around: Mapping[str, FileFacts] | None = None,
) -> list[Loss]:
    """Every unit that protects less than at base. Deleted functions protect nothing that is left.

    ``now_at``: paths of base to those of head. ``around``: unchanged files beside new
    ones. Raises TimeoutError at ``until`` (time.monotonic).
    """
    base, head = make_side(base_files), make_side(head_files)
    found: list[Loss] = []
    wide = _gained_wide(base_files, head_files)
    hollow = _hollow_names(base, head)
    known: set[tuple[str, str]] = set()
    for old, new in pairs(base, head, now_at):
        if time.monotonic() > until:
            raise TimeoutError
        if new is None:
            found += dropped(old, base, head, now_at)
            continue
        known.add((new.path, new.unit.name))
        found += weaker(old, new)
        if not (old.unit.guards or new.unit.weaknesses):
            continue
        has = tuple(g for g in effective_guards(head, new) if not _is_hollow(g, hollow))
        both = _Compared(old, new, effective_guards(base, old), has)
        both.split()
        found += _lost(both, wide, head)
        found += opened(old, new, both.had)
        found += late(old, new)
        found += let_by(old, new)
    found += deviants(base, head, frozenset(known), now_at, around)
    told = {(loss.path, loss.unit) for loss in found if loss.family in WHO}
    found += (one for one in route_losses(base, head, around) if (one.path, one.unit) not in told)
    found += overall_losses(base_files, head_files)
    found += unheard_losses(base_files, head_files)
    found += order_losses(base_files, head_files)
    found += other_value_losses(base_files, head_files)
    found += member_losses(base_files, head_files)
    found += covered_losses(base_files, head_files)
    for path, facts in head_files.items():
        fresh = (u for u in facts.units if u.kind == "function" and (path, u.name) not in known)
        found += (loss for unit in fresh for loss in opened_anew(Placed(path=path, unit=unit)))
    found = [one for one in found if one.key != BY_ADDRESS or _is_behind_a_login(one, head)]
    if guards_all(base, head):  # what went from a route may hold for it from there: a person has to look
        moved = [one.how == "removed" and one.family in WHO for one in found]
        found = [
            replace(one, open=False, bare=False) if may else one
            for one, may in zip(found, moved, strict=True)
        ]
    return [*{(loss.how, loss.path, loss.line, loss.family): loss for loss in reversed(found)}.values()][::-1]


def _is_behind_a_login(loss: Loss, head: Side) -> bool:
    """Does something use the cache that also asks who somebody is?"""
    name = loss.unit.rpartition(".")[2]
    return any(
        name in unit.mentions and any(g.family in WHO for g in unit.guards)
        for facts in head.files.values()
        for unit in facts.units
        if unit.route or unit.kind != "function"
    )


def _gained_wide(base: Mapping[str, FileFacts], head: Mapping[str, FileFacts]) -> list[Guard]:
    """Middleware, routers and classes' guards that base had nowhere."""
    had = Counter(
        g.must for facts in base.values() for u in facts.units for g in u.guards if g.form == "wide"
    )
    has = [g for facts in head.values() for u in facts.units for g in u.guards if g.form == "wide"]
    has += [
        g for facts in head.values() for u in facts.units for g in u.guards
        if g.form == "argument" and g.of in ROUTERS
    ]  # fmt: skip
    gained = []
    for g in has:
        had[g.must] -= 1
        if had[g.must] < 0:
            gained.append(g)
    return gained


def _lost(both: _Compared, wide: Sequence[Guard], head: Side) -> Iterator[Loss]:
    missing: list[tuple[Guard, Guard | None]] = []
    inverted: list[tuple[Guard, Guard | None]] = []
    for g in both.gone:
        if g.family == "other" or _is_kept(g, both) or not _still_matters(g, both, head):
            continue
        looser = _looser(g, both) or _more_often(g, both)
        others = [h for h in (*both.gained, *wide) if not _opposes(h, g)]
        if looser is None and _is_replaced(g, others, both, head):
            continue
        turned = next((h for h in both.gained if _opposes(h, g)), None) if looser is None else None
        if turned is not None:
            inverted.append((g, turned))
            continue
        looser = looser or _vague_one(g, both)
        missing.append((g, looser))
    if inverted:
        yield _loss("inverted", inverted, both)
    ways: tuple[How, ...] = ("loosened", "removed")
    for how in ways:
        those = [(g, looser) for g, looser in missing if (looser is None) is (how == "removed")]
        if those:
            grave = [(g, x) for g, x in those if not _is_mild(g, x, both)]
            yield _loss(how, grave or those, both)


def _loss(how: How, those: list[tuple[Guard, Guard | None]], both: _Compared) -> Loss:
    first, looser = next(((g, x) for g, x in those if g.family in WHO), those[0])
    asks = any(g.family in WHO for g in both.has if g.form not in _NO_GUARD)
    asked = any(g.family in WHO for g, _ in those)
    shown = (*(g.text for g, _ in those), *(x.text for _, x in those if x is not None))
    alone = is_as_before(both.old.unit, both.new.unit, *shown, spare=0) and bool(both.new.unit.mentions)
    mild = all(_is_mild(g, looser, both) for g, looser in those) or (not alone and _is_uncertain(those, both))
    # A lock that goes with other lines may have given way to another way of keeping requests apart.
    mild = mild or (first.family == "isolation" and first.form == "argument" and not alone)
    checks = asked or first.family in ("integrity", "csrf")
    return Loss(
        how=how,
        family=first.family,
        path=both.new.path,
        line=looser.line if looser and _is_own(looser, both) else both.new.unit.line,
        unit=both.new.unit.name,
        before=tuple(dict.fromkeys(g.text for g, _ in those)),
        before_at=f"{both.old.path}:{first.line}",
        after=looser.text if looser else "",
        open=both.new.unit.route and not asks and how == "removed" and any(_keeps_out(g) for g, _ in those),
        mild=mild,
        bare=checks
        and not mild
        and first.must[0] != SIGNED  # read by the names of what is signed
        and not (_is_timing(those) and _is_check_by_answer(both.old.unit))
        and not all(_is_of_form(g, both) for g, _ in those)
        and (decides(both.new.unit) or decides(both.old.unit))
        and is_as_before(both.old.unit, both.new.unit, *shown),
    )


def _keeps_out(guard: Guard) -> bool:
    """Does it say who may come in? A filter by an owner's name alone (``team=team``) may be a search."""
    by_name = guard.form in _NO_GUARD and not any(word in guard.text.lower() for word in _ASKERS)
    return guard.family in WHO and not by_name


def _is_timing(those: list[tuple[Guard, Guard | None]]) -> bool:
    """Is all that went a comparison in constant time? The check itself may still be there."""
    gone = [atom.lstrip("+-").partition("(")[0] for g, _ in those for atom in g.must if g.form != "cleaner"]
    return all(map(is_constant_time, gone)) and all(x is None for _, x in those)


def _is_of_form(guard: Guard, both: _Compared) -> bool:
    """Did it ask for a text within a value that another check of the same family still proves?"""
    asked = [_WITHIN.fullmatch(atom) for atom in guard.must]
    left = [g for g in both.common if g.family == guard.family and not any(map(_WITHIN.fullmatch, g.must))]
    return bool(asked) and all(found and any(found[1] in g.text for g in left) for found in asked)


def _is_check_by_answer(unit: Unit) -> bool:
    """Is it a check only because it returns what a comparison says, by no name and no route?"""
    return unit.check and not (unit.coarse or unit.route or is_check(unit.name.rpartition(".")[2]))


_CATCHERS: Final = frozenset({
    "runCatching", "isSuccess", "isFailure", "allSettled", "WhenAny", "WhenEach", "getOrNull", "getOrDefault",
    "attempt", "is_ok", "catch_unwind", "tryOrNull", "onErrorReturn", "onErrorResume", "onErrorComplete",
})  # fmt: skip
"""They tell whether something ended, or go on where it did not: what a check says is another matter."""


def _is_uncertain(those: list[tuple[Guard, Guard | None]], both: _Compared) -> bool:
    """Is a unit that was read by names only so changed that the check may stand where nobody looked?"""
    old, new = both.old.unit, both.new.unit
    if not new.coarse:
        return False
    if new.kind != "function":
        return new.kind == "class" and old.bases != new.bases
    anew = {*new.calls} - {*old.calls}
    if any(name.rpartition(".")[2] in _CATCHERS for name in anew):
        return False  # whether it threw is no answer
    if all(g.form == "branch" or (g.family not in WHO and not new.route and anew) for g, _ in those):
        return True
    more = {a for g, x in those if x is not None for a in {*x.must, *x.context} - {*g.must, *g.context}}
    if all(x is not None for _, x in those) and not any(a == SWALLOWED or is_switch(a) for a in more):
        return True
    if any(is_check(name) or family_of(name) in WHO for name in anew):
        return True
    known, has = set(old.tokens), set(new.tokens)
    return len(has - known) > max(_SEAM, _ANEW * len(has))


def _is_mild(g: Guard, looser: Guard | None, both: _Compared) -> bool:
    """Is this loss one that ordinary changes bring: a condition of the program's own around the check?"""
    if looser is None:
        return g.vague and any(h.family in WHO and h.form not in _NO_GUARD for h in both.has)
    if looser.vague and not g.vague:
        return True
    new = {*looser.must, *looser.context} - {*g.must, *g.context}
    return set(looser.must) <= {*g.must, *g.context} and not any(a == SWALLOWED or is_switch(a) for a in new)


def _is_own(g: Guard, both: _Compared) -> bool:
    return any(g is own for own in both.new.unit.guards)


def _is_kept(g: Guard, both: _Compared) -> bool:
    """Does head refuse at least where this guard of base did?"""
    wanted = {*g.must, *g.context}
    tested = {atom[1:] for atom in both.old.unit.tested}
    for h in both.common:
        if h.form != "branch" and set(h.must) <= wanted and set(h.context) <= wanted:
            return True
    for h in both.gained:
        around = {SWALLOWED} if g.form == "handler" else set(h.context)
        narrowed = any(_narrows(a, tested) for a in around & {*h.context} - wanted)
        if not narrowed and (set(h.must) <= wanted or (_refuses(h) and covers(wanted, h.must))):
            return True
    return False


def _refuses(h: Guard) -> bool:
    return h.form in ("refusal", "branch")


def _narrows(atom: str, tested: set[str]) -> bool:
    """Does a condition that surrounds a guard at head, and not at base, make it refuse less?"""
    return atom == SWALLOWED or is_switch(atom) or atom[1:] not in tested


def _looser(g: Guard, both: _Compared) -> Guard | None:
    """The guard of head that is this one under more conditions."""
    for h in both.gained:
        if h.form == "branch" and g.form != "branch":
            continue
        if set(h.must) >= set(g.must) and set(h.must) | set(h.context) > set(g.must):
            return h
    if not _refuses(g):
        return None
    within = [h for h in both.gained if _refuses(h) and covers(h.must, g.must)]
    return within[0] if len(within) == 1 else None  # several may refuse together what one did


def _opposes(h: Guard, g: Guard) -> bool:
    """Does a guard of head refuse whom this one of base let through, by the same condition turned round?"""
    if h.family == "other" or h.form != "refusal" or g.form not in ("refusal", "branch"):
        return False
    turned = {("-" if atom[0] == "+" else "+") + atom[1:] for atom in g.must}
    return not turned.isdisjoint(h.must) and set(g.must).isdisjoint(h.must)


def _vague_one(g: Guard, both: _Compared) -> Guard | None:
    """A new refusal whose condition says nothing of who may: perhaps the same check in other words."""
    alike = (h for h in both.gained if h.vague and h.form == "refusal" and _is_stronger(h, g))
    return next(alike, None)


def _more_often(g: Guard, both: _Compared) -> Guard | None:
    """The same limit with ten times the number, or more."""
    if g.family != "rate limit" or g.form not in ("decorator", "argument", "wide"):
        return None
    few = _first_number(g.text)
    alike = (h for h in both.gained if h.form == g.form and h.family == g.family)
    return next((h for h in alike if 0 < few * 10 <= _first_number(h.text)), None)


def _first_number(text: str) -> int:
    """The first number of a text of at most nine digits; 0 where there is none."""
    digits = "".join(c if c.isdecimal() and c.isascii() else " " for c in text).split()
    return int(digits[0][:9]) if digits else 0


def _is_replaced(g: Guard, gained: Sequence[Guard], both: _Compared, head: Side) -> bool:
    if g.form == "entry":
        units = (unit for facts in head.files.values() for unit in facts.units)
        return any(h.must == g.must for unit in units for h in unit.guards)
    for h in gained:
        if h.form == "entry":
            continue
        if h.form == "branch" and g.form != "branch":
            continue
        if h.vague and not g.vague and h.form == "refusal":
            continue
        if _is_stronger(h, g) or (both.new.unit.check and h.family == "integrity"):
            if g.form == "cleaner" and not _cleans_alike(h, g):
                continue
            return True
    if g.form in ("wide", "class"):
        return any(_is_stronger(h, g) for h in _inside(both, head))
    return False


def _cleans_alike(h: Guard, g: Guard) -> bool:
    """``bleach.clean`` for ``escape``, or the template's own escaping; for constant time only its like."""
    if h.form != "cleaner":
        return h.form == "argument" and h.family == "escaping"
    return h.must[0].split()[0] == g.must[0].split()[0]


def _inside(both: _Compared, head: Side) -> Iterator[Guard]:
    """Guards that functions below a class or a module have by themselves at head."""
    facts = head.files.get(both.new.path)
    for unit in facts.units if facts is not None else ():
        if unit.kind == "function" and unit.name.startswith(both.new.unit.name):
            yield from (h for h in unit.guards if h.form in ("decorator", "parameter", "class"))


def _is_stronger(h: Guard, g: Guard) -> bool:
    if g.form == h.form == "handler" and {g.family, h.family} == {"integrity", "authentication"}:
        return True  # a signed token for one that is looked up
    return h.family == g.family or (g.family, h.family) == WHO


def _hollow_names(base: Side, head: Side) -> frozenset[str]:
    """Names of guards that the change itself defines, and that refuse nothing and ask nobody."""
    guards = (g for facts in head.files.values() for unit in facts.units for g in unit.guards)
    used = {_guard_name(g) for g in guards if g.form in _BY_NAME} & head.functions.keys()
    hollow = {name for name in used if _asks_nobody(name, head.functions[name], head)}
    return frozenset(n for n in hollow if not _asks_nobody(n, base.functions.get(n, ()), base))


def _guard_name(g: Guard) -> str:
    return g.must[0].lstrip("+-").partition("(")[0].rpartition(".")[2]


def _asks_nobody(name: str, defined: Sequence[Placed], side: Side) -> bool:
    if not defined or family_of(name) is None:
        return False
    calls = {call for one in defined for call in one.unit.calls}
    return not any(family_of(call) for call in calls) and not any(effective_guards(side, d) for d in defined)


def _is_hollow(h: Guard, hollow: frozenset[str]) -> bool:
    return h.form in _BY_NAME and _guard_name(h) in hollow


def _still_matters(g: Guard, both: _Compared, head: Side) -> bool:
    """Is what was protected still there?"""
    unit: Unit = both.new.unit
    if unit.coarse and g.form == "class":
        left = {one.unit.name.rpartition(".")[2] for one in _routes_of(both.new, head)}
        only = {a.rpartition(" ")[2] for a in g.context if a.startswith("+skips all but ")}
        but = {a.rpartition(" ")[2] for a in g.context if a.startswith("+skips :")}
        return bool(left & {f.lstrip(":") for f in only} if only else left - {f.lstrip(":") for f in but})
    asked = g.must[0].lstrip("+-")
    if asked.startswith(ORDER):
        return set(asked.removeprefix(ORDER).split(" before ")) <= set(unit.mentions)
    if g.form == "branch":
        return any(one in unit.plain and one not in both.old.unit.plain for one in g.holds)
    if g.of == QUERY:
        return any(snake(call) in _QUERIES or snake(call).startswith(_ASKING) for call in unit.calls)
    if g.form == "entry" and g.must[0].startswith(QUIET):
        return False  # told by what opens it
    if g.form == "entry":
        return not g.of or g.of in unit.mentions or g.of in unit.calls
    return not g.of or unit.kind != "function" or g.of in unit.calls or g.of in unit.mentions


def _routes_of(owner: Placed, side: Side) -> Iterator[Placed]:
    for unit in side.files[owner.path].units:
        if unit.kind == "function" and unit.route and unit.name.startswith(f"{owner.unit.name}."):
            yield Placed(path=owner.path, unit=unit)
