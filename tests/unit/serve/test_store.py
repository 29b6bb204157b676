"""Deliveries on disk: one commit for many, checkpoints beside them, nothing lost by closing in between."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from gate.serve import store as module
from gate.serve.store import Store, StoreClosedError

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
