"""A container engine of a test's own, on its own socket and storage, that may be killed at will."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import docker

from gate.sandbox import images
from gate.sandbox.engine import API_ERRORS, connect


class PrivateEngine:
    """A dockerd below ``folder`` (short path: sockets have 108 bytes), in a network namespace of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = f"unix://{folder}/d.sock"
        self._parent = f"/gate-test-engine-{os.getpid()}"
        self._daemon: subprocess.Popen[bytes] | None = None

    @property
    def command(self) -> list[str]:
        """How it is started; the pid file comes last."""
        return [
            *("unshare", "--net"),  # "no bridge" would else remove the machine's own
            "dockerd",
            *("--host", self.address, "--data-root", f"{self.folder}/data"),
            *("--exec-root", f"{self.folder}/exec", "--cgroup-parent", self._parent),
            *("--bridge", "none", "--iptables=false", "--ip6tables=false", "--ip-masq=false"),
            *("--pidfile", f"{self.folder}/pid"),
        ]

    def start(self) -> None:
        """Start and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self._daemon = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        until = time.monotonic() + 30
        while time.monotonic() < until:
            if self._daemon.poll() is not None:
                break
            with contextlib.suppress(*API_ERRORS), contextlib.closing(self.client()) as client:
                client.ping()
                return
            time.sleep(0.1)
        raise RuntimeError((self.folder / "log").read_text(errors="replace")[-1000:])

    def client(self) -> docker.DockerClient:
        """A client of this engine."""
        return docker.DockerClient(base_url=self.address, version="auto", timeout=60)

    def load_images(self) -> None:
        """Copy our images from the machine's own engine."""
        with contextlib.closing(connect(timeout=300)) as source, contextlib.closing(self.client()) as target:
            for name in images.TARGETS:
                images.ensure(source, name)
                target.api.load_image(source.api.get_image(images.tag(name)))

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
            self._daemon.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._daemon.wait(20)
            self._daemon.kill()
            self._daemon.wait()
        for pid in self._strays():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for group in sorted(Path("/sys/fs/cgroup").glob(f"*{self._parent}/**/"), reverse=True):
            with contextlib.suppress(OSError):
                group.rmdir()
        mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        for mount in reversed([mount for mount in mounts if mount.startswith(f"{self.folder}/")]):
            subprocess.run(["umount", "-l", mount], check=False, capture_output=True)

    def _strays(self) -> list[int]:
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                ours = os.fsencode(f"{self.folder}/exec") in path.read_bytes()
                if ours or self._parent in (path.parent / "cgroup").read_text():
                    found.append(int(path.parent.name))
        return found
