"""A service of Podman of a test's own, with its own storage; root's, as gate needs nothing else of it."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from pathlib import Path

from docker import DockerClient

from gate.sandbox import images
from gate.sandbox.engine import API_ERRORS, connect

_LOCKS = Path("/dev/shm/libpod_lock")


def _outside() -> set[Path]:
    """What every service of root's makes outside of its folder; innermost last."""
    groups = Path("/sys/fs/cgroup").glob("*/libpod_parent")
    return {*groups, *([_LOCKS] if _LOCKS.exists() else [])}


class PrivatePodman:
    """``podman system service`` below ``folder`` (a short path: sockets have 108 bytes)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = f"unix://{folder}/p.sock"
        self._before = _outside()
        self._service: subprocess.Popen[bytes] | None = None

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

    def start(self) -> None:
        """Start and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self._service = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,  # its monitors leave files where it was started
                start_new_session=True,
            )
        until = time.monotonic() + 20
        while time.monotonic() < until and self._service.poll() is None:
            time.sleep(0.1)
            if not (self.folder / "p.sock").exists():  # the library leaks what it cannot connect
                continue
            with contextlib.suppress(*API_ERRORS), contextlib.closing(self.client()) as client:
                client.ping()
                return
        raise RuntimeError((self.folder / "log").read_text(errors="replace")[-1000:])

    def client(self) -> DockerClient:
        """A client of this service."""
        return DockerClient(base_url=self.address, version="auto", timeout=60)

    def load_images(self) -> None:
        """Copy our images from the machine's own engine. Raises CouldNotLook where there is none."""
        with contextlib.closing(connect(timeout=300)) as source, contextlib.closing(self.client()) as target:
            for name in images.TARGETS:
                images.ensure(source, name)
                target.api.load_image(source.api.get_image(images.tag(name)))

    def stop(self) -> None:
        """Gone with its mounts, and what it made outside of its folder."""
        if self._service is not None:
            self._service.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._service.wait(10)
            self._service.kill()
            self._service.wait()
        for mount in reversed(self.mounts()):
            subprocess.run(["umount", "-l", mount], check=False, capture_output=True)
        for made in _outside() - self._before:
            for group in (made / "conmon", made):
                with contextlib.suppress(OSError):
                    group.unlink() if group == _LOCKS else group.rmdir()

    def mounts(self) -> list[str]:
        """What is mounted below its folder."""
        places = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        return [place for place in places if place.startswith(f"{self.folder}/")]
