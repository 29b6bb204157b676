"""The container backend: one hardened container for every run, through Docker's API."""

from __future__ import annotations

import contextlib
import functools
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, TypeVar

from docker import DockerClient
from requests.exceptions import Timeout

from gate.errors import BackendFailedError, InconclusiveError
from gate.model.change import Side, Tree
from gate.model.run import Capability, Limits, SandboxSpec
from gate.resources import rules_dir
from gate.sandbox import reaper
from gate.sandbox.backends.container import engine, podman
from gate.sandbox.backends.container import options as container
from gate.sandbox.backends.container.attach import Attached
from gate.sandbox.backends.container.engine import API_ERRORS
from gate.sandbox.backends.container.memory_events import MemoryEvents
from gate.sandbox.backends.container.observer import Observer
from gate.sandbox.backends.container.options import JsonObject
from gate.sandbox.canaries import kill_paths
from gate.sandbox.concurrent_contexts import enter_concurrently
from gate.sandbox.contract import Backend, InstallingSession
from gate.sandbox.dependencies import layer_mounts
from gate.sandbox.images import debian, engine_images, runtime_layer
from gate.sandbox.protocol import Tracing
from gate.sandbox.session import ExitDetails, PlainSandbox, RunningSandbox, SandboxSession
from gate.sandbox.sinkhole_host import session as sinking
from gate.sandbox.transport import EndReason
from gate.sandbox.tree_archive import TreeArchive, pack, with_tree

_PROBE_SECONDS: Final = 10.0
_EXIT_SECONDS: Final = 2
_OOM_SECONDS: Final = 2.0
_OOM_STEP: Final = 0.05
_CALL_SECONDS: Final = 20
Isolation = Literal["vm", "user-kernel", "container", "process", "none"]
P = TypeVar("P", bound="WatchedSandbox")


class WatchedSandbox(Protocol):
    """What a watcher keeps of one sandbox."""

    @property
    def naming(self) -> str:
        """A folder of the engine's host with the files of observer/naming.py; empty where there is none."""

    @property
    def socket(self) -> str:
        """A path inside the sandbox."""

    @property
    def token(self) -> str:
        """32 hex digits."""

    @property
    def trace(self) -> Path:
        """The trace's file on the host."""

    @property
    def ended(self) -> threading.Event:
        """Set when nothing more will come."""


class Watcher(Protocol[P]):
    """Who traces sandboxes: observing.Observer and its like."""

    def watch(self, *, events: int) -> P:
        """A place for one sandbox. Raises InconclusiveError."""
        ...

    def forget(self, place: P, /) -> None:
        """The sandbox is gone; its trace stays."""
        ...


class DockerSandbox(PlainSandbox):
    """One started container. Implements session.RunningSandbox."""

    def __init__(
        self, client: DockerClient, options: JsonObject, observer: Watcher[Any], events: int
    ) -> None:
        self._hurried = engine.short_timeout_client(client)
        self._silent = False
        self._observer = observer
        self._id = ""
        self._volumes: tuple[str, ...] = ()
        self._removed = False
        self._memory = MemoryEvents(None)
        self._place: WatchedSandbox = observer.watch(events=events)
        try:
            body = container.with_names(options, self._place.naming)
            self._id, self._volumes = podman.create(client, body)
            self._line = Attached(client, self._id)
            client.api.start(self._id)
            self._group = podman.group(client, self._id)
            self._memory = MemoryEvents(self._group)
        except API_ERRORS as error:
            self.remove()
            raise InconclusiveError(
                f"a container did not start: {_line(error)}", advice=engine.INSTALL_HINT
            ) from error
        except BaseException:
            self.remove()
            raise
        self.tracer = Tracing(socket=self._place.socket, token=bytes.fromhex(self._place.token))
        self.trace = self._place.trace

    @property
    def network_pid(self) -> int:
        """A process of this sandbox, by which its network namespace is found."""
        try:
            return int(self._hurried.api.inspect_container(self._id)["State"]["Pid"])
        except API_ERRORS as error:
            raise InconclusiveError(f"the container engine failed: {_line(error)}") from error

    @property
    def read_fd(self) -> int:
        """The attached socket."""
        return self._line.socket.fileno()

    @property
    def write_fd(self) -> int:
        """The attached socket, too."""
        return self._line.socket.fileno()

    def split(self, data: bytes) -> list[tuple[int, bytes]]:
        """The engine's own framing of stdout and stderr."""
        return self._line.split(data)

    def kill(self) -> None:
        """SIGKILL to the whole container; fine when it is already gone."""
        if not self._silent:
            with contextlib.suppress(*API_ERRORS):
                self._hurried.api.kill(self._id)

    def exit_details(self, ending: EndReason, status: int | None) -> ExitDetails:
        """Ask the engine only where the launcher's word is not enough: a stop, a signal, a silence."""
        if ending == "said" and status == 0:
            return ExitDetails()
        hit = self._group is not None and self._group.out_of_memory  # soon it is gone
        killed = ending in ("said", "closed") and status in (None, -signal.SIGKILL)
        hit = hit or (killed and self._memory.out_of_memory())
        unsure = killed and not hit and (self._group is None or not self._group.exists)
        try:
            peak = self._most_memory() if ending in ("deadline", "stopped") else None
            if ending in ("said", "closed"):
                with contextlib.suppress(*API_ERRORS):  # it is on its way out
                    self._hurried.api.wait(self._id, timeout=_EXIT_SECONDS)
            hit = hit or self._told_of_memory(_OOM_SECONDS if unsure else 0.0)
        except API_ERRORS as error:
            self._silent = isinstance(error, Timeout)
            raise InconclusiveError(f"the container engine failed during the run: {_line(error)}") from error
        return ExitDetails(out_of_memory=hit, peak_memory=peak)

    def _told_of_memory(self, seconds: float) -> bool:
        """Whether the engine says that memory was the cause. It hears of that apart from the end, and on a
        busy machine after it (containerd issue 8180): so what was killed is asked about for some time.
        """
        until = time.monotonic() + seconds
        while True:
            if self._hurried.api.inspect_container(self._id)["State"].get("OOMKilled"):
                return True
            if time.monotonic() >= until:
                return False
            time.sleep(_OOM_STEP)

    def _most_memory(self) -> int | None:
        return _peak(self._hurried, self._id) if self._group is None else self._group.peak_memory

    def trace_done(self, deadline: float) -> None:
        """The supervisor ends when nobody uses its filter any more."""
        self._place.ended.wait(deadline)

    def remove(self) -> None:
        """Container gone, trace file closed (it stays until the session ends)."""
        if self._removed:
            return
        self._removed = True
        self._memory.close()
        self._observer.forget(self._place)
        with contextlib.suppress(AttributeError):
            self._line.close()
        if self._id:
            podman.remove(self._hurried, self._id, self._volumes)


