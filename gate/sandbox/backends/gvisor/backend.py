"""Containers on gVisor, whose kernel is a program of its own, and which reports itself.

The same API and hardening as the container backend, with the runtime ``runsc``. What the code does is told by
the kernel it runs on (trace points and strace of the sentry), so nothing inside can touch the tracer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from docker import DockerClient

from gate.errors import InconclusiveError
from gate.model.run import Capability, Limits, Probe, SandboxSpec
from gate.sandbox.backends.container import engine
from gate.sandbox.backends.container import options as container
from gate.sandbox.backends.container.docker import DockerBackend, DockerSandbox, Isolation
from gate.sandbox.backends.container.engine import API_ERRORS
from gate.sandbox.backends.container.options import JsonObject
from gate.sandbox.backends.gvisor import setup
from gate.sandbox.backends.gvisor.observer import ReportedSandbox, SinkObserver
from gate.sandbox.images import engine_images
from gate.sandbox.protocol import Tracing
from gate.sandbox.session import ExitDetails
from gate.sandbox.sinkhole_host import session as sinking
from gate.sandbox.transport import EndReason
from gate.sandbox.tree_archive import NoTree

_IDLE: Final = ("python3", "-I", "-S", "-c", "pass")
_KERNEL_MEMORY: Final = 96 << 20
"""What the sandbox's kernel needs for itself, inside the same control group."""
_LAUNCHER_MAY: Final = ["SETUID", "SETGID", "KILL", "SYS_ADMIN"]
"""gVisor lets a process open and kill others of its user, the first one too. So the launcher starts as root
of the sandbox (in gVisor's kernel, not on the host) with these only, and the code becomes another user. The
last one is given up before the tree is unpacked: with it the launcher hides _COVERED."""
_FOR_NETWORK: Final = ("NET_ADMIN", "NET_BIND_SERVICE")
_TUNNEL: Final = "gate-tunnel"
"""Told among the engine's options, and not passed on to it: this sandbox has a network that answers."""
_COVERED: Final = (
    *container.MASKED,  # runsc takes no notice of the engine's list
    # the launcher's own: anybody may read them in gVisor
    *(f"/proc/1/{name}" for name in ("environ", "auxv", "maps", "smaps", "fd", "fdinfo", "task")),
    *("/proc/sentry-meminfo", "/proc/cgroups", "/sys/fs/cgroup"),
    *("/dev/fuse", "/dev/net"),
)
_TURNS: Final = 8
_LEAVES_SECONDS: Final = 1.0
_KERNEL_TASKS: Final = 512
"""Host threads of that kernel; the code's own processes are counted inside it."""


class _Claimed:
    """A slot taken before its container is made, because its runtime is part of the container's options."""

    def __init__(self, observer: SinkObserver, place: ReportedSandbox) -> None:
        self._observer, self._place = observer, place

    def watch(self, *, events: int) -> ReportedSandbox:  # noqa: ARG002  # it was told when it was claimed
        return self._place

    def forget(self, place: ReportedSandbox) -> None:
        self._observer.forget(place)


class GvisorSandbox(DockerSandbox):
    """One started container on a slot's runtime. Implements session.Box."""

    _gone = False

    def __init__(
        self, client: DockerClient, options: JsonObject, observer: SinkObserver, events: int
    ) -> None:
        place = observer.watch(events=events)
        host = options["HostConfig"] | {"Runtime": setup.runtime(place.slot)}
        tunnel = bool(host.pop(_TUNNEL, False))
        host["CapAdd"] = [*_LAUNCHER_MAY, *(_FOR_NETWORK if tunnel else ())]
        body = options | {"HostConfig": host, "User": "0:0"}
        super().__init__(client, body, _Claimed(observer, place), events)
        self.tracer = Tracing(kind="guard", user=container.UID, cover=_COVERED, tunnel=tunnel)
        self._reported = place

    def exit_details(self, ending: EndReason, status: int | None) -> ExitDetails:
        """As the container's. After its launcher's last word it ends by itself, sooner than by the engine."""
        self._gone = ending == "said" and self._reported.ended.wait(_LEAVES_SECONDS)
        return super().exit_details(ending, status)

    def kill(self) -> None:
        """As the container's, unless its kernel has reported its own end."""
        if not self._gone:
            super().kill()

    def trace_done(self, deadline: float) -> None:
        """Reports pass through three programs; on a busy machine, wait on as long as some come."""
        for _ in range(_TURNS):
            before = self._reported.frames
            if self._reported.ended.wait(deadline) or self._reported.frames == before:
                break
        self._reported.finish()


