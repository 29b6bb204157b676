"""Limited children from a template: as clean and as bounded as new processes, and never outliving a check."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from gate.languages import child_template, warm_child
from gate.languages.limited_child import Reader, scan_isolated
from gate.process import Done

HERE = "gate.languages.limited_child_selftest"
FILES = [("a", b"1"), ("killer", b"kill"), ("exit", b"exit"), ("memory", b"memory"), ("b", b"2")]
OUTCOMES = ["done", "crashed", "crashed", "out-of-memory", "done"]


def outcomes() -> list[str]:
    return [result.outcome for result in scan_isolated(Reader(f"{HERE}:behave", str), FILES)]


@pytest.fixture
def template() -> Iterator[int]:
    """The process number of a running template; the one after it is a new one."""
    assert scan_isolated(Reader(f"{HERE}:behave", str), [("a", b"1")])[0].outcome == "done"
    child = warm_child._TEMPLATE._child
    assert child is not None
    yield child.pid
    warm_child._TEMPLATE.close()


def children(pid: int) -> set[int]:
    """Processes that ``pid`` started, and those that they started."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def test_one_template_serves_many_calls_and_keeps_nothing_running(template: int) -> None:
    assert outcomes() == OUTCOMES
    assert warm_child._TEMPLATE._child is not None
    assert warm_child._TEMPLATE._child.pid == template
    until = time.monotonic() + 30
    while children(template) and time.monotonic() < until:
        time.sleep(0.01)
    assert not children(template)


def test_several_threads_at_once_each_get_their_own_answers() -> None:
    def one(number: int) -> list[str | None]:
        files = [(f"{number}-{n}", b"1") for n in range(20)]
        return [result.value for result in scan_isolated(Reader(f"{HERE}:behave", str), files)]

    with ThreadPoolExecutor(4) as pool:
        for number, values in enumerate(pool.map(one, range(12))):
            assert values == [f"{number}-{n}" for n in range(20)]


def test_a_lost_template_costs_no_answer(template: int) -> None:
    os.kill(template, signal.SIGKILL)
    assert outcomes() == OUTCOMES
    assert outcomes() == OUTCOMES


def test_without_a_template_children_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> Done | None:
        return None

    monkeypatch.setattr(warm_child, "run", none)
    assert outcomes() == OUTCOMES


def test_what_one_child_has_seen_the_next_one_has_not(template: int) -> None:
    for _ in range(2):
        seen = scan_isolated(Reader(f"{HERE}:remember", int), [("a", b""), ("b", b"")])
        assert [result.value for result in seen] == [0, 1]
    assert warm_child._TEMPLATE._child is not None
    assert warm_child._TEMPLATE._child.pid == template


def test_the_deadline_ends_a_child_and_its_limits_are_set(template: int) -> None:
    start = time.monotonic()
    (result,) = scan_isolated(Reader(f"{HERE}:behave", str, per_file=60), [("s", b"spin")], deadline=0.5)
    assert result.outcome == "timed-out"
    assert time.monotonic() - start < 30
    until = time.monotonic() + 30
    while children(template) and time.monotonic() < until:
        time.sleep(0.01)
    assert not children(template)


def test_the_template_ends_with_the_process_that_started_it() -> None:
    """Even when that process is killed in the middle of a scan: so does the child it waited for."""
    program = (
        "from gate.languages import warm_child\n"
        "from gate.languages.limited_child import Reader, scan_isolated\n"
        f"scan_isolated(Reader('{HERE}:behave', str), [('a', b'1')])\n"
        "print(warm_child._TEMPLATE._child.pid, flush=True)\n"
        f"scan_isolated(Reader('{HERE}:behave', str, per_file=100), [('s', b'spin')])\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as asking:
        assert asking.stdout is not None
        template = int(asking.stdout.readline())
        until = time.monotonic() + 60
        while len(children(template)) < 2 and time.monotonic() < until:  # a keeper and its child
            time.sleep(0.01)
        running = {template, *children(template)}
        assert len(running) == 3
        asking.kill()
    while any(Path(f"/proc/{pid}/cmdline").exists() for pid in running) and time.monotonic() < until:
        time.sleep(0.01)
    assert not [pid for pid in running if _alive(pid)]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def own_signals() -> Iterator[None]:
    """The template's parts are called in this process, which waits for children of its own."""
    before = signal.getsignal(signal.SIGCHLD)
    yield
    signal.signal(signal.SIGCHLD, before)
    gc.unfreeze()


@pytest.mark.usefixtures("own_signals")
def test_a_request_forks_once_and_leaves_no_descriptor_open(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter((1,))
    monkeypatch.setattr(os, "fork", lambda: next(numbers))
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    monkeypatch.setattr(sys, "argv", ["child_template", str(theirs.detach())])
    message = msgspec.json.encode(child_template.ChildRequest(module="no.such.module", limits={}))
    with socket.socket(socket.AF_UNIX) as any_descriptor:
        socket.send_fds(ours, [message], [any_descriptor.fileno()] * 4)
        ours.shutdown(socket.SHUT_WR)
        before = len(os.listdir("/proc/self/fd"))
        assert child_template.main() == 0
        assert len(os.listdir("/proc/self/fd")) == before - 1  # its end of the socket
    ours.close()
    assert not list(numbers)


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.usefixtures("own_signals")
def test_the_keeper_tells_the_end_and_ends_what_nobody_waits_for(
    wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["sh", "-c", "exit 7" if wanted else "sleep 600"]
    child = subprocess.Popen(words, start_new_session=True)
    monkeypatch.setattr(os, "fork", lambda: child.pid)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if not wanted:
        ours.shutdown(socket.SHUT_WR)
    streams = [os.open(os.devnull, os.O_RDONLY) for _ in range(3)]
    with ours, theirs:
        assert child_template._keep([*streams, theirs.fileno()], {}) == 0
        assert int(ours.recv(16)) == (7 if wanted else -signal.SIGKILL)
    child.wait()  # reaped by the keeper


def test_what_is_prepared_is_there_for_the_first_child(tmp_path: Path) -> None:
    warm_child._TEMPLATE.close()
    warm_child.prepare([HERE, "gate.no_such_module"])
    child = warm_child._TEMPLATE._child
    assert child is not None
    assert outcomes() == OUTCOMES
    assert warm_child._TEMPLATE._child is child
    warm_child._TEMPLATE.close()


def test_where_there_can_be_no_template_nothing_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    warm_child._TEMPLATE.close()
    monkeypatch.delattr(os, "pidfd_open")
    warm_child.prepare([HERE])
    assert warm_child._TEMPLATE._child is None
