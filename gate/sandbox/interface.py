"""The sandbox room's contract: a backend is a wall; a session runs probes behind it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from gate.model.change import Side, Tree
from gate.model.run import Capability, Probe, RunRecord, SandboxSpec


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


class Backend(Protocol):
    """One kind of wall: docker, gvisor, bubblewrap, microvm ... One file each."""

    name: str

    def probe(self) -> Capability:
        """Start something trivial for real, within its own deadline, and say what was found."""
        ...

    def open(self, spec: SandboxSpec, base: Tree, head: Tree) -> AbstractContextManager[Session]:
        """Set up what all runs of one check share. Everything is gone when the block ends, also
        after SIGINT. Raises CouldNotLook when the wall cannot be put up.
        """
        ...
