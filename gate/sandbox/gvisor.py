"""The user-kernel wall: containers on gVisor, whose kernel is a program of its own, and which reports itself.

The same API and hardening as the container wall, with the runtime ``runsc``. What the code does is told by
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

from gate.errors import CouldNotLook
from gate.model.run import Capability, Limits, Probe, SandboxSpec
from gate.sandbox import container, engine, gvisor_setup, images, sinking
from gate.sandbox.canaries import deadly
from gate.sandbox.channel import Tracing
from gate.sandbox.docker import DockerBackend, DockerBox, Isolation
from gate.sandbox.engine import API_ERRORS
from gate.sandbox.gvisor_observer import Reported, SinkObserver
from gate.sandbox.parcel import NoTree
from gate.sandbox.session import Aftermath
from gate.sandbox.talk import Ending

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

    def __init__(self, observer: SinkObserver, place: Reported) -> None:
        self._observer, self._place = observer, place

    def watch(self, *, events: int) -> Reported:  # noqa: ARG002  # it was told when it was claimed
        return self._place

    def forget(self, place: Reported) -> None:
        self._observer.forget(place)


class GvisorBox(DockerBox):
    """One started container on a slot's runtime. Implements session.Box."""

    _gone = False

    def __init__(
        self, client: DockerClient, options: dict[str, Any], observer: SinkObserver, events: int
    ) -> None:
        place = observer.watch(events=events)
        host = options["HostConfig"] | {"Runtime": gvisor_setup.runtime(place.slot)}
        tunnel = bool(host.pop(_TUNNEL, False))
        host["CapAdd"] = [*_LAUNCHER_MAY, *(_FOR_NETWORK if tunnel else ())]
        body = options | {"HostConfig": host, "User": "0:0"}
        super().__init__(client, body, _Claimed(observer, place), events)
        self.tracer = Tracing(kind="guard", user=container.UID, cover=_COVERED, tunnel=tunnel)
        self._reported = place

    def aftermath(self, ending: Ending, status: int | None) -> Aftermath:
        """As the container's. After its launcher's last word it ends by itself, sooner than by the engine."""
        self._gone = ending == "said" and self._reported.ended.wait(_LEAVES_SECONDS)
        return super().aftermath(ending, status)

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
    """Implements interface.Backend."""

    name = "gvisor"
    isolation: Isolation = "user-kernel"
    in_cgroup = False  # processes are counted by its own kernel, by the launcher's limit

    def probe(self) -> Capability:
        """Run nothing in one traced sandbox, for real. Builds no image: that may take long."""
        try:
            with contextlib.closing(engine.connect(deadline=3, timeout=10)) as client:
                runtimes = client.info().get("Runtimes") or {}
                built = images.present(client, "sandbox") and images.present(client, "observer")
            slots = gvisor_setup.usable(runtimes)
            without = self._without_network() if built else ""
        except CouldNotLook as error:
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
            reserve=hesitates(),
        )

    def _without_network(self) -> str:
        """Why there is no simulated network; empty: it works. Raises CouldNotLook when nothing does."""
        try:
            self._trial("sinkhole")
        except CouldNotLook as error:
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
            raise CouldNotLook(f"gVisor cannot run or trace a sandbox: {why}", advice=gvisor_setup.HOW_TO_GET)

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
            raise CouldNotLook(
                "gVisor reports what was done, too late to stop it at the moment a canary is opened",
                advice='Use docker or bubblewrap, or sandbox.on_canary = "record".',
            )
        slots = gvisor_setup.usable(client.info().get("Runtimes") or {})
        return SinkObserver(client, image=image, labels=labels, folder=folder, slots=slots)

    _network = staticmethod(sinking.by_packets)
    _with_network = MappingProxyType({_TUNNEL: True})

    def _box(self, client: DockerClient, options: dict[str, Any], observer: Any, events: int) -> DockerBox:
        return GvisorBox(client, options, observer, events)

    def _held(self, limits: Limits) -> Limits:
        return replace(limits, memory=limits.memory + _KERNEL_MEMORY, pids=limits.pids + _KERNEL_TASKS)


def refuse_what_is_missing(spec: SandboxSpec, wall: str) -> None:
    """Raises CouldNotLook for what this wall was asked and cannot do: never silently less."""
    if spec.network != "none":
        raise CouldNotLook(
            f"{wall} has no {spec.network}", advice="Use --backend docker or bubblewrap for it."
        )
    if spec.layers:
        raise CouldNotLook(
            f"{wall} cannot show installed dependencies",
            advice="Use --backend docker or bubblewrap for that.",
        )
    if deadly(spec):
        raise CouldNotLook(
            f"{wall} cannot end a sandbox when it reads a canary", advice="Use on_canary = record, or docker."
        )


def hesitates() -> str:
    """Why ``auto`` takes this wall only where another is too weak."""
    return "a check takes about twice as long as in a container, and no run can be ended at a planted secret"
