"""The host's end of the observer container: one for a session, a trace file for every sandbox."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from docker import DockerClient

from gate.sandbox import reaper
from gate.sandbox.backends.container import engine, options, podman
from gate.sandbox.backends.container.engine import API_ERRORS
from gate.sandbox.backends.container.observer_container import ObserverContainer
from gate.sandbox.frames import write_all

_ADVICE: Final = "Try again; `gate doctor` shows whether containers can be started and traced here."
_SOCKETS: Final = "nr_blocks=256,nr_inodes=4096,mode=0711,uid=0,gid=0"
"""The volume of the sockets: a size in pages, a folder that cannot be listed."""


class WatchedSandbox:
    """One sandbox at the observer: its socket inside, its trace outside.

    ``naming``: where the engine finds its files of observer/naming.py; empty: nowhere.
    """

    def __init__(self, token: str, trace: Path, naming: str) -> None:
        self.token = token
        self.naming = naming
        self.trace = trace
        self.ready = threading.Event()
        self.ended = threading.Event()
        self._fd = os.open(trace, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)

    @property
    def socket(self) -> str:
        """Where the launcher finds its supervisor, as the sandbox sees it."""
        return f"{options.SOCKETS}/{self.token}.sock"

    def take(self, kind: bytes, payload: bytes) -> None:
        """One frame: a piece of the trace, or that the observer is ready, or that the trace is whole."""
        if kind == b"t":
            write_all(self._fd, payload)
        elif kind == b"r":
            self.ready.set()
        elif kind == b"e":
            self.ended.set()

    def finish(self, *, deadline: float) -> bool:
        """Wait for the last line of the trace; False when it did not come."""
        return self.ended.wait(deadline)

    def close(self) -> None:
        """Let go of the trace file."""
        os.close(self._fd)


class Observer(ObserverContainer[WatchedSandbox]):
    """A running observer container. Use as a context manager; its end removes container and volume.

    Reading one of the paths ``canaries`` ends a sandbox.
    """

    def __init__(
        self,
        client: DockerClient,
        *,
        image: str,
        labels: Mapping[str, str],
        folder: Path,
        canaries: Sequence[str] = (),
    ) -> None:
        super().__init__(client, advice=_ADVICE)
        self._canaries = "\0".join(canaries).encode().hex()
        self._folder = folder
        self.volume = f"gate-{reaper.owned_name()}"
        self._mountpoint = ""
        try:
            place = podman.make_volume(client, self.volume, _SOCKETS, labels)
            if engine.is_docker(client) or engine.is_podman(client):
                self._mountpoint = place
            self.start(options.observer_options(image=image, labels=labels, sockets_volume=self.volume))
        except BaseException:
            self.close()
            raise

    def watch(self, *, events: int) -> WatchedSandbox:
        """Watch one more sandbox, ready for its launcher. Raises InconclusiveError when that cannot be."""
        token, names = secrets.token_hex(16), secrets.token_hex(16)  # the code can see where its files lie
        naming = f"{self._mountpoint}/{names}" if self._mountpoint else ""
        watched = WatchedSandbox(token, self._folder / f"{token}.jsonl", naming)
        self.add(watched, f"watch {token} {names} {options.HOST_NAME} {events} {self._canaries}\n")
        return watched

    def close(self) -> None:
        """Remove the container and the volume. Never raises; what is left is reaped later."""
        super().close()
        with contextlib.suppress(*API_ERRORS):
            reaper.remove_volume(engine.short_timeout_client(self._client), self.volume)
