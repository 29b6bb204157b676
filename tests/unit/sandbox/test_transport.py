"""Sandboxes ahead of need, the conversation with a launcher, and what a process tree uses."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Self

import pytest

from gate.errors import InconclusiveError
from gate.sandbox.backends.container.attach import Attached
from gate.sandbox.pool import SandboxPool
from gate.sandbox.transport import Watch, exchange
from gate.sandbox.usage import descendants, memory_below

# -- sandboxes ahead of need ----------------------------------------------------------------------


class Thing:
    """Something removable that counts."""

    alive = 0
    lock = threading.Lock()

    def __init__(self) -> None:
        with self.lock:
            Thing.alive += 1

    def remove(self) -> None:
        with self.lock:
            Thing.alive -= 1


def test_warm_things_are_used_once_and_none_is_left() -> None:
    Thing.alive = 0
    warm = SandboxPool(Thing, size=2)
    warm.expect(4)
    taken = [warm.take(deadline=5) for _ in range(6)]
    assert len({id(thing) for thing in taken}) == 6
    warm.expect(10)
    warm.close()
    for thing in taken:
        thing.remove()
    assert Thing.alive == 0
    with pytest.raises(TimeoutError):
        warm.take(deadline=5)


def test_a_failed_start_is_raised_where_it_was_wanted() -> None:
    def fail() -> Thing:
        raise InconclusiveError("no engine")

    warm = SandboxPool(fail)
    warm.expect(3)
    with pytest.raises(InconclusiveError):
        warm.take(deadline=5)
    warm.close()


def test_a_start_that_comes_too_late_is_undone() -> None:
    Thing.alive = 0
    go = threading.Event()

    def slow() -> Thing:
        go.wait(5)
        return Thing()

    warm = SandboxPool(slow)
    with pytest.raises(TimeoutError):
        warm.take(deadline=0.05)
    go.set()
    warm.close()
    assert Thing.alive == 0


# -- the conversation -----------------------------------------------------------------------------


class Pipes:
    """A process at the other end of two pipes."""

    def __init__(self, code: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdin
        assert self.process.stdout
        self.write_fd, self.read_fd = self.process.stdin.fileno(), self.process.stdout.fileno()

    def split(self, data: bytes) -> list[tuple[int, bytes]]:
        return [(1, data)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        with self.process:
            pass


def _watch(heard: bytearray, *, enough: int = 1 << 30, seconds: float = 10, stopped: bool = False) -> Watch:
    until = time.monotonic() + seconds
    return Watch(
        feed=lambda _, data: heard.extend(data),
        through=lambda: len(heard) >= enough,
        until=lambda: until,
        stopped=lambda: stopped,
    )


def _pieces(count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield bytes(1 << 16)


def test_both_directions_flow_at_once() -> None:
    """An echo of more than any pipe holds: writing before reading would stand still for ever."""
    echo = "import sys, shutil; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)"
    heard = bytearray()
    with Pipes(echo) as pipes:
        assert exchange(pipes, _pieces(64), _watch(heard, enough=64 << 16)) == "said"
    assert len(heard) == 64 << 16


@pytest.mark.parametrize(
    ("code", "seconds", "stopped", "ending"),
    [
        ("print('x')", 10, False, "closed"),
        ("import sys; sys.stdin.close(); print('x')", 10, False, "closed"),
        ("import time; time.sleep(60)", 0.2, False, "deadline"),
        ("import time; time.sleep(60)", 10, True, "stopped"),
    ],
)
def test_how_a_conversation_ends(code: str, seconds: float, stopped: bool, ending: str) -> None:
    with Pipes(code) as pipes:
        assert exchange(pipes, _pieces(64), _watch(bytearray(), seconds=seconds, stopped=stopped)) == ending


def test_the_engines_chunks_are_split_wherever_they_are_cut() -> None:
    stream = b"\1\0\0\0\0\0\0\5hello" + b"\2\0\0\0\0\0\0\3err" + b"\1\0\0\0\0\0\0\1!"
    for size in range(1, len(stream) + 1):
        attached = Attached.__new__(Attached)
        attached._left, attached._stream, attached._head = 0, 0, b""
        heard = {1: b"", 2: b""}
        for at in range(0, len(stream), size):
            for which, piece in attached.split(stream[at : at + size]):
                heard[which] += piece
        assert heard == {1: b"hello!", 2: b"err"}


def test_memory_of_descendants_is_summed() -> None:
    code = (
        "import os\nx = b'x' * (64 << 20)\n"
        "if os.fork() == 0: y = b'y' * (64 << 20)\n"
        "print(1, flush=True); input()"
    )
    with Pipes(code) as pipes:
        seen = b""
        while seen.count(b"1") < 2:
            seen += os.read(pipes.read_fd, 10)
        assert len(descendants(pipes.process.pid)) == 1
        assert memory_below(pipes.process.pid) > 120 << 20
        assert memory_below(2**22 - 1) == 0
        pipes.process.communicate(b"\n\n")
