"""Queue, workers and HTTP server together, until a signal."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import uvicorn

from gate.dataclass import dataclass
from gate.errors import UsageError
from gate.serve.app import app
from gate.serve.interface import Handle, Lane, Queue
from gate.serve.meters import Meters
from gate.serve.patience import Impatient
from gate.serve.store import Store
from gate.serve.worker import Worker


class _Server(uvicorn.Server):
    """Signals are ours: uvicorn raises them again when it is done, which would look like an interrupt."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Works(Protocol):
    """Whatever works a queue off."""

    @property
    def alive(self) -> bool:
        """False when nothing is worked on any more."""
        ...

    def start(self) -> None:
        """Begin."""
        ...

    def wake(self) -> None:
        """There may be something to do."""
        ...

    def stop(self) -> None:
        """Finish what is being worked on, begin nothing."""
        ...


@dataclass(frozen=True, kw_only=True)
class Part:
    """What this process does. ``looks``: so many changes are looked at at a time; 0: none.

    ``listens``, ``works``: in a queue on PostgreSQL these can be processes of their own, on other machines.
    """

    looks: int = 0
    listens: bool = True
    works: bool = True
    stalled: float = 60.0


def serve(
    place: Path | str,
    secrets: Sequence[bytes],
    handle: Callable[[Queue], Handle],
    *,
    host: str,
    port: int,
    part: Part | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT; then no new request, what is being worked on ends, all is kept.

    ``place``: a file for SQLite, or a PostgreSQL address. Raises UsageError when it, or the address to listen
    on, cannot be used.
    """
    part = part or Part()
    meters = Meters()
    queue, workers, close = _opened(place, handle, meters, part)
    sys.setswitchinterval(0.0005)  # the acknowledging thread must not wait 5 ms for each working one
    try:
        listener = _listen(host, port) if part.listens else None
        if listener is not None:
            bound = listener.getsockname()
            print(f"gate: listening on {bound[0]}:{bound[1]}", flush=True)
        else:
            print("gate: working", flush=True)
        for worker in workers:
            worker.start()
        if listener is None:
            asyncio.run(_signalled())
            return

        def woken() -> None:
            for worker in workers:
                worker.wake()

        application = app(queue, secrets, meters, ready=lambda: _ready(queue, workers), woken=woken)
        config = uvicorn.Config(
            application,
            http=Impatient,
            loop="asyncio",
            lifespan="off",
            access_log=False,
            server_header=False,
            log_level="warning",
            limit_concurrency=1_000,
            backlog=1_024,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=10,
        )
        asyncio.run(_until_signal(_Server(config), listener))
    finally:
        for worker in workers:
            if worker.alive:
                worker.stop()
        close()


def _opened(
    place: Path | str, handle: Callable[[Queue], Handle], meters: Meters, part: Part
) -> tuple[Queue, Sequence[Works], Callable[[], None]]:
    if isinstance(place, str):
        try:
            from gate.serve.postgres import PostgresQueue, PostgresWorker
        except ImportError as error:
            raise UsageError(
                f"--queue needs {error.name}", advice="Install it with: pip install 'gate-ci[postgres]'"
            ) from error
        queue = PostgresQueue(place)
        lanes: dict[Lane, int] = {"answers": 4}
        if part.looks:
            lanes["looks"] = part.looks
        workers = [PostgresWorker(queue, handle(queue), meters, lanes=lanes, stalled=part.stalled)]
        return queue, workers if part.works else (), queue.close
    try:
        store = Store(place)
    except sqlite3.Error as error:
        raise UsageError(f"cannot use {place} as a database: {error}") from error
    handler = handle(store)
    works = [Worker(store, handler, meters)]
    if part.looks:
        works.append(Worker(store, handler, meters, threads=part.looks, lane="looks"))
    return store, works, store.close


async def _signalled() -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await ended.wait()


async def _until_signal(server: uvicorn.Server, listener: socket.socket) -> None:
    def stop() -> None:
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    await server.serve(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), backlog=1_024, family=_family(host))
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error}") from error


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _ready(queue: Queue, workers: Sequence[Works]) -> str:
    try:
        queue.count()
    except Exception as error:  # noqa: BLE001 - whatever it is, we are not ready
        return f"the database does not answer ({type(error).__name__})"
    return "" if all(worker.alive for worker in workers) else "nothing is worked on"
