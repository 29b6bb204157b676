"""The host's end of gVisor's reports: one observer container for a session, a slot for every sandbox."""

from __future__ import annotations

import contextlib
import os
import secrets
import struct
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from docker import DockerClient

from gate.errors import InconclusiveError
from gate.sandbox.backends.container import options
from gate.sandbox.backends.container.observer_container import READY_SECONDS, ObserverContainer
from gate.sandbox.backends.container.options import HOST_NAME, JsonObject
from gate.sandbox.backends.gvisor import setup
from gate.sandbox.frames import write_all
from gate.tracing.readers.gvisor.translator import Translator

_AGAIN_SECONDS: Final = 0.1
_HELD_MOST: Final = 16 << 20
"""Bytes of one sandbox's reports that wait for their translation; some 50,000 calls."""
_FOLDER: Final = "/run/gate/gvisor"
_LENGTH: Final = struct.Struct("<I")
_ADVICE: Final = "Try again; `gate doctor` shows whether gVisor can be started and traced here."


class ReportedSandbox:
    """One sandbox's slot, and the trace that is made of what its kernel reports."""

    socket = ""
    """The launcher talks to nobody: the kernel it runs on reports by itself."""
    naming = f"{setup.REPORTS}/{HOST_NAME}"
    """One for all sandboxes: locks and watches on files are gVisor's own, the host hears of none."""

    _whole = False

    def __init__(self, trace: Path, *, events: int) -> None:
        self.token = secrets.token_hex(16)
        self.trace = trace
        self.slot = -1
        self.ready = threading.Event()
        self.ended = threading.Event()
        """The last report is here: the sandbox is gone, or the observer is."""
        self.frames = 0
        """Taken so far: whether something still arrives."""
        self.translator = Translator(events=events)
        self._held: list[tuple[bytes, bytes]] = []
        self._size = 0
        self._working = threading.RLock()
        self._finished = False
        self._fd = os.open(trace, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)

    def take(self, kind: bytes, payload: bytes) -> None:
        """One frame of the observer's."""
        self.frames += 1
        if kind in (b"r", b"b"):
            self.slot = int(payload) if kind == b"r" else -1
            self.ready.set()
        elif kind in (b"t", b"s"):
            with self._working:
                self._held.append((kind, payload))
                self._size += len(payload)
                if self._size > _HELD_MOST:
                    self.translate()
        elif kind == b"e":
            self._whole = True
            self.ended.set()

    def translate(self) -> None:
        """Make a trace of what is here. Not as it comes: the sandbox needs the processors more than we do."""
        with self._working:
            held, self._held, self._size = self._held, [], 0
            if self._finished:
                return
            for kind, payload in held:
                if kind == b"t":
                    self._write(self.translator.packets(_packets(payload)))
                else:
                    self._write(self.translator.lines(payload) + self.translator.round())

    def finish(self) -> None:
        """The trace, to its last line. Afterwards nothing is taken any more."""
        self.translate()
        with self._working:
            if not self._finished and self.ended.is_set() and self.translator.begun:
                self._write(self.translator.finish(whole=self._whole))
            self._finished = True

    def close(self) -> None:
        """Let go of the trace file."""
        with self._working:
            self._finished = True
            os.close(self._fd)

    def _write(self, lines: list[bytes]) -> None:
        write_all(self._fd, b"".join(lines))


def _packets(payload: bytes) -> list[bytes]:
    out, at = [], 0
    while at < len(payload):
        (size,) = _LENGTH.unpack_from(payload, at)
        out.append(payload[at + 4 : at + 4 + size])
        at += 4 + size
    return out


def observer_options(image: str, labels: Mapping[str, str]) -> JsonObject:
    """The body of ``POST /containers/create``: no network, no capability, one folder of the host's."""
    return options.watcher_options(
        image,
        labels,
        memory=256 << 20,
        pids=64,
        entrypoint=("python3", "-I", "-S", "-B", "/opt/gate/observer/sinks.py", _FOLDER, HOST_NAME),
        Binds=[f"{setup.REPORTS}:{_FOLDER}:rw"],
    )


class SinkObserver(ObserverContainer[ReportedSandbox]):
    """A running observer container for gVisor. Use as a context manager; its end removes it."""

    volume = None

    def __init__(
        self, client: DockerClient, *, image: str, labels: Mapping[str, str], folder: Path, slots: int
    ) -> None:
        super().__init__(client, advice=_ADVICE)
        self._folder = folder
        self._slots = slots
        try:
            self.start(observer_options(image, labels))
        except BaseException:
            self.close()
            raise

    def watch(self, *, events: int) -> ReportedSandbox:
        """A free slot, waiting for one where all are taken. Raises InconclusiveError when none can be had."""
        until = time.monotonic() + READY_SECONDS
        while True:
            reported = ReportedSandbox(self._folder / f"{secrets.token_hex(8)}.jsonl", events=events)
            self.add(reported, f"claim {reported.token} {self._slots}\n")
            if reported.slot >= 0:
                return reported
            self.forget(reported)
            if time.monotonic() > until:
                raise InconclusiveError(
                    f"all {self._slots} traced gVisor runtimes of this engine are in use", advice=_ADVICE
                )
            time.sleep(_AGAIN_SECONDS)

    def forget(self, watched: ReportedSandbox) -> bool:
        """The sandbox is gone: its slot is free again; its trace file stays."""
        if known := super().forget(watched):
            with contextlib.suppress(InconclusiveError):
                self.order(f"release {watched.token}\n")
        return known
