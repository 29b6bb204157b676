"""What asks who somebody is before a registered handler answers, over all files of one side. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.dataclass import dataclass
from gate.languages.naming import snake
from gate.protections.effective import effective_guards
from gate.protections.facts import QUERY, WHO, Guard, Route
from gate.protections.matching import Placed, Side
from gate.protections.routes.urls import joined
from gate.protections.vocabulary import family_of
from gate.regex import regex

_FORMS: Final = ("decorator", "parameter", "class", "wide", "refusal", "call", "argument")
_PLAIN: Final = frozenset({
    "View", "TemplateView", "ListView", "DetailView", "CreateView", "UpdateView", "DeleteView", "FormView",
    "RedirectView", "MethodView", "HTTPEndpoint", "RequestHandler", "Resource", "object", "ControllerBase",
    "Controller", "ApplicationController", "BaseController", "ArchiveIndexView", "Exception",
})  # fmt: skip
"""Classes of frameworks that ask nobody themselves."""
_HARMLESS: Final = regex(
    r"cors|cache|gzip|compress|json|body|parse|upload|multer|valid|log|trace|metric|vary|etag|never|async"
    r"|handler|require_(?:get|post|safe|http)|wrap|transaction|atomic|exempt|timeout|schema|rate|limit|csrf"
)
_MOST: Final = 2_000
_DISTINCT: Final = 5
"""Letters of a name that is found once and whose place says nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """One route with everything that is seen to guard it. ``unit``: what answers, where it is known.

    ``unknown``: something stands around it, or below its class, that may ask who somebody is. ``hints``: what
    the names that it uses speak of.
    """

    path: str
    route: Route
    url: str
    unit: Placed | None
    guards: tuple[Guard, ...]
    unknown: bool
    hints: frozenset[str]
    called: bool = False
    """It calls something whose name speaks of that: a word for an owner alone may be a column's."""

    @property
    def asked(self) -> bool:
        """Does something ask who somebody is?"""
        return bool(self.guards)

    @property
    def unsure(self) -> bool:
        """May something ask that nobody here understands?"""
        return self.unknown or bool(self.hints)


def accesses(side: Side) -> list[Access]:
    """Every route of one side that answers something."""
    found = [(path, route) for path, facts in side.files.items() for route in facts.routes][:_MOST]
    mounts = [(path, route) for path, route in found if route.mounts]
    return [_access(side, path, route, mounts) for path, route in found if not route.mounts]


def _access(side: Side, path: str, route: Route, mounts: list[tuple[str, Route]]) -> Access:
    guards = [g for g in route.guards if g.family in WHO]
    prefix = ""
    for at, mount in mounts:
        if takes_in(mount, path, route, same=at == path):
            guards += [g for g in mount.guards if g.family in WHO]
            prefix = prefix or mount.url
    unit, several = _handler(side, route, path)
    words = {*route.words}
    unresolved = several or (unit is None and bool(route.handler))
    if unit is not None:
        inner, names, unknown = _of_unit(side, unit)
        guards += inner
        words |= names
        unresolved = unresolved or unknown
    for one in side.wide.get(path, ()):
        guards += [g for g in one.guards if g.family in WHO and g.form == "wide" and _is_of_file(g, path)]
    wrapped = [w for w in route.wraps if not _HARMLESS.search(snake(w))]
    return Access(
        path=path,
        route=route,
        url=joined(prefix, route.url),
        unit=unit,
        guards=tuple(guards),
        unknown=unresolved or bool(wrapped),
        hints=frozenset(family for word in words if (family := family_of(word)) in WHO),
        called=unit is None or any(family_of(word) in WHO for word in (*unit.unit.calls, *route.words)),
    )


def takes_in(mount: Route, path: str, route: Route, *, same: bool) -> bool:
    """Does a mount take in the router, the function or the file that a route is registered in?"""
    parts = [p for p in re.split(r"\W+|_urls$", mount.handler.removesuffix("()")) if p]
    if not parts:
        return False
    if same:
        return parts[-1] == route.group != ""
    stems = [re.sub(r"\W", "_", one) for one in path.rsplit(".", 1)[0].split("/")]
    if stems[-1] in ("index", "__init__") and len(stems) > 1:
        stems.pop()
    return stems[-1] in parts[-2:] or (parts[-1] == route.group and len(parts[-1]) > 6)


