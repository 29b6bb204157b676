"""Answers that are kept by their address alone: the next one gets what was somebody else's (CWE-524).

Only a cache that stands behind a log-in counts: compare.py asks for that (``BY_ADDRESS``). In the child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.tree_sitter_parse import walk
from gate.protections.overall.said import plain
from gate.protections.traits import BY_ADDRESS, Fact, lapse
from gate.protections.tree_sitter.shapes import arguments, assigned, callee, is_call, line_of, text_of
from gate.regex import regex

_ADDRESS: Final = regex(
    r"^[`\"']?[\w:${}]*(?:req|request|ctx|context|c|r)(?:\.\w+)*\.(?:originalUrl|url|path|pathname|href|URL|RequestURI"
    r"|Path|String|fullpath|fullUrl|full_path|request_uri|getRequestURI|getPathInfo)(?:\(\))?[}`\"']*$"
)
_WHO: Final = regex(
    r"user|session|authori|cookie|tenant|account|token|vary|principal|customer|locals|auth|member|owner",
    re.IGNORECASE,
)
_READS: Final = frozenset({"get", "has", "fetch", "load", "get_if_present", "match"})
_WRITES: Final = frozenset({"set", "put", "setex", "set_ex", "add", "store", "write", "save", "psetex"})


def answer_facts(function: Node) -> Iterator[Fact]:
    """A function that looks an answer up by the request's address and keeps it there, and asks for nobody."""
    text = text_of(function)
    if not ("rl" in text or "ath" in text or "URI" in text) or _WHO.search(text):
        return
    keys: dict[str, Node] = {}
    nodes = [*walk(function, frozenset())]
    for node in nodes:
        pair = assigned(node)
        if pair is not None and _ADDRESS.match(text_of(pair[1])):
            keys[text_of(pair[0])] = node
    used: dict[str, set[str]] = {}
    for node in nodes:
        if not is_call(node):
            continue
        given = arguments(node)
        name = plain(callee(node))
        if given and (text_of(given[0]) in keys or _ADDRESS.match(text_of(given[0]))):
            kind = "reads" if name in _READS else "writes" if name in _WRITES and len(given) > 1 else ""
            used.setdefault(kind, set()).add(text_of(given[0]))
    for key in sorted(used.get("reads", set()) & used.get("writes", set())):
        at = keys.get(key, function)
        yield lapse("isolation", BY_ADDRESS, text_of(at), line_of(at), anew=True)
        return
