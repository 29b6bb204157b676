"""Whether a module ended for want of a page: told from what was raised. What stands in for one: page.mjs."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NAMES = frozenset(
    {
        *("window", "document", "location", "self", "history", "navigator", "screen", "customElements"),
        *("localStorage", "sessionStorage", "alert", "addEventListener", "matchMedia", "getComputedStyle"),
        *("requestAnimationFrame", "HTMLElement", "Element", "Node", "Image", "DOMParser", "Worker"),
        *("MutationObserver", "IntersectionObserver", "ResizeObserver", "XMLHttpRequest", "FileReader"),
    }
)
"""What a ReferenceError says is not defined."""
_WORDS = frozenset(("DOM", "browser", "window", "document"))
"""What a library's own words say of it (``Browser history needs a DOM``)."""


def wants_page(result: Mapping[str, object]) -> bool:
    """Did the item of this result (its ``outcome``, ``exception`` and ``message``) end for want of a page?"""
    words = set(re.findall(r"\w+", str(result.get("message", ""))[:200]))
    wants = _NAMES if result.get("exception") == "ReferenceError" else _WORDS
    return result.get("outcome") == "exception" and not words.isdisjoint(wants)
