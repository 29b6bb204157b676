"""Routes that asked who somebody is at base, and ask nobody at head, wherever either is registered. Pure.

A function that becomes a class, moves to another file or another router, or is registered once more is
another function to whoever pairs functions; what it answers to is the same address.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from gate.protections.facts import WHO, FileFacts, Guard, Route
from gate.protections.matching import Side, alike, make_side
from gate.protections.routes.access import Access, accesses, same_verb, takes_in
from gate.protections.unit_losses import Loss
from gate.protections.vocabulary import is_meant_open
from gate.regex import regex

_LEAST: Final = 3
_SHARE: Final = 0.8
"""Of the routes beside a new one, as many as make a rule."""
_FOR_ALL: Final = frozenset({
    "APP_GUARD", "useGlobalGuards", "authorizeHttpRequests", "authorizeRequests", "authorizeExchange",
    "FallbackPolicy", "AuthorizeFilter", "LoginRequiredMiddleware", "DEFAULT_PERMISSION_CLASSES",
    "before_app_request", "AuthenticationMiddleware", "AuthorizeFolder", "UseMiddleware",
})  # fmt: skip
"""What guards all that an application answers, where it is configured."""
_BY_FILE: Final = (".py", ".java", ".kt", ".cs")
_ALIKE: Final = 0.6
_ROUTERS: Final = 2
"""Other routers, or routes below one address, that make a rule."""
_DOORS: Final = regex(
    r"log_?in|log_?out|sign|regist|token|session|refresh|oauth|auth|public|health|status|webhook|callback"
    r"|ping|metrics|verif|reset|password|docs|version|invit|join|captcha|contact",
    re.IGNORECASE,
)
"""Words of what has to answer before somebody is known, or whoever asks."""
_INNER: Final = frozenset({
    "admin", "internal", "staff", "backoffice", "back-office", "manage", "management", "moderation", "ops",
})  # fmt: skip
"""First parts of addresses below which nobody from outside is expected."""


def route_losses(base: Side, head: Side, around: Mapping[str, FileFacts] | None = None) -> Iterator[Loss]:
    """Routes of head that nothing guards, and that base guarded: by address, by name, by what answers; and
    new ones where almost all beside them are guarded. ``around``: files that did not change.
    """
    if not any(facts.routes for facts in head.files.values()):
        return
    if guards_all(base, head):
        return
    changed = frozenset(head.files)
    if around:
        base = make_side({**around, **base.files})
        head = make_side({**around, **head.files})
    had, has = accesses(base), accesses(head)
    for one in has:
        touched = one.path in changed or (one.unit is not None and one.unit.path in changed)
        if not touched:
            continue
        before = _before(one, had, has)
        if before:
            yield from _lost(one, before)
        elif one.path in changed and not one.asked and not one.unknown:
            found = [] if one.hints else [*_beside(one, had)]
            yield from found or ([] if one.called else _among(one, had, base, head))


def guards_all(base: Side, head: Side) -> bool:
    """Does head have anew what guards more than one route: before all requests, in a configuration?"""
    had, has = _wide(base), _wide(head)
    return bool(has - had)


def _wide(side: Side) -> set[str]:
    found: set[str] = set()
    for path, facts in side.files.items():
        for unit in facts.units:
            found |= {word for word in (*unit.calls, *unit.mentions) if word in _FOR_ALL}
            if path.endswith(_BY_FILE) and unit.kind == "module":
                wide = (g.must[0] for g in unit.guards if g.form in ("wide", "entry") and g.family in WHO)
                found |= {must for must in wide if "(" not in must}
    return found


def _before(one: Access, had: list[Access], has: list[Access]) -> list[Access]:
    """What base registered for the same: all of it, so that one that was open tells nothing."""
    same = [old for old in had if old.url == one.url and same_verb(old.route, one.route) and one.url]
    if not same and one.route.name:
        same = [old for old in had if old.route.name == one.route.name]
    if not same:
        left = {(new.url, new.route.verb) for new in has}
        same = [
            old for old in had
            if _is_same_handler(old, one) and (old.asked or (old.url, old.route.verb) not in left)
        ]  # fmt: skip
    return same


def _is_same_handler(old: Access, new: Access) -> bool:
    """Does the same function answer, perhaps moved?"""
    if old.unit is None or new.unit is None or old.unit.unit.kind != new.unit.unit.kind:
        return False
    a, b = old.unit.unit, new.unit.unit
    if a.name.rpartition(".")[2] != b.name.rpartition(".")[2]:
        return False
    return old.unit.path == new.unit.path or a.digest == b.digest != 0 or alike(a, b) >= _ALIKE


def _lost(one: Access, before: list[Access]) -> Iterator[Loss]:
    if one.unknown or not all(old.asked for old in before):
        return
    gone = _gone(one, before)
    if gone is not None:
        yield _loss(one, before[0], gone)


def _gone(one: Access, before: list[Access]) -> Guard | None:
    """The guard of base whose kind head has not: any, or what somebody may where it still asks who it is."""
    has = {g.family for g in one.guards}
    asked = [g for old in before for g in old.guards]
    if not has and one.hints:
        return None
    if not has:
        return next((g for g in asked if g.family == "authorisation"), asked[0])
    if "authorisation" in has | one.hints:
        return None
    # Only what is registered with a route: words within a function say too little of another one.
    told = [g for g in asked if g.family == "authorisation" and g.form in ("wide", "decorator", "class")]
    return told[0] if told and all(any(g in told for g in old.guards) for old in before) else None


def _beside(one: Access, had: list[Access]) -> Iterator[Loss]:
    """A new route that asks nobody, where almost all of its router and its file at base ask the same."""
    if is_meant_open(one.route.handler.rpartition(".")[2]) or is_meant_open(one.url):
        return
    beside = [
        old for old in had
        if old.path == one.path and old.route.group == one.route.group
        and not is_meant_open(old.url) and not is_meant_open(old.route.handler.rpartition(".")[2])
    ]  # fmt: skip
    if len(beside) < _LEAST or (one.unit is None and not one.route.words):
        return
    shared = Counter(key for old in beside for key in {g.must[0] for g in old.route.guards})
    for key, count in shared.most_common(1):
        if count >= _LEAST and count >= _SHARE * len(beside):
            old = next(o for o in beside if any(g.must[0] == key for g in o.route.guards))
            yield _loss(one, old, next(g for g in old.route.guards if g.must[0] == key), anew=True)


def _among(one: Access, had: list[Access], base: Side, head: Side) -> Iterator[Loss]:
    """A new route that asks nobody, in a router that is put beside others of which all routes ask; or below
    an address (``/admin``) below which all others ask.
    """
    said = f"{one.url} {one.route.handler}"
    if is_meant_open(one.route.handler.rpartition(".")[2]) or is_meant_open(one.url) or _DOORS.search(said):
        return
    first = one.url.partition("/")[0]
    below = [old for old in had if first in _INNER and old.url.partition("/")[0] == first]
    found = _if_all_ask(one, below)
    if found is None:
        own = [(at, m) for at, m in _mounts(head) if takes_in(m, one.path, one.route, same=at == one.path)]
        places = {(at, mount.group) for at, mount in own}
        others = [(at, mount) for at, mount in _mounts(base) if (at, mount.group) in places]
        beside = [
            old for old in had
            if any(takes_in(mount, old.path, old.route, same=at == old.path) for at, mount in others)
        ]  # fmt: skip
        routers = {(old.path, old.route.group) for old in beside}
        found = _if_all_ask(one, beside) if len(routers) >= _ROUTERS and len(beside) >= _LEAST else None
    if found is not None:
        yield found


def _mounts(side: Side) -> Iterator[tuple[str, Route]]:
    for path, facts in side.files.items():
        yield from ((path, route) for route in facts.routes if route.mounts)


def _if_all_ask(one: Access, others: list[Access]) -> Loss | None:
    """The loss where at least two others that are not meant for everybody are there, and all of them ask."""
    shut = [old for old in others if not is_meant_open(old.url)]
    shut = [old for old in shut if not is_meant_open(old.route.handler.rpartition(".")[2])]
    if len(shut) < _ROUTERS or not all(old.asked for old in shut):
        return None
    return _loss(one, shut[0], shut[0].guards[0], anew=True)


def _loss(one: Access, old: Access, gone: Guard, *, anew: bool = False) -> Loss:
    in_place = old.unit.path if old.unit is not None and gone not in old.route.guards else old.path
    return Loss(
        how="missing" if anew else "removed",
        family=gone.family if gone.family in WHO else "authentication",
        path=one.path,
        line=one.route.line,
        unit=one.unit.unit.name if one.unit is not None else one.route.handler,
        before=(f"{old.route.text}: {gone.text}" if gone.text not in old.route.text else old.route.text,),
        before_at=f"{in_place}:{gone.line}",
        after=f"{one.route.verb or 'any'} /{one.url}: {one.route.text}",
        modest=True,
    )
