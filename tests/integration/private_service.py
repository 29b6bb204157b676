"""What a test's own engines have in common: below a folder, on a socket there, gone with their mounts."""

from __future__ import annotations

import contextlib
import subprocess
import time
from pathlib import Path
from typing import ClassVar

from docker import DockerClient

from gate.sandbox.backends.container.engine import ANY_API, API_ERRORS, Engine, connect
from gate.sandbox.images import engine_images, known_images


def mounts_below(folder: Path) -> list[str]:
    """Mount points below a folder, in the order in which they were made."""
    places = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [place for place in places if place.startswith(f"{folder}/")]


class PrivateService:
    """An engine's service below ``folder`` (a short path: sockets have 108 bytes)."""

    patience: ClassVar[float] = 30.0
    """Seconds for its start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "s.sock"
        self.address = f"unix://{self.socket}"
        self._daemon: subprocess.Popen[bytes] | None = None

    @property
    def command(self) -> list[str]:
        """How it is started."""
        raise NotImplementedError

    def start(self) -> None:
        """Start and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self._daemon = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,  # Podman's monitors leave files where it was started
                start_new_session=True,
            )
        until = time.monotonic() + self.patience
        while time.monotonic() < until and self._daemon.poll() is None:
            time.sleep(0.1)
            if not self.socket.exists():  # the library leaks what it cannot connect
                continue
            with contextlib.suppress(*API_ERRORS), contextlib.closing(self.client()) as client:
                client.ping()
                return
        raise RuntimeError((self.folder / "log").read_text(errors="replace")[-1000:])

    def client(self) -> DockerClient:
        """A client of this engine."""
        return Engine(base_url=self.address, version=ANY_API, timeout=60)

    def load_images(self) -> None:
        """Copy the images it lacks from the machine's own engine. Raises InconclusiveError where there is
        none.
        """
        with contextlib.closing(connect(timeout=300)) as source, contextlib.closing(self.client()) as target:
            for name in engine_images.TARGETS:
                engine_images.ensure(source, name)
                if engine_images.present(target, name):
                    continue
                target.api.load_image(source.api.get_image(engine_images.tag(name)))
                known_images.remember(
                    engine_images.tag(name), known_images.image_id(target, engine_images.tag(name))
                )

    def mounts(self) -> list[str]:
        """What is mounted below its folder."""
        return mounts_below(self.folder)

    def end(self, patience: float) -> None:
        """The service itself: asked, and after so many seconds made to."""
        if self._daemon is not None:
            self._daemon.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._daemon.wait(patience)
            self._daemon.kill()
            self._daemon.wait()

    def unmount(self) -> None:
        """What it left mounted."""
        for mount in reversed(self.mounts()):
            subprocess.run(["umount", "-l", mount], check=False, capture_output=True)
