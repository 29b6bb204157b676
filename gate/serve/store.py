"""Deliveries on disk: accepted once, never lost, worked off in order of their time.

SQLite with a write-ahead log and ``synchronous=FULL``: when a commit returns, the delivery survives a crash
of program and machine. One thread writes; requests that wait together share one commit (group commit). Moving
the log's pages into the database (checkpoint) costs more syncs: another thread does it, beside commits.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, TypeVar

from gate.serve.interface import LOOK, Accepted, Delivery, Lane

T = TypeVar("T")
_BATCH: Final = 256
_CHECKPOINT_SECONDS: Final = 1.0
_CHECKPOINT_BYTES: Final = 1 << 20
_LAST_RESORT_PAGES: Final = 16_384
"""Pages of the log (64 MiB) from which a commit does the work itself: the other thread must have failed."""
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS delivery (
  id TEXT PRIMARY KEY,
  event TEXT NOT NULL,
  digest BLOB NOT NULL UNIQUE,
  body BLOB NOT NULL,
  received REAL NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting',
  attempts INTEGER NOT NULL DEFAULT 0,
  due REAL NOT NULL,
  sha TEXT,
  note TEXT NOT NULL DEFAULT '',
  lock TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value BLOB NOT NULL, at REAL NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS by_due ON delivery (state, due);
CREATE INDEX IF NOT EXISTS by_sha ON delivery (sha) WHERE sha IS NOT NULL;
"""
_NOT_WOKEN: Final = 9e15
"""When a delivery that is being worked on is due: never, until something happens to its commit."""
_RELEASE: Final = (
    "UPDATE delivery SET state = 'waiting', attempts = attempts + 1, due = min(due, ?)"
    " WHERE state = 'working'"
)


class StoreClosedError(Exception):
    """No more deliveries are taken."""


class DatabaseBusyError(sqlite3.OperationalError):
    """Another program works these deliveries off."""


