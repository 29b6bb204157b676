"""Whether a module ended for want of a page or of a bundler: told from what was raised.

What stands in for a page: page.mjs; for a bundler: hooks.mjs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_NAMES = frozenset(
    {
        *("window", "document", "location", "self", "history", "navigator", "screen", "customElements"),
        *("localStorage", "sessionStorage", "alert", "addEventListener", "matchMedia", "getComputedStyle"),
        *("requestAnimationFrame", "HTMLElement", "Element", "Node", "Image", "DOMParser", "Worker"),
        *("MutationObserver", "IntersectionObserver", "ResizeObserver", "XMLHttpRequest", "FileReader"),
        *(
            "Document",
            "Window",
            "NodeList",
            "NodeFilter",
            "Range",
            "Selection",
            "EventSource",
            "Audio",
            "Option",
        ),
        *(
            "Notification",
            "DOMRect",
            "CSS",
            "CSSStyleSheet",
            "HTMLCollection",
            "DocumentFragment",
            "ShadowRoot",
        ),
    }
)
"""What a ReferenceError says is not defined."""
_INTERFACE = re.compile(r"(?:HTML|SVG)[A-Z]\w*Element\Z|[A-Z]\w*Event\Z")
_WORDS = frozenset(("DOM", "browser", "window", "document"))
_WANTING = frozenset(("need", "needs", "require", "requires", "required", "only", "available", "undefined"))
"""What a library's own words say of it (``Browser history needs a DOM``)."""


def wants_page(result: Mapping[str, object]) -> bool:
    """Did the item of this result (its ``outcome``, ``exception`` and ``message``) end for want of a page?"""
    words = set(re.findall(r"\w+", str(result.get("message", ""))[:200]))
    if result.get("outcome") != "exception":
        return False
    if result.get("exception") == "ReferenceError":
        return not words.isdisjoint(_NAMES) or any(_INTERFACE.match(word) for word in words)
    return not words.isdisjoint(_WORDS) and not words.isdisjoint(_WANTING)


def wants_bundler(result: Mapping[str, object]) -> bool:
    """Did it end because a script imports names from a package of CommonJS, as only bundlers let it?"""
    message = str(result.get("message", ""))
    return result.get("exception") == "SyntaxError" and (
        "does not provide an export named" in message or "Named export" in message
    )
