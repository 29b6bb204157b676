"""Routes of a proxy (Traefik) that lead past what guards the same service by another route."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gate.infrastructure.facts import Fact
from gate.supply.yaml_data import Document, items, mapping

_KEEPING_OUT: Final = frozenset({
    "forwardauth", "basicauth", "digestauth", "ipallowlist", "ipwhitelist", "jwt", "oidc", "ldap",
})  # fmt: skip
"""Middlewares that ask who somebody is or where they are."""
_NAMED: Final = re.compile(
    r"auth|log-?in|sso|oidc|ldap|allow-?list|white-?list|ip-?filter|authelia|keycloak", re.IGNORECASE
)

_DEEPEST: Final = 5


def route_facts(root: Mapping[str, object], document: Document) -> Iterator[Fact]:
    """``http.routers``: a router without any guard, to a service that another router guards."""
    http = mapping(root.get("http"))
    routers = mapping(http.get("routers"))
    if not routers:
        return
    made = mapping(http.get("middlewares"))
    guarded = {
        name: [str(one) for one in items(mapping(router).get("middlewares")) if _keeps_out(str(one), made)]
        for name, router in routers.items()
    }
    behind = {
        str(mapping(router).get("service")): guarded[name]
        for name, router in routers.items()
        if guarded[name]
    }
    for name, router in routers.items():
        service = str(mapping(router).get("service"))
        if not guarded[name] and service in behind:
            line = document.line(("http", "routers", name)) or 1
            rule = str(mapping(router).get("rule", ""))[:120]
            text = f"{name}: {rule} to {service}, elsewhere behind {', '.join(behind[service])}"
            yield Fact("grant", "route-unguarded", f"router {name}", line, text)


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
