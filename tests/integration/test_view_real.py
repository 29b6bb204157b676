"""Real programs, really traced behind a real backend: harmless ones stay quiet, others are told by name."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass

import pytest

from gate.model.change import Change, ChangedFile, Hunk
from gate.model.finding import Finding
from gate.model.rule import Severity
from gate.model.run import Capability, Phase, Probe, RunRecord, SandboxSpec
from gate.sandbox import canaries
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.contract import Session
from gate.sandbox.execution import IDLE
from gate.signals.interface import SignalContext
from gate.signals.run import signals
from gate.tracing.diff import compare
from tests.contract.capabilities import capability
from tests.contract.trees import DictTree
from tests.paths import TESTS

pytestmark = [pytest.mark.engine, pytest.mark.slow]


@functools.cache
def tracing_backend() -> tuple[str, Capability] | None:
    """The first backend of this machine that can trace, quickest first."""
    for name in sorted(BACKENDS, key=lambda name: name != "bubblewrap"):
        found = capability(name)
        if found.available and found.tracer != "none":
            return name, found
    return None


@dataclass(frozen=True)
class Case:
    """A program that head has and base has not, and the behaviour rules that must speak."""

    name: str
    code: str
    rules: frozenset[str]
    severity: str = ""
    """The gravest expected, exactly; empty: nothing at all may be found."""
    phase: Phase = "import"


def _cases() -> tuple[Case, ...]:
    with (TESTS / "integration" / "view_programs.toml").open("rb") as file:
        programs = tomllib.load(file)["program"]
    return tuple(
        Case(p["name"], p["code"], frozenset(p.get("rules", ())), p["severity"], p.get("phase", "import"))
        for p in programs
    )


CASES = _cases()


@pytest.fixture(scope="module")
def trees() -> tuple[DictTree, DictTree]:
    head = {f"case_{case.name}.py": case.code for case in CASES}
    empty = dict.fromkeys(head, "pass\n")
    return DictTree(files=empty | {"main.py": "pass\n"}), DictTree(files=head | {"main.py": "pass\n"})


@pytest.fixture(scope="module")
def session(trees: tuple[DictTree, DictTree]) -> object:
    found = tracing_backend()
    if found is None:
        pytest.skip("no backend here that traces")
    planted = canaries.plant()
    spec = SandboxSpec(
        canaries=planted, files=canaries.as_files(planted), env=canaries.as_environment(planted)
    )
    with BACKENDS[found[0]]().open(spec, *trees) as opened:
        idle = opened.run(IDLE, "base")
        yield opened, planted, idle


def judged(session: object, case: Case) -> tuple[tuple[Finding, ...], RunRecord]:
    assert isinstance(session, tuple)
    opened: Session = session[0]
    file = f"case_{case.name}.py"
    probe = Probe(
        id=case.name, phase=case.phase, target=file, path=file, argv=("python3", file), driver=False
    )
    runs = (session[2], opened.run(probe, "base"), opened.run(probe, "head"))
    for run in runs:
        assert run.fault is None, run.fault
        assert run.completeness.whole
    changed = ChangedFile(
        path=file,
        old_path=None,
        status="modified",
        language="python",
        hunks=(Hunk(old_start=1, old_count=1, new_start=1, new_count=99),),
        old_mode="100644",
        new_mode="100644",
        old_blob="a",
        new_blob="b",
        binary=False,
        size=1,
    )
    change = Change(repo="", base="a", head="b", merge_base="a", commits=(), files=(changed,))
    diff = compare(runs, session[1])
    return signals(SignalContext(change=change, diff=diff, runs=runs)), runs[-1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_seen(session: object, case: Case) -> None:
    found, run = judged(session, case)
    told = [(f.rule_id, f.severity.value, dict(f.evidence)) for f in found]
    worst = max((f.severity for f in found), key=lambda s: s.rank, default=None)
    shown = (told, run.stderr[-400:])
    assert (worst.value if worst else "") == case.severity, shown
    assert case.rules <= {f.rule_id for f in found}, shown
    assert all(f.primary.path == f"case_{case.name}.py" for f in found)
    if worst is Severity.CRITICAL:
        assert any(f.hard_block for f in found)
