"""Runs the real launcher under the real supervisor, behind bubblewrap or with no sandbox at all.

No sandbox (``sandbox="none"``) is for harmless programs only: the launcher is then a sub-reaper, not PID 1.
"""

from __future__ import annotations

import functools
import io
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

import gate
from gate.model.run import Completeness
from gate.sandbox.protocol import Job, Receiver, Tracing
from gate.tracing.codec import read_trace
from gate.tracing.events import Event, Summary

ROOM = Path(gate.__file__).parent / "inside"
PYTHON = "/usr/bin/python3"
E = TypeVar("E")


@dataclass
class Launched:
    """What came of one run. ``events`` is empty when nothing traced."""

    heard: Receiver
    events: list[Event] = field(default_factory=list)
    completeness: Completeness = field(default_factory=Completeness)
    summary: Summary | None = None
    noise: bytes = b""
    trace: Path | None = None
    observer_code: int | None = None

    def of(self, kind: type[E], /, **wanted: Any) -> list[E]:
        """The events of one type whose fields equal the given values."""
        return [
            e
            for e in self.events
            if isinstance(e, kind) and all(getattr(e, k) == v for k, v in wanted.items())
        ]


@functools.cache
def why_no_bwrap() -> str:
    """Empty when bubblewrap works here."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    if not Path(PYTHON).exists():
        return f"no {PYTHON}"
    trial = subprocess.run(
        ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"],
        capture_output=True,
        check=False,
    )
    return "" if trial.returncode == 0 else f"bubblewrap does not work here: {trial.stderr.decode()[-200:]}"


def tar_of(files: dict[str, bytes] | Iterable[tuple[tarfile.TarInfo, bytes]] = ()) -> bytes:
    """An uncompressed tar; plain files from a dictionary, or given members."""
    if isinstance(files, dict):
        members = []
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(data), 0o644
            members.append((member, data))
    else:
        members = list(files)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for member, data in members:
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def launch(
    tmp_path: Path,
    *argv: str,
    tar: bytes | None = None,
    sandbox: str = "bwrap",
    trace: bool = True,
    look: bool = True,
    events: int = 1_000_000,
    env: dict[str, str] | None = None,
    meanwhile: Callable[[subprocess.Popen[bytes], subprocess.Popen[bytes] | None], None] | None = None,
    timeout: float = 60.0,
    bubble: tuple[str, ...] = (),
    user: int | None = None,
    canaries: tuple[str, ...] = (),
    **job_options: Any,
) -> Launched:
    """Run ``argv`` in a new sandbox. ``meanwhile`` gets the sandbox's and the observer's process once the
    target has started. ``user``: sandbox and observer belong to that ordinary user (only root can ask)."""
    if sandbox == "bwrap" and why_no_bwrap():
        pytest.skip(why_no_bwrap())
    tar = tar_of() if tar is None else tar
    folder = tmp_path / f"run-{time.monotonic_ns()}"
    folder.mkdir()
    ours, theirs = socket.socketpair()
    tracing = Tracing(fd=theirs.fileno(), look=look) if trace else None
    inside = "/tmp" if sandbox == "bwrap" else str(folder)
    job = Job(
        argv=argv,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": inside} | (env or {}),
        cwd=inside,
        tree_root=f"{inside}/tree",
        tracer=tracing,
        **{"deadline": 30.0} | job_options,
    )
    observer = _observe(ours, tracing, folder, events, user, canaries) if tracing else None
    ours.close()
    box = subprocess.Popen(
        _command(sandbox, bubble),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[theirs.fileno()] if trace else [],
        env={"PATH": os.environ["PATH"]},
        **_as(user),
    )
    theirs.close()
    heard = Receiver(job.key, output=job.output)
    try:
        assert box.stdin
        assert box.stdout
        assert box.stderr
        box.stdin.write(job.head(len(tar)) + tar)
        box.stdin.flush()
        until = time.monotonic() + timeout
        while data := os.read(box.stdout.fileno(), 1 << 16):
            heard.feed(data)
            if heard.started and meanwhile:
                meanwhile(box, observer)
                meanwhile = None
            assert time.monotonic() < until, "the sandbox did not end"
        heard.close()
        noise = box.stderr.read()
    finally:
        box.kill()
        box.wait()
        for stream in (box.stdin, box.stdout, box.stderr):
            if stream is not None:
                stream.close()
        code = _finish(observer)
    assert heard.started or heard.fault or heard.end, f"ended before anything was heard of it: {noise!r}"
    result = Launched(heard, noise=noise, observer_code=code)
    if observer is not None:
        result.trace = folder / "trace.jsonl"
        result.completeness, result.summary = read_trace(result.trace, result.events.append)
    return result


def _observe(
    ours: socket.socket,
    tracing: Tracing,
    folder: Path,
    events: int,
    user: int | None,
    canaries: tuple[str, ...],
) -> subprocess.Popen[bytes]:
    interpreter = sys.executable if user is None else PYTHON  # a virtual environment may be out of reach
    command = [interpreter, "-I", str(ROOM / "observer"), "--fd", str(ours.fileno())]
    command += ["--token", tracing.token.hex(), "--events", str(events)]
    command += [f"--canary={path}" for path in canaries]
    with (folder / "trace.jsonl").open("xb") as out:
        return subprocess.Popen(command, pass_fds=[ours.fileno()], stdout=out, **_as(user))


def _as(user: int | None) -> dict[str, Any]:
    return {} if user is None else {"user": user, "group": user, "extra_groups": [], "cwd": "/"}


def _finish(observer: subprocess.Popen[bytes] | None) -> int | None:
    if observer is None:
        return None
    try:
        return observer.wait(10)
    except subprocess.TimeoutExpired:
        observer.kill()
        observer.wait()
        raise


def _command(sandbox: str, bubble: tuple[str, ...]) -> list[str]:
    if sandbox == "none":
        return [PYTHON, "-I", "-S", str(ROOM / "launcher" / "start.py")]
    options = ["--unshare-all", "--ro-bind", "/", "/", "--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev"]
    options += ["--ro-bind", str(ROOM / "launcher"), "/tmp/gate", "--as-pid-1", "--die-with-parent", *bubble]
    return ["bwrap", *options, "--", PYTHON, "-I", "-S", "/tmp/gate/start.py"]


def python(tmp_path: Path, source: str, **options: Any) -> Launched:
    """Run a Python program in a new sandbox and insist that the launcher had no fault."""
    result = launch(tmp_path, PYTHON, "-I", "-S", "-c", source, **options)
    assert result.heard.fault is None, result.heard.fault
    return result