class GvisorBackend(DockerBackend):
    """Implements contract.Backend."""

    name = "gvisor"
    isolation: Isolation = "user-kernel"
    in_cgroup = False  # processes are counted by its own kernel, by the launcher's limit

    def reason_not_preferred(self) -> str:
        """Why ``auto`` takes it only where others are too weak, found without starting anything; empty: no
        reason.
        """
        return _NOT_PREFERRED

    def probe(self) -> Capability:
        """Run nothing in one traced sandbox, for real. Builds no image: that may take long."""
        try:
            with contextlib.closing(engine.connect(deadline=3, timeout=10)) as client:
                runtimes = client.info().get("Runtimes") or {}
                built = engine_images.present(client, "sandbox") and engine_images.present(client, "observer")
            slots = setup.usable(runtimes)
            without = self._without_network() if built else ""
        except InconclusiveError as error:
            return self._lacking(f"{error.message}. {error.advice}")
        except API_ERRORS as error:
            return self._lacking(f"the engine failed: {' '.join(str(error).split())[:300]}")
        return Capability(
            backend=self.name,
            available=True,
            isolation=self.isolation,
            tracer="seccheck",
            networks=("none",) if without else ("none", "sinkhole"),
            layers=True,
            version=f"runsc, {slots} slots",
            reason=without if built else "its images are built on first use",
            reserve=self.reason_not_preferred(),
        )

    def _without_network(self) -> str:
        """Why there is no simulated network; empty: it works. Raises InconclusiveError when nothing does."""
        try:
            self._trial("sinkhole")
        except InconclusiveError as error:
            self._trial("none")
            return f"no simulated network, for which the engine's host needs /dev/net/tun: {error.message}"
        return ""

    def _trial(self, network: Literal["none", "sinkhole"]) -> None:
        idle = Probe(
            id="trial", phase="idle", target="nothing", path=None, argv=_IDLE, driver=False, deadline=8
        )
        spec = SandboxSpec(limits=Limits(memory=128 << 20), network=network)
        with self.open(spec, NoTree(), NoTree()) as session:
            record = session.run(idle, "base")
        if record.fault or record.exit_code != 0 or not record.completeness.whole:
            why = record.fault or f"Python ended with {record.exit_code}, {record.completeness}"
            raise InconclusiveError(f"gVisor cannot run or trace a sandbox: {why}", advice=setup.INSTALL_HINT)

    def _watcher(
        self,
        client: DockerClient,
        *,
        image: str,
        labels: Mapping[str, str],
        folder: Path,
        canaries: tuple[str, ...],
    ) -> SinkObserver:
        if canaries:
            raise InconclusiveError(
                "gVisor reports what was done, too late to stop it at the moment a canary is opened",
                advice='Use docker or bubblewrap, or sandbox.on_canary = "record".',
            )
        slots = setup.usable(client.info().get("Runtimes") or {})
        return SinkObserver(client, image=image, labels=labels, folder=folder, slots=slots)

    _network = staticmethod(sinking.by_packets)
    _with_network = MappingProxyType({_TUNNEL: True})

    def _box(self, client: DockerClient, options: JsonObject, observer: Any, events: int) -> DockerSandbox:
        return GvisorSandbox(client, options, observer, events)

    def _held(self, limits: Limits) -> Limits:
        return replace(limits, memory=limits.memory + _KERNEL_MEMORY, pids=limits.pids + _KERNEL_TASKS)


_NOT_PREFERRED: Final = (
    "a check takes about twice as long as in a container, and no run can be ended at a planted secret"
)
