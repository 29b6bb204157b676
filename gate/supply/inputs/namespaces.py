"""Name spaces of private registries: a new package of such a name that now comes from the public one.

Nobody outside owns ``ourcompany-*`` on a public index, so whoever registers the name there is installed
(dependency confusion). The name space is what packages of base have in common that come from a registry of
the project's own: an npm scope, a vendor of Composer, or the first word of several names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from gate.regex import regex
from gate.supply.inputs.model import Input
from gate.supply.inputs.places import is_usual, places, shown

_FIRST: Final = regex(r"^(@[^/]+/|[^/]+/|[a-z0-9]{3,}(?=[-_.]))", re.IGNORECASE)
_EVERYBODY: Final = frozenset(
    {
        *("python", "django", "flask", "pytest", "types", "node", "react", "babel", "eslint", "vue", "rails"),
        *("google", "azure", "aws", "boto", "open", "sphinx", "jupyter", "nvidia", "torch", "tensorflow"),
        *("lib", "rust", "serde", "tokio", "async", "http", "json", "web", "data", "core", "test", "common"),
        *("zope", "fast", "base", "simple", "grpc", "proto", "opentelemetry", "prometheus", "ruby", "rack"),
    }
)
"""First words that say nothing about who made a package."""


def name_space(name: str) -> str:
    """``ours`` of ``ours-tides``, ``@ours/`` of ``@ours/tides``; empty where the name has none of its own."""
    found = _FIRST.match(name.strip().lower())
    first = found[0] if found else ""
    return "" if first in _EVERYBODY else first


def left(old: Iterable[Input], new: Iterable[Input]) -> Iterator[tuple[Input, str, str]]:
    """``(new package, one of base of its name space, where that comes from)``."""
    own: dict[str, tuple[str, str]] = {}
    public: set[str] = set()
    had = set()
    for one in old:
        had.add(one.name)
        space = name_space(one.name)
        if not space or one.kind in ("path", "vcs"):
            continue
        if all(is_usual(place) for place in places(one)):
            public.add(space)
        elif one.where:
            own.setdefault(space, (one.name, shown(one.where)))
    for one in new:
        space = name_space(one.name)
        if one.name in had or one.kind != "registry" or space not in own or space in public:
            continue
        if all(is_usual(place) for place in places(one)):
            yield one, *own[space]
