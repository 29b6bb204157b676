"""One virtual machine whose launcher waits for its job."""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import socket
import threading
import time
from pathlib import Path
from typing import Any, Final

from gate.errors import InconclusiveError
from gate.model.run import SandboxSpec
from gate.sandbox.backends.container.options import HOST_NAME, MASKED, READ_ONLY, plant_folders
from gate.sandbox.backends.microvm.command import Shape
from gate.sandbox.backends.microvm.image import INSTALL_HINT, Bootable
from gate.sandbox.backends.microvm.process import Machine
from gate.sandbox.canaries import kill_paths
from gate.sandbox.clock import NotMovedError
from gate.sandbox.protocol import Tracing
from gate.sandbox.session import ExitDetails, PlainSandbox
from gate.sandbox.transport import STDOUT, EndReason

_CLOCK_SECONDS: Final = 15.0
_END_SECONDS: Final = 2.0
_SLOW_END_SECONDS: Final = 10.0
"""Without KVM on a busy host, the guest's last steps take their time."""
_PATIENCE: Final = 4.0
"""By how much longer than usual the simulated network waits for a client without KVM."""
_LINK: Final = 3
_MOST_TRACE: Final = 1 << 30
_ENTROPY: Final = 64
_PLACES: Final = threading.BoundedSemaphore(os.cpu_count() or 1)
"""No more machines are being started at a time than there are cores."""


class MachineEndedError(InconclusiveError):
    """A machine ended by itself before it was ready, which waiting longer would not have changed."""


class MicrovmSandbox(PlainSandbox):
    """Implements session.RunningSandbox. ``authority``: the simulated network's key and certificate; empty:
    none.

    ``stored``: the machine to go on from; without one it boots. ``wait``: seconds for either.
    Raises InconclusiveError.
    """

    def __init__(
        self,
        boot: Bootable,
        shape: Shape,
        spec: SandboxSpec,
        trace: Path,
        *,
        wait: float,
        stored: Path | None = None,
        authority: bytes = b"",
    ) -> None:
        self.trace = trace
        self.network_log = trace.with_suffix(".net.jsonl") if shape.network else None
        """What the simulated network saw (read by gate/tracing/readers/sinkhole.py)."""
        self.tracer = Tracing(fd=_LINK)
        self._patience = _SLOW_END_SECONDS if shape.accelerator == "tcg" else _END_SECONDS
        self._copies: list[threading.Event] = []
        with _PLACES:
            self._machine = Machine(boot, shape, stored=stored)
            try:
                self._copy("trace", self.trace)
                if self.network_log is not None:
                    self._copy("network", self.network_log)
                given = self._machine.give(_settings(spec, shape, self.tracer, authority))
                if not (given and self._machine.wait_for("ready", wait)):
                    why = f"a virtual machine did not start: {self._machine.why()}"
                    kind = MachineEndedError if self._machine.ended else InconclusiveError
                    raise kind(why, advice=INSTALL_HINT)
            except BaseException:
                self.remove()
                for left in (self.trace, self.network_log):
                    if left is not None:
                        left.unlink(missing_ok=True)
                raise

    @property
    def read_fd(self) -> int:
        """The first port."""
        return self._machine.ends["control"].fileno()

    @property
    def write_fd(self) -> int:
        """The first port, too."""
        return self.read_fd

    @property
    def pid(self) -> int:
        """QEMU's."""
        return self._machine.pid

    def split(self, data: bytes) -> list[tuple[int, bytes]]:
        """A port of its own: all of it is the launcher's stdout; its stderr comes with the guest's words."""
        return [(STDOUT, data)]

    def move_clock(self, seconds: int) -> bool:
        """Move the guest's own clock, for everything in it, before the code is there; or NotMovedError."""
        self._machine.order(f"c {seconds}")
        if (
            not self._machine.wait_for("clock", _CLOCK_SECONDS)
            or self._machine.guest_reports["clock"] != seconds
        ):
            raise NotMovedError(
                f"the clock of the virtual machine was not moved: {self._machine.why()}", advice=INSTALL_HINT
            )
        return True

    def fail_network(self, failures: int) -> bool:
        """Let so many requests to each destination fail, before the code is there."""
        self._machine.order(f"n {failures}")
        return self._machine.wait_for("failures", _CLOCK_SECONDS)

    def _copy(self, port: str, path: Path) -> None:
        """One port into a file, as far as that may go, in a thread of its own."""
        done = threading.Event()
        self._copies.append(done)
        end: socket.socket = self._machine.ends[port]

        def copy() -> None:
            left = _MOST_TRACE
            with contextlib.suppress(OSError), path.open("xb", buffering=0) as out:
                while left > 0 and (data := end.recv(1 << 18)):
                    out.write(data[:left])
                    left -= len(data)
            done.set()

        threading.Thread(target=copy, name=port, daemon=True).start()

    def kill(self) -> None:
        """SIGKILL to the machine."""
        self._machine.kill()

    def exit_details(self, ending: EndReason, status: int | None) -> ExitDetails:  # noqa: ARG002
        """Have the guest end what still runs, finish trace and log, and tell what only it knows."""
        if ending in ("deadline", "stopped"):
            self._machine.order("k")
        if not self._machine.wait_for("ended", _END_SECONDS if ending == "stopped" else self._patience):
            if ending == "closed":
                raise InconclusiveError(
                    f"the virtual machine failed: {self._machine.why()}", advice=INSTALL_HINT
                )
            return ExitDetails()
        peak = self._machine.guest_reports.get("peak")
        return ExitDetails(
            out_of_memory=self._machine.guest_reports.get("oom") is True,
            peak_memory=peak if isinstance(peak, int) else None,
        )

    def trace_done(self, deadline: float) -> None:
        """The ports close with the machine."""
        for done in self._copies:
            done.wait(deadline)

    def remove(self) -> None:
        """The machine and our ends of its ports. Trace and log stay until the session ends."""
        self._machine.kill()
        for done in self._copies:
            done.wait(_END_SECONDS)
        self._machine.remove()


def _settings(spec: SandboxSpec, shape: Shape, tracing: Tracing, authority: bytes) -> dict[str, Any]:
    """What guest.py wants to know."""
    limits = spec.limits
    return {
        "time": time.time() + spec.clock_offset,
        "entropy": secrets.token_hex(_ENTROPY),
        "memory": limits.memory,
        "pids": limits.pids + 4,  # the launcher and who holds its namespaces
        "scratch": limits.scratch,
        "inodes": limits.scratch_inodes,
        "events": limits.trace_events,
        "canaries": list(kill_paths(spec)),
        "patience": _PATIENCE if shape.accelerator == "tcg" else 1.0,
        "authority": base64.b64encode(authority).decode("ascii"),
        "token": tracing.token.hex(),
        "host": HOST_NAME,
        "masked": list(MASKED),
        "read_only": list(READ_ONLY),
        "planted": list(plant_folders(tuple(spec.files))),
        "dependencies": f"/boot/disk-{'c' if shape.network else 'b'}" if shape.dependencies else "",
    }
