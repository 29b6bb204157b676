"""A container engine of a test's own, on its own socket and storage, that may be killed at will."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

from tests.integration.private_service import PrivateService, mounts_below


class PrivateEngine(PrivateService):
    """A dockerd below ``folder``, in a network namespace of its own.

    ``data``: where its images are, and stay for the next engine. Only one at a time may use it.
    """

    def __init__(self, folder: Path, data: Path) -> None:
        super().__init__(folder)
        self.data = data
        shutil.rmtree(data / "root" / "containers", ignore_errors=True)  # of an engine that was killed
        self._parent = f"/gate-test-engine-{os.getpid()}"

    @property
    def command(self) -> list[str]:
        """How it is started; the pid file comes last."""
        return [
            *("unshare", "--net"),  # "no bridge" would else remove the machine's own
            "dockerd",
            *("--host", self.address, "--data-root", f"{self.data}/root"),
            *("--exec-root", f"{self.folder}/exec", "--cgroup-parent", self._parent),
            *("--bridge", "none", "--iptables=false", "--ip6tables=false", "--ip-masq=false"),
            *("--pidfile", f"{self.folder}/pid"),
        ]

    def mounts(self) -> list[str]:
        """What is mounted below its folder and its storage."""
        return super().mounts() + mounts_below(self.data)

    def kill(self) -> None:
        """As a crash would: no word to anybody."""
        assert self._daemon is not None
        self._daemon.kill()
        self._daemon.wait()

    def adopt(self, daemon: subprocess.Popen[bytes]) -> None:
        """Somebody else has started it again."""
        self._daemon = daemon

    def freeze(self) -> None:
        """It is there, takes connections, and never says a word again."""
        assert self._daemon is not None
        self._daemon.send_signal(signal.SIGSTOP)

    def stop(self) -> None:
        """Gone with everything it started: containers, shims, its containerd, its mounts."""
        if self._daemon is not None:
            self._daemon.send_signal(signal.SIGCONT)
        self.end(20)
        for pid in self._strays():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for group in sorted(Path("/sys/fs/cgroup").glob(f"*{self._parent}/**/"), reverse=True):
            with contextlib.suppress(OSError):
                group.rmdir()
        self.unmount()

    def _strays(self) -> list[int]:
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                ours = os.fsencode(f"{self.folder}/exec") in path.read_bytes()
                if ours or self._parent in (path.parent / "cgroup").read_text():
                    found.append(int(path.parent.name))
        return found
