"""Sandboxes with a place at the sinkhole: what the session sees of both."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from gate.sandbox.channel import Tracing
from gate.sandbox.session import Aftermath, Box
from gate.sandbox.sinkhole_places import Sinkhole, Sunk
from gate.sandbox.talk import Ending
from gate.sandbox.tunnel import Tunnel


def around(sinkhole: Sinkhole, box: SinkableBox) -> SunkBox:
    """The same sandbox, with a network that answers. On failure the sandbox is removed and CouldNotLook
    raised.
    """
    try:
        return SunkBox(box, sinkhole, sinkhole.serve(box.network_pid))
    except BaseException:
        box.remove()
        raise


def joined(sinkhole: Sinkhole, box: Box) -> TunnelBox:
    """The same for a sandbox whose network comes in packets."""
    try:
        return TunnelBox(box, sinkhole, sinkhole.tunnelled())
    except BaseException:
        box.remove()
        raise


class SinkableBox(Box, Protocol):
    """A started sandbox that says which process's network is its own."""

    @property
    def network_pid(self) -> int:
        """As the host counts. Raises CouldNotLook."""
        ...


class SunkBox:
    """A sandbox and its sinkhole. Implements session.Box by handing on."""

    def __init__(self, box: Box, sinkhole: Sinkhole, place: Sunk) -> None:
        self._box, self._sinkhole, self._place = box, sinkhole, place

    @property
    def network_log(self) -> Path:
        """What the sinkhole saw (read by gate/trace/sinkhole_log.py)."""
        return self._place.log

    @property
    def read_fd(self) -> int:
        """As the sandbox's."""
        return self._box.read_fd

    @property
    def write_fd(self) -> int:
        """As the sandbox's."""
        return self._box.write_fd

    @property
    def tracer(self) -> Tracing:
        """As the sandbox's."""
        return self._box.tracer

    @property
    def trace(self) -> Path:
        """As the sandbox's."""
        return self._box.trace

    def split(self, data: bytes) -> list[tuple[int, bytes]]:
        """As the sandbox's."""
        return self._box.split(data)

    def kill(self) -> None:
        """As the sandbox's."""
        self._box.kill()

    def aftermath(self, ending: Ending, status: int | None) -> Aftermath:
        """As the sandbox's."""
        return self._box.aftermath(ending, status)

    def trace_done(self, deadline: float) -> None:
        """Both logs have their last line, as far as they will."""
        self._box.trace_done(deadline)
        self._sinkhole.finish(self._place, deadline)

    def remove(self) -> None:
        """Both."""
        self._box.remove()
        self._sinkhole.forget(self._place)


class TunnelBox(SunkBox):
    """A sandbox whose network goes through its launcher's frames (session.BoxSession asks for ``tunnel``)."""

    @property
    def tunnel(self) -> Tunnel | None:
        """Where its packets go."""
        return self._place.tunnel
