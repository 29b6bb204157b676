"""A container that watches the sandboxes of a session: what the host's ends of both observers share."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from typing import Any, Final, Generic, Self, TypeVar

from docker import DockerClient

from gate.errors import InconclusiveError
from gate.sandbox import reaper
from gate.sandbox.backends.container import engine, podman
from gate.sandbox.backends.container.attach import Attached
from gate.sandbox.backends.container.engine import API_ERRORS
from gate.sandbox.frames import FrameRouter, Recipient
from gate.sandbox.transport import STDOUT

READY_SECONDS: Final = 20.0
RecipientT = TypeVar("RecipientT", bound=Recipient)


class ObserverContainer(Generic[RecipientT]):
    """A running observer container. Use as a context manager; its end removes the container.

    Orders go in as lines, frames come out, each for one of the sandboxes that were ``add``ed. ``advice``
    is what InconclusiveError says when the observer cannot be used.
    """

    def __init__(self, client: DockerClient, *, advice: str) -> None:
        self._client = client
        self._advice = advice
        self._watched: FrameRouter[RecipientT] = FrameRouter()
        self._ordering = threading.Lock()
        self._errors = b""
        self._id = ""
        self._line: Attached | None = None
        self.dead = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, body: Mapping[str, Any]) -> None:
        """Create and start the container. Raises InconclusiveError, API_ERRORS; ``close`` afterwards."""
        self._id, _ = podman.create(self._client, body)
        self._line = line = Attached(self._client, self._id)
        self._client.api.start(self._id)
        threading.Thread(target=self._read, args=(line,), name="observer", daemon=True).start()

    def add(self, watched: RecipientT, order: str) -> None:
        """Have the observer watch one more sandbox, and wait until it does. Raises InconclusiveError."""
        self._watched.add(watched)
        try:
            self.order(order)
            if not watched.ready.wait(READY_SECONDS) or watched.ended.is_set():
                said = self._errors.decode(errors="replace").strip()[-300:] or "it said nothing"
                raise InconclusiveError(f"the observer did not get ready: {said}", advice=self._advice)
        except InconclusiveError:
            self.forget(watched)
            raise

    def order(self, line: str) -> None:
        """Send one line. Raises InconclusiveError."""
        with self._ordering:
            if self._line is None or self.dead.is_set():
                raise InconclusiveError("the observer container is gone", advice=self._advice)
            try:
                self._line.socket.sendall(line.encode())
            except OSError as error:
                message = f"the observer cannot be reached: {error}"
                raise InconclusiveError(message, advice=self._advice) from error

    def forget(self, watched: RecipientT) -> bool:
        """Nothing more is expected for this sandbox; its trace file stays. False: that was known."""
        return self._watched.remove(watched)

    def close(self) -> None:
        """Remove the container. Never raises; what is left is reaped later."""
        self.dead.set()
        if self._line is not None:
            self._line.close()
        with contextlib.suppress(*API_ERRORS):
            if self._id:
                reaper.remove_container(engine.short_timeout_client(self._client), self._id)

    def _read(self, line: Attached) -> None:
        """Route the stream until it ends; then nothing more is waited for."""
        try:
            while data := line.socket.recv(1 << 18):
                for stream, piece in line.split(data):
                    if stream == STDOUT:
                        self._watched.route(piece)
                    else:
                        self._errors = (self._errors + piece)[-4096:]
        except (OSError, ValueError):
            pass
        finally:
            self.dead.set()
            self._watched.end()
