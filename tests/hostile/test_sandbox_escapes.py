"""Ways out that are known from public checkers, tried inside every backend: each must be refused."""

from __future__ import annotations

import json
import os
import platform
import secrets
from pathlib import Path

import pytest

from gate.model.run import Outcome, SandboxSpec
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.contract import Backend
from tests.contract.backend_contract import probe, trace_lines, unhurried, working
from tests.contract.trees import DictTree
from tests.paths import REPOSITORY, TESTS

pytestmark = [pytest.mark.engine, pytest.mark.sandboxed]
WAYS_OUT = (TESTS / "hostile" / "samples" / "ways_out.py").read_text()


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return working(str(request.param))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the sample uses x86_64's call numbers")
def test_known_ways_out_are_closed_and_seen(backend: Backend) -> None:
    tree = DictTree(files={"main.py": WAYS_OUT})
    with backend.open(SandboxSpec(), tree, tree) as session:
        record = session.run(probe("python3", "main.py", deadline=unhurried(backend.name, 10.0)), "head")
        assert (record.outcome, record.fault) == (Outcome.COMPLETED, None), record.stderr
        assert json.loads(record.stdout) == ["control: reads its own status"], "the sample tells what works"
        denied = {line["call"] for line in trace_lines(record) if line.get("denied")}
    seen = {"mount", "ptrace", "bpf", "io_uring_setup", "unshare", "keyctl", "setns", "open_by_handle_at"}
    assert seen <= denied, seen - denied


def test_the_host_shows_nowhere(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an environment variable of gate's nor the machine's name, user or folders get in."""
    secret = secrets.token_hex(16)
    monkeypatch.setenv("GATE_TEST_SECRET", secret)
    code = (
        "import glob, os, socket\n"
        "print(socket.gethostname(), os.uname().nodename)\n"
        "for path in ['/etc/hostname', '/etc/hosts', '/etc/passwd', '/proc/mounts', '/proc/cmdline',\n"
        "             *glob.glob('/proc/[0-9]*/environ'), *glob.glob('/proc/[0-9]*/cmdline')]:\n"
        "    try: print(path, open(path, 'rb').read())\n"
        "    except OSError: pass\n"
        "print(os.path.exists('/work/main'), os.listdir('/'), os.path.exists('/root/.cache'))\n"
    )
    tree = DictTree(files={"main.py": code})
    with backend.open(SandboxSpec(), tree, tree) as session:
        record = session.run(probe("python3", "main.py", deadline=unhurried(backend.name, 10.0)), "head")
    said = record.stdout.decode()
    assert record.outcome is Outcome.COMPLETED, record.stderr
    assert secret not in said
    assert said.startswith("runnervm")
    assert str(REPOSITORY) not in said
    assert str(Path.home()) + "/" not in said
    name = os.uname().nodename
    assert len(name) < 4 or name not in said


def test_a_launcher_that_is_killed_for_memory_is_not_a_clean_look(backend: Backend) -> None:
    """Many small processes, so that the kernel may choose any of them, the launcher too."""
    code = (
        "import os\n"
        "for _ in range(40):\n"
        "    if os.fork() == 0:\n"
        "        hold = []\n"
        "        while True: hold.append(b'x' * (1 << 20))\n"
        "while True: pass\n"
    )
    tree = DictTree(files={"main.py": code})
    with backend.open(SandboxSpec(), tree, tree) as session:
        record = session.run(probe("python3", "main.py", deadline=4), "head")
    assert record.outcome in (Outcome.OUT_OF_MEMORY, Outcome.TIMED_OUT, Outcome.KILLED)
    assert record.outcome is not Outcome.KILLED or record.fault, "a silent launcher is a fault of ours"
    assert not record.completed
    assert record.seconds < 9


def test_a_tree_that_tries_to_leave_its_folder_is_refused(backend: Backend) -> None:
    """A link first, then a file through it: nothing may be written outside the tree, inside or outside."""
    tree = DictTree(files={"main.py": "print('ran')", "way/out.txt": "x"}, links={"way": "/work/home"})
    with backend.open(SandboxSpec(), tree, tree) as session:
        record = session.run(probe("python3", "main.py", deadline=unhurried(backend.name, 10.0)), "head")
    assert record.outcome is Outcome.NEVER_STARTED
    assert record.fault is not None
    assert "way" in record.fault
