"""The queue for several machines: Procrastinate's jobs in PostgreSQL, beside what was delivered.

Delivery and job are written in one transaction, so none is without the other. A worker shows that it lives;
what was in the hands of one that does not any more is due again (at least once, never lost).
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import hashlib
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar

import procrastinate
import procrastinate.worker
import psycopg
from procrastinate import retry
from procrastinate.exceptions import ProcrastinateException
from psycopg_pool import ConnectionPool, PoolTimeout

from gate.errors import UsageError
from gate.serve.attempt import attempt
from gate.serve.interface import KEEP, LOOK, Accepted, Delivery, Handle, Lane, NotKeptError
from gate.serve.meters import Meters

T = TypeVar("T")
_TASK: Final = "gate.deliver"
_WAIT: Final = 5.0
"""Seconds that anybody waits for a connection."""
_ONE_AT_A_TIME: Final = 0x67617465
"""An advisory lock of ours while tables are made."""
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS gate_delivery (
  id text PRIMARY KEY,
  event text NOT NULL,
  digest bytea NOT NULL UNIQUE,
  body bytea NOT NULL,
  received double precision NOT NULL,
  lock text NOT NULL DEFAULT '',
  ended text,
  note text NOT NULL DEFAULT '',
  sha text
);
CREATE INDEX IF NOT EXISTS gate_delivery_sha ON gate_delivery (sha) WHERE sha IS NOT NULL AND ended IS NULL;
CREATE TABLE IF NOT EXISTS gate_kept (
  key text PRIMARY KEY, value bytea NOT NULL, at double precision NOT NULL
);
"""
_IN_HAND: Final = "SELECT id FROM procrastinate_jobs WHERE status = 'doing' AND worker_id = ANY(%(ids)s)"
_SURE: Final = 3
"""So many looks in a row nobody was at a job: between being fetched and begun it is nobody's."""
_STATES: Final = {"todo": "waiting", "doing": "working"}


