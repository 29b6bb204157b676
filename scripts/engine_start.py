"""Starts Docker's engine by hand where no init system does, also after it was killed.

An engine that a power cut or a kill ended leaves pid files that name other processes by now, and the
state of every container that ran. On a machine that boots, ``/run`` is empty; where it is not, the new
engine would first wait for each of the dead ones, longer than it waits for its own containerd.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

OF_THE_ENGINE = ("dockerd", "containerd", "containerd-shim")


@dataclass(frozen=True)
class ByHand:
    """Where an engine keeps its things, and how it is started."""

    run: Path = Path("/var/run/docker")
    pidfile: Path = Path("/run/gate-dockerd.pid")
    other_pidfiles: tuple[Path, ...] = (Path("/var/run/docker.pid"),)
    log: Path = Path("/var/log/gate-dockerd.log")
    command: tuple[str, ...] = field(default=("dockerd",))
    seconds: int = 60

    def start(
        self, answers: Callable[[], object], say: Callable[[str], None]
    ) -> subprocess.Popen[bytes] | None:
        """Start it and wait until it ``answers``; twice, because the first may have had to clear up.

        The daemon, which outlives the caller; None (said, with the end of its log) when it does not answer.
        """
        for last in (False, True):
            self.forget()
            daemon = self._launch()
            if self._wait(daemon, answers):
                return daemon
            self._end(daemon)
            if not last:
                say("dockerd did not come up; once more")
        tail = self.log.read_text(errors="replace").splitlines()[-3:]
        say(f"dockerd did not answer within {self.seconds} s: {' / '.join(tail)}")
        return None

    def forget(self) -> None:
        """Remove what parts of the engine that are gone left behind; what a living part uses stays."""
        living = {name for name, _ in alive(self.run)}
        if "dockerd" in living:
            return
        for stale in (self.pidfile, *self.other_pidfiles):
            stale.unlink(missing_ok=True)
        if "containerd" in living:
            return
        for stale in self.run.glob("containerd/containerd.p*"):
            stale.unlink(missing_ok=True)
        if not living:  # a shim would hold a container that runs on
            _clear(self.run / "containerd")

    def _launch(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [*self.command, "--pidfile", str(self.pidfile)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd="/",
            )

    def _wait(self, daemon: subprocess.Popen[bytes], answers: Callable[[], object]) -> bool:
        until = time.monotonic() + self.seconds
        while time.monotonic() < until and daemon.poll() is None:
            if answers():
                return True
            time.sleep(0.2)
        return False

    def _end(self, daemon: subprocess.Popen[bytes]) -> None:
        """Ours, started a moment ago; its containerd goes with it."""
        daemon.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            daemon.wait(10)
        daemon.kill()
        daemon.wait()


def alive(run: Path) -> list[tuple[str, int]]:
    """Names and process ids of an engine that keeps its state in ``run`` (default: given no place)."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            name = os.fsdecode(words[0]).rpartition("/")[2]
            if name.startswith(OF_THE_ENGINE) and _keeps_in(run, words):
                found.append((name, int(folder.name)))
    return found


def _keeps_in(run: Path, words: Sequence[bytes]) -> bool:
    place = os.fsencode(run)
    named = [word for word in words[1:] if b"/" in word]
    return any(place in word for word in named) or (run == ByHand.run and not named)


def _clear(folder: Path) -> None:
    """Everything below ``folder``, as an empty /run after a start of the machine; never across a mount."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                if not os.path.ismount(entry.path):
                    _clear(Path(entry.path))
            else:
                with contextlib.suppress(OSError):
                    Path(entry.path).unlink()
        folder.rmdir()
