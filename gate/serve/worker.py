"""Works off what the store keeps, on a few threads."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from gate.serve.attempt import attempt
from gate.serve.interface import KEEP, Delivery, Handle, Lane
from gate.serve.meters import Meters
from gate.serve.store import Store, StoreClosedError

_POLL: Final = 1.0


class Worker:
    """Hands what is due to ``handle`` on a few threads; a delivery is with one thread at a time."""

    def __init__(
        self, store: Store, handle: Handle, meters: Meters, *, threads: int = 4, lane: Lane = "answers"
    ) -> None:
        self._store, self._handle, self._meters, self._threads = store, handle, meters, threads
        self._lane: Lane = lane
        self._bell, self._stop = threading.Event(), threading.Event()
        self._busy: set[str] = set()
        self._unsaved: set[str] = set()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"gate-{lane}")
        self._thread = threading.Thread(target=self._run, name=f"gate-worker-{lane}", daemon=True)

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
        for delivery in self._store.claim(time.time(), free, self._lane) if free > 0 else ():
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
        store, ended = self._store, attempt(self._handle, delivery)
        if ended.outcome == "done":
            store.done(delivery.id, ended.note, time.time())
        elif ended.outcome == "failed":
            store.failed(delivery.id, ended.note, time.time())
        else:
            store.later(delivery.id, ended.note, time.time() + ended.seconds, ended.sha)
        return ended.outcome