class _AgainError(Exception):
    """Not an error: the job is due again in so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"again in {seconds:.0f} s")
        self.seconds = seconds


class _Again(retry.BaseRetryStrategy):
    def get_retry_decision(self, *, exception: BaseException, **_job: object) -> retry.RetryDecision | None:
        """When, for what is not to be given up."""
        if not isinstance(exception, _AgainError):
            return None
        now = datetime.datetime.now(datetime.UTC)
        return retry.RetryDecision(retry_at=now + datetime.timedelta(seconds=exception.seconds))


class PostgresQueue:
    """``url`` as libpq takes it. Implements gate.serve.interface.Queue.

    Raises UsageError when the database cannot be used.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # it tells of each try; we tell who asks
        self._pool = ConnectionPool(url, min_size=1, max_size=12, timeout=_WAIT, open=False, check=_alive)
        self._threads = ThreadPoolExecutor(8, thread_name_prefix="gate-queue")
        self._app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector())
        try:
            self._pool.open(wait=True, timeout=_WAIT)
            self._app.open(self._pool)
            self._make_tables()
        except (psycopg.Error, PoolTimeout, ProcrastinateException) as error:
            self._pool.close()
            raise UsageError(
                f"cannot use the queue: {str(error).splitlines()[0] if str(error) else type(error).__name__}",
                advice="--queue takes a PostgreSQL address whose user may make tables.",
            ) from error

    def accept(self, name: str, event: str, body: bytes, now: float, *, lock: str = "") -> Future[Accepted]:
        """One row for a delivery and one job for it, in one transaction; durable when the future is done."""
        digest = hashlib.sha256(event.encode() + b"\0" + body).digest()

        def job(db: psycopg.Connection[Any]) -> Accepted:
            made = db.execute(
                "INSERT INTO gate_delivery (id, event, digest, body, received, lock)"
                " VALUES (%s,%s,%s,%s,%s,%s) ON CONFLICT DO NOTHING",
                (name, event, digest, body, now, lock),
            )
            if made.rowcount:
                self._defer(db, name, event, lock)
                return "new"
            again = db.execute(
                "UPDATE gate_delivery SET ended = NULL, received = %s"
                " WHERE id = %s AND digest = %s AND ended = 'failed'",
                (now, name, digest),
            )
            if again.rowcount:
                self._defer(db, name, event, lock)
            return "again"

        return self._threads.submit(self._do, job)

    def known(self, name: str) -> bool:
        """Whether the table of deliveries has this id."""
        found = "SELECT 1 FROM gate_delivery WHERE id = %s"
        return self._do(lambda db: db.execute(found, (name,)).fetchone()) is not None

    def wake(self, commits: Sequence[str], now: float) -> int:  # noqa: ARG002 - the database has the time
        """Make what waits for these commits due now: each gets a second job."""

        def job(db: psycopg.Connection[Any]) -> int:
            waiting = "SELECT id, event, lock FROM gate_delivery WHERE sha = ANY(%s) AND ended IS NULL"
            found = db.execute(waiting, (list(commits),)).fetchall()
            for name, event, lock in found:
                self._defer(db, name, event, lock)
            return len(found)

        return self._do(job)

    def keep(self, key: str, value: bytes, now: float) -> None:
        """Remember a value for KEEP seconds, in place of what stood under the key."""
        put = (
            "INSERT INTO gate_kept (key, value, at) VALUES (%s,%s,%s)"
            " ON CONFLICT (key) DO UPDATE SET value = excluded.value, at = excluded.at"
        )
        self._do(lambda db: db.execute(put, (key, value, now)).rowcount)

    def kept(self, prefix: str) -> list[bytes]:
        """All values whose key begins so, by key."""
        found = 'SELECT value FROM gate_kept WHERE starts_with(key, %s) ORDER BY key COLLATE "C"'
        return [bytes(row[0]) for row in self._do(lambda db: db.execute(found, (prefix,)).fetchall())]

    def count(self) -> Mapping[str, int]:
        """Deliveries by state, over all machines."""

        def job(db: psycopg.Connection[Any]) -> dict[str, int]:
            jobs = "SELECT status::text, count(*) FROM procrastinate_jobs GROUP BY 1"
            told = {_STATES[state]: n for state, n in db.execute(jobs).fetchall() if state in _STATES}
            ended = "SELECT ended, count(*) FROM gate_delivery WHERE ended IS NOT NULL GROUP BY 1"
            return told | dict(db.execute(ended).fetchall())

        return self._do(job)

    def forget(self, before: float) -> None:
        """Drop what ended or was kept before then."""
        self._do(lambda db: db.execute("DELETE FROM gate_kept WHERE at < %s", (before,)))
        gone = "DELETE FROM gate_delivery WHERE ended IS NOT NULL AND received < %s"
        self._do(lambda db: db.execute(gone, (before,)))

    def close(self) -> None:
        """Everything accepted is in the database when this returns."""
        self._threads.shutdown(wait=True)
        self._pool.close()

    # ---- for the worker

    def delivery(self, name: str, attempts: int) -> Delivery | None:
        """What a job is about; None where that has ended."""
        found = "SELECT event, body, received FROM gate_delivery WHERE id = %s AND ended IS NULL"
        row = self._do(lambda db: db.execute(found, (name,)).fetchone())
        if row is None:
            return None
        return Delivery(id=name, event=row[0], body=bytes(row[1]), received=row[2], attempts=attempts)

    def ended(self, name: str, how: str, note: str) -> None:
        """Done, or failed for good (the body is then kept, as a redelivery takes it up again)."""
        put = (
            "UPDATE gate_delivery SET ended = %s, note = %s, sha = NULL,"
            " body = CASE WHEN %s = 'done' THEN '' ELSE body END WHERE id = %s"
        )
        self._do(lambda db: db.execute(put, (how, _text(note), how, name)))

    def later(self, name: str, note: str, sha: str | None) -> None:
        """Not yet; ``sha``: see wake."""
        put = "UPDATE gate_delivery SET note = %s, sha = %s WHERE id = %s"
        self._do(lambda db: db.execute(put, (_text(note), sha, name)))

    def _defer(self, db: psycopg.Connection[Any], name: str, event: str, lock: str) -> None:
        queue: Lane = "looks" if event == LOOK else "answers"
        chosen = self._app.configure_task(_TASK, queue=queue, lock=lock or None, connection=db)
        chosen.defer(name=name)

    def _do(self, job: Callable[[psycopg.Connection[Any]], T]) -> T:
        """One transaction. Raises NotKeptError."""
        try:
            with self._pool.connection() as db:
                return job(db)
        except (psycopg.Error, PoolTimeout, ProcrastinateException) as error:
            raise NotKeptError(f"{type(error).__name__}: {error}") from error

    def _make_tables(self) -> None:
        with self._pool.connection() as db:
            db.execute("SELECT pg_advisory_xact_lock(%s)", (_ONE_AT_A_TIME,))
            there = db.execute("SELECT to_regclass('procrastinate_jobs')").fetchone()
            if there is None or there[0] is None:
                schema = self._app.schema_manager.get_schema()
                db.execute(schema.encode())
            db.execute(_TABLES.encode())


