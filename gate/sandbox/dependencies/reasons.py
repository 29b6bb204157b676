"""What an installer says when it fails, in a report's words: what is missing, and the setting that helps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gate.escape import shorten
from gate.regex import regex

NO_WHEEL: Final = "there is no wheel of it for this Python and machine"
CONTRADICTS: Final = "it contradicts another requirement"
UNFETCHED: Final = "it could not be fetched"
_MOST: Final = 240
_PYTHON: Final = regex(
    r"(?:depends on|requires) (?:a different )?Python(?: )?(?P<what>[<>=!~][^\s,;]*(?:,[<>=!~][^\s,;]*)*)"
)
_PIP_PYTHON: Final = regex(r"Requires-Python (?P<what>[<>=!~][^\s;]*)")
_NETWORK: Final = (
    r"[Ff]ailed to fetch|error sending request|Could not connect|tunnel error|operation timed out"
    r"|Max retries exceeded|ProxyError|NewConnectionError|Request failed after"
)
_SAID: Final[tuple[tuple[str, str], ...]] = (
    (r"Hash mismatch|DO NOT MATCH THE HASHES", "what the index gives is not what its hash names"),
    (r"No space left on device|Disk quota exceeded", "there is no room for it (sandbox.setup_mb)"),
    (r"no time was left", "there was no time for it (sandbox.setup_deadline)"),
    (r"was not found in the package registry|from versions: none\)", "the index does not have it"),
    (
        (
            r"no usable wheels|no wheels with a|only has wheels with|has no wheels"
            r"|distributions? (?:is|are) disabled|--no-build"
        ),
        NO_WHEEL,
    ),
    (_NETWORK, UNFETCHED),
    (
        r"Failed to build|build backend|Failed building wheel|subprocess-exited-with-error",
        "it could not be built",
    ),
    (
        r"there (?:is|are) no versions? of|No matching distribution found",
        "the index does not have that version",
    ),
    (
        r"are incompatible|is incompatible|unsatisfiable|ResolutionImpossible",
        CONTRADICTS,
    ),
)


def reason(said: str, python: str) -> str:
    """One line from an installer's error text. ``python``: the version that it installs for."""
    text = " ".join(re.sub(r"[^\x20-\x7e]", " ", said).split())
    needs = _PYTHON.search(text) or _PIP_PYTHON.search(text)
    for pattern, words in _SAID[:3]:
        if re.search(pattern, text):
            return words
    if needs is not None:
        return f"it needs Python {needs['what'][:60]}, and the sandbox has {python}"
    for pattern, words in _SAID[3:]:
        if re.search(pattern, text):
            return words
    return shorten(text, _MOST) or "the installer did not say why"


def transient(said: str, failures: Sequence[str]) -> bool:
    """Might it go well a minute later? No time, or a network that failed (``failures``: the proxy's), but not
    what is not allowed.
    """
    return "no time was left" in said or bool(failures and re.search(_NETWORK, said))
