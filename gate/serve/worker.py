"""Works deliveries off: as often as it takes, with growing pauses, until a bounded age."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from gate.serve.meters import Meters
from gate.serve.store import Delivery, Store, StoreClosedError, backoff

GIVE_UP: Final = 24 * 3600.0
KEEP: Final = 14 * 24 * 3600.0
"""Seconds for which ids are remembered; GitHub redelivers for three days."""
_POLL: Final = 1.0


class HopelessError(Exception):
    """Asking again will not help; the text says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """``note`` is kept beside the delivery."""

    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Later:
    """Once more in so many seconds, or when something happens to ``sha``."""

    note: str
    seconds: float
    sha: str | None = None


Handle = Callable[[Delivery], Done | Later]
"""Must be idempotent: what is in hand when the program is killed is handled again from the start, and nothing
else is.
"""


class Worker:
    """Hands what is due to ``handle`` on a few threads; a delivery is with one thread at a time."""

    def __init__(self, store: Store, handle: Handle, meters: Meters, *, threads: int = 4) -> None:
        self._store, self._handle, self._meters, self._threads = store, handle, meters, threads
        self._bell, self._stop = threading.Event(), threading.Event()
        self._busy: set[str] = set()
        self._unsaved: set[str] = set()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="gate-work")
        self._thread = threading.Thread(target=self._run, name="gate-worker", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """There may be something to do."""
        self._bell.set()

    @property
    def alive(self) -> bool:
        """False when nothing is worked on any more."""
        return self._thread.is_alive() and not self._stop.is_set()

    def stop(self) -> None:
        """Finish what is being worked on, begin nothing; the rest stays on disk for the next start."""
        self._stop.set()
        self._bell.set()
        self._thread.join()
        self._pool.shutdown(wait=True)

    def _run(self) -> None:
        swept = 0.0
        while not self._stop.is_set():
            self._bell.wait(_POLL)
            self._bell.clear()
            try:
                if time.time() - swept > 3600:
                    swept = time.time()
                    self._store.forget(swept - KEEP)
                self._dispatch()
            except StoreClosedError:
                return
            except Exception:  # noqa: BLE001 - a full disk now may have room in a moment
                self._meters.work("store-error")

    def _dispatch(self) -> None:
        with self._lock:
            free, unsaved = self._threads - len(self._busy), list(self._unsaved)
        for name in unsaved:
            self._store.release(name, time.time())
            with self._lock:
                self._unsaved.discard(name)
        for delivery in self._store.claim(time.time(), free) if free > 0 else ():
            with self._lock:
                self._busy.add(delivery.id)
            self._pool.submit(self._work, delivery)

    def _work(self, delivery: Delivery) -> None:
        try:
            self._meters.work(self._attempt(delivery))
        except Exception:  # noqa: BLE001 - not written down: it is handled again, which must be harmless
            self._meters.work("store-error")
            with self._lock:
                self._unsaved.add(delivery.id)
        finally:
            with self._lock:
                self._busy.discard(delivery.id)
            self._bell.set()

    def _attempt(self, delivery: Delivery) -> str:
        store = self._store
        try:
            ended = self._handle(delivery)
        except HopelessError as error:
            store.failed(delivery.id, str(error)[:1_000], time.time())
            return "failed"
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the delivery is not lost
            note = f"{type(error).__name__}: {error}"[:1_000]
            if time.time() - delivery.received > GIVE_UP:
                store.failed(delivery.id, note, time.time())
                return "failed"
            pause = backoff(delivery.attempts) * random.uniform(0.75, 1.25)  # noqa: S311 - spreads load
            store.later(delivery.id, note, time.time() + pause)
            return "retried"
        if isinstance(ended, Later):
            store.later(delivery.id, ended.note[:1_000], time.time() + ended.seconds, ended.sha)
            return "waiting"
        store.done(delivery.id, ended.note[:1_000], time.time())
        return "done"