class DockerBackend(Backend):
    """Implements contract.Backend. ``runtime`` names another OCI runtime of the engine."""

    name = "docker"
    isolation: Isolation = "container"
    runtime: str | None = None
    in_cgroup = True
    """The control group holds memory and processes; else the launcher limits each process."""
    _tried = True

    def probe(self) -> Capability:
        """Start the sandbox image for real and look at what it says. Builds no image: that may take long."""
        try:
            with contextlib.closing(engine.connect(deadline=3, timeout=_PROBE_SECONDS)) as client:
                version = engine.version(client)
                image = engine_images.present(client, "sandbox")
                self._tried = bool(image) and not self.options.defer_trial
                if image and not self.options.defer_trial:
                    _trial(client, image, self.runtime)
        except InconclusiveError as error:
            return self._lacking(f"{error.message}. {error.advice}")
        except API_ERRORS as error:
            return self._lacking(f"the engine cannot start a container: {_line(error)}")
        return Capability(
            backend=self.name,
            available=True,
            isolation=self.isolation,
            tracer="unotify",
            networks=("none", "sinkhole"),
            layers=True,
            version=version or "?",
            reason="" if image else "its images are built on first use",
        )

    def install_cache_key(self) -> str:
        """What an installation here is made for: the image's id. Raises InconclusiveError."""
        with contextlib.closing(engine.connect()) as client:
            return self._plain_image(client)

    def pythons(self, *, made: bool = False) -> tuple[str, ...]:
        """The Pythons that its sandboxes can have beside their own, oldest first."""
        if not made and debian.can_make():
            return tuple(debian.PYTHONS)
        with (
            contextlib.suppress(InconclusiveError, *API_ERRORS),
            contextlib.closing(engine.connect(deadline=3)) as client,
        ):
            return tuple(p for p in debian.PYTHONS if engine_images.present(client, "sandbox", p))
        return ()

    def _lacking(self, reason: str) -> Capability:
        return Capability(
            backend=self.name, available=False, isolation=self.isolation, tracer="none", reason=reason
        )

    def open_for_installation(
        self, spec: SandboxSpec, files: Tree
    ) -> AbstractContextManager[InstallingSession]:
        """The same for installing dependencies; ``files`` is what the sandbox gets."""
        return self.open(spec, files, files)

    @contextlib.contextmanager
    def open(self, spec: SandboxSpec, base: Tree, head: Tree) -> Iterator[SandboxSession]:
        """Set up what all runs of one check share. Everything it makes carries our label."""
        client = engine.connect()
        with contextlib.ExitStack() as stack:
            stack.callback(client.close)
            folder = stack.enter_context(reaper.run_folder())
            tree_archives: dict[Side, TreeArchive] = {
                "base": pack(base, folder / "base.tar"),
                "head": pack(head, folder / "head.tar"),
            }
            try:
                reaper.reap(client)
                image = layer_mounts.ensure(client, self._image(client, spec), spec)
                labels = reaper.labels()
                watching = engine_images.ensure(client, "observer")
                client.api.timeout = _CALL_SECONDS  # from here on nothing large is moved
                with self._trying(client, image):
                    observer, (spec, around) = stack.enter_context(
                        enter_concurrently(
                            lambda: self._watcher(
                                client,
                                image=watching,
                                labels=labels,
                                folder=folder,
                                canaries=kill_paths(spec),
                            ),
                            functools.partial(
                                self._network, spec, folder, client, image=watching, labels=labels
                            ),
                        )
                    )
            except API_ERRORS as error:
                raise InconclusiveError(
                    f"the container engine failed: {_line(error)}", advice=engine.INSTALL_HINT
                ) from error
            limits = with_tree(spec.limits, tree_archives)
            options = container.sandbox_options(
                image=image,
                limits=self._held(limits),
                labels=labels,
                seccomp=seccomp_profile(client),
                sockets_volume=observer.volume,
                planted=tuple(spec.files),
                runtime=self.runtime,
            )

            if spec.network == "sinkhole":
                options["HostConfig"] |= self._with_network

            def make() -> RunningSandbox:
                return around(self._box(client, options, observer, limits.trace_events))

            session = SandboxSession(make, spec, tree_archives, in_cgroup=self.in_cgroup)
            stack.callback(session.close)
            yield session

    @contextlib.contextmanager
    def _trying(self, client: DockerClient, image: str) -> Iterator[None]:
        """The trial start that ``probe`` left out, beside the block. Raises BackendFailedError."""
        if self._tried:
            yield
            return
        with ThreadPoolExecutor(1, thread_name_prefix="trial") as pool:
            trial = pool.submit(_trial, client, image, self.runtime)
            try:
                yield
            except Exception:  # what fails in the block, too, has its cause here
                _stood(trial)
                raise
            _stood(trial)
        self._tried = True

    def _watcher(
        self,
        client: DockerClient,
        *,
        image: str,
        labels: Mapping[str, str],
        folder: Path,
        canaries: tuple[str, ...],
    ) -> Any:
        """Who sees what the sandboxes do: a context manager that is a Watcher, with a ``volume``.

        Reading one of the paths ``canaries`` ends a sandbox.
        """
        return Observer(client, image=image, labels=labels, folder=folder, canaries=canaries)

    _network = staticmethod(sinking.in_container)
    """What answers a sandbox's network, where one is asked for."""
    _with_network: Mapping[str, Any] = MappingProxyType({"Sysctls": sinking.SYSCTLS})
    """What the engine is told for it."""

    def _box(self, client: DockerClient, options: JsonObject, observer: Any, events: int) -> DockerSandbox:
        """One started sandbox."""
        return DockerSandbox(client, options, observer, events)

    def _image(self, client: DockerClient, spec: SandboxSpec) -> str:
        """The image of the sandboxes, with the runtimes that the spec wants."""
        return runtime_layer.ensure(client, spec.image or self._plain_image(client), spec.runtimes)

    def _plain_image(self, client: DockerClient) -> str:
        """The image's id, made where it is missing. Raises InconclusiveError."""
        chosen = self.options
        return engine_images.ensure(
            client,
            "sandbox",
            python=chosen.python,
            named=chosen.image,
            services=chosen.services,
            say=chosen.say,
        )

    def _held(self, limits: Limits) -> Limits:
        """What the control group of a sandbox holds, for these limits of the code."""
        return limits


