"""The tracer behind every backend there is: what is refused is also reported, foreign ABIs too."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import pytest

from gate.model.run import RunRecord, SandboxSpec
from gate.sandbox.backends.registry import BACKENDS
from gate.tracing.codec import read_trace
from gate.tracing.events import Attempt, Event, Exec, Net, Open
from tests.contract.backend_contract import probe, unhurried
from tests.contract.capabilities import capability
from tests.contract.trees import DictTree
from tests.integration.raw_calls import MACHINE_CODE, REFUSED, all_refused

pytestmark = pytest.mark.engine

FOREIGN = (
    MACHINE_CODE
    + """
import sys, socket
print("x32", libc.syscall(0x40000000 | 2, b"/etc/shadow", 0))
sys.stdout.flush()
pid = os.fork()
if pid == 0:
    run(b"\\xb8\\x05\\x00\\x00\\x00\\xcd\\x80\\xc3"); os._exit(0)
print("i386", os.waitpid(pid, 0)[1])
os.system("cat /etc/hostname > /tmp/copy")
try: socket.create_connection(("192.0.2.1", 80), timeout=1)
except OSError: pass
"""
)


@dataclass(frozen=True)
class Traced:
    record: RunRecord
    events: tuple[Event, ...]


@functools.cache
def _traced(name: str) -> Traced:
    tree = DictTree(files={"refused.py": all_refused(), "foreign.py": FOREIGN})
    with BACKENDS[name]().open(SandboxSpec(), tree, tree) as session:
        runs = [
            session.run(probe("python3", file, deadline=unhurried(name, 10.0)), "head")
            for file in ("refused.py", "foreign.py")
        ]
        events: list[Event] = []
        for record in runs:
            assert record.fault is None, record.fault
            assert record.trace is not None
            assert record.completeness.whole
            read_trace(record.trace, events.append)
    return Traced(runs[0], tuple(events))


@pytest.fixture(params=BACKENDS)
def traced(request: pytest.FixtureRequest) -> Traced:
    found = capability(request.param)
    if not found.available or found.tracer != "unotify":
        pytest.skip(f"{found.backend}: {found.reason or found.tracer}")
    return _traced(request.param)


def test_refused_calls_are_reported_behind_this_backend(traced: Traced) -> None:
    answers = dict(line.split() for line in traced.record.stdout.decode().splitlines())
    attempts = {e.call for e in traced.events if isinstance(e, Attempt) and e.denied}
    assert {name for name in REFUSED if answers.get(name) != "-1"} == set()
    assert REFUSED.keys() - attempts == set()
    assert answers["nested"] == "-16"


def test_foreign_abis_are_reported_behind_this_backend(traced: Traced) -> None:
    abis = {e.abi for e in traced.events if isinstance(e, Attempt)}
    assert {"i386", "x32"} <= abis


def test_ordinary_acts_are_reported_behind_this_backend(traced: Traced) -> None:
    assert any(isinstance(e, Exec) and e.argv[1:2] == ("-c",) for e in traced.events)
    assert any(isinstance(e, Open) and e.path == "/tmp/copy" and e.writes for e in traced.events)
    assert any(isinstance(e, Net) and e.addr == "192.0.2.1" and e.port == 80 for e in traced.events)
