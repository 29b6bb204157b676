"""Store, worker and HTTP server together, until a signal."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import uvicorn

from gate.errors import UsageError
from gate.serve.app import app
from gate.serve.meters import Meters
from gate.serve.store import Store
from gate.serve.worker import Handle, Worker


class _Server(uvicorn.Server):
    """Signals are ours: uvicorn raises them again when it is done, which would look like an interrupt."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def serve(
    database: Path, secrets: Sequence[bytes], handle: Callable[[Store], Handle], *, host: str, port: int
) -> None:
    """Serve until SIGTERM or SIGINT; then no new request, what is being worked on ends, all is on disk.

    Raises UsageError when the database or the address cannot be used.
    """
    try:
        store = Store(database)
    except sqlite3.Error as error:
        raise UsageError(f"cannot use {database} as a database: {error}") from error
    sys.setswitchinterval(0.0005)  # the acknowledging thread must not wait 5 ms for each working one
    meters = Meters()
    worker = Worker(store, handle(store), meters)
    try:
        listener = _listen(host, port)
        bound = listener.getsockname()
        print(f"gate: listening on {bound[0]}:{bound[1]}", flush=True)
        worker.start()
        application = app(store, secrets, meters, ready=lambda: _ready(store, worker), woken=worker.wake)
        config = uvicorn.Config(
            application,
            http="h11",
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
        if worker.alive:
            worker.stop()
        store.close()


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


def _ready(store: Store, worker: Worker) -> str:
    try:
        store.count()
    except Exception as error:  # noqa: BLE001 - whatever it is, we are not ready
        return f"the database does not answer ({type(error).__name__})"
    return "" if worker.alive else "nothing is worked on"
