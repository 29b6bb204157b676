"""A PostgreSQL of the tests' own, from the machine's programs; killed and started again at will."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

_NOBODY = 65534


def _program(name: str) -> str | None:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return str(found[0]) if found else shutil.which(name)


class Postgres:
    """One server on loopback; ``url`` is its database's address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"postgresql://gate@127.0.0.1:{self.port}/postgres"
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start, and wait until it answers; after a kill it first mends itself."""
        program = _program("postgres")
        assert program is not None
        told = ("-p", str(self.port), "-k", str(self.folder), "-c", "listen_addresses=127.0.0.1")
        self._child = subprocess.Popen(
            [program, "-D", self.folder / "data", *told],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **_as_nobody(),
        )  # fmt: skip
        until = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                assert time.monotonic() < until
                time.sleep(0.05)

    def kill(self) -> None:
        """SIGKILL for all of its processes at once, as when the machine loses power."""
        if self._child is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()
            (self.folder / "data/postmaster.pid").unlink(missing_ok=True)
            self._child = None


def _as_nobody() -> dict[str, Any]:
    """PostgreSQL does not run as root."""
    return {"user": _NOBODY, "group": _NOBODY} if os.geteuid() == 0 else {}


@contextlib.contextmanager
def postgres() -> Iterator[Postgres]:
    """A server with an empty database; skips the test where PostgreSQL is not installed."""
    initdb = _program("initdb")
    if initdb is None:
        pytest.skip("PostgreSQL's programs are not on this machine")
    folder = Path(subprocess.check_output(["mktemp", "-d", "/tmp/gate-pg.XXXXXX"], text=True).strip())
    if os.geteuid() == 0:
        os.chown(folder, _NOBODY, _NOBODY)
    made = Postgres(folder)
    try:
        words: list[str | Path] = [
            initdb,
            "-D",
            folder / "data",
            "-U",
            "gate",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-instructions",
        ]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd=folder, **_as_nobody())
        made.start()
        yield made
    finally:
        made.kill()
        shutil.rmtree(folder)
