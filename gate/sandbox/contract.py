"""The contract of a sandbox backend, and of the session that runs probes behind it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import ClassVar, Literal, Protocol

from gate.dataclass import dataclass
from gate.errors import InconclusiveError
from gate.model.change import Side, Tree
from gate.model.run import Capability, Probe, RunRecord, SandboxSpec

TracerChoice = Literal["auto", "unotify", "strace"]


def _quiet(_: str) -> None:
    """Progress that nobody wants to see."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BackendOptions:
    """What the settings ask of a backend. It ignores what it has no choice in (see ``Backend.tracers``).

    ``tracer``: ``auto`` takes strace only where user notification fails its trial. ``defer_trial``: leave the
    trial start to ``open``, where it runs beside what has to be started anyway. ``python``: which of
    ``Backend.pythons`` its sandboxes have (``3.13``), empty for its own. ``image``: what they are made on, by
    digest; empty for its own. ``services``: with servers for tests in it. ``say`` is told what takes a while.
    """

    tracer: TracerChoice = "auto"
    defer_trial: bool = False
    python: str = ""
    image: str = ""
    services: bool = False
    say: Callable[[str], None] = _quiet


@dataclass(frozen=True, kw_only=True, slots=True)
class InstallTransfer:
    """What a run may do beside running: connect outwards over ``dial`` (a connected socket for each
    connection to ``port`` of its loopback), and send home the files below ``collect`` (``keep`` gets a tar,
    piece by piece; what it raises as OSError or ValueError ends in a fault), at most about ``most`` bytes.
    ``own``: only programs of ours run, whose calls on files nobody asks about: they are not observed.
    """

    port: int
    dial: Callable[[], socket.socket]
    collect: str
    most: int
    keep: Callable[[bytes], None]
    own: bool = False


class Session(Protocol):
    """An open backend for one check. ``run`` may be called from several threads at once."""

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        """Run one probe in a fresh sandbox holding that side's tree; nothing survives it.

        Never raises for what the code does; ``fault`` in the record says when our side failed.
        Ends within ``probe.deadline`` + 5 s.
        """
        ...

    def expect(self, runs: int) -> None:
        """So many runs are coming: sandboxes may be started ahead of need."""
        ...

    def abort(self) -> None:
        """End every running sandbox now; runs that come later fail. Safe from any thread."""
        ...


class InstallingSession(Session, Protocol):
    """A session whose sandboxes can send files home beside a run."""

    def run_with_transfer(self, probe: Probe, side: Side, transfer: InstallTransfer) -> RunRecord:
        """As ``run``, with a transfer beside it. ValueError where sandboxes have a network of their own."""
        ...


class Backend(Protocol):
    """One kind of sandbox: docker, gvisor, bubblewrap, microvm ... One package, one line in the registry."""

    name: str
    tracers: ClassVar[tuple[str, ...]] = ("unotify",)
    """The tracers that ``options.tracer`` may ask it for."""
    options: BackendOptions = BackendOptions()

    def reason_not_preferred(self) -> str:
        """Why ``auto`` takes it only where others are too weak, found without starting anything; empty: no
        reason.
        """
        return ""

    def pythons(self, *, made: bool = False) -> tuple[str, ...]:  # noqa: ARG002
        """The Pythons (``3.13``) that its sandboxes can have beside their own, oldest first: made where they
        are missing, or ``made``, only those that are there.
        """
        return ()

    def install_cache_key(self) -> str:
        """What an installation here is made for (image, interpreter), made where it is missing. Raises
        InconclusiveError.
        """
        return ""

    def probe(self) -> Capability:
        """Start something trivial for real, within its own deadline, and say what was found."""
        ...

    def open(self, spec: SandboxSpec, base: Tree, head: Tree) -> AbstractContextManager[Session]:
        """Set up what all runs of one check share. Everything is gone when the block ends, also
        after SIGINT. Raises InconclusiveError when the sandbox cannot be put up.
        """
        ...

    def open_for_installation(
        self,
        spec: SandboxSpec,  # noqa: ARG002
        files: Tree,  # noqa: ARG002
    ) -> AbstractContextManager[InstallingSession]:
        """The same for installing dependencies; ``files`` is what the sandbox gets. Raises InconclusiveError
        where this backend cannot (its Capability then has no ``layers``).
        """
        raise InconclusiveError(
            f"{self.name} cannot install dependencies", advice="Use docker or bubblewrap for that."
        )
