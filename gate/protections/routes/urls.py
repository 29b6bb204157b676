"""Patterns of addresses in one spelling, whatever a framework writes their parameters in. Pure."""

from __future__ import annotations

import re
from typing import Final

from gate.regex import regex

_PARAMETER: Final = regex(
    r"\(\?P<\w+>(?:[^()]|\([^()]*\))*\)|<[^<>]*>|\{[^{}]*\}|(?<=[/.]):\w+\??|\*\w*", re.ASCII
)
_VERB: Final = regex(r"^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) +(?=/)")
_LONGEST: Final = 300


def plain_url(text: str) -> str:
    """``members/{}`` of ``/members/<int:pk>/``, ``^members/(?P<pk>[0-9]+)/$`` and ``/members/:id``."""
    url = _VERB.sub("", text[:_LONGEST]).removeprefix("^").removesuffix("$")
    return _PARAMETER.sub("{}", url).replace("\\.", ".").strip("/")


def verb_of(text: str) -> str:
    """The method that Go's patterns begin with (``GET /members``); empty for none."""
    found = _VERB.match(text)
    return found[1] if found else ""


def joined(*parts: str) -> str:
    """Prefixes and a pattern as one."""
    return "/".join(part for one in parts if (part := one.strip("/")))
