"""A service of Podman of a test's own, with its own storage; root's, as gate needs nothing else of it."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from tests.integration.private_service import PrivateService

_LOCKS = Path("/dev/shm/libpod_lock")


def _outside() -> set[Path]:
    """What every service of root's makes outside of its folder; innermost last."""
    groups = Path("/sys/fs/cgroup").glob("*/libpod_parent")
    return {*groups, *([_LOCKS] if _LOCKS.exists() else [])}


class PrivatePodman(PrivateService):
    """``podman system service`` below ``folder``."""

    patience = 20.0

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._before = _outside()

    @property
    def command(self) -> list[str]:
        """Without systemd, and with runc where crun (its default) refuses control groups of both versions."""
        plain = [] if Path("/run/systemd/system").exists() else ["--cgroup-manager", "cgroupfs"]
        runc = shutil.which("runc") if Path("/sys/fs/cgroup/unified").exists() else None
        return [
            *("podman", "--root", f"{self.folder}/root", "--runroot", f"{self.folder}/run"),
            *("--tmpdir", f"{self.folder}/tmp", "--storage-driver", "overlay"),
            *plain,
            *(["--runtime", runc] if runc else []),
            *("system", "service", "--time=0", self.address),
        ]

    def stop(self) -> None:
        """Gone with its mounts, and what it made outside of its folder."""
        self.end(10)
        self.unmount()
        for made in _outside() - self._before:
            for group in (made / "conmon", made):
                with contextlib.suppress(OSError):
                    group.unlink() if group == _LOCKS else group.rmdir()
