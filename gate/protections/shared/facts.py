"""What the readers of shared values say."""

from __future__ import annotations

from typing import Literal

import msgspec

What = Literal["pooled", "inherits", "left", "handed", "standing", "cached"]


class Shared(msgspec.Struct, frozen=True):
    """One place. ``holds``: the work has its own value there, and it ends with the work; False where it does
    not. ``name``: the pool, the context or the cache.
    """

    what: What
    function: str
    name: str
    holds: bool
    line: int
    text: str
    word: str = ""
