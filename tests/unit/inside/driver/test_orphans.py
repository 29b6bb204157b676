"""How long processes are waited for that an item left behind."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from gate.inside.driver import orphans

_DRIVER = """
import os, sys, time
sys.path.insert(0, {root!r})
from gate.inside.driver import orphans
child = os.fork()
if child == 0:
    {child}
    os._exit(0)
begun = time.monotonic()
found = orphans.left({grace}, begun + {until})
took = time.monotonic() - begun
if found:
    os.kill(child, 9)
print(found, took >= {grace})
"""
WORKS = "end = time.process_time() + 0.5\n    while time.process_time() < end: pass"
FOREVER = "while True: pass"
SLEEPS = "time.sleep(60)"


@pytest.mark.parametrize(
    ("child", "grace", "until", "left"),
    [
        (WORKS, 10.0, 60.0, "False"),
        (WORKS, 0.05, 60.0, "True"),  # more than four times its grace
        (SLEEPS, 0.2, 60.0, "True True"),
        (FOREVER, 0.2, 60.0, "True True"),
        (FOREVER, 30.0, 0.3, "True"),
        ("pass", 10.0, 60.0, "False"),
    ],
)
def test_they_are_waited_for(child: str, grace: float, until: float, left: str) -> None:
    code = _DRIVER.format(root=str(sys.path[0]), child=child, grace=grace, until=until)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.startswith(left), (done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("looks", "seconds"),
    [
        ([["S 1 sleep"], ["S 1 sleep"]], 1.3),
        ([["S 1 sh 1"], ["S 1 sh 2"], ["S 1 sh 3"], ["S 1 sh 3"]], 1.9),
        ([["R 1 sh"]] * 40, 4.0),
        ([[], []], 1.3),
    ],
)
def test_what_works_has_more_time_than_what_sleeps(
    looks: list[list[str]], seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=100.0)
    given = iter(looks)
    monkeypatch.setattr("gate.inside.driver.orphans.os.waitpid", lambda *_: (0, 0))
    monkeypatch.setattr("gate.inside.driver.orphans.time.monotonic", lambda: clock.now)
    monkeypatch.setattr(
        "gate.inside.driver.orphans.time.sleep", lambda most: setattr(clock, "now", clock.now + most)
    )
    monkeypatch.setattr(orphans, "work", lambda _=(): next(given))
    assert orphans.left(1.0, 200.0)
    assert clock.now - 100 == pytest.approx(seconds, abs=0.1)
