"""Every run in a virtual machine (QEMU microvm) with its own kernel and no network device.

With KVM where it really works, else by TCG (software), which needs no rights at all. Inside, the code is
confined once more and watched by the same supervisor, which runs as another user than the code.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from gate import process
from gate.errors import InconclusiveError
from gate.inside.sinkhole import tls
from gate.model.change import Side, Tree
from gate.model.run import Capability, Probe, SandboxSpec
from gate.regex import regex
from gate.sandbox import reaper
from gate.sandbox.backends.container.docker import DockerBackend, Isolation
from gate.sandbox.backends.microvm import command, snapshot
from gate.sandbox.backends.microvm.command import Accelerator, Shape
from gate.sandbox.backends.microvm.guest_session import MachineEndedError, MicrovmSandbox
from gate.sandbox.backends.microvm.image import INSTALL_HINT, Bootable, bootable
from gate.sandbox.backends.microvm.snapshot import BOOT_SECONDS
from gate.sandbox.contract import Backend, BackendOptions, InstallingSession
from gate.sandbox.dependencies import layers
from gate.sandbox.images import engine_images
from gate.sandbox.session import SandboxSession
from gate.sandbox.sinkhole_host import session as sinking
from gate.sandbox.tree_archive import TreeArchive, pack, with_tree

_KVM_SECONDS: Final = 4.0
_KVM_CREATE_VM: Final = 0xAE01
"""uapi linux/kvm.h."""
_VIRTUALISES: Final = regex(r"^flags\s*:.*\b(?:vmx|svm)\b", re.MULTILINE)
_SLOW: Final = "without KVM every run takes seconds longer"
_PATIENCE: Final = 4.0
"""Without KVM: how much longer the host waits for what is its own work and not the code's."""
_IDLE_SECONDS: Final = 20.0
_IDLE: Final = ("python3", "-I", "-S", "-c", "pass")


class MicrovmBackend(Backend):
    """Implements contract.Backend."""

    name = "microvm"
    isolation: Isolation = "vm"

    def reason_not_preferred(self) -> str:
        """Why ``auto`` takes it only where others are too weak, found without starting anything; empty: no
        reason.
        """
        return reason_not_preferred()

    def probe(self) -> Capability:
        """Boot for real, with Python inside. Builds no image: that may take long."""
        try:
            accelerator = _working()
        except InconclusiveError as error:
            reason = f"{error.message}. {error.advice}"
            return Capability(
                backend=self.name, available=False, isolation=self.isolation, tracer="none", reason=reason
            )
        return Capability(
            backend=self.name,
            available=True,
            isolation=self.isolation,
            tracer="unotify",
            networks=("none", "sinkhole"),
            layers=True,
            version=f"QEMU {_version()}, {accelerator}, Linux {bootable().release}",
            reserve=_SLOW if accelerator == "tcg" else "",
        )

    def install_cache_key(self) -> str:
        """What an installation here is made for: the image that the root file system is made of."""
        of = self.options
        return f"{engine_images.digest()} {of.python} {of.image} {'services' * of.services}".strip()

    def pythons(self, *, made: bool = False) -> tuple[str, ...]:
        """The Pythons that its sandboxes can have beside their own, oldest first: those of containers."""
        return DockerBackend().pythons(made=made)

    def open_for_installation(
        self, spec: SandboxSpec, files: Tree
    ) -> AbstractContextManager[InstallingSession]:
        """The same for installing dependencies; ``files`` is what the sandbox gets."""
        return self.open(spec, files, files)

    @contextlib.contextmanager
    def open(self, spec: SandboxSpec, base: Tree, head: Tree) -> Iterator[SandboxSession]:
        """Set up what all runs of one check share."""
        _refuse_what_is_missing(spec)
        accelerator = _working()
        reaper.reap_processes(command.NAME)
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(reaper.run_folder())
            tree_archives: dict[Side, TreeArchive] = {
                "base": pack(base, folder / "base.tar"),
                "head": pack(head, folder / "head.tar"),
            }
            wanted = replace(spec, limits=with_tree(spec.limits, tree_archives))
            authority = b""
            if spec.network == "sinkhole":
                authority = tls.make_authority()
                wanted = sinking.trusting(wanted, authority)
            starter = _Starter(accelerator, wanted, authority, self.options)
            numbers = itertools.count()
            session = SandboxSession(
                lambda: starter.start(folder / f"{next(numbers)}.jsonl"),
                wanted,
                tree_archives,
                in_cgroup=True,
                patience=_PATIENCE if accelerator == "tcg" else 1.0,
            )
            stack.callback(session.close)
            yield session


