"""Ways out of strace's sight, tried for real; and when it is taken at all."""

# ruff: noqa: E501  # programs

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gate.cli import main
from gate.model.run import Completeness, Outcome, Probe, RunRecord, SandboxSpec
from gate.sandbox import canaries
from gate.sandbox.backends.bubblewrap.backend import BubblewrapBackend
from gate.sandbox.backends.registry import choose
from gate.sandbox.contract import BackendOptions, TracerChoice
from gate.tracing.codec import read_trace
from gate.tracing.events import Attempt, Event, Exec, Exit, Open
from tests.contract.trees import DictTree
from tests.e2e.evasive_pulls import EVASIVE
from tests.e2e.pulls import build
from tests.integration.launching import why_no_bwrap

pytestmark = [
    pytest.mark.skipif(bool(why_no_bwrap()), reason=why_no_bwrap() or "bubblewrap works"),
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed"),
]
RAW = "import ctypes, os\nL = ctypes.CDLL(None, use_errno=True)\n"


def run(
    code: str, spec: SandboxSpec | None = None, *, tracer: TracerChoice = "strace", deadline: float = 30
) -> tuple[RunRecord, list[Event], Completeness]:
    """One program in the bubblewrap sandbox; its events."""
    backend = BubblewrapBackend()
    backend.options = BackendOptions(tracer=tracer)
    tree = DictTree(files={"a.py": code})
    probe = Probe(
        id="a",
        phase="script",
        target="a",
        path=None,
        argv=("python3", "a.py"),
        deadline=deadline,
        driver=False,
    )
    events: list[Event] = []
    with backend.open(spec or SandboxSpec(), tree, tree) as session:
        record = session.run(probe, "head")
        assert record.trace is not None, record.fault
        completeness, _ = read_trace(record.trace, events.append)
    return record, events, completeness


def test_a_child_that_asks_not_to_be_traced_is_not_made() -> None:
    """CLONE_UNTRACED: strace would not follow it."""
    code = RAW + (
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    L.syscall(56, 0x00800000 | 17, 0, 0, 0, 0)\n"
        "    open('/etc/shadow')\n"
        "print(os.waitpid(pid, 0)[1])\n"
    )
    record, events, completeness = run(code)
    assert record.stdout == b"%d\n" % signal.SIGSYS
    assert [(e.call, e.denied) for e in events if isinstance(e, Attempt)] == [("clone", True)]
    assert not [e for e in events if isinstance(e, Open) and e.path == "/etc/shadow"]
    assert completeness.whole


def test_a_listener_of_its_own_is_not_had() -> None:
    """Its answers would come before strace's."""
    code = RAW + (
        "import struct\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    L.prctl(38, 1, 0, 0, 0)\n"
        "    code = ctypes.create_string_buffer(struct.pack('<HBBI', 6, 0, 0, 0x7fff0000), 8)\n"
        "    prog = struct.pack('<HxxxxxxQ', 1, ctypes.addressof(code))\n"
        "    L.syscall(317, 1, 8, prog)\n"
        "    os._exit(0)\n"
        "print(os.waitpid(pid, 0)[1])\n"
    )
    record, events, _ = run(code)
    assert record.stdout == b"%d\n" % signal.SIGSYS
    assert [e.call for e in events if isinstance(e, Attempt)] == ["seccomp"]


def test_signals_of_every_kind_leave_the_look_whole() -> None:
    """Who is ended by one has ended; one that is taken, with a value or by a timer, is no line to stumble over."""
    code = RAW + (
        "import signal, subprocess, time\n"
        "for name in ('SIGKILL', 'SIGTERM', 'SIGSEGV', 'SIGUSR1', 'SIGRTMIN'):\n"
        "    child = subprocess.Popen(['sleep', '9'])\n"
        "    child.send_signal(getattr(signal, name)); child.wait()\n"
        "got = []\n"
        "for number in (signal.SIGUSR1, signal.SIGRTMIN + 3, signal.SIGALRM, signal.SIGSYS, signal.SIGURG):\n"
        "    signal.signal(number, lambda number, _: got.append(number))\n"
        "    L.sigqueue(os.getpid(), int(number), ctypes.c_void_p(5))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.01)\n"
        "time.sleep(0.1)\n"
        "print(len(got))\n"
        "if os.fork() == 0: time.sleep(60)\n"
    )
    record, events, completeness = run(code)
    assert record.stdout == b"6\n"
    assert completeness.whole
    assert len([e for e in events if isinstance(e, Exit) and e.code is None]) >= 5


def test_names_cannot_forge_lines() -> None:
    code = (
        "for name in ['x\\n700 +++ exited with 0 +++', '\" <unfinished ...>', '<... openat resumed>) = 3', ', 0) = 3']:\n"
        "    open('/tmp/' + name.replace('/', '_'), 'w').close()\n"
    )
    _, events, completeness = run(code)
    assert completeness.whole
    made = [e.path for e in events if isinstance(e, Open) and e.writes and e.path.startswith("/tmp/")]
    assert len(made) == 4