class Store:
    """``path``: the database. Thread-safe; every change is one job of the writing thread.

    One program at a time has it (DatabaseBusyError). So whatever is marked as worked on when it is opened was
    cut off, and is due again.
    """

    def __init__(self, path: Path) -> None:
        self._held = _only_holder(path)
        self._jobs: queue.SimpleQueue[tuple[Callable[[sqlite3.Connection], object], Future[Any]] | None] = (
            queue.SimpleQueue()
        )
        self._closed = threading.Event()
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30.0)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute(f"PRAGMA wal_autocheckpoint = {_LAST_RESORT_PAGES}")
        self._db.executescript(_SCHEMA)
        if "lock" not in {row[1] for row in self._db.execute("PRAGMA table_info(delivery)")}:
            self._db.execute("ALTER TABLE delivery ADD COLUMN lock TEXT NOT NULL DEFAULT ''")
        self._db.execute(_RELEASE, (time.time(),))
        self._log = path.with_name(path.name + "-wal")
        self._second = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0.0)
        self._mover = threading.Thread(target=self._checkpoints, name="gate-store-log", daemon=True)
        self._mover.start()
        self._thread = threading.Thread(target=self._write, name="gate-store", daemon=True)
        self._thread.start()

    def accept(self, name: str, event: str, body: bytes, now: float, *, lock: str = "") -> Future[Accepted]:
        """On disk when the future is done. ``again``: this id or these very bytes were taken before.

        The id is not covered by GitHub's signature, the bytes are: replaying them under a new id is no new
        delivery. One that failed for good is taken up once more when GitHub is asked to redeliver it.
        """
        digest = hashlib.sha256(event.encode() + b"\0" + body).digest()

        def job(db: sqlite3.Connection) -> Accepted:
            made = db.execute(
                "INSERT OR IGNORE INTO delivery (id, event, digest, body, received, due, lock)"
                " VALUES (?,?,?,?,?,?,?)",
                (name, event, digest, body, now, now, lock),
            )
            if made.rowcount:
                return "new"
            db.execute(
                "UPDATE delivery SET state = 'waiting', attempts = 0, due = ?, received = ?"
                " WHERE id = ? AND digest = ? AND state = 'failed'",
                (now, now, name, digest),
            )
            return "again"

        return self._put(job)

    def known(self, name: str) -> bool:
        """A delivery of this id was taken before."""
        found = "SELECT 1 FROM delivery WHERE id = ?"
        return self._put(lambda db: db.execute(found, (name,)).fetchone() is not None).result()

    def claim(self, now: float, most: int = 8, lane: Lane = "answers") -> list[Delivery]:
        """What is to be worked on, oldest first. It is the caller's, until ``done``, ``failed``, ``later`` or
        ``release``, or until the program ends in whatever way.
        """

        def job(db: sqlite3.Connection) -> list[Delivery]:
            rows = db.execute(
                "SELECT id, event, body, received, attempts, lock FROM delivery"
                " WHERE state = 'waiting' AND due <= ? AND (event = ?) = ? AND (lock = '' OR NOT EXISTS"
                " (SELECT 1 FROM delivery AS d WHERE d.state = 'working' AND d.lock = delivery.lock))"
                " ORDER BY due, rowid LIMIT ?",
                (now, LOOK, lane == "looks", 8 * most),
            ).fetchall()
            first = {row[5]: row for row in reversed(rows) if row[5]}  # one of each lock
            rows = [row for row in rows if not row[5] or first[row[5]] is row][:most]
            mark = "UPDATE delivery SET state = 'working', due = ? WHERE id = ?"
            db.executemany(mark, [(_NOT_WOKEN, row[0]) for row in rows])
            return [Delivery(id=r[0], event=r[1], body=r[2], received=r[3], attempts=r[4]) for r in rows]

        return self._put(job).result()

    def keep(self, key: str, value: bytes, now: float) -> None:
        """Remember a value, in place of what stood under the key."""
        self._set("INSERT OR REPLACE INTO kept (key, value, at) VALUES (?,?,?)", key, value, now)

    def kept(self, prefix: str) -> list[bytes]:
        """All values whose key begins so, by key."""
        found = "SELECT value FROM kept WHERE substr(key, 1, ?) = ? ORDER BY key"
        asked = (len(prefix), prefix)
        return self._put(lambda db: [row[0] for row in db.execute(found, asked)]).result()

    def done(self, name: str, note: str, now: float) -> None:
        """Worked off. The body is no longer needed, the id stays."""
        self._set(
            "UPDATE delivery SET state = 'done', note = ?, due = ?, body = x'' WHERE id = ?", note, now, name
        )

    def failed(self, name: str, note: str, now: float) -> None:
        """Given up; a redelivery takes it up again."""
        self._set("UPDATE delivery SET state = 'failed', note = ?, due = ? WHERE id = ?", note, now, name)

    def later(self, name: str, note: str, due: float, sha: str | None = None) -> None:
        """Once more at ``due``, or when something happens to the commit ``sha``: at once where that happened
        while it was worked on.
        """
        self._set(
            "UPDATE delivery SET state = 'waiting', attempts = attempts + 1, note = ?, due = min(due, ?),"
            " sha = ? WHERE id = ?",
            note, due, sha, name,
        )  # fmt: skip

    def release(self, name: str, now: float) -> None:
        """Nothing came of it, it is due again."""
        self._set(f"{_RELEASE} AND id = ?", now, name)

    def wake(self, commits: Sequence[str], now: float) -> int:
        """Something happened to these commits: what waits for them is due now."""

        def job(db: sqlite3.Connection) -> int:
            return sum(
                db.execute(
                    "UPDATE delivery SET due = ?"
                    " WHERE sha = ? AND state IN ('waiting', 'working') AND due > ?",
                    (now, sha, now),
                ).rowcount
                for sha in commits
            )

        return self._put(job).result()

    def forget(self, before: float) -> int:
        """Drop what was done before then; returns how many."""

        def job(db: sqlite3.Connection) -> int:
            db.execute("DELETE FROM kept WHERE at < ?", (before,))
            ended = "DELETE FROM delivery WHERE state IN ('done', 'failed') AND due < ?"
            return db.execute(ended, (before,)).rowcount

        return self._put(job).result()

    def count(self) -> dict[str, int]:
        """Deliveries by state."""
        return self._put(
            lambda db: dict(db.execute("SELECT state, count(*) FROM delivery GROUP BY state"))
        ).result()

    def close(self) -> None:
        """Everything accepted is on disk when this returns."""
        if not self._closed.is_set():
            self._closed.set()
            self._jobs.put(None)
            self._thread.join()
            self._mover.join()
            self._second.close()
            self._db.close()
            os.close(self._held)

    def _set(self, statement: str, *values: object) -> None:
        self._put(lambda db: db.execute(statement, values).rowcount).result()

    def _put(self, job: Callable[[sqlite3.Connection], T]) -> Future[T]:
        future: Future[T] = Future()
        if self._closed.is_set():
            future.set_exception(StoreClosedError())
        else:
            self._jobs.put((job, future))
        return future

    def _checkpoints(self) -> None:
        """A passive checkpoint holds up nobody; what it cannot do now it does next time."""
        while not self._closed.wait(_CHECKPOINT_SECONDS):
            with contextlib.suppress(sqlite3.Error, OSError):
                if self._log.stat().st_size > _CHECKPOINT_BYTES:
                    self._second.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def _write(self) -> None:
        """Whatever waits together is one transaction; nobody is told before it is committed."""
        open_ = True
        while open_:
            first = self._jobs.get()
            batch = []
            while first is not None:
                batch.append(first)
                if len(batch) == _BATCH or self._jobs.empty():
                    break
                first = self._jobs.get()
            open_ = first is not None
            if batch:
                self._transaction(batch)

    def _transaction(self, batch: list[tuple[Callable[[sqlite3.Connection], object], Future[Any]]]) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            results = [job(self._db) for job, _ in batch]
            self._db.execute("COMMIT")
        except (sqlite3.Error, OverflowError) as error:  # a full disk: nobody is told that it was taken
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            for _, future in batch:
                future.set_exception(error)
            return
        for (_, future), result in zip(batch, results, strict=True):
            future.set_result(result)


def _only_holder(path: Path) -> int:
    """A lock that the kernel frees when this program ends, however it does. Raises DatabaseBusyError."""
    try:
        held = os.open(path.with_name(path.name + "-lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise sqlite3.OperationalError(f"cannot be locked: {error.strerror}") from error
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(held)
        raise DatabaseBusyError("another gate serve has it open") from error
    return held
