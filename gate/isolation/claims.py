"""What each backend says of itself: whether its kernel is its own, and what it does not hold.

The same things stand in docs/sandboxes.md. Anything not listed here is claimed, and failing it is a hole.
"""

from __future__ import annotations

import os
from typing import Final

from gate.dataclass import dataclass
from gate.isolation.interface import Kind
from gate.model.run import Capability

_KINDS: Final[dict[str, Kind]] = {"wasm": "wasm", "restricted": "restricted", "deno": "javascript"}
_NOT_CLAIMED: Final[dict[str, dict[str, str]]] = {
    "bubblewrap": {
        "command.inodes": "bubblewrap's memory file systems have a size but no inode limit",
        "leak.disks": "the host's /usr is bound read-only, and the list of mounts names the disk it lies on",
    },
    "docker": {
        "leak.disks": "the engine binds /etc/hosts and its like from its own folder, on a disk that is named",
        "technology.user-namespace": "the engine maps no users; the code is an ordinary user bare of rights",
    },
    "gvisor": {
        "command.inodes": "gVisor's memory file systems have a size but no inode limit",
        "write.scratch-flags": "gVisor leaves nosuid and nodev out; no_new_privs and a refused mknod do it",
    },
}
_POLLED: Final = {"command.cpu": "this user may make no control group, so processor time is not limited"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Claims:
    """``not_claimed`` maps a check's id to why the backend does not hold it."""

    kind: Kind
    own_kernel: bool
    not_claimed: dict[str, str]
    slow: float = 1.0
    """How much longer than on the bare machine things may take."""


def _crowd() -> float:
    """How many want each processor now, 1 to 6. A processor in software that gets a tenth of a real one needs
    minutes for what it is to try, and what was not tried is no pass.
    """
    return min(6.0, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))


def claims_of(found: Capability) -> Claims:
    """What the backend says of itself on this machine."""
    lacking = dict(_NOT_CLAIMED.get(found.backend, {}))
    if "polling" in found.version:
        lacking |= _POLLED
    return Claims(
        kind=_KINDS.get(found.backend, "machine"),
        own_kernel=found.isolation in ("user-kernel", "vm"),
        not_claimed=lacking,
        slow={"vm": 8.0 * _crowd(), "user-kernel": 3.0}.get(found.isolation, 1.0),
    )
