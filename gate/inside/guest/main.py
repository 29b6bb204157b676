"""The guest's process 1: confines the code inside the machine too, watches it, tells how it ended.

Ports of the virtio console: 1 the launcher's stdin and stdout (before that, our settings: u32 big-endian
length and JSON), 2 the trace, 3 our own lines of JSON out and orders in (lines: ``k`` kill the code,
``c SECONDS`` move the clock by so much, ``n NUMBER`` let so many requests to each destination fail), 4 the
log of the simulated network. The code runs as another user than its watchers, in namespaces and a control
group of its own. Standard library only.

``parked`` is told when everything is done that is the same for every run; a machine may be stored there,
and many be started from it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from typing import Any

sys.path.insert(0, "/boot")

import kernel  # type: ignore[import-not-found, unused-ignore]
import namespaces  # type: ignore[import-not-found, unused-ignore]
from kernel import CODE  # type: ignore[import-not-found, unused-ignore]
from watchers import Watchers  # type: ignore[import-not-found, unused-ignore]

LAST_SECONDS = 3.0
SINK_SECONDS = 6.0


class Guest:
    """One run, from the settings to the last word."""

    def __init__(self, said: int) -> None:
        self.said = said
        self.orders = b""
        self.left: set[int] = set()
        self.peak = 0
        self.sinkhole = 0
        self.control = -1
        """Closing it ends the simulated network."""
        self.over = False

    def start(
        self, watchers: Watchers, launch: Any, settings: dict[str, Any], ports: tuple[int, int, int]
    ) -> int:
        """Everybody is there afterwards; returns the pid of who holds the code's namespaces."""
        control, trace, log = ports
        kernel.limit(settings)
        if settings["authority"]:
            self.sinkhole, self.control = watchers.sinkhole(log, settings["authority"], settings["patience"])
        os.close(log)
        ours, theirs = socket.socketpair()
        watcher = watchers.observe(ours, trace, settings)
        ours.close()
        os.close(trace)
        inner: int = namespaces.box(launch, settings, control, theirs.detach(), self.said)
        os.close(control)
        self.left = {inner, watcher}
        return inner

    def tell(self, **fields: object) -> None:
        """One line to the host."""
        os.write(self.said, json.dumps(fields).encode() + b"\n")

    def serve(self, inner: int) -> None:
        """Until the code ended; then how, and how much memory it took."""
        poll = select.poll()
        poll.register(self.said, select.POLLIN)
        wake, told = os.pipe()
        os.set_blocking(told, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        poll.register(wake, select.POLLIN)
        until = float("inf")
        self._reap()
        while self.left and not self.over and time.monotonic() < until:
            used = kernel.number_in(CODE + "/memory.peak") or kernel.number_in(CODE + "/memory.current")
            self.peak = max(self.peak, used)
            for fd, _ in poll.poll(100 if inner in self.left else 20):
                if fd == self.said:
                    self._obey()
                else:
                    with contextlib.suppress(BlockingIOError):
                        os.read(wake, 512)
            self._reap()
            if inner not in self.left and until == float("inf"):
                until = time.monotonic() + LAST_SECONDS
        if self.over:
            return
        self._end_network()
        oom = kernel.number_in(CODE + "/memory.events", "oom_kill") > 0
        self.tell(ended=True, oom=oom, peak=self.peak)

    def _obey(self) -> None:
        data = os.read(self.said, 256)
        self.over = not data  # the gate on the host is gone: the machine goes off
        *lines, self.orders = (self.orders + data).split(b"\n")
        for line in lines:
            if line == b"k":
                kernel.write_setting(CODE + "/cgroup.kill", "1")
            elif line.startswith(b"c "):
                seconds = int(line[2:])
                time.clock_settime(time.CLOCK_REALTIME, time.time() + seconds)
                self.tell(clock=seconds)
            elif line.startswith(b"n ") and self.control >= 0:
                os.write(self.control, bytes([int(line[2:])]))
                self.tell(failures=int(line[2:]))

    def _reap(self) -> None:
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.left.clear()
                self.sinkhole = 0
                return
            if pid == 0:
                return
            self.left.discard(pid)
            if pid == self.sinkhole:
                self.sinkhole = 0

    def _end_network(self) -> None:
        """It takes in what lies in its sockets' buffers, and writes its summary."""
        if self.control < 0:
            return
        os.close(self.control)
        until = time.monotonic() + SINK_SECONDS
        while self.sinkhole and time.monotonic() < until:
            time.sleep(0.01)
            self._reap()


def main() -> None:
    """Never returns: the machine goes off."""
    control, trace, said, log = (kernel.port(number) for number in (1, 2, 3, 4))
    os.dup2(said, 2)
    try:
        kernel.prepare()
        network = kernel.has_option("network")
        if network:
            kernel.load_modules("/boot/network")
        watchers = Watchers(network=network)
        package = type(sys)("gate_launcher")
        package.__path__ = ["/opt/gate/launcher"]
        sys.modules["gate_launcher"] = package
        from gate_launcher import main as launch

        guest = Guest(said)
        if kernel.has_option("warm"):
            kernel.fill_page_cache()
        guest.tell(parked=True)
        (size,) = struct.unpack(">I", kernel.exactly(control, 4))
        settings = json.loads(kernel.exactly(control, size))
        kernel.awake(settings)
        inner = guest.start(watchers, launch, settings, (control, trace, log))
        guest.tell(ready=True)
        guest.serve(inner)
    except BaseException as error:
        os.write(said, ("guest: %s: %s\n" % (type(error).__name__, error)).encode())
    finally:
        kernel.libc.reboot(0x01234567)


if __name__ == "__main__":
    main()
