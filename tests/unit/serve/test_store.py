"""Deliveries on disk: one commit for many, checkpoints beside them, nothing lost by closing in between."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from gate.serve import store as module
from gate.serve.interface import Delivery, Done
from gate.serve.meters import Meters
from gate.serve.store import DatabaseBusyError, Store, StoreClosedError
from gate.serve.worker import Worker

BODY = b"x" * 8_000


def _fill(store: Store, start: int, many: int) -> None:
    futures = [
        store.accept(f"id-{n:08}", "check_suite", BODY + str(n).encode(), 1.0)
        for n in range(start, start + many)
    ]
    assert {future.result(60) for future in futures} == {"new"}


def test_the_log_stays_small_and_commits_do_not_move_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CHECKPOINT_SECONDS", 0.02)
    monkeypatch.setattr(module, "_CHECKPOINT_BYTES", 64 << 10)
    path = tmp_path / "gate.db"
    store = Store(path)
    try:
        for turn in range(10):
            _fill(store, turn * 100, 100)
            grown = path.stat().st_size
            until = time.monotonic() + 30
            while path.stat().st_size <= grown and turn == 0 and time.monotonic() < until:
                time.sleep(0.02)
            time.sleep(0.1)
        assert path.stat().st_size > 100 * len(BODY), "nothing was moved into the database"
        assert (tmp_path / "gate.db-wal").stat().st_size < 8 * 100 * len(BODY)
        assert store.count() == {"waiting": 1_000}
    finally:
        store.close()
    with pytest.raises(StoreClosedError):
        store.accept("late-000", "check_suite", BODY, 1.0).result()
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM delivery").fetchone() == (1_000,)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


def test_every_commit_is_synced_before_it_is_told(tmp_path: Path) -> None:
    store = Store(tmp_path / "gate.db")
    try:
        assert store._put(lambda db: db.execute("PRAGMA synchronous").fetchone()).result() == (2,)
        assert store._put(lambda db: db.execute("PRAGMA journal_mode").fetchone()).result() == ("wal",)
        _fill(store, 0, 5)
        with sqlite3.connect(tmp_path / "gate.db") as other:
            assert other.execute("SELECT count(*) FROM delivery").fetchone() == (5,)
        other.close()
    finally:
        store.close()


def _ids(found: list[Delivery]) -> list[str]:
    return [one.id for one in found]


def test_what_is_claimed_is_nobody_elses(tmp_path: Path) -> None:
    """A list of what is due that was read before one of them ended once had it worked off twice."""
    store = Store(tmp_path / "gate.db")
    try:
        _fill(store, 0, 3)
        assert len(store.claim(2.0, 2)) == 2
        assert _ids(store.claim(2.0)) == ["id-00000002"]
        assert store.claim(2.0) == []
        store.done("id-00000000", "", 3.0)
        store.later("id-00000001", "", 5.0)
        store.release("id-00000000", 4.0)  # nothing is taken back that is done
        store.release("id-00000002", 4.0)
        assert [(one.id, one.attempts) for one in store.claim(4.0)] == [("id-00000002", 1)]
        assert _ids(store.claim(6.0)) == ["id-00000001"]
    finally:
        store.close()


def test_what_was_in_hand_when_the_program_ended_is_due_again_and_nothing_else(tmp_path: Path) -> None:
    store = Store(tmp_path / "gate.db")
    _fill(store, 0, 3)
    store.claim(2.0, 2)
    store.done("id-00000000", "", 3.0)
    assert store.forget(2.5) == 0
    store.close()  # as a kill leaves it: one done, one worked on, one waiting
    store = Store(tmp_path / "gate.db")
    try:
        assert store.count() == {"done": 1, "waiting": 2}
        assert sorted(_ids(store.claim(time.time()))) == ["id-00000001", "id-00000002"]
    finally:
        store.close()


def test_what_happens_to_a_commit_while_its_delivery_is_worked_on_is_not_missed(tmp_path: Path) -> None:
    store = Store(tmp_path / "gate.db")
    try:
        _fill(store, 0, 1)
        store.claim(2.0)
        store.later("id-00000000", "no verdict yet", 10.0, "a" * 40)
        assert len(store.claim(10.0)) == 1
        assert store.wake(["a" * 40], 11.0) == 1
        store.later("id-00000000", "no verdict yet", 30.0, "a" * 40)
        assert len(store.claim(11.0)) == 1
    finally:
        store.close()


def test_two_programs_do_not_work_off_one_database(tmp_path: Path) -> None:
    store = Store(tmp_path / "gate.db")
    with pytest.raises(DatabaseBusyError, match="another gate serve"):
        Store(tmp_path / "gate.db")
    store.close()
    Store(tmp_path / "gate.db").close()


def test_a_full_disk_after_the_work_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was done but could not be noted is not left lying until the next start."""
    store = Store(tmp_path / "gate.db")
    handled: list[str] = []
    real, full = store.done, [True]

    def done(name: str, note: str, now: float) -> None:
        if full.pop() if full else False:
            raise sqlite3.OperationalError("database or disk is full")
        real(name, note, now)

    def handle(delivery: Delivery) -> Done:
        handled.append(delivery.id)
        return Done(note="")

    monkeypatch.setattr(store, "done", done)
    worker = Worker(store, handle, Meters())
    try:
        _fill(store, 0, 1)
        worker.start()
        worker.wake()
        until = time.monotonic() + 30
        while store.count() != {"done": 1} and time.monotonic() < until:
            time.sleep(0.02)
        assert store.count() == {"done": 1}
        assert handled == ["id-00000000"] * 2
    finally:
        worker.stop()
        store.close()
