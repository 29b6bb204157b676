"""Sandboxes started ahead of need: while one runs, the next ones' launchers already wait for their job."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar


class Removable(Protocol):
    """Something that must not be left behind."""

    def remove(self) -> None:
        """Take it away, whatever state it is in. Never raises."""
        ...


T = TypeVar("T", bound=Removable)


class SandboxPool(Generic[T]):
    """Keeps up to ``size`` started sandboxes ready, never more than are still expected.

    Each is handed out once: a sandbox is never used twice. No more than ``size`` are being started
    ahead of need at a time: the first ones would only wait for each other.
    """

    def __init__(self, make: Callable[[], T], *, size: int = 2) -> None:
        self._make = make
        self._size = size
        self._ready: deque[Future[T]] = deque()
        self._starting = 0
        self._expected = 0
        self._closed = False
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(max_workers=size + 2, thread_name_prefix="sandbox")

    def expect(self, runs: int) -> None:
        """So many more sandboxes will be taken; start preparing."""
        with self._lock:
            self._expected += runs
            self._fill()

    def take(self, *, deadline: float) -> T:
        """A started sandbox nobody has used. Raises what its start raised, TimeoutError past ``deadline``."""
        with self._lock:
            if self._closed:
                raise TimeoutError("the session is being torn down")
            self._expected = max(0, self._expected - 1)
            future = self._ready.popleft() if self._ready else self._start()
            self._fill()
        try:
            return future.result(timeout=deadline)
        except TimeoutError:
            future.add_done_callback(_remove)
            raise

    def close(self) -> None:
        """Remove what was started and never taken; returns when it is gone."""
        with self._lock:
            self._closed = True
            left = list(self._ready)
            self._ready.clear()
            clean = [self._pool.submit(_remove, future) for future in left if not future.cancel()]
        for done in clean:
            with contextlib.suppress(Exception):
                done.result()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _fill(self) -> None:
        """With the lock held."""
        while (
            not self._closed
            and self._starting < self._size
            and len(self._ready) < min(self._size, self._expected)
        ):
            self._ready.append(self._start())

    def _start(self) -> Future[T]:
        """With the lock held."""
        self._starting += 1
        return self._pool.submit(self._made)

    def _made(self) -> T:
        try:
            return self._make()
        finally:
            with self._lock:
                self._starting -= 1
                self._fill()


def _remove(future: Future[T]) -> None:
    """Wait for a start that nobody will use, and undo it."""
    with contextlib.suppress(Exception):
        future.result().remove()