class PostgresWorker:
    """Works jobs off, in a thread with a loop of its own, beside as many others as there are.

    ``lanes``: how many at a time of each. ``stalled``: seconds of silence after which a worker is taken for
    dead; longer than any pause of a machine that is alive.
    """

    def __init__(
        self,
        queue: PostgresQueue,
        handle: Handle,
        meters: Meters,
        *,
        lanes: Mapping[Lane, int],
        stalled: float = 60.0,
    ) -> None:
        self._queue, self._handle, self._meters = queue, handle, meters
        self._lanes, self._stalled = lanes, stalled
        self._stop = threading.Event()
        self._busy: set[str] = set()
        self._hands: set[int] = set()
        self._ours: dict[Lane, procrastinate.worker.Worker] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="gate-worker", daemon=True)
        self._ending: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """PostgreSQL tells the workers itself."""

    @property
    def alive(self) -> bool:
        """False when nothing is worked on any more."""
        return self._thread.is_alive() and not self._stop.is_set()

    def stop(self) -> None:
        """Finish what is being worked on, begin nothing."""
        self._stop.set()
        self._ending()
        self._thread.join()

    def _run(self) -> None:
        """For ever: a database that went away comes back."""
        while not self._stop.is_set():
            try:
                asyncio.run(self._work())
            except Exception:  # noqa: BLE001 - whatever it was, jobs are in the database
                self._meters.work("store-error")
                self._stop.wait(1.0)

    async def _work(self) -> None:
        app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=self._queue.url))
        app.task(name=_TASK, retry=_Again(), pass_context=True)(self._deliver)
        async with app.open_async():
            loop, ended = asyncio.get_running_loop(), asyncio.Event()
            self._ending = lambda: _tell(loop, ended)
            if self._stop.is_set():
                return
            tasks = [asyncio.create_task(self._lane(app, lane, many)) for lane, many in self._lanes.items()]
            tasks.append(asyncio.create_task(self._take_over(app)))
            waiting = asyncio.create_task(ended.wait())
            try:
                await asyncio.wait([*tasks, waiting], return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (*tasks, waiting):
                    task.cancel()
                found = await asyncio.gather(*tasks, return_exceptions=True)
            for one in found:
                if isinstance(one, Exception):
                    raise one

    async def _lane(self, app: procrastinate.App, lane: Lane, many: int) -> None:
        worker = self._ours[lane] = procrastinate.worker.Worker(
            app,
            queues=[lane],
            name=f"gate-{lane}",
            concurrency=many,
            install_signal_handlers=False,
            fetch_job_polling_interval=2.0,
            delete_jobs="successful",
            update_heartbeat_interval=self._stalled / 6,
            stalled_worker_timeout=self._stalled,
        )
        await worker.run()  # type: ignore[no-untyped-call]

    async def _take_over(self, app: procrastinate.App) -> None:
        """What was in the hands of the dead is due again; and what is old is forgotten.

        So is what one of ours ended while the database was away: it is marked as being done by a worker that
        lives, and nobody does it.
        """
        swept, idle = 0.0, Counter[int]()
        while True:
            ours = [worker.worker_id for worker in self._ours.values() if worker.worker_id is not None]
            for number in ours:  # Procrastinate's own does not survive a database that is away
                await app.job_manager.update_heartbeat(number)
            rows = await app.connector.execute_query_all_async(_IN_HAND, ids=ours)
            with self._lock:
                left = {row["id"] for row in rows} - self._hands
            idle = Counter({number: idle[number] + 1 for number in left})
            for number in [number for number, times in idle.items() if times == _SURE]:
                with contextlib.suppress(ProcrastinateException):
                    await app.job_manager.retry_job_by_id_async(
                        job_id=number, retry_at=datetime.datetime.now(datetime.UTC)
                    )
            for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=self._stalled):
                with contextlib.suppress(ProcrastinateException):  # another worker was quicker
                    await app.job_manager.retry_job(job)
            if time.time() - swept > 3600:
                swept = time.time()
                await asyncio.to_thread(self._queue.forget, swept - KEEP)
                await app.job_manager.delete_old_jobs(nb_hours=int(KEEP // 3600), include_failed=True)
            await asyncio.sleep(self._stalled / 4)

    def _deliver(self, context: procrastinate.JobContext, name: str) -> None:
        number = context.job.id or 0
        with self._lock:
            if name in self._busy:  # by a loop that the database left alone: it ends by itself
                raise _AgainError(2.0)
            self._busy.add(name)
            self._hands.add(number)
        try:
            self._attempt(name, context.job.attempts)
        except NotKeptError as error:  # handled again, which must be harmless
            self._meters.work("store-error")
            raise _AgainError(2.0) from error
        finally:
            with self._lock:
                self._busy.discard(name)
                self._hands.discard(number)

    def _attempt(self, name: str, attempts: int) -> None:
        delivery = self._queue.delivery(name, attempts)
        if delivery is None:
            return
        ended = attempt(self._handle, delivery)
        self._meters.work(ended.outcome)
        if ended.outcome in ("done", "failed"):
            self._queue.ended(name, ended.outcome, ended.note)
            return
        self._queue.later(name, ended.note, ended.sha)
        raise _AgainError(ended.seconds)


def _tell(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    with contextlib.suppress(RuntimeError):  # the loop has ended by itself
        loop.call_soon_threadsafe(ended.set)


def _alive(connection: psycopg.Connection[Any]) -> None:
    ConnectionPool.check_connection(connection)


def _text(note: str) -> str:
    return note.replace("\0", "?")