class _Starter:
    """Starts the machines of one session: from a stored one where that can be, else by booting.

    Raises InconclusiveError when not even the first one, which is stored, comes up.
    """

    def __init__(
        self,
        accelerator: Accelerator,
        spec: SandboxSpec,
        authority: bytes,
        options: BackendOptions | None = None,
    ) -> None:
        network = spec.network == "sinkhole"
        shown = [(Path(place).name, tar) for place, tar in layers.mounts(spec)]
        self._boot: Bootable = bootable(network=network, wanted=shown, options=options)
        self._spec, self._authority = spec, authority
        self._shape = Shape(
            accelerator=accelerator,
            memory=command.memory(spec.limits.memory),
            network=network,
            dependencies=self._boot.dependencies.name if self._boot.dependencies else "",
        )
        self._wait = BOOT_SECONDS if accelerator == "tcg" else _KVM_SECONDS
        self._stored = snapshot.ensure(self._boot, self._shape, _version())

    def start(self, trace: Path) -> MicrovmSandbox:
        """One machine, ready. Raises InconclusiveError."""
        stored = self._stored
        if stored is not None:
            try:
                return self._box(trace, stored)
            except (
                MachineEndedError
            ):  # damaged, or this QEMU cannot: the ordinary way, and stored anew next time
                snapshot.drop(stored)
            except InconclusiveError:
                if stored.exists():
                    raise  # else another gate needed the room
            self._stored = None
        return self._box(trace, None)

    def _box(self, trace: Path, stored: Path | None) -> MicrovmSandbox:
        return MicrovmSandbox(
            self._boot,
            self._shape,
            self._spec,
            trace,
            wait=self._wait,
            stored=stored,
            authority=self._authority,
        )


def _refuse_what_is_missing(spec: SandboxSpec) -> None:
    """Raises InconclusiveError for what this backend was asked and cannot do: never silently less."""
    if spec.image:
        raise InconclusiveError(
            "microvm has its own image only", advice="Use --backend docker for another one."
        )


def reason_not_preferred() -> str:
    """Why ``auto`` takes it only where another is too weak: asks processor and kernel, starts nothing.

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
    told = process.run([command.PROGRAM, "--version"], deadline=5).stdout.decode(errors="replace")
    words = told.split()
    return words[3] if len(words) > 3 else "?"


@cache
def _working() -> Accelerator:
    """How machines run here: tried for real, KVM first. Raises InconclusiveError."""
    if shutil.which(command.PROGRAM) is None:
        raise InconclusiveError("QEMU is not installed", advice=INSTALL_HINT)
    if not reason_not_preferred():
        with contextlib.suppress(InconclusiveError):
            _trial("kvm")
            return "kvm"
    _trial("tcg")
    return "tcg"


def _trial(accelerator: Accelerator) -> None:
    """Run Python in one machine, traced. Raises InconclusiveError when that does not come out right."""
    spec = SandboxSpec()
    idle = Probe(
        id="trial",
        phase="idle",
        target="nothing",
        path=None,
        argv=_IDLE,
        driver=False,
        deadline=_IDLE_SECONDS,
    )
    starter = _Starter(accelerator, spec, b"")
    with reaper.run_folder() as folder:
        (folder / "empty.tar").write_bytes(bytes(1024))
        empty = TreeArchive(path=folder / "empty.tar", size=1024)
        session = SandboxSession(
            lambda: starter.start(folder / "trace.jsonl"),
            spec,
            {"base": empty, "head": empty},
            in_cgroup=True,
            patience=_PATIENCE,
        )
        try:
            record = session.run(idle, "base")
        finally:
            session.close()
    if record.fault or record.exit_code != 0 or not record.completeness.whole:
        why = record.fault or f"Python ended with {record.exit_code}, {record.completeness}"
        raise InconclusiveError(f"a virtual machine cannot run or trace here: {why}", advice=INSTALL_HINT)
