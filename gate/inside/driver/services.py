"""Starts the servers that the project's tests ask for: PostgreSQL and Redis, fresh, on the loopback.

They run beside the code and under the same observer. What they are is said by gate, from base's files; the
code can talk to them, and nothing of them outlives the run.
"""

from __future__ import annotations

import glob
import json
import os
import socket
import subprocess
import tarfile
import time
from typing import Any

FOLDER = "/work/services"
RUNNING: list[int] = []
"""Process numbers of the servers: nothing that the code left behind."""
_CLUSTER = "/usr/share/gate-postgresql.tar"
"""An empty cluster, made with the image."""
_POSTGRES = "/usr/lib/postgresql/*/bin/postgres"
_REDIS = "/usr/bin/redis-server"
_SECONDS = 15.0
_QUICK = (
    "listen_addresses=127.0.0.1", "fsync=off", "full_page_writes=off", "synchronous_commit=off", "jit=off",
    "shared_buffers=16MB", "shared_memory_type=mmap", "dynamic_shared_memory_type=mmap", "max_connections=40",
    "autovacuum=off", "max_worker_processes=0", "max_wal_senders=0", "wal_level=minimal",
)  # fmt: skip


def start(text: str) -> list[str]:
    """Start what the text (JSON: services, env) names and set its variables. Why one did not come up."""
    if not text:
        return []
    asked = json.loads(text)
    os.makedirs(FOLDER, mode=0o700, exist_ok=True)
    failed = []
    for one in asked["services"]:
        try:
            _STARTERS[one["kind"]](one)
        except (OSError, subprocess.SubprocessError, tarfile.TarError, ValueError) as error:
            failed.append(f"{one['kind']} did not start: {error}"[:300])
    if not failed:
        os.environ.pop("DATABASE_URL", None)  # a decoy, of a server that is not there
        os.environ.update(asked["env"])
    return failed


def _postgresql(one: dict[str, Any]) -> None:
    program = max(glob.glob(_POSTGRES), default="")
    if not program or not os.path.exists(_CLUSTER):
        raise ValueError("this sandbox has none")
    data = f"{FOLDER}/postgresql"
    os.mkdir(data, 0o700)
    with tarfile.open(_CLUSTER) as tar:  # ours, of the image
        tar.extractall(data)
    os.chmod(data, 0o700)
    settings = [word for line in _QUICK for word in ("-c", line)]
    subprocess.run(
        [program, "--single", "-D", data, "-j", *settings, "template1"],
        input=_ready_for(one).encode(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=_SECONDS,
        check=True,
        cwd=FOLDER,
    )
    # Suites that start a server of their own (initdb, pg_ctl) look for it where nothing of Debian's has it.
    os.environ["PATH"] = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{os.path.dirname(program)}"
    _begin([program, "-D", data, "-k", FOLDER, "-p", str(one["port"]), *settings])
    _until(lambda: _text(f"{data}/postmaster.pid").splitlines()[-1:] == ["ready"])


def _ready_for(one: dict[str, Any]) -> str:
    """SQL that makes the user, who is no superuser, and the database."""
    user, name = one["user"], one["database"]
    lines = []
    if user != "postgres":
        lines.append(f"CREATE ROLE {_quoted(user)} LOGIN CREATEDB CREATEROLE;")
    if name not in ("postgres", "template0", "template1"):
        lines.append(f"CREATE DATABASE {_quoted(name)} OWNER {_quoted(user)};")
    return "\n\n".join([*lines, ""])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _redis(one: dict[str, Any]) -> None:
    if not os.path.exists(_REDIS):
        raise ValueError("this sandbox has none")
    words = [_REDIS, "--port", str(one["port"]), "--bind", "127.0.0.1", "--dir", FOLDER, "--daemonize", "no"]
    words += ["--save", "", "--appendonly", "no", "--maxmemory", "64mb"]
    words += ["--requirepass", one["password"]] if one.get("password") else []
    _begin(words)
    _until(lambda: _answers(one["port"]))


def _begin(words: list[str]) -> None:
    """Start a server in a session of its own, without the driver's descriptors."""
    server = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=FOLDER,
    )
    RUNNING.append(server.pid)
    server.returncode = 0  # it is not waited for: it ends with the sandbox


def _until(ready: Any) -> None:
    until = time.monotonic() + _SECONDS
    while not ready():
        if time.monotonic() > until:
            raise ValueError("it does not answer")
        time.sleep(0.02)


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(4000).replace(" ", "")
    except OSError:
        return ""


def _answers(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


_STARTERS = {"postgresql": _postgresql, "redis": _redis}
