"""Routes of a proxy (Traefik) that lead past what guards the same service by another route."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from gate.infrastructure.facts import Fact, Width
from gate.regex import regex
from gate.supply.yaml_data import Path, items, mapping

_KEEPING_OUT: Final = frozenset({
    "forwardauth", "basicauth", "digestauth", "ipallowlist", "ipwhitelist", "jwt", "oidc", "ldap",
})  # fmt: skip
"""Middlewares that ask who somebody is or where they are."""
_NAMED: Final = regex(
    r"auth|log-?in|sso|oidc|ldap|allow-?list|white-?list|ip-?filter|authelia|keycloak", re.IGNORECASE
)

_LABEL: Final = regex(r"^traefik\.http\.routers\.([\w-]+)\.(rule|middlewares|service|priority)$")
_HOST: Final = regex(r"Host(?:SNI)?\(([^)]*)\)")
_NAME: Final = regex(r"[`'\"]([^`'\"]+)[`'\"]")
_DEEPEST: Final = 5
_MOST: Final = 200


class Router(NamedTuple):
    """A route: its rule, how early it is tried, where it leads and what guards it."""

    name: str
    rule: str
    priority: int
    service: str
    guards: list[str]
    line: int


def route_facts(root: object, line_of: Callable[[Path], int | None]) -> Iterator[Fact | Width]:
    """A router without any guard to a service that another router guards; one that is tried before the
    router with the guard, and one that lost its own. Of files, labels and ``IngressRoute``.
    """
    routers = [*_routers(mapping(root), line_of)][:_MOST]
    behind = {one.service: one for one in routers if one.guards}
    for one in routers:
        covered = ["who somebody is"] if one.guards else []
        yield Width("covered", f"router {one.name} guard", one.line, one.rule[:120], members=covered)
        guarded = behind.get(one.service)
        if one.guards or guarded is None:
            continue
        text = f"{one.name}: {one.rule[:120]} to {one.service}, elsewhere behind {', '.join(guarded.guards)}"
        yield Fact("grant", "route-unguarded", f"router {one.name}", one.line, text)
        for other in routers:
            if other.guards and other.service == one.service and _before(one, other):
                said = f"{one.name} (priority {one.priority}) is tried before {other.name} ({other.priority})"
                yield Fact("grant", "route-unguarded", f"router {one.name} < {other.name}", one.line, said)


def _before(one: Router, other: Router) -> bool:
    """Does ``one`` get a request for the same host first? The longer rule is, unless a priority says so."""
    hosts, others = _hosts(one.rule), _hosts(other.rule)
    return one.priority > other.priority and (not hosts or not others or not hosts.isdisjoint(others))


def _hosts(rule: str) -> set[str]:
    return {name.lower() for match in _HOST.finditer(rule) for name in _NAME.findall(match[1])}


def _routers(root: Mapping[str, object], line_of: Callable[[Path], int | None]) -> Iterator[Router]:
    http = mapping(root.get("http"))
    made = mapping(http.get("middlewares"))
    for name, router in mapping(http.get("routers")).items():
        yield _router(name, mapping(router), made, line_of(("http", "routers", name)))
    for service, value in mapping(root.get("services")).items():
        yield from _labelled(mapping(value), str(service), line_of(("services", service, "labels")))
    if root.get("kind") == "IngressRoute":
        named = str(mapping(root.get("metadata")).get("name", ""))
        for index, route in enumerate(items(mapping(root.get("spec")).get("routes"))):
            said = mapping(route)
            to = [str(mapping(one).get("name", "")) for one in items(said.get("services"))]
            names = [str(mapping(one).get("name", "")) for one in items(said.get("middlewares"))]
            rule = {"rule": said.get("match", ""), "priority": said.get("priority", "")}
            one = {**rule, "service": " ".join(to), "middlewares": names}
            where = line_of(("spec", "routes", index))
            yield _router(f"{named} {rule['rule']}", one, {}, where)


def _labelled(service: Mapping[str, object], name: str, line: int | None) -> Iterator[Router]:
    """Labels of a container, as a list or as a table."""
    labels = service.get("labels")
    pairs = [str(one).partition("=")[::2] for one in items(labels)]
    pairs += [(str(key), str(value)) for key, value in mapping(labels).items()]
    found: dict[str, dict[str, object]] = {}
    for key, value in pairs:
        if match := _LABEL.match(key.strip()):
            said = [one.strip() for one in value.split(",")] if match[2] == "middlewares" else value
            found.setdefault(match[1], {"service": name})[match[2]] = said
    for router, values in found.items():
        yield _router(router, values, {}, line)


def _router(name: str, said: Mapping[str, object], made: Mapping[str, object], line: int | None) -> Router:
    rule = str(said.get("rule", ""))
    given = str(said.get("priority", "") or "")
    guards = [str(one) for one in items(said.get("middlewares")) if _keeps_out(str(one), made)]
    priority = int(given) if given.isascii() and given.isdigit() and len(given) < 12 else len(rule)
    return Router(name, rule, priority, str(said.get("service", "")), guards, line or 1)


def _keeps_out(name: str, made: Mapping[str, object], depth: int = 0) -> bool:
    """By what the middleware is, where the file says so, a chain by its links; else by its name."""
    bare = name.partition("@")[0]
    kinds = {str(kind).lower(): value for kind, value in mapping(made.get(bare)).items()}
    if "chain" in kinds and depth < _DEEPEST:
        links = items(mapping(kinds["chain"]).get("middlewares"))
        return any(_keeps_out(str(link), made, depth + 1) for link in links)
    if not kinds or "plugin" in kinds:
        return _NAMED.search(bare) is not None
    return not _KEEPING_OUT.isdisjoint(kinds)
