"""How much memory a sandbox gets where the settings leave it to us."""

from __future__ import annotations

import os
from typing import Final

from gate.settings import SandboxSettings

APPLICATION: Final = 1024 << 20
"""An application with all it needs: several imports of one group may still be there side by side."""
_SHARE: Final = 8
"""No sandbox gets more than this part of the machine's memory unasked: several run at once."""


def with_room(limit: int, machine: int | None = None) -> int:
    """The limit (bytes) where dependencies are installed: more than usual if the machine has it. A limit that
    somebody set stays. ``machine``: its memory, None to ask.
    """
    if limit != SandboxSettings().memory_mb << 20:
        return limit
    has = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if machine is None else machine
    return max(limit, min(APPLICATION, has // _SHARE))
