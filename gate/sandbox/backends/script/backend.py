"""Backends of a language runtime, always inside bubblewrap: what they share.

The runtime (WebAssembly, restricted Python, JavaScript without permissions) is the inner sandbox, bubblewrap
the outer. Nothing sees single actions of the code in there: no tracer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Final

from gate.errors import InconclusiveError
from gate.model.change import Side, Tree
from gate.model.run import Capability, Probe, RunRecord, SandboxSpec
from gate.sandbox.backends.bubblewrap.backend import BubblewrapBackend
from gate.sandbox.contract import Backend, InstallingSession, Session
from gate.sandbox.run_record import never_started
from gate.sandbox.tree_archive import NoTree

_QUIET: Final = {"NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1"}
Translate = Callable[[tuple[str, ...]], tuple[str, ...] | None]


class ScriptedSession(Session):
    """Implements interface.Session: the same runs, started through the runtime."""

    def __init__(self, inner: Session, name: str, translate: Translate) -> None:
        self._inner = inner
        self._name = name
        self._translate = translate

    def expect(self, runs: int) -> None:
        """So many runs are coming: sandboxes may be started ahead of need."""
        self._inner.expect(runs)

    def abort(self) -> None:
        """End every running sandbox now; runs that come later fail."""
        self._inner.abort()

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        """Run one probe in a fresh sandbox holding that side's tree; nothing survives it. What the runtime
        cannot run never starts, and says so as a fault.
        """
        words = None if probe.driver else self._translate(probe.argv)
        if words is None:
            what = "the driver" if probe.driver else " ".join(probe.argv[:2])
            return never_started(probe, side, repeat, f"the backend {self._name!r} cannot run {what}")
        started = replace(probe, argv=words, env={**_QUIET, **probe.env})
        return replace(self._inner.run(started, side, repeat=repeat), probe=probe)


class ScriptedBackend(BubblewrapBackend):
    """Implements contract.Backend. A subclass names its runtime's files and how a command is put to it."""

    trial: tuple[str, ...] = ("python3", "-c", "print('ready')")
    reserve = "it sees less, and no tracer watches what the code does in it"

    def prepare(self) -> tuple[tuple[str, str], ...]:
        """Runtime files as (host path, path inside). Raises InconclusiveError with how to get what is
        missing.
        """
        raise NotImplementedError

    def translate(self, argv: tuple[str, ...]) -> tuple[str, ...] | None:
        """The command that runs ``argv`` through the runtime; None when it cannot."""
        raise NotImplementedError

    def probe(self) -> Capability:
        """Run a line through the runtime for real."""
        outer = super().probe()
        try:
            if not outer.available:
                raise InconclusiveError(f"it only runs inside bubblewrap: {outer.reason}")
            idle = Probe(
                id="trial",
                phase="idle",
                target="nothing",
                path=None,
                argv=self.trial,
                driver=False,
                deadline=20,
            )
            with self.open(SandboxSpec(), NoTree(), NoTree()) as session:
                record = session.run(idle, "base")
            if record.fault or record.stdout.strip() != b"ready":
                said = record.stderr.decode(errors="replace").strip().splitlines()[-1:]
                raise InconclusiveError(
                    f"a first script did not run: {record.fault or record.outcome.value} {said}"
                )
        except InconclusiveError as error:
            return replace(
                outer, available=False, tracer="none", reason=f"{error.message} {error.advice}".strip()
            )
        return replace(
            outer,
            tracer="none",
            layers=False,
            version=f"{self.version()}, in bubblewrap {outer.version}",
            reserve=self.reserve,
        )

    def version(self) -> str:
        """The runtime's."""
        raise NotImplementedError

    def open_for_installation(
        self, spec: SandboxSpec, files: Tree
    ) -> AbstractContextManager[InstallingSession]:
        """Raises InconclusiveError: a language runtime cannot install."""
        return Backend.open_for_installation(self, spec, files)

    @contextlib.contextmanager
    def open(self, spec: SandboxSpec, base: Tree, head: Tree) -> Iterator[Session]:  # type: ignore[override]
        """Set up what all runs of one check share."""
        self.shared = self.prepare()
        with super().open(spec, base, head) as inner:
            yield ScriptedSession(inner, self.name, self.translate)


def python_words(argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """A Python command without interpreter and harmless flags: a script or ``-c CODE``, and arguments."""
    if not argv or Path(argv[0]).name not in ("python3", "python"):
        return None
    words = list(argv[1:])
    while words and words[0] in ("-I", "-S", "-B", "-E", "-s", "-u"):
        words.pop(0)
    if not words or (words[0].startswith("-") and words[0] != "-c") or words == ["-c"]:
        return None
    return tuple(words)