def _handler(side: Side, route: Route, path: str) -> tuple[Placed | None, bool]:
    """What answers; whether several may be meant."""
    parts = [p for p in re.split(r"\W+", route.handler.removesuffix("()")) if p]
    if not parts:
        return None, False
    last = parts[-1]
    found = [*side.functions.get(last, ()), *side.classes.get(last, ())]
    if len(found) > 1:
        best = max(_fits(one, parts, path) for one in found)
        found = [one for one in found if _fits(one, parts, path) == best]
    if len(found) == 1 and (len(parts) == 1 or _fits(found[0], parts, path) or len(last) >= _DISTINCT):
        return found[0], False
    return None, len(found) > 1


def _fits(one: Placed, parts: list[str], path: str) -> int:
    """How many of the parts before the last name are in where something stands; its own file counts half."""
    where = {*re.split(r"\W+", one.path.rsplit(".", 1)[0]), *one.unit.name.split(".")[:-1]}
    return 2 * sum(part in where for part in parts[:-1]) + (one.path == path)


def _of_unit(side: Side, unit: Placed) -> tuple[list[Guard], set[str], bool]:
    """The guards of what answers, the names that it uses, and whether a class of it is unknown."""
    action = unit.unit.name.rpartition(".")[2]
    guards = [*effective_guards(side, unit)]
    units = [unit.unit]
    if unit.unit.kind == "class":
        for owner in _family(side, unit):
            inside = [
                u for u in side.files[owner.path].units
                if u.kind == "function" and u.name.startswith(f"{owner.unit.name}.")
            ]  # fmt: skip
            units += [owner.unit, *inside]
            guards += [g for u in inside for g in effective_guards(side, Placed(path=owner.path, unit=u))]
    owners = [unit] if unit.unit.kind == "class" else side.classes.get(
        unit.unit.name.rpartition(".")[0].rpartition(".")[2] or "-", ()
    )  # fmt: skip
    bases = {base for owner in owners for one in _family(side, owner) for base in _bases(one)}
    says = any(w.family in WHO for one in units for w in one.weaknesses)  # AllowAny, whatever is below it
    unknown = not says and any(base not in side.classes and base not in _PLAIN for base in bases)
    words = set() if says else {word for one in units for word in (*one.calls, *one.mentions)}
    guards = [g for g in guards if g.form != "wide" or _is_of_file(g, unit.path)]
    return [g for g in guards if _counts(g) and _reaches(g, action)], words, unknown


def _is_of_file(g: Guard, path: str) -> bool:
    """Does it hold for all that a file answers (``before_request``)? Others stand with their routes."""
    return path.endswith(".py") and "(" not in g.must[0]


def _bases(owner: Placed) -> list[str]:
    """The classes below one by their last names; interfaces ask nobody."""
    found: list[str] = []
    for base in owner.unit.bases:
        text = base.removeprefix("extends ").partition("<")[0]
        if not text.startswith("implements"):
            found += [one.strip().rpartition(".")[2].rpartition("\\")[2] for one in text.split(",")]
    return [one for one in found if one and not re.match(r"I[A-Z][a-z]", one)]


def _family(side: Side, owner: Placed) -> Iterator[Placed]:
    """A class and the classes below it that are known."""
    todo, seen = [owner], set[str]()
    while todo:
        one = todo.pop()
        if one.unit.name in seen:
            continue
        seen.add(one.unit.name)
        yield one
        for base in _bases(one):
            todo += side.classes.get(base, ())[:2]


def _counts(g: Guard) -> bool:
    return g.family in WHO and g.form in _FORMS and g.of != QUERY


def _reaches(g: Guard, action: str) -> bool:
    """Ruby's ``only:`` and ``except:``."""
    only = [a.rpartition(" ")[2].lstrip(":") for a in g.context if a.startswith("+skips all but ")]
    but = [a.rpartition(" ")[2].lstrip(":") for a in g.context if a.startswith("+skips :")]
    return action in only if only else action not in but


def same_verb(one: Route, other: Route) -> bool:
    """May both answer the same request?"""
    a, b = set(one.verb.split()), set(other.verb.split())
    return not a or not b or bool(a & b)
