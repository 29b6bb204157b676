"""Supervisors forked from a template: they serve, end and go as one that was started alone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gate.inside.observer.template import MESSAGE
from gate.sandbox.backends.bubblewrap import supervisors
from gate.sandbox.backends.bubblewrap.supervisors import Supervisor, start
from tests.paths import REPOSITORY

TOKEN = bytes(range(32))


@pytest.fixture
def template(monkeypatch: pytest.MonkeyPatch) -> Iterator[supervisors._Template]:
    """One of this test's own."""
    made = supervisors._Template()
    monkeypatch.setattr(supervisors, "_TEMPLATE", made)
    yield made
    made.close()


def begun(trace: Path, *more: str) -> tuple[Supervisor, socket.socket]:
    """A supervisor and the launcher's end of its link."""
    ours, theirs = socket.socketpair()
    with theirs:
        words = ["--token", TOKEN.hex(), "--out", str(trace), "--wait", "60", *more]
        return start(words, theirs), ours


def forked(template: supervisors._Template, many: int) -> list[int]:
    """The supervisors below the template, once there are so many."""
    assert template._child is not None
    pid = template._child.pid
    found: list[int] = []

    def are_there() -> bool:
        found[:] = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        return len(found) == many

    until(are_there)
    return found


def until(holds: Callable[[], bool]) -> None:
    late = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < late
        time.sleep(0.01)


def test_it_waits_for_its_launcher_and_can_be_ended(template: supervisors._Template, tmp_path: Path) -> None:
    one, link = begun(tmp_path / "one")
    other, other_link = begun(tmp_path / "other")
    with link, other_link:
        with pytest.raises(subprocess.TimeoutExpired):
            one.wait(0.05)
        _, second = forked(template, 2)
        one.end()
        assert forked(template, 1) == [second], "the other goes on, and nothing is left of the first"
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(0.05)
        until(lambda: os.getsid(second) == second)
        other.end()


def test_who_is_not_its_launcher_ends_it(template: supervisors._Template, tmp_path: Path) -> None:
    watch, link = begun(tmp_path / "trace")
    with link:
        link.sendall(b"x" * len(TOKEN))
        watch.wait(20)
        assert link.recv(1) == b"", "nobody else holds the link"
    watch.end()
    assert (tmp_path / "trace").read_bytes() == b""


def test_nothing_of_the_others_is_held(template: supervisors._Template, tmp_path: Path) -> None:
    """A link that a sibling held would keep a dead supervisor's launcher waiting."""
    boxes = [begun(tmp_path / str(n)) for n in range(3)]
    until(lambda: all((tmp_path / str(n)).exists() for n in range(3)))
    for pid in forked(template, 3):
        held = [os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()]
        assert sum(name.startswith("socket:") for name in held) == 2, held
        assert not [name for name in held if "pidfd" in name], held
    for watch, link in boxes:
        link.close()
        watch.wait(20)
        watch.end()


def test_a_lost_template_costs_nobody_a_supervisor(template: supervisors._Template, tmp_path: Path) -> None:
    watch, link = begun(tmp_path / "before")
    until((tmp_path / "before").exists)
    assert template._child is not None
    os.kill(template._child.pid, signal.SIGKILL)
    template._child.wait()
    alone, alone_link = begun(tmp_path / "alone")
    again, again_link = begun(tmp_path / "again")
    assert type(alone) is supervisors._Started
    assert type(again) is type(watch) is supervisors._Forked
    for one in (watch, alone, again):
        with pytest.raises(subprocess.TimeoutExpired):
            one.wait(0.05)
        one.end()
    for end in (link, alone_link, again_link):
        end.close()


def test_more_than_a_message_holds_is_asked_of_a_program(
    template: supervisors._Template, tmp_path: Path
) -> None:
    watch, link = begun(tmp_path / "trace", "--canary", "/" + "a" * MESSAGE)
    with link:
        assert type(watch) is supervisors._Started
        with pytest.raises(subprocess.TimeoutExpired):
            watch.wait(0.05)
        watch.end()


def test_the_template_ends_with_the_process_that_asked(tmp_path: Path) -> None:
    program = (
        "import os, socket, sys\n"
        "from gate.sandbox.backends.bubblewrap import supervisors\n"
        "ours, theirs = socket.socketpair()\n"
        f"supervisors.start(['--token', '{TOKEN.hex()}', '--out', sys.argv[1]], theirs)\n"
        "print(supervisors._TEMPLATE._child.pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    words = [sys.executable, "-c", program, str(tmp_path / "trace")]
    done = subprocess.run(words, cwd=REPOSITORY, stdout=subprocess.PIPE, check=False, timeout=60)
    until(lambda: not Path(f"/proc/{int(done.stdout)}").exists())


def test_a_fork_of_this_process_leaves_its_template_alone() -> None:
    own = supervisors._TEMPLATE
    own._open()
    pid = os.fork()
    if pid == 0:
        own.close()
        os._exit(0 if own._control is None else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert own._child is not None
    assert own._child.poll() is None