def seccomp_profile(client: DockerClient) -> str:
    """The profile as JSON text, or its path for podman, which wants that; empty (the engine's default) where
    none is shipped.
    """
    path = rules_dir() / "seccomp.json"
    if not path.is_file():
        return ""
    return str(path) if engine.is_podman(client) else path.read_text(encoding="utf-8")


def _trial(client: DockerClient, image: str, runtime: str | None) -> None:
    """Start a hardened container that does nothing, and wait for it. Raises InconclusiveError, API_ERRORS."""
    options = container.sandbox_options(
        image=image,
        limits=Limits(memory=128 << 20),
        labels=reaper.labels(),
        seccomp=seccomp_profile(client),
        sockets_volume=None,
        runtime=runtime,
    )
    options |= {"Entrypoint": ["python3", "-I", "-S", "-c", "raise SystemExit(42)"], **container.NO_NETWORK}
    trial, volumes = podman.create(client, options)
    try:
        client.api.start(trial)
        code = client.api.wait(trial, timeout=int(_PROBE_SECONDS))["StatusCode"]
    finally:
        podman.remove(client, trial, volumes)
    if code != 42:
        raise InconclusiveError(
            f"the sandbox image does not run (exit {code})", advice="Remove it and try again."
        )


def _stood(trial: Future[None]) -> None:
    """Wait for a trial start. Raises BackendFailedError."""
    try:
        trial.result()
    except (InconclusiveError, *API_ERRORS) as error:
        raise BackendFailedError(
            f"the engine cannot start a container: {_line(error)}", advice=engine.INSTALL_HINT
        ) from error


def _peak(client: DockerClient, container_id: str) -> int | None:
    """The most memory the container held so far, bytes, from the control group (v1) or the engine."""
    stats = client.api.stats(container_id, stream=False, one_shot=True).get("memory_stats", {})
    peak = stats.get("max_usage") or stats.get("usage")
    return int(peak) if peak else None


def _line(error: object) -> str:
    return " ".join(str(error).split())[:300]
