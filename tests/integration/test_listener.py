"""The supervisor's rows of received calls: the clock that ends them loses no call and no end of a process."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gate.tracing.events import Exit, Open, PathQuery
from tests.integration.launching import python, why_no_bwrap

pytestmark = pytest.mark.skipif(bool(why_no_bwrap()), reason=why_no_bwrap() or "bubblewrap works")


def test_calls_that_come_when_the_clock_strikes_are_each_seen_once(tmp_path: Path) -> None:
    result = python(
        tmp_path,
        "import os, time\n"
        "for n in range(300):\n"
        "    time.sleep(0.0005 * (n % 90))\n"  # up to two rows and a bit
        "    os.path.exists(f'/nowhere/{n}')\n",
        deadline=30.0,
    )
    assert result.completeness.whole
    seen = Counter(
        e.path for e in result.events if isinstance(e, PathQuery) and e.path.startswith("/nowhere/")
    )
    assert seen == Counter(f"/nowhere/{n}" for n in range(300))


def test_many_callers_at_once_are_each_seen_once(tmp_path: Path) -> None:
    result = python(
        tmp_path,
        "import os, threading\n"
        "def calls(who):\n"
        "    for n in range(100): os.path.exists(f'/nowhere/{who}/{n}')\n"
        "children = []\n"
        "for child in range(4):\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        threads = [threading.Thread(target=calls, args=(f'{child}-{t}',)) for t in range(4)]\n"
        "        [t.start() for t in threads]; [t.join() for t in threads]; os._exit(0)\n"
        "    children.append(pid)\n"
        "for pid in children: os.waitpid(pid, 0)\n",
        deadline=30.0,
    )
    assert result.completeness.whole
    seen = Counter(
        e.path for e in result.events if isinstance(e, PathQuery) and e.path.startswith("/nowhere/")
    )
    assert len(seen) == 1600
    assert set(seen.values()) == {1}


def test_who_is_killed_amid_others_calls_has_an_end_in_the_trace(tmp_path: Path) -> None:
    result = python(
        tmp_path,
        "import os, signal, time\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    os.path.exists('/nowhere/child')\n"
        "    time.sleep(60)\n"
        "until = time.monotonic() + 0.5\n"
        "while time.monotonic() < until: os.path.exists('/nowhere/busy')\n"
        "os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)\n"
        "until = time.monotonic() + 0.5\n"
        "while time.monotonic() < until: os.path.exists('/nowhere/busy')\n"
        "open('/etc/hostname').close()\n",
        deadline=30.0,
    )
    assert result.completeness.whole
    child = next(e.pid for e in result.events if isinstance(e, PathQuery) and e.path == "/nowhere/child")
    ends = [e for e in result.events if isinstance(e, Exit) and e.pid == child]
    assert len(ends) == 1
    last = next(e for e in result.events if isinstance(e, Open) and e.path == "/etc/hostname")
    assert ends[0].seq < last.seq, "a flood of calls must not hide what else happens"
