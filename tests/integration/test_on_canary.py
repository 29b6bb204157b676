"""``sandbox.on_canary = "kill"``: the sandbox ends at the moment a planted secret is opened, told as such."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping

import pytest

from gate.errors import InconclusiveError
from gate.model.behaviour import BehaviourKind
from gate.model.canary import Canary
from gate.model.change import Change
from gate.model.run import Outcome, RunRecord, SandboxSpec
from gate.sandbox import canaries
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.tree_archive import NoTree
from gate.signals.interface import SignalContext
from gate.signals.run import signals
from gate.tracing.diff import compare
from tests.contract.backend_contract import probe
from tests.contract.capabilities import capability
from tests.contract.trees import DictTree

WAYS: Mapping[str, str] = {
    "read": "open('/work/home/.aws/credentials').read()",
    "in a child": "import os; os.system('cat /work/home/.ssh/id_rsa > /tmp/k')",
    "by a link": "import os; os.symlink('/work/home/.npmrc', '/tmp/x'); open('/tmp/x').read()",
    "under another name": "import os; os.link('/work/home/.pypirc', '/work/home/x'); open('/work/home/x')",
    "read and write": "open('/work/home/.kube/config', 'r+').read()",
    "in a thread": "import threading as t; t.Thread(target=open, args=('/work/home/.env',)).start()",
    "cluster token": "open('/var/run/secrets/kubernetes.io/serviceaccount/token').read()",
}
AFTER = "\nimport time; time.sleep(0.2)\nopen('/tmp/after', 'w')\nprint('still here')\ntime.sleep(5)\n"


@functools.cache
def _planted() -> tuple[Canary, ...]:
    return canaries.plant()


def _spec(on_canary: str = "kill") -> SandboxSpec:
    planted = _planted()
    return SandboxSpec(
        canaries=planted,
        files=canaries.as_files(planted),
        env=canaries.as_environment(planted),
        on_canary="kill" if on_canary == "kill" else "record",
    )


@functools.cache
def _runs(backend: str) -> dict[str, tuple[RunRecord, bytes]]:
    files = {f"{n}.py": code + AFTER for n, code in enumerate(WAYS.values())}
    files["calm.py"] = (
        "import os; os.stat('/work/home/.env'); open('/work/home/.netrc').read(); print('still here')"
    )
    tree = DictTree(files=files)
    done = {}
    with BACKENDS[backend]().open(_spec(), tree, tree) as session:
        for name, file in zip((*WAYS, "calm"), files, strict=True):
            record = session.run(probe("python3", file, deadline=9), "head")
            assert record.trace is not None, record.fault
            done[name] = (record, record.trace.read_bytes())
    return done


@pytest.fixture(
    params=["bubblewrap", *(pytest.param(n, marks=pytest.mark.engine) for n in ("docker", "microvm"))]
)
def backend(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    found = capability(name)
    if not found.available:
        pytest.skip(found.reason)
    if found.reserve and not os.environ.get("GATE_TEST_SLOW_BACKENDS"):
        pytest.skip(f"{name}: {found.reserve}; GATE_TEST_SLOW_BACKENDS=1 runs it")
    return name


@pytest.mark.parametrize("way", WAYS)
def test_the_run_ends_there_and_then(backend: str, way: str) -> None:
    record, trace = _runs(backend)[way]
    assert record.fault is None
    assert record.outcome is Outcome.KILLED
    assert record.stopped == "a canary was opened"
    assert record.completeness.whole
    # a processor in software may take that long to get to the read
    assert record.seconds < (8 if capability(backend).reserve else 5)
    assert b"still here" not in record.stdout
    assert b"/tmp/after" not in trace


def test_other_code_goes_on(backend: str) -> None:
    record, _ = _runs(backend)["calm"]
    assert (record.outcome, record.stopped, record.stdout) == (Outcome.COMPLETED, "", b"still here\n")


def test_the_finding_is_kept_and_no_crash_is_told(backend: str) -> None:
    tree = DictTree(files={"a.py": WAYS["read"] + AFTER})
    with BACKENDS[backend]().open(_spec(), tree, tree) as session:
        record = session.run(probe("python3", "a.py"), "head")
        diff = compare([record], _planted())
    change = Change(repo="", base="", head="", merge_base=None, commits=(), files=())
    found = {f.rule_id for f in signals(SignalContext(change=change, diff=diff, runs=(record,)))}
    assert "canary-read" in found
    assert "process-killed" not in found
    read = next(b for b in diff.new if b.kind is BehaviourKind.CANARY)
    assert read.denied


def test_record_is_what_it_was(backend: str) -> None:
    tree = DictTree(files={"a.py": WAYS["read"] + "\nprint('still here')"})
    with BACKENDS[backend]().open(_spec("record"), tree, tree) as session:
        record = session.run(probe("python3", "a.py"), "head")
    assert (record.outcome, record.stdout) == (Outcome.COMPLETED, b"still here\n")


@pytest.mark.engine
def test_a_backend_that_cannot_says_so() -> None:
    if not capability("gvisor").available:
        pytest.skip(capability("gvisor").reason)
    with (
        pytest.raises(InconclusiveError, match="too late"),
        BACKENDS["gvisor"]().open(_spec(), NoTree(), NoTree()),
    ):
        pass
