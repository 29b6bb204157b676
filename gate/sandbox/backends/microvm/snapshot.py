"""Stored machines: booted once up to the point where every run is still the same, then started from there.

Booting costs seconds where the processor is software (TCG), going on from a stored state a fraction. What is
stored has seen no tree, no code, no key: the guest waits for its settings. With those every machine
gets its own randomness and the time, before anything in it begins (guest/kernel.py, ``awake``).
Made anew for another QEMU, kernel, guest, image, memory size or clock. Under KVM nothing is stored: booting
is quick there, and a state would depend on the processor.

Stored over QEMU's machine protocol (QMP: stop, getfd, migrate; QEMU, docs/interop/qmp-spec) by a machine that
no code ever runs in; those that do run code have no such line.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gate.errors import InconclusiveError
from gate.process import readable
from gate.sandbox.backends.microvm import command as microvm_machine
from gate.sandbox.backends.microvm.command import Shape
from gate.sandbox.backends.microvm.image import INSTALL_HINT, Bootable, cache
from gate.sandbox.backends.microvm.process import Machine

BOOT_SECONDS: Final = 60.0
"""What starting may take where the processor is software and the host is busy: eight seconds of a core,
of which there may be little."""
_MAKE_SECONDS: Final = 120.0
"""The same for the one that is stored: only once."""
_QUIET_SECONDS: Final = 8.0
_LEAST_USED: Final = 0.05
"""Seconds of the processor: a QEMU that used less in _QUIET_SECONDS hangs."""
_STORE_SECONDS: Final = 30.0
_KEPT: Final = 4
"""Stored machines of about 100 MiB each."""
_cannot: set[Path] = set()
"""What could not be stored by this process: not tried again."""
_lock = threading.Lock()


def ensure(boot: Bootable, shape: Shape, version: str) -> Path | None:
    """The stored machine of that shape, made when it is missing. ``version``: QEMU's.

    None where none can be had (KVM, no room on the disk, a QEMU that cannot): boot then.
    Raises InconclusiveError when a machine does not even boot.
    """
    if shape.accelerator == "kvm":
        return None
    path = cache() / f"stored-{_digest(boot, shape, version)}.state"
    if path in _cannot:
        return None
    with contextlib.suppress(FileNotFoundError):
        os.utime(path)
        return path
    with _lock, _alone():
        if not path.exists():
            _make(boot, shape, path)
    return None if path in _cannot else path


def drop(path: Path) -> None:
    """It did not start: it is made anew next time."""
    path.unlink(missing_ok=True)


def _digest(boot: Bootable, shape: Shape, version: str) -> str:
    """Everything on which the state depends."""
    kernel = boot.kernel.stat()
    files = [str(boot.kernel), str(kernel.st_size), str(kernel.st_mtime_ns), boot.initrd.name, boot.root.name]
    files += [boot.libraries.name] if shape.network and boot.libraries is not None else []
    parts = [version, *files, repr(shape), microvm_machine.kernel_line(shape)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """One maker at a time, among all of this user's gates."""
    with (cache() / "stored.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _make(boot: Bootable, shape: Shape, path: Path) -> None:
    old = sorted(path.parent.glob("stored-*.state"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in old[_KEPT - 1 :]:
        file.unlink(missing_ok=True)
    new = path.with_suffix(".new")
    machine = Machine(boot, shape, monitored=True)
    try:
        if not _parked(machine):
            raise InconclusiveError(f"a virtual machine did not boot: {machine.why()}", advice=INSTALL_HINT)
        new.unlink(missing_ok=True)
        with new.open("xb") as out:
            new.chmod(0o600)
            _store(_Monitor(machine.ends["monitor"]), out.fileno())
        new.replace(path)
    except OSError:
        _cannot.add(path)
    finally:
        machine.remove()
        new.unlink(missing_ok=True)


def _parked(machine: Machine) -> bool:
    """Wait for it, as long as the machine works on it."""
    until = time.monotonic() + _MAKE_SECONDS
    used = 0.0
    while time.monotonic() < until:
        if machine.wait_for("parked", min(_QUIET_SECONDS, until - time.monotonic())):
            return True
        if machine.ended or machine.used < used + _LEAST_USED:
            return False
        used = machine.used
    return False


def _store(monitor: _Monitor, fd: int) -> None:
    """The whole state into a file. Raises OSError."""
    monitor.ask("qmp_capabilities")
    monitor.ask("stop")
    monitor.ask("migrate-set-parameters", {"max-bandwidth": 1 << 40})
    monitor.ask("getfd", {"fdname": "out"}, fd=fd)
    monitor.ask("migrate", {"uri": "fd:out"})
    until = time.monotonic() + _STORE_SECONDS
    while (status := monitor.ask("query-migrate").get("status")) != "completed":
        if status in ("failed", "cancelled") or time.monotonic() > until:
            raise OSError(f"QEMU could not store the machine: {status}")
        time.sleep(0.02)


class _Monitor:
    """QMP: one JSON object a line; answers to our commands among events."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._rest = b""

    def ask(self, command: str, given: dict[str, Any] | None = None, *, fd: int | None = None) -> Any:
        """The command's ``return``. Raises OSError for its error, or when no answer comes."""
        data = json.dumps({"execute": command, "arguments": given or {}}).encode() + b"\n"
        if fd is None:
            self._line.sendall(data)
        else:
            socket.send_fds(self._line, [data], [fd])
        until = time.monotonic() + _STORE_SECONDS
        while True:
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                said = json.loads(line)
                if "error" in said:
                    raise OSError(f"QEMU: {said['error'].get('desc', '')}")
                if "return" in said:
                    return said["return"]
            if not readable(self._line, until - time.monotonic()):
                raise OSError("QEMU's monitor does not answer")
            got = self._line.recv(1 << 16)
            if not got:
                raise OSError("QEMU ended")
            self._rest += got
