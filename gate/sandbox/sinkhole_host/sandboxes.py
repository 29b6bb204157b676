"""Sandboxes with a place at the sinkhole: what the session sees of both."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from gate.sandbox.protocol import Tracing
from gate.sandbox.session import ExitDetails, RunningSandbox
from gate.sandbox.sinkhole_host.slots import Sinkhole, SinkholeSlot
from gate.sandbox.sinkhole_host.tunnel import Tunnel
from gate.sandbox.transport import EndReason


def with_sinkhole(sinkhole: Sinkhole, sandbox: ConnectableSandbox) -> SinkholeSandbox:
    """The same sandbox, with a network that answers. On failure the sandbox is removed and InconclusiveError
    raised.
    """
    try:
        return SinkholeSandbox(sandbox, sinkhole, sinkhole.serve(sandbox.network_pid))
    except BaseException:
        sandbox.remove()
        raise


def with_tunnel(sinkhole: Sinkhole, sandbox: RunningSandbox) -> TunnelSandbox:
    """The same for a sandbox whose network comes in packets."""
    try:
        return TunnelSandbox(sandbox, sinkhole, sinkhole.tunnelled())
    except BaseException:
        sandbox.remove()
        raise


class ConnectableSandbox(RunningSandbox, Protocol):
    """A started sandbox that says which process's network is its own."""

    @property
    def network_pid(self) -> int:
        """As the host counts. Raises InconclusiveError."""
        ...


class SinkholeSandbox:
    """A sandbox and its sinkhole: hands everything on."""

    def __init__(self, sandbox: RunningSandbox, sinkhole: Sinkhole, place: SinkholeSlot) -> None:
        self._sandbox, self._sinkhole, self._place = sandbox, sinkhole, place

    @property
    def network_log(self) -> Path:
        """What the sinkhole saw (read by gate/tracing/readers/sinkhole.py)."""
        return self._place.log

    @property
    def tunnel(self) -> Tunnel | None:
        """None: its packets are the kernel's."""
        return None

    @property
    def read_fd(self) -> int:
        """As the sandbox's."""
        return self._sandbox.read_fd

    @property
    def write_fd(self) -> int:
        """As the sandbox's."""
        return self._sandbox.write_fd

    @property
    def tracer(self) -> Tracing:
        """As the sandbox's."""
        return self._sandbox.tracer

    @property
    def trace(self) -> Path:
        """As the sandbox's."""
        return self._sandbox.trace

    def split(self, data: bytes) -> list[tuple[int, bytes]]:
        """As the sandbox's."""
        return self._sandbox.split(data)

    def move_clock(self, seconds: int) -> bool:
        """As the sandbox's."""
        return self._sandbox.move_clock(seconds)

    def fail_network(self, failures: int) -> bool:
        """So many requests to each destination fail, before the code is there. Raises InconclusiveError."""
        self._sinkhole.fail(self._place, failures)
        return True

    def kill(self) -> None:
        """As the sandbox's."""
        self._sandbox.kill()

    def exit_details(self, ending: EndReason, status: int | None) -> ExitDetails:
        """As the sandbox's."""
        return self._sandbox.exit_details(ending, status)

    def trace_done(self, deadline: float) -> None:
        """Both logs have their last line, as far as they will."""
        self._sandbox.trace_done(deadline)
        self._sinkhole.finish(self._place, deadline)

    def remove(self) -> None:
        """Both."""
        self._sandbox.remove()
        self._sinkhole.forget(self._place)


class TunnelSandbox(SinkholeSandbox):
    """A sandbox whose network goes through its launcher's frames."""

    @property
    def tunnel(self) -> Tunnel | None:
        """Where its packets go."""
        return self._place.tunnel
