"""Which unchanged files a route is read with: its handler's, and those that take its router in. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping
from typing import Final

from gate.languages.naming import snake
from gate.protections.facts import FileFacts, Route

_MOUNTING: Final = frozenset({
    "app", "main", "index", "server", "urls", "routes", "router", "routers", "api", "web", "program",
    "startup", "__init__", "application", "wsgi", "asgi",
})  # fmt: skip
_NO_PLACE: Final = frozenset({"views", "view", "handlers", "index", "api", "h"})
"""Parts of a handler's name that many files are called by; its folder must be named, too."""
_MOST: Final = 16


def files_of_routes(
    base: Mapping[str, FileFacts], head: Mapping[str, FileFacts], there: Collection[str]
) -> list[str]:
    """Paths of ``there`` (unchanged files) that say what asks before a route that this change registers."""
    had = {(r.url, r.verb, r.handler, path) for path, facts in base.items() for r in facts.routes}
    new = [
        (path, r) for path, facts in head.items() for r in facts.routes
        if (r.url, r.verb, r.handler, path) not in had
    ]  # fmt: skip
    if not new:
        return []
    found = [at for at in there if any(_is_handlers(at, path, route) for path, route in new[:_MOST])]
    moved = {path for path, _ in new if path not in base or not base[path].routes}
    if moved:
        found += [at for at in there if any(may_mount(at, path) for path in moved)]
    return [*dict.fromkeys(found)][:_MOST]


def _is_handlers(at: str, path: str, route: Route) -> bool:
    """May a file hold what answers?"""
    if posixpath.splitext(at)[1] != posixpath.splitext(path)[1]:
        return False
    parts = [snake(part) for part in re.split(r"\W+", route.handler) if part]
    where = [snake(one) for one in at.rsplit(".", 1)[0].split("/")]
    stem = where[-1].replace(".", "_")
    if stem not in parts:
        return False
    return (
        stem not in _NO_PLACE
        or len(where) < 2
        or where[-2] in parts
        or posixpath.dirname(at) == posixpath.dirname(path)
    )


def may_mount(at: str, path: str) -> bool:
    """Is it one of the files that put an application together, in the folder of a new one or above it?"""
    if posixpath.splitext(at)[1] != posixpath.splitext(path)[1] or _stem(at) not in _MOUNTING:
        return False
    folder, below = posixpath.dirname(at), posixpath.dirname(path)
    return (below + "/").startswith(folder + "/" if folder else "")


def _stem(path: str) -> str:
    return snake(posixpath.basename(path).rpartition(".")[0])
