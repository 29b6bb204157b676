"""Routes of a Starlette application, those of routers that FastAPI includes one by one.

FastAPI up to 0.12x copied the routes of an included router into the application. Since then the router
stands there as one route without a path, and ``effective_candidates()`` tells what it leads to: routes
with their whole path, and routers that it includes itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_DEEP = 8


def each_route(routes: Any, depth: int = 0) -> Iterator[Any]:
    """Each route as it answers, in the order in which they are asked. A router that raises has none."""
    for route in routes if depth <= _DEEP else ():
        within = getattr(route, "effective_candidates", None)
        if not callable(within):
            yield getattr(route, "starlette_route", None) or route
            continue
        try:
            found = list(within())
        except Exception:
            continue
        yield from each_route(found, depth + 1)
