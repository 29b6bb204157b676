"""Every backend that this machine offers keeps the whole contract."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gate.model.run import Outcome, Probe, SandboxSpec
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.contract import Backend
from tests.contract.backend_contract import (
    CASES,
    Case,
    check_any,
    flooded_in_part,
    probe,
    run_case,
    unhurried,
    working,
)
from tests.contract.capabilities import capability
from tests.contract.leftovers import snapshot
from tests.contract.trees import DictTree

pytestmark = pytest.mark.engine


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return working(str(request.param))


def _probe(backend: Backend, *argv: str, deadline: float = 10.0) -> Probe:
    return probe(*argv, deadline=unhurried(backend.name, deadline))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_contract(backend: Backend, case: Case) -> None:
    if case.name == "5 GB of output" and backend.name == "microvm" and capability("microvm").reserve:
        case = dataclasses.replace(case, check=flooded_in_part, deadline=10.0, until_deadline=True)
    deadline = unhurried(backend.name, case.deadline, until_deadline=case.until_deadline)
    run_case(backend, dataclasses.replace(case, deadline=deadline))


def test_the_trial_start_tells_what_was_found(backend: Backend) -> None:
    found = capability(backend.name)
    assert found.backend == backend.name
    assert found.tracer in ("unotify", "seccheck")
    assert found.isolation in ("vm", "user-kernel", "container", "process")
    assert found.version


def test_an_image_has_the_tools_that_payloads_reach_for(backend: Backend) -> None:
    if backend.name == "bubblewrap":
        pytest.skip("it shows the host's programs")
    tools = "bash curl wget nc git make ps python3 pytest"
    with backend.open(SandboxSpec(), DictTree(files={}), DictTree(files={})) as session:
        record = session.run(
            _probe(backend, "sh", "-c", f"for t in {tools}; do command -v $t >/dev/null || echo $t; done"),
            "head",
        )
    assert record.outcome is Outcome.COMPLETED, record.fault
    assert record.stdout == b"", "these are missing"


def test_each_run_is_fresh_and_has_its_own_side(backend: Backend) -> None:
    code = (
        "import os, pathlib\n"
        "marks = [pathlib.Path(p) for p in ('/tmp/mark', '/work/mark', '/work/home/mark', '/dev/shm/mark')]\n"
        "print('{side}', [m.exists() for m in marks])\n"
        "os.makedirs('/work/home', exist_ok=True)\n"
        "for m in marks: m.touch()\n"
    )
    base = DictTree(files={"main.py": code.format(side="base")})
    head = DictTree(files={"main.py": code.format(side="head")})
    with backend.open(SandboxSpec(), base, head) as session:
        session.expect(3)
        for side in ("base", "head", "head"):
            record = session.run(_probe(backend, "python3", "main.py"), side, repeat=1)
            assert record.stdout.decode() == f"{side} [False, False, False, False]\n", record.fault
            assert (record.side, record.repeat) == (side, 1)


def test_two_at_once_do_not_see_each_other(backend: Backend) -> None:
    code = (
        "import fcntl, os, socket, sys, time\n"
        "for n in ('hosts', 'resolv.conf'):\n"
        "    fcntl.flock(os.open('/etc/' + n, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        "s = socket.socket(socket.AF_UNIX); s.bind('\\0gate-mark')\n"
        "t = socket.socket(); t.bind(('127.0.0.1', 4711)); t.listen()\n"
        "open('/tmp/mark', 'x').close()\n"
        "time.sleep(1.0)\n"
        "print(sorted(int(p) for p in os.listdir('/proc') if p.isdecimal()).__len__())\n"
    )
    tree = DictTree(files={"main.py": code})
    with backend.open(SandboxSpec(), tree, tree) as session, ThreadPoolExecutor(2) as pool:
        session.expect(2)
        records = list(
            pool.map(lambda side: session.run(_probe(backend, "python3", "main.py"), side), ("base", "head"))
        )
    for record in records:
        assert (record.outcome, record.stderr) == (Outcome.COMPLETED, b"")
        assert int(record.stdout) == 2, "the launcher and the code, nobody else"


def test_many_leave_nothing_behind(backend: Backend) -> None:
    tree = DictTree(files={"main.py": "print('hi')"})
    before = snapshot()
    # A slow backend's machine takes five seconds of a processor: a few more than there are processors.
    together, after = (4, 2) if capability(backend.name).reserve else (8, 20)
    with backend.open(SandboxSpec(), tree, tree) as session, ThreadPoolExecutor(together) as pool:
        session.expect(together + after)
        probe_once = _probe(backend, "python3", "main.py")
        runs = [pool.submit(session.run, probe_once, "head") for _ in range(together)]
        records = [run.result() for run in runs]
        records += [session.run(_probe(backend, "python3", "main.py"), "head") for _ in range(after)]
        for record in records:
            assert (record.outcome, record.fault, record.stdout) == (Outcome.COMPLETED, None, b"hi\n")
            check_any(record, SandboxSpec().limits, unhurried(backend.name, 10.0))
        assert len({record.trace for record in records}) == together + after
    assert snapshot() == before


def test_nothing_is_left_when_sandboxes_were_expected_and_not_used(backend: Backend) -> None:
    tree = DictTree(files={"main.py": "print('hi')"})
    before = snapshot()
    with backend.open(SandboxSpec(), tree, tree) as session:
        session.expect(10)
    assert snapshot() == before


def test_abort_ends_a_run_at_once(backend: Backend) -> None:
    tree = DictTree(files={"main.py": "import time\nprint('begun', flush=True)\ntime.sleep(60)"})
    before = snapshot()
    with backend.open(SandboxSpec(), tree, tree) as session, ThreadPoolExecutor(1) as pool:
        run = pool.submit(session.run, _probe(backend, "python3", "main.py", deadline=60), "head")
        with pytest.raises(TimeoutError):
            run.result(timeout=1.5)
        session.abort()
        record = run.result(timeout=30)  # half of what it sleeps: on a busy machine ending takes its time
        assert record.fault == "the check was stopped"
        assert record.outcome is not Outcome.COMPLETED
        after = session.run(_probe(backend, "python3", "main.py"), "head")
        assert after.fault
        assert after.outcome is Outcome.NEVER_STARTED
    assert snapshot() == before


def test_the_same_program_is_traced_in_parallel_without_mixing(backend: Backend) -> None:
    tree = DictTree(files={"main.py": "import sys\nopen(f'/tmp/only-{sys.argv[1]}', 'w')"})
    with backend.open(SandboxSpec(), tree, tree) as session, ThreadPoolExecutor(4) as pool:
        numbers = range(3 if capability(backend.name).reserve else 6)
        session.expect(len(numbers))
        records = list(
            pool.map(lambda n: session.run(_probe(backend, "python3", "main.py", str(n)), "head"), numbers)
        )
        for number, record in zip(numbers, records, strict=True):
            assert record.trace is not None
            text = Path(record.trace).read_text()
            assert f"/tmp/only-{number}" in text
            assert not [n for n in numbers if n != number and f"/tmp/only-{n}" in text]


def test_the_code_cannot_reach_its_launcher(backend: Backend) -> None:
    attacks: dict[str, Callable[[str], str]] = {
        "kill": lambda pid: f"os.kill({pid}, 9)",
        "stop": lambda pid: f"os.kill({pid}, 19)",
        "memory": lambda pid: f"open('/proc/{pid}/mem', 'rb')",
        "stdin": lambda pid: f"open('/proc/{pid}/fd/0', 'rb')",
        "stdout": lambda pid: f"open('/proc/{pid}/fd/1', 'wb')",
        "environment": lambda pid: f"open('/proc/{pid}/environ', 'rb').read()",
    }
    lines = ["import os", "held = []"]
    for name, attack in attacks.items():
        for pid in ("1", "os.getppid()"):
            text = attack(pid) if pid == "1" else attack("{os.getppid()}").replace("open('", "open(f'")
            text = text.replace("kill({os.getppid()}", "kill(os.getppid()")
            lines += [f"try: {text}; got = True", "except OSError: got = False", f"held += ['{name}'] * got"]
    code = "\n".join([*lines, "print(held)"])
    tree = DictTree(files={"main.py": code})
    with backend.open(SandboxSpec(), tree, tree) as session:
        record = session.run(_probe(backend, "python3", "main.py"), "head")
    # a signal to its own init is accepted by the kernel and dropped (pid_namespaces(7)): the run went on
    assert record.outcome is Outcome.COMPLETED, (record.outcome, record.stderr, record.fault)
    assert set(eval(record.stdout)) <= {"kill", "stop"}, record.stdout
    assert record.fault is None
