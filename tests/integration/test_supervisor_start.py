"""The observer's start: it serves its own launcher and nobody else."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.launching import ROOM

TOKEN = "ab" * 32


def start(*options: str, **more: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", str(ROOM / "observer"), "--token", TOKEN, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize(
    "said",
    [b"", bytes.fromhex(TOKEN)[:10], b"x" * 32, bytes.fromhex(TOKEN), bytes.fromhex(TOKEN) + b"L"],
    ids=["nothing", "half", "wrong", "token-only", "no-listener"],
)
def test_nobody_but_the_launcher_is_served(said: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        observer = start("--fd", str(theirs.fileno()), pass_fds=[theirs.fileno()])
        theirs.close()
        ours.sendall(said)
        ours.shutdown(socket.SHUT_WR)
        out, err = observer.communicate(timeout=20)
    assert observer.returncode == 2
    assert out == b""
    assert err.startswith(b"observer: ")


def test_socket_is_gone_once_the_launcher_came(tmp_path: Path) -> None:
    path = tmp_path / "o.sock"
    observer = start("--socket", str(path))
    with socket.socket(socket.AF_UNIX) as launcher:
        while launcher.connect_ex(str(path)):
            assert observer.poll() is None
        launcher.sendall(b"x" * 32)
        observer.communicate(timeout=20)
    assert observer.returncode == 2
    assert not path.exists()


def test_nobody_comes(tmp_path: Path) -> None:
    observer = start("--socket", str(tmp_path / "o.sock"), "--wait", "0.05")
    _, err = observer.communicate(timeout=20)
    assert observer.returncode == 2
    assert b"timed out" in err
    assert not (tmp_path / "o.sock").exists()


def test_trace_file_is_never_written_over_or_through_a_link(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_bytes(b"mine")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("kept", "link"):
        observer = start("--socket", str(tmp_path / "o.sock"), "--out", str(tmp_path / name))
        observer.communicate(timeout=20)
        assert observer.returncode == 2
    assert kept.read_bytes() == b"mine"
    assert not os.path.lexists(tmp_path / "elsewhere")
