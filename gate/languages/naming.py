"""Names of programs in one spelling, so that words in them are found whatever case they are written in."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from gate.regex import regex

_LETTERS: Final = regex(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(8192)
def snake(name: str) -> str:
    """``LoginRequiredMixin`` as ``login_required_mixin``; ``CSRFProtect`` as ``csrf_protect``."""
    return _LETTERS.sub("_", name).lower().replace("-", "_")
