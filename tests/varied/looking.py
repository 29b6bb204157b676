"""Runs the programs of tests/varied in real sandboxes: base, head, then with other secrets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gate.change.git_range import open_range
from gate.change.interface import OpenChange
from gate.model.behaviour import Behaviour
from gate.model.canary import Canary
from gate.model.run import Probe, RunRecord, SandboxSpec
from gate.model.varied import VariedSecrets
from gate.plan.probes import DriverItem, probe_of
from gate.sandbox import canaries
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.contract import Session
from gate.sandbox.decoy_files import decoy_home_files
from gate.stages.varied import LONGER, Varying
from gate.tracing.diff import compare
from tests.e2e.pulls import Pull, build
from tests.varied.programs import Program


@dataclass(frozen=True, kw_only=True)
class Lab:
    """An open session over a repository with all programs in it."""

    session: Session
    opened: OpenChange
    planted: tuple[Canary, ...]

    def look(self, program: Program, *, known: bool = False) -> tuple[VariedSecrets, tuple[Behaviour, ...]]:
        """What the look tells of one program, and what the ordinary look has told. ``known``: what that told
        already is not told again.
        """
        probe = self._probe(program)
        runs: tuple[RunRecord, ...] = tuple(self.session.run(probe, side) for side in probe.sides)
        seen = compare(runs, self.planted).new
        varying = Varying(
            session=self.session,
            runs=runs,
            planted=self.planted,
            others=canaries.plant(LONGER),
            seen=seen if known else (),
            head=self.opened.head,
            changed=tuple(f for f in self.opened.change.files if f.path == program.path),
            seconds=60,
            note=lambda _: None,
        )
        return varying.look(varying.candidates()), seen

    def _probe(self, program: Program) -> Probe:
        file = next(f for f in self.opened.change.files if f.path == program.path)
        verb = "script" if program.path.endswith(".py") else "javascript_main"
        item = {"do": verb, "path": program.path, "argv": [[]] if verb == "script" else []}
        made = DriverItem(phase="script", target=program.path, file=file, item=item, sides=("base", "head"))
        return probe_of([made], 20.0, {"each_script": 12.0})


@contextmanager
def lab(folder: Path, programs: tuple[Program, ...], backend: str = "bubblewrap") -> Iterator[Lab]:
    """Open one session for these programs."""
    pull = Pull(
        name="varied",
        base={p.path: p.before for p in programs},
        head={p.path: p.after for p in programs},
        verdicts=(),
    )
    planted = canaries.plant()
    with open_range(build(pull, folder), "main", "head") as opened:
        spec = SandboxSpec(
            canaries=planted,
            files=decoy_home_files() | canaries.as_files(planted),
            env=canaries.as_environment(planted),
            network="sinkhole",
            runtimes=("javascript",),
        )
        with BACKENDS[backend]().open(spec, opened.base, opened.head) as session:
            yield Lab(session=session, opened=opened, planted=planted)
