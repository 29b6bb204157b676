"""One conversation with a launcher over descriptors: send the job, hear what comes back, watch the clock."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable, Iterator
from typing import Final, Literal, Protocol

from gate.dataclass import dataclass
from gate.sandbox.egress.bridge import Bridge
from gate.sandbox.sinkhole_host.tunnel import Tunnel

EndReason = Literal["said", "closed", "deadline", "stopped"]
STDOUT: Final = 1
_CHUNK: Final = 1 << 16
_TICK: Final = 0.25


class Wire(Protocol):
    """Where a launcher's stdin and output are reached. Both descriptors may be the same socket."""

    @property
    def read_fd(self) -> int:
        """What the launcher says."""
        ...

    @property
    def write_fd(self) -> int:
        """The launcher's stdin."""
        ...

    def split(self, data: bytes) -> list[tuple[int, bytes]]:
        """Raw bytes as (stream, bytes) pieces; stream 1 is the launcher's stdout, 2 its stderr."""
        ...


class _Sender:
    """Feeds one descriptor as fast as the other side takes it."""

    def __init__(self, fd: int, payload: Iterator[bytes], bridge: Bridge | Tunnel | None) -> None:
        self._fd = fd
        self._payload = payload
        self._bridge = bridge
        self._rest = memoryview(b"")

    def push(self) -> bool:
        """Write once; False when all is sent, or nobody listens any more (its end will tell why)."""
        if not self._rest:
            more = next(self._payload, b"")
            self._rest = memoryview(more or (self._bridge.take() if self._bridge else b""))
            if not self._rest:
                return False
        try:
            self._rest = self._rest[os.write(self._fd, self._rest[:_CHUNK]) :]
        except BlockingIOError:
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True


@dataclass(frozen=True, kw_only=True)
class Watch:
    """What a conversation asks while it goes on.

    ``hear(stream, data)`` gets what arrives. ``through()`` is asked after each arrival and ends it
    (``said``). ``until()`` is a time.monotonic() value and may move; ``stopped()`` ends it at once.
    """

    feed: Callable[[int, bytes], None]
    through: Callable[[], bool]
    until: Callable[[], float]
    stopped: Callable[[], bool]


def exchange(
    wire: Wire, payload: Iterator[bytes], watch: Watch, bridge: Bridge | Tunnel | None = None
) -> EndReason:
    """Send ``payload`` (no empty parts) while listening, and return how it ended.

    ``said``: through; ``closed``: the launcher fell silent before; ``deadline``; ``stopped``.
    A launcher that closes its stdin early is heard to its end all the same. What ``bridge`` has to say is
    sent after the payload, as it comes up.
    """
    os.set_blocking(wire.read_fd, False)
    os.set_blocking(wire.write_fd, False)
    sender = _Sender(wire.write_fd, payload, bridge)
    with selectors.DefaultSelector() as selector:
        writing = _Writing(selector, wire)
        writing.on()
        if bridge is not None:
            bridge.join(selector)
        while True:
            left = watch.until() - time.monotonic()
            if left <= 0:
                return "deadline"
            if watch.stopped():
                return "stopped"
            for key, ready in selector.select(min(left, _TICK)):
                if callable(key.data):
                    key.data()
                    continue
                if ready & selectors.EVENT_WRITE and not sender.push():
                    writing.off()
                if ready & selectors.EVENT_READ:
                    ending = _listen(wire, watch)
                    if ending:
                        return ending
            if bridge is not None and bridge.has_pending:
                writing.on()


class _Writing:
    """Whether a selector waits for the launcher's stdin; it always waits for its stdout."""

    def __init__(self, selector: selectors.BaseSelector, wire: Wire) -> None:
        self._selector, self._wire, self._on = selector, wire, False
        self._shared = wire.read_fd == wire.write_fd
        selector.register(wire.read_fd, selectors.EVENT_READ)

    def on(self) -> None:
        if not self._on:
            self._on = True
            if self._shared:
                self._selector.modify(self._wire.read_fd, selectors.EVENT_READ | selectors.EVENT_WRITE)
            else:
                self._selector.register(self._wire.write_fd, selectors.EVENT_WRITE)

    def off(self) -> None:
        if self._on:
            self._on = False
            if self._shared:
                self._selector.modify(self._wire.read_fd, selectors.EVENT_READ)
            else:
                self._selector.unregister(self._wire.write_fd)


def _listen(wire: Wire, watch: Watch) -> EndReason | None:
    try:
        data = os.read(wire.read_fd, _CHUNK)
    except BlockingIOError:
        return None
    except ConnectionResetError:
        return "closed"
    if not data:
        return "closed"
    for stream, piece in wire.split(data):
        watch.feed(stream, piece)
    return "said" if watch.through() else None
