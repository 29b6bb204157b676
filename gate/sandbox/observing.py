"""The host's end of the observer container: one for a session, a trace file for every sandbox."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from docker import DockerClient

from gate.errors import CouldNotLook
from gate.sandbox import container, engine, podman, reap
from gate.sandbox.attach import Attached
from gate.sandbox.engine import API_ERRORS
from gate.sandbox.observer.many import HEAD
from gate.sandbox.talk import STDOUT

_READY_SECONDS: Final = 20.0
_MAX_FRAME: Final = 1 << 20
_SOCKETS: Final = "nr_blocks=256,nr_inodes=4096,mode=0711,uid=0,gid=0"
"""The volume of the sockets: a size in pages, a folder that cannot be listed."""


class Watched:
    """One sandbox's place at the observer: its socket inside, its trace outside.

    ``naming``: where the engine finds its files of observer/naming.py; empty: nowhere.
    """

    def __init__(self, token: str, trace: Path, naming: str) -> None:
        self.token = token
        self.naming = naming
        self.trace = trace
        self.ready = threading.Event()
        self.ended = threading.Event()
        self.fd = os.open(trace, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)

    @property
    def socket(self) -> str:
        """Where the launcher finds its supervisor, as the sandbox sees it."""
        return f"{container.SOCKETS}/{self.token}.sock"

    def finish(self, *, deadline: float) -> bool:
        """Wait for the last line of the trace; False when it did not come."""
        return self.ended.wait(deadline)


class Observer:
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
        self._client = client
        self._canaries = "\0".join(canaries).encode().hex()
        self._folder = folder
        self._watched: dict[bytes, Watched] = {}
        self._lock = threading.Lock()
        self._said = b""
        self.dead = threading.Event()
        self.volume = f"gate-{reap.owned_name()}"
        self._mountpoint = ""
        self._id = ""
        self._line: Attached | None = None
        try:
            place = podman.make_volume(client, self.volume, _SOCKETS, labels)
            if engine.is_docker(client) or engine.is_podman(client):
                self._mountpoint = place
            body = container.observer_options(image=image, labels=labels, sockets_volume=self.volume)
            self._id, _ = podman.create(client, body)
            self._line = Attached(client, self._id)
            client.api.start(self._id)
        except BaseException:
            self.close()
            raise
        threading.Thread(target=self._read, args=(self._line,), name="observer", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def watch(self, *, events: int) -> Watched:
        """A new place for one sandbox, ready for its launcher. Raises CouldNotLook when there is none."""
        token, names = secrets.token_hex(16), secrets.token_hex(16)  # the code can see where its files lie
        naming = f"{self._mountpoint}/{names}" if self._mountpoint else ""
        place = Watched(token, self._folder / f"{token}.jsonl", naming)
        with self._lock:
            self._watched[bytes.fromhex(token)] = place
            if self._line is None or self.dead.is_set():
                raise CouldNotLook("the observer container is gone", advice=_ADVICE)
            try:
                self._line.socket.sendall(f"watch {token} {names} {events} {self._canaries}\n".encode())
            except OSError as error:
                raise CouldNotLook(f"the observer cannot be reached: {error}", advice=_ADVICE) from error
        if not place.ready.wait(_READY_SECONDS):
            said = self._said.decode(errors="replace").strip()[-300:]
            raise CouldNotLook(f"the observer did not get ready: {said or 'it said nothing'}", advice=_ADVICE)
        return place

    def forget(self, place: Watched) -> None:
        """Nothing more is expected for this sandbox; its trace file stays."""
        with self._lock:
            if self._watched.pop(bytes.fromhex(place.token), None) is not None:
                os.close(place.fd)

    def close(self) -> None:
        """Remove the container and the volume. Never raises; what is left is reaped later."""
        self.dead.set()
        if self._line is not None:
            self._line.close()
        with contextlib.suppress(*API_ERRORS):
            if self._id:
                reap.remove_container(engine.hurried(self._client), self._id)
        with contextlib.suppress(*API_ERRORS):
            reap.remove_volume(engine.hurried(self._client), self.volume)

    def _read(self, line: Attached) -> None:
        """Split the stream into trace files until it ends; then nothing more is waited for."""
        rest = b""
        try:
            while data := line.socket.recv(1 << 16):
                for stream, piece in line.split(data):
                    if stream != STDOUT:
                        self._said = (self._said + piece)[-4096:]
                        continue
                    rest = self._frames(rest + piece)
        except (OSError, ValueError):
            pass
        finally:
            self.dead.set()
            with self._lock:
                places = list(self._watched.values())
            for place in places:
                place.ended.set()

    def _frames(self, data: bytes) -> bytes:
        """Act on whole frames; return what is left over."""
        at = 0
        while len(data) - at >= HEAD.size:
            token, kind, length = HEAD.unpack_from(data, at)
            if length > _MAX_FRAME:
                raise ValueError("the observer sent a frame too long")
            if len(data) - at - HEAD.size < length:
                break
            payload = data[at + HEAD.size : at + HEAD.size + length]
            at += HEAD.size + length
            with self._lock:
                place = self._watched.get(token)
                if place is not None and kind == b"t":
                    _write(place.fd, payload)
            if place is not None and kind == b"r":
                place.ready.set()
            elif place is not None and kind == b"e":
                place.ended.set()
        return data[at:]


_ADVICE: Final = "Try again; `gate doctor` shows whether containers can be started and traced here."


def _write(fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]
