"""The machine wall: every run in a virtual machine (QEMU microvm) with its own kernel and no network device.

With KVM where it really works, else by TCG (software), which needs no rights at all. Inside, the code is
walled off once more and watched by the same supervisor, which runs as another user than the code.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import re
import select
import shutil
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from gate import proc
from gate.errors import CouldNotLook
from gate.model.change import Side, Tree
from gate.model.run import Capability, Probe, SandboxSpec
from gate.sandbox import microvm_machine, reap
from gate.sandbox.channel import Tracing
from gate.sandbox.container import MASKED, READ_ONLY, plant_folders
from gate.sandbox.docker import Isolation
from gate.sandbox.gvisor import refuse_what_is_missing
from gate.sandbox.microvm_image import HOW_TO_GET, Bootable, bootable
from gate.sandbox.microvm_machine import Accelerator
from gate.sandbox.parcel import Parcel, pack, with_tree
from gate.sandbox.session import Aftermath, BoxSession
from gate.sandbox.talk import STDOUT, Ending

_BOOT_SECONDS: Final = 28.0
_KVM_SECONDS: Final = 4.0
_END_SECONDS: Final = 2.0
_KVM_CREATE_VM: Final = 0xAE01
"""uapi linux/kvm.h."""
_VIRTUALISES: Final = re.compile(r"^flags\s*:.*\b(?:vmx|svm)\b", re.MULTILINE)
_SLOW: Final = "without KVM every run takes seconds longer"
_LINK: Final = 3
_NOBODY: Final = 65532
_MOST_TRACE: Final = 1 << 30
_MOST_SAID: Final = 1 << 16
_IDLE: Final = ("python3", "-I", "-S", "-c", "pass")


class MicrovmBox:
    """One booted machine whose launcher waits. Implements session.Box."""

    def __init__(
        self, boot: Bootable, accelerator: Accelerator, spec: SandboxSpec, trace: Path, *, wait: float
    ) -> None:
        self.trace = trace
        self.tracer = Tracing(fd=_LINK)
        self._noise = b""
        self._told: dict[str, Any] = {}
        self._qemu: subprocess.Popen[bytes] | None = None
        self._copied = threading.Event()
        self._copied.set()  # until something is
        self._mine: list[socket.socket] = []
        pairs = [socket.socketpair() for _ in range(3)]
        self._control, self._trace, self._said = self._mine = [ours for ours, _ in pairs]
        theirs = [other for _, other in pairs]
        try:
            self._start(boot, accelerator, spec, theirs)
            for other in theirs:
                other.close()
            self._copied.clear()
            threading.Thread(target=self._copy, name="trace", daemon=True).start()
            settings = json.dumps(_settings(spec, self.tracer)).encode()
            self._control.sendall(struct.pack(">I", len(settings)) + settings)
            if not self._hear("ready", wait):
                raise CouldNotLook(f"a virtual machine did not boot: {self._why()}", advice=HOW_TO_GET)
        except BaseException:
            self.remove()
            raise
        finally:
            for other in theirs:
                other.close()

    def _start(
        self, boot: Bootable, accelerator: Accelerator, spec: SandboxSpec, theirs: list[socket.socket]
    ) -> None:
        fds = [other.fileno() for other in theirs]
        # by descriptor: the machine runs as nobody, who may not enter the cache's folder
        fds += [os.open(path, os.O_RDONLY) for path in (boot.kernel, boot.initrd, boot.root)]
        kernel, first, disk = (Path(f"/proc/self/fd/{fd}") for fd in fds[len(theirs) :])
        seen = replace(boot, kernel=kernel, initrd=first, root=disk)
        words = microvm_machine.arguments(
            seen, accelerator, limit=spec.limits.memory, control=fds[0], trace=fds[1], said=fds[2]
        )
        root = os.geteuid() == 0 and accelerator == "tcg"
        try:
            self._qemu = subprocess.Popen(
                words,
                pass_fds=fds,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=proc.clean_environment(),
                cwd="/",
                start_new_session=True,
                user=_NOBODY if root else None,
                group=_NOBODY if root else None,
                extra_groups=[] if root else None,
            )
        except OSError as error:
            raise CouldNotLook(f"cannot start {words[0]}: {error}", advice=HOW_TO_GET) from error
        finally:
            for fd in fds[len(theirs) :]:
                os.close(fd)

    @property
    def read_fd(self) -> int:
        """The first port."""
        return self._control.fileno()

    @property
    def write_fd(self) -> int:
        """The first port, too."""
        return self._control.fileno()

    def split(self, data: bytes) -> list[tuple[int, bytes]]:
        """A port of its own: all of it is the launcher's stdout; its stderr comes with the guest's words."""
        return [(STDOUT, data)]

    def _copy(self) -> None:
        """The second port into the trace file, as far as a trace may go."""
        left = _MOST_TRACE
        with contextlib.suppress(OSError), self.trace.open("xb", buffering=0) as out:
            while left > 0 and (data := self._trace.recv(1 << 18)):
                out.write(data[:left])
                left -= len(data)
        self._copied.set()

    def _hear(self, what: str, seconds: float) -> bool:
        """Listen to the guest until it tells ``what``; False when it does not."""
        until = time.monotonic() + seconds
        while what not in self._told:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._said], [], [], left)[0]:
                return False
            data = b""
            with contextlib.suppress(OSError):
                data = self._said.recv(4096)
            if not data or len(self._noise) > _MOST_SAID:
                return False
            *lines, self._noise = (self._noise + data).split(b"\n")
            for line in lines:
                with contextlib.suppress(ValueError):
                    self._told |= (
                        json.loads(line) if line.startswith(b"{") else {"noise": line.decode("latin1")}
                    )
        return True

    def _why(self) -> str:
        if self._told.get("noise"):
            return str(self._told["noise"])[:300]
        if self._qemu is not None and self._qemu.poll() is not None and self._qemu.stderr is not None:
            return self._qemu.stderr.read(400).decode(errors="replace").strip() or "it ended"
        return "no answer in time"

    def kill(self) -> None:
        """SIGKILL to the machine."""
        if self._qemu is not None:
            with contextlib.suppress(OSError):
                self._qemu.kill()

    def aftermath(self, ending: Ending, status: int | None) -> Aftermath:  # noqa: ARG002
        """Have the guest end what still runs, finish the trace, and tell what only it knows."""
        if ending in ("deadline", "stopped"):
            with contextlib.suppress(OSError):
                self._said.send(b"k")
        if not self._hear("ended", _END_SECONDS):
            if ending == "closed":
                raise CouldNotLook(f"the virtual machine failed: {self._why()}", advice=HOW_TO_GET)
            return Aftermath()
        peak = self._told.get("peak")
        return Aftermath(
            out_of_memory=self._told.get("oom") is True, peak_memory=peak if isinstance(peak, int) else None
        )

    def trace_done(self, deadline: float) -> None:
        """The port closes with the machine."""
        self._copied.wait(deadline)

    def remove(self) -> None:
        """The machine and our ends of its ports. The trace file stays until the session ends."""
        self.kill()
        if self._qemu is not None:
            self._qemu.wait()
            if self._qemu.stderr is not None:
                self._qemu.stderr.close()
            self._copied.wait(_END_SECONDS)
        for ours in self._mine:
            ours.close()


def _settings(spec: SandboxSpec, tracing: Tracing) -> dict[str, Any]:
    """What guest.py wants to know."""
    limits = spec.limits
    return {
        "memory": limits.memory,
        "pids": limits.pids + 4,  # the launcher and who holds its namespaces
        "scratch": limits.scratch,
        "inodes": limits.scratch_inodes,
        "events": limits.trace_events,
        "token": tracing.token.hex(),
        "masked": list(MASKED),
        "read_only": list(READ_ONLY),
        "planted": list(plant_folders(tuple(spec.files))),
    }


class MicrovmBackend:
    """Implements interface.Backend."""

    name = "microvm"
    isolation: Isolation = "vm"

    def probe(self) -> Capability:
        """Boot for real, with Python inside. Builds no image: that may take long."""
        try:
            accelerator = _working()
        except CouldNotLook as error:
            reason = f"{error.message}. {error.advice}"
            return Capability(
                backend=self.name, available=False, isolation=self.isolation, tracer="none", reason=reason
            )
        return Capability(
            backend=self.name,
            available=True,
            isolation=self.isolation,
            tracer="unotify",
            version=f"QEMU {_version()}, {accelerator}, Linux {bootable().release}",
            reserve=_SLOW if accelerator == "tcg" else "",
        )

    @contextlib.contextmanager
    def open(self, spec: SandboxSpec, base: Tree, head: Tree) -> Iterator[BoxSession]:
        """See interface.Backend."""
        refuse_what_is_missing(spec, self.name)
        accelerator = _working()
        boot = bootable()
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(reap.run_folder())
            parcels: dict[Side, Parcel] = {
                "base": pack(base, folder / "base.tar"),
                "head": pack(head, folder / "head.tar"),
            }
            wanted = replace(spec, limits=with_tree(spec.limits, parcels))
            numbers = itertools.count()

            def make() -> MicrovmBox:
                trace = folder / f"{next(numbers)}.jsonl"
                return MicrovmBox(boot, accelerator, wanted, trace, wait=_BOOT_SECONDS)

            session = BoxSession(make, spec, parcels, in_cgroup=True)
            stack.callback(session.close)
            yield session


def hesitates() -> str:
    """Why ``auto`` takes this wall only where another is too weak: asks processor and kernel, starts nothing.

    Both, because the kernel also hands out virtual machines that never run.
    """
    with contextlib.suppress(OSError):
        if not _VIRTUALISES.search(Path("/proc/cpuinfo").read_text(encoding="utf-8")):
            return _SLOW
        device = os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC)
        try:
            os.close(fcntl.ioctl(device, _KVM_CREATE_VM, 0))
        finally:
            os.close(device)
        return ""
    return _SLOW


def _version() -> str:
    told = proc.run([microvm_machine.PROGRAM, "--version"], deadline=5).stdout.decode(errors="replace")
    words = told.split()
    return words[3] if len(words) > 3 else "?"


@cache
def _working() -> Accelerator:
    """How machines run here: tried for real, KVM first. Raises CouldNotLook."""
    if shutil.which(microvm_machine.PROGRAM) is None:
        raise CouldNotLook("QEMU is not installed", advice=HOW_TO_GET)
    boot = bootable()
    if not hesitates():
        with contextlib.suppress(CouldNotLook):
            _trial(boot, "kvm", _KVM_SECONDS)
            return "kvm"
    _trial(boot, "tcg", _BOOT_SECONDS)
    return "tcg"


def _trial(boot: Bootable, accelerator: Accelerator, seconds: float) -> None:
    """Run Python in one machine, traced. Raises CouldNotLook when that does not come out right."""
    spec = SandboxSpec()
    idle = Probe(id="trial", phase="idle", target="nothing", path=None, argv=_IDLE, driver=False, deadline=8)
    with reap.run_folder() as folder:
        (folder / "empty.tar").write_bytes(bytes(1024))
        empty = Parcel(path=folder / "empty.tar", size=1024)
        session = BoxSession(
            lambda: MicrovmBox(boot, accelerator, spec, folder / "trace.jsonl", wait=seconds),
            spec,
            {"base": empty, "head": empty},
            in_cgroup=True,
        )
        try:
            record = session.run(idle, "base")
        finally:
            session.close()
    if record.fault or record.exit_code != 0 or not record.completeness.whole:
        why = record.fault or f"Python ended with {record.exit_code}, {record.completeness}"
        raise CouldNotLook(f"a virtual machine cannot run or trace here: {why}", advice=HOW_TO_GET)
