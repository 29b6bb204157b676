"""Both queues keep one contract: gate.serve.interface.Queue, worked off at least once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gate.serve.interface import LOOK, Delivery, Done, HopelessError, Later, NotKeptError, Queue
from gate.serve.meters import Meters
from gate.serve.postgres import PostgresQueue, PostgresWorker
from gate.serve.run import Works
from gate.serve.store import Store
from gate.serve.worker import Worker
from tests.forge.databases import Postgres, postgres


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    with postgres() as made:
        yield made


@pytest.fixture(params=["sqlite", "postgres"])
def queue(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "sqlite":
        store = Store(tmp_path / "gate.db")
        yield store
        store.close()
        return
    made = PostgresQueue(request.getfixturevalue("database").url)
    made._do(lambda db: db.execute("TRUNCATE gate_delivery, gate_kept, procrastinate_jobs CASCADE"))
    yield made
    made.close()


@contextmanager
def working(queue: Any, handle: Callable[[Delivery], Done | Later]) -> Iterator[None]:
    meters = Meters()
    workers: list[Works] = []
    if isinstance(queue, Store):
        workers = [Worker(queue, handle, meters), Worker(queue, handle, meters, threads=1, lane="looks")]
    else:
        lanes: Any = {"answers": 4, "looks": 1}
        workers = [PostgresWorker(queue, handle, meters, lanes=lanes, stalled=6.0)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        for worker in workers:
            worker.stop()


def until(met: Callable[[], object], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def put(queue: Queue, name: str, event: str = "check_suite", **more: Any) -> str:
    return queue.accept(name, event, more.pop("body", name.encode()), time.time(), **more).result()


def test_taken_once_by_id_and_by_bytes(queue: Queue) -> None:
    assert put(queue, "one") == "new"
    assert put(queue, "one") == "again"
    assert put(queue, "other", body=b"one") == "again"
    assert queue.known("one")
    assert not queue.known("other")
    assert queue.count() == {"waiting": 1}


def test_kept_by_prefix_and_replaced(queue: Queue) -> None:
    queue.keep("press a 2", b"\x00two", 1.0)
    queue.keep("press a 1", b"one", 1.0)
    queue.keep("press b 1", b"b", 1.0)
    queue.keep("press a 1", b"one, again", 2.0)
    assert queue.kept("press a ") == [b"one, again", b"\x00two"]
    assert queue.kept("press %") == []


def test_done_failed_and_taken_up_again(queue: Queue) -> None:
    seen: list[str] = []

    def handle(delivery: Delivery) -> Done | Later:
        seen.append(delivery.id)
        if delivery.id == "bad" and seen.count("bad") == 1:
            raise HopelessError("no good\0")
        return Done(note="fine")

    with working(queue, handle):
        put(queue, "good")
        put(queue, "bad")
        until(lambda: queue.count() == {"done": 1, "failed": 1})
        assert put(queue, "good") == "again"
        assert put(queue, "bad") == "again"  # a redelivery takes up what failed
        until(lambda: queue.count() == {"done": 2})
    assert sorted(seen) == ["bad", "bad", "good"]


def test_an_error_is_tried_again_and_later_is_waited_for(queue: Queue) -> None:
    tries: list[int] = []

    def handle(delivery: Delivery) -> Done | Later:
        tries.append(delivery.attempts)
        if len(tries) == 1:
            return Later(note="not yet", seconds=0.1)
        if len(tries) == 2:
            return Later(note="a day, or when the commit is told of", seconds=86_400.0, sha="c" * 40)
        return Done(note="")

    with working(queue, handle):
        put(queue, "waits")
        until(lambda: len(tries) == 2)
        time.sleep(0.5)
        assert queue.wake(["d" * 40], time.time()) == 0
        assert len(tries) == 2
        assert queue.wake(["c" * 40], time.time()) == 1
        until(lambda: queue.count().get("done") == 1)
    assert len(tries) == 3


def test_one_lock_one_at_a_time_and_looks_hold_up_nobody(queue: Queue) -> None:
    now: dict[str, int] = {"a": 0, "look": 0}
    most = dict(now)
    guard, release = threading.Lock(), threading.Event()
    done: list[str] = []

    def handle(delivery: Delivery) -> Done | Later:
        kind = "look" if delivery.event == LOOK else "a"
        with guard:
            now[kind] += 1
            most[kind] = max(most[kind], now[kind])
        release.wait(20) if kind == "look" else time.sleep(0.05)
        with guard:
            now[kind] -= 1
            done.append(delivery.id)
        return Done(note="")

    with working(queue, handle):
        put(queue, "look-1", LOOK)
        put(queue, "look-2", LOOK)
        for number in range(6):
            put(queue, f"a-{number}", lock="octo/shop#7")
        until(lambda: len(done) == 6)
        release.set()
        until(lambda: len(done) == 8)
    assert most == {"a": 1, "look": 1}
    assert [d for d in done if d.startswith("a-")] == [f"a-{n}" for n in range(6)]


def test_a_database_that_is_gone_takes_nothing_and_comes_back(database: Postgres) -> None:
    queue = PostgresQueue(database.url)
    try:
        seen: list[str] = []

        def handle(delivery: Delivery) -> Done | Later:
            seen.append(delivery.id)
            return Done(note="")

        with working(queue, handle):
            database.kill()
            with pytest.raises(NotKeptError):
                put(queue, "while-gone")
            database.start()
            until(lambda: _accepted(queue, "afterwards"))
            until(lambda: "afterwards" in seen)
        assert "while-gone" not in seen
    finally:
        queue.close()


def test_what_ends_while_the_database_is_away_is_done_again(database: Postgres) -> None:
    """It stays marked as in the hands of a worker that lives: nobody else would ever take it."""
    queue = PostgresQueue(database.url)
    seen: list[str] = []
    begun, gone = threading.Event(), threading.Event()

    def handle(delivery: Delivery) -> Done | Later:
        seen.append(delivery.id)
        begun.set()
        gone.wait(30)
        return Done(note="")

    try:
        with working(queue, handle):
            put(queue, "ends-in-the-dark")
            assert begun.wait(20)
            database.kill()
            gone.set()
            time.sleep(8.0)  # longer than anybody waits for a connection
            database.start()
            until(lambda: _ended(queue, "ends-in-the-dark"), 60)
        assert set(seen) == {"ends-in-the-dark"}
    finally:
        queue.close()


def _ended(queue: PostgresQueue, name: str) -> bool:
    try:
        return queue.known(name) and queue.delivery(name, 0) is None
    except NotKeptError:
        return False


def _accepted(queue: Queue, name: str) -> bool:
    try:
        return bool(put(queue, name))
    except NotKeptError:
        return False
