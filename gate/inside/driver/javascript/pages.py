"""Whether a module ended for want of a page or of a bundler: told from what was raised.

What stands in for a page: page.mjs; for a bundler: hooks.mjs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_WORDS = frozenset(("DOM", "browser", "window", "document"))
_WANTING = frozenset(("need", "needs", "require", "requires", "required", "only", "available", "undefined"))
"""What a library's own words say of it (``Browser history needs a DOM``)."""


def wants_page(result: Mapping[str, object]) -> bool:
    """Did the item of this result (its ``outcome``, ``exception`` and ``message``) end for want of a page?
    Any name that is not defined may be one: scripts lay their own on its window (``jQuery``).
    """
    if result.get("outcome") != "exception":
        return False
    words = set(re.findall(r"\w+", str(result.get("message", ""))[:200]))
    return result.get("exception") == "ReferenceError" or not (
        words.isdisjoint(_WORDS) or words.isdisjoint(_WANTING)
    )


def wants_bundler(result: Mapping[str, object]) -> bool:
    """Did it end because a script imports names from a package of CommonJS, as only bundlers let it?"""
    message = str(result.get("message", ""))
    return result.get("exception") == "SyntaxError" and (
        "does not provide an export named" in message or "Named export" in message
    )
