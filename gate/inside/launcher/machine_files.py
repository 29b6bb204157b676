"""Files of /proc that tell a machine made for one run: up for a second, with the memory of one test. Shown
instead is what a hosted runner has. Part of launch.py.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # typing alone takes a tenth of the start
if TYPE_CHECKING:
    from typing import Dict

_TOTAL = 16_373_500
"""KiB of a hosted runner (four processors, 16 GiB), less what its kernel keeps."""


def texts() -> Dict[str, str]:
    """By path. Drawn where machines differ: minutes since the start, memory in use."""
    drawn = int.from_bytes(os.urandom(4), "big")
    up = 90 + drawn % 1500 + drawn % 100 / 100
    free = _TOTAL - 2_100_000 - drawn % 700_000
    cached = 1_100_000 + drawn % 300_000
    sizes = {
        "MemTotal": _TOTAL + drawn % 1000,
        "MemFree": free,
        "MemAvailable": free + cached - 90_000,
        "Buffers": 61_000 + drawn % 9000,
        "Cached": cached,
        "SwapCached": 0,
        "Active": cached // 2,
        "Inactive": cached // 2 + 240_000,
        "Unevictable": 30_000,
        "Mlocked": 27_000,
        "SwapTotal": 3_145_724,
        "SwapFree": 3_145_724,
        "Dirty": 700 + drawn % 900,
        "Writeback": 0,
        "AnonPages": 510_000 + drawn % 90_000,
        "Mapped": 290_000,
        "Shmem": 33_000,
        "Slab": 190_000,
    }
    return {
        "/proc/uptime": f"{up:.2f} {up * 3.6:.2f}\n",
        "/proc/meminfo": "".join(f"{name + ':':<16}{size:>8} kB\n" for name, size in sizes.items()),
    }
