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
from typing import Any, Final, Self

from docker import DockerClient

from gate.errors import CouldNotLook
from gate.sandbox import container, gvisor_setup, reap
from gate.sandbox.attach import Attached
from gate.sandbox.engine import API_ERRORS
from gate.sandbox.observer.sinks import HEAD
from gate.sandbox.talk import STDOUT
from gate.trace.seccheck import Translator

_READY_SECONDS: Final = 20.0
_AGAIN_SECONDS: Final = 0.1
_MAX_FRAME: Final = 1 << 20
_HELD_MOST: Final = 16 << 20
"""Bytes of one sandbox's reports that wait for their translation; some 50,000 calls."""
_FOLDER: Final = "/run/gate/gvisor"
_LENGTH: Final = struct.Struct("<I")
_ADVICE: Final = "Try again; `gate doctor` shows whether gVisor can be started and traced here."


class Reported:
    """One sandbox's slot, and the trace that is made of what its kernel reports."""

    socket = ""
    """The launcher talks to nobody: the kernel it runs on reports by itself."""
    naming = gvisor_setup.REPORTS
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
        left = memoryview(b"".join(lines))
        while left:
            left = left[os.write(self._fd, left) :]


def _packets(payload: bytes) -> list[bytes]:
    out, at = [], 0
    while at < len(payload):
        (size,) = _LENGTH.unpack_from(payload, at)
        out.append(payload[at + 4 : at + 4 + size])
        at += 4 + size
    return out


def observer_options(image: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """The body of ``POST /containers/create``: no network, no capability, one folder of the host's."""
    return container.watcher_options(
        image,
        labels,
        memory=256 << 20,
        pids=64,
        entrypoint=("python3", "-I", "-S", "-B", "/opt/gate/observer/sinks.py", _FOLDER),
        Binds=[f"{gvisor_setup.REPORTS}:{_FOLDER}:rw"],
    )


class SinkObserver:
    """A running observer container for gVisor. Use as a context manager; its end removes it."""

    volume = None

    def __init__(
        self, client: DockerClient, *, image: str, labels: Mapping[str, str], folder: Path, slots: int
    ) -> None:
        self._client = client
        self._folder = folder
        self._slots = slots
        self._places: dict[bytes, Reported] = {}
        self._lock = threading.Lock()
        self._said = b""
        self.dead = threading.Event()
        self._id = ""
        self._line: Attached | None = None
        try:
            body = observer_options(image, labels)
            self._id = str(client.api.create_container_from_config(body)["Id"])
            self._line = Attached(client, self._id)
            client.api.start(self._id)
        except BaseException:
            self.close()
            raise
        threading.Thread(target=self._read, args=(self._line,), name="sinks", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def watch(self, *, events: int) -> Reported:
        """A free slot, waiting for one where all are taken. Raises CouldNotLook when none can be had."""
        until = time.monotonic() + _READY_SECONDS
        while True:
            place = self._claim(events)
            if place.slot >= 0:
                return place
            self.forget(place)
            if time.monotonic() > until:
                raise CouldNotLook(
                    f"all {self._slots} traced gVisor runtimes of this engine are in use", advice=_ADVICE
                )
            time.sleep(_AGAIN_SECONDS)

    def _claim(self, events: int) -> Reported:
        place = Reported(self._folder / f"{secrets.token_hex(8)}.jsonl", events=events)
        with self._lock:
            self._places[bytes.fromhex(place.token)] = place
        self._order(f"claim {place.token} {self._slots}\n")
        if not place.ready.wait(_READY_SECONDS):
            self.forget(place)
            said = self._said.decode(errors="replace").strip()[-300:]
            raise CouldNotLook(f"the observer did not get ready: {said or 'it said nothing'}", advice=_ADVICE)
        return place

    def _order(self, line: str) -> None:
        with self._lock:
            if self._line is None or self.dead.is_set():
                raise CouldNotLook("the observer container is gone", advice=_ADVICE)
            try:
                self._line.socket.sendall(line.encode())
            except OSError as error:
                raise CouldNotLook(f"the observer cannot be reached: {error}", advice=_ADVICE) from error

    def forget(self, place: Reported) -> None:
        """The sandbox is gone: its slot is free again; its trace file stays."""
        with self._lock:
            known = self._places.pop(bytes.fromhex(place.token), None)
        if known is not None:
            known.close()
            with contextlib.suppress(CouldNotLook):
                self._order(f"release {place.token}\n")

    def close(self) -> None:
        """Remove the container; the slots are freed with it. Never raises."""
        self.dead.set()
        if self._line is not None:
            self._line.close()
        with contextlib.suppress(*API_ERRORS):
            if self._id:
                reap.remove_container(self._client, self._id)

    def _read(self, line: Attached) -> None:
        rest = b""
        try:
            while data := line.socket.recv(1 << 18):
                for stream, piece in line.split(data):
                    if stream == STDOUT:
                        rest = self._frames(rest + piece)
                    else:
                        self._said = (self._said + piece)[-4096:]
        except (OSError, ValueError):
            pass
        finally:
            self.dead.set()
            with self._lock:
                for place in self._places.values():
                    place.ended.set()

    def _frames(self, data: bytes) -> bytes:
        """Act on whole frames; return what is left over."""
        at = 0
        while len(data) - at >= HEAD.size:
            token, kind, length = HEAD.unpack_from(data, at)
            if length > _MAX_FRAME:
                raise ValueError("the observer sent a frame too long")
            end = at + HEAD.size + length
            if len(data) < end:
                break
            with self._lock:
                place = self._places.get(token)
                if place is not None:
                    place.take(kind, data[at + HEAD.size : end])
            at = end
        return data[at:]