def test_a_flood_ends_bounded_and_not_whole() -> None:
    spec = SandboxSpec()
    few = replace(spec, limits=replace(spec.limits, trace_events=300))
    code = (
        "import os\nfor n in range(2000):\n    try: os.stat('/tmp/no%d' % n)\n    except OSError: pass\n"
        "os.system('exit 3')\n"
    )
    record, events, completeness = run(code, few)
    assert record.outcome is Outcome.COMPLETED
    assert completeness.dropped > 1000
    assert any(isinstance(e, Exec) and e.path.endswith("sh") for e in events)


def test_a_planted_secret_ends_the_run_a_moment_later() -> None:
    planted = canaries.plant()
    spec = SandboxSpec(
        canaries=planted,
        files=canaries.as_files(planted),
        env=canaries.as_environment(planted),
        on_canary="kill",
    )
    path = next(c.path for c in planted if c.path and "aws" in c.path)
    record, events, _ = run(f"import time\nopen({path!r}).read()\ntime.sleep(20)\nprint('went on')\n", spec)
    assert record.stopped
    assert b"went on" not in record.stdout
    assert record.seconds < 15
    assert any(isinstance(e, Open) and e.path == path for e in events)


def test_when_strace_dies_nothing_goes_on_and_the_look_is_not_whole() -> None:
    """Calls that nobody answers fail (ENOSYS), and the launcher ends the code."""
    before = _straces()
    killed: list[int] = []

    def kill() -> None:
        until = time.monotonic() + 15
        while time.monotonic() < until and not killed:
            for pid in _straces() - before:
                if _of_ours(pid):
                    time.sleep(2.5)
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:  # that of the backend's trial start
                        before.add(pid)
                        continue
                    killed.append(pid)
            time.sleep(0.05)

    thread = threading.Thread(target=kill)
    thread.start()
    record, _, completeness = run(
        "import time\nfor _ in range(300): time.sleep(0.1); open('/etc/hostname')\n"
    )
    thread.join()
    assert killed
    assert record.fault or not completeness.whole
    assert not completeness.whole


def _straces() -> set[int]:
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if Path("/proc", name, "comm").read_text().strip() == "strace":
                    found.add(int(name))
            except OSError:
                continue
    return found


def _of_ours(pid: int) -> bool:
    """A child of this very process: never another session's."""
    try:
        stat = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return int(stat[1]) == os.getpid()


def test_every_end_of_many_short_processes_is_told() -> None:
    code = "import subprocess\nfor n in range(30): subprocess.run(['/bin/true', str(n)])\n"
    _, events, completeness = run(code)
    assert completeness.whole
    assert [e.argv[1] for e in events if isinstance(e, Exec) and e.path.endswith("/true")] == [
        str(n) for n in range(30)
    ]
    assert len([e for e in events if isinstance(e, Exit)]) == 31


REFUSING = """
import ctypes, struct, sys
code = [(0x20,0,0,0),(0x15,0,5,317),(0x20,0,0,16),(0x15,0,3,1),(0x20,0,0,24),(0x45,0,1,8),(6,0,0,0x00050016),(6,0,0,0x7fff0000)]
raw = b"".join(struct.pack("<HBBI", *line) for line in code)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
held = ctypes.create_string_buffer(raw, len(raw))
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)
wanted = Program(len(code), ctypes.addressof(held))
assert libc.syscall(317, 1, 0, ctypes.byref(wanted)) == 0
from gate.sandbox.backends.bubblewrap.backend import BubblewrapBackend
from gate.sandbox.contract import BackendOptions
for wish in ("auto", "unotify"):
    backend = BubblewrapBackend()
    backend.options = BackendOptions(tracer=wish)
    found = backend.probe()
    print(found.available, found.tracer, found.reserve or found.reason)
"""
"""Like a kernel before 5.0: no filter may have a listener (EINVAL)."""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86-64")
@pytest.mark.slow
def test_auto_takes_strace_where_the_kernel_refuses_user_notification() -> None:
    done = subprocess.run(
        [sys.executable, "-c", REFUSING], capture_output=True, text=True, timeout=120, check=False
    )
    auto, asked = done.stdout.splitlines() or [done.stderr, ""]
    assert auto.startswith("True strace traced by strace, which is slow"), auto
    assert "Invalid argument" in auto
    assert asked.startswith("False none"), asked


def test_auto_takes_user_notification_where_it_works_and_a_setting_picks() -> None:
    assert choose("bubblewrap", "process")[1].tracer == "unotify"
    assert choose("bubblewrap", "process", "strace")[1].tracer == "strace"
    _, found, tried = choose("auto", "process", "strace")
    assert (found.backend, found.tracer) == ("bubblewrap", "strace")
    assert {c.backend: c.available for c in tried}["docker"] is False


def test_a_whole_check_says_who_traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pull = next(p for p in EVASIVE if p.name == "port-53-as-cover")
    monkeypatch.setenv("GATE_SANDBOX_TRACER", "strace")
    file = tmp_path / "report.json"
    repo = build(pull, tmp_path)
    main(["check", "--repo", str(repo), "--base", "main", "--head", "head", "--json", str(file), "-q"])
    report = json.loads(file.read_text())
    assert (report["sandbox"]["backend"], report["sandbox"]["tracer"]) == ("bubblewrap", "strace")
    assert report["verdict"] == "fail"
    assert "new-outbound-connection" in {finding["rule_id"] for finding in report["findings"]}
    assert "observation-evasion" not in {finding["rule_id"] for finding in report["findings"]}
