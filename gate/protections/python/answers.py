"""Answers that are one person's, in Python: no shared cache may keep them. Runs in the limited child."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.protections.traits import PRIVATE, Fact, lapse, trait

_HEADER: Final = "cache-control"
_PERSONAL: Final = frozenset({"private", "no-store"})
_SHARED: Final = frozenset({"public", "s-maxage"})


def cache_facts(node: ast.AST) -> Iterator[Fact]:
    """``Cache-Control: private``, which protects, and ``public``, which opens where base was private."""
    texts = [
        (one.value, one.lineno)
        for one in ast.walk(node)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    if not any(text.lower() == _HEADER for text, _ in texts):
        return
    for text, line in texts:
        said = {part.strip().partition("=")[0] for part in text.lower().split(",")}
        if said & _PERSONAL:
            yield trait("setting", PRIVATE, f"Cache-Control: {text}", line, form="argument")
        elif said & _SHARED:
            shown = f"Cache-Control: {text}"
            yield lapse("setting", "kept by shared caches", shown, line, needs=(PRIVATE,))
