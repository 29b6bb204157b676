"""The host's end of the launcher protocol (docs/launcher-protocol.md): the job out, the frames in.

What comes in crossed a trust boundary: every frame is authenticated, numbered, capped and decoded strictly.
Nothing here blocks or starts anything; a backend moves the bytes.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import struct
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from gate.dataclass import dataclass
from gate.sandbox.driver_report import read_report
from gate.tracing.bpf import gvisor_guard
from gate.tracing.bpf.user_notification import filter_program
from gate.tracing.readers import strace

MAGIC: Final = b"GATE1\n"
MAX_FRAME: Final = 1 << 20
"""Bytes after the length field; the launcher's largest is a report of 256 KiB."""
_MAC: Final = 32

TreeRoot: Final = "/work/tree"


@dataclass(frozen=True, kw_only=True, slots=True)
class Tracing:
    """How the launcher reaches its observer. ``token`` is new for every run.

    Give ``socket`` (a path inside the sandbox) or ``fd`` (an inherited, connected Unix socket).
    ``look``: whether questions about paths (stat ...) are observed too; ``files``: whether other calls on
    files are.
    """

    socket: str | None = None
    fd: int | None = None
    token: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    look: bool = True
    files: bool = True
    arch: str | None = None
    kind: Literal["unotify", "strace", "guard", "none"] = "unotify"
    """What the code runs on may report by itself: with ``guard`` the launcher only puts a filter on the
    code, with ``none`` nothing."""
    user: int | None = None
    """With ``guard``: the code's user and group; the launcher is started as root and keeps apart from it."""
    cover: tuple[str, ...] = ()
    """With ``guard``: paths that the launcher hides from the code."""
    tunnel: bool = False
    """With ``guard``: the launcher makes a network whose packets come to the host (frames ``P``)."""
    known: tuple[str, ...] = ()
    """With ``strace``: the calls that it shows."""

    def as_json(self) -> dict[str, object]:
        """The job's ``tracer``. Raises InconclusiveError for an architecture without a table."""
        if self.kind == "none":
            return {"kind": "none"}
        if self.kind == "guard":
            program = gvisor_guard.program(self.arch)
            told = {"filter": program.hex(), "user": self.user, "cover": list(self.cover)}
            return {"kind": "guard", **told, "tunnel": self.tunnel}
        where: dict[str, object] = {"fd": self.fd} if self.fd is not None else {"socket": self.socket}
        if self.kind == "strace":
            program = strace.filter_program(self.known, self.arch)
        else:
            program = filter_program(self.arch, look=self.look, files=self.files)
        return {"kind": self.kind, **where, "token": self.token.hex(), "filter": program.hex()}


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One run, as the launcher gets it. Limits in bytes and counts; 0: a cgroup holds that one.

    ``memory`` and ``pids`` are per process and per user: leave them 0 where a cgroup does it.
    ``soft_memory`` is per process too and lies below what ends the whole run: an allocation beyond it fails
    (``MemoryError``), and the code goes on. 0: none.
    ``deadline`` is the launcher's own stop, seconds; the host's clock is what counts.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    tree_root: str = TreeRoot
    files: Mapping[str, bytes] = field(default_factory=dict)
    memory: int = 0
    soft_memory: int = 0
    pids: int = 0
    open_files: int = 65536
    file_size: int = 0
    output: int = 1 << 20
    tracer: Tracing | None = None
    driver: bool = False
    deadline: float = 20.0
    manifest: tuple[str, ...] = ()
    """Folders inside below which changed files are listed (gate/sandbox/changed_files.py); empty: none."""
    bridge: int = 0
    """Loopback port inside whose connections are handed to the host; 0: none."""
    collect: str = ""
    """Folder inside whose files are sent home when the target ended with 0; empty: none."""
    collect_most: int = 0
    """Bytes after which that stops."""
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def head(self, tar_size: int) -> bytes:
        """Everything before the tar: send this, then exactly ``tar_size`` bytes of uncompressed tar."""
        job = {
            "key": self.key.hex(),
            "argv": list(self.argv),
            "env": dict(self.env),
            "cwd": self.cwd,
            "tree_root": self.tree_root,
            "files": {path: base64.b64encode(data).decode("ascii") for path, data in self.files.items()},
            "limits": {
                "memory": self.memory,
                "soft_memory": self.soft_memory,
                "pids": self.pids,
                "open_files": self.open_files,
                "file_size": self.file_size,
                "output": self.output,
            },
            "tracer": self.tracer.as_json() if self.tracer else {"kind": "none"},
            "driver": self.driver,
            "deadline": self.deadline,
        }
        if self.manifest:
            job["manifest"] = list(self.manifest)
        if self.bridge or self.collect:
            job |= {"bridge": self.bridge, "collect": self.collect, "collect_most": self.collect_most}
        text = json.dumps(job).encode("ascii")
        return MAGIC + struct.pack(">I", len(text)) + text + struct.pack(">Q", tar_size)


_Size = Annotated[int, Meta(ge=0, le=1 << 62)]


class Started(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The S frame: the target is running; ``t`` seconds after the launcher began with it."""

    pid: _Size
    t: Annotated[float, Meta(ge=0)]


class End(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The X frame (docs/launcher-protocol.md)."""

    status: Annotated[int, Meta(ge=-128, le=255)]
    completed: bool
    seconds: Annotated[float, Meta(ge=0)]
    peak_memory: _Size
    stdout_total: _Size
    stderr_total: _Size
    limits_hit: tuple[Literal["wall", "file-size", "cpu", "output", "memory", "pids", "canary"], ...]
    leftover_killed: _Size
    tracer_ok: bool
    clock: Literal["real", "faketime"]


class _Fault(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    what: Annotated[str, Meta(max_length=4000)]


# Made before there are threads: msgspec has crashed when two of them met a type for the first time at once.
_STARTED: Final = msgspec.json.Decoder(Started)
_END: Final = msgspec.json.Decoder(End)
_FAULT: Final = msgspec.json.Decoder(_Fault)


class Receiver:
    """Takes the launcher's bytes as they come; never raises for them.

    ``fault`` is set when the stream cannot be believed (bad MAC, gap, damage, no end) or the
    launcher reported that our side failed; then there is no result. ``stdout`` and ``stderr`` hold
    at most ``output`` bytes each. Feed, then ``close()`` when the stream ended. ``others`` takes the
    payloads of frames of further kinds (``N``, ``A``) where such were asked for; an error ends in a fault.
    """

    def __init__(
        self,
        key: bytes,
        *,
        output: int = 1 << 20,
        others: Mapping[bytes, Callable[[bytes], None]] | None = None,
    ) -> None:
        self._others = dict(others or {})
        self._key = key
        self._cap = output
        self._buffer = bytearray()
        self._sequence = 0
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.started: Started | None = None
        self.report: dict[str, Any] = {}
        self.end: End | None = None
        self.fault: str | None = None

    @property
    def finished(self) -> bool:
        """Nothing more is expected: the end came, or a fault."""
        return self.end is not None or self.fault is not None

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream, cut anywhere. Bytes after a fault are thrown away."""
        if self.fault is not None:
            return
        self._buffer += data
        at = 0
        while self.fault is None and len(self._buffer) - at >= 4:
            (size,) = struct.unpack_from(">I", self._buffer, at)
            if not _MAC < size <= MAX_FRAME:
                self._give_up(f"a frame of {size} bytes")
                return
            if len(self._buffer) - at - 4 < size:
                break
            self._frame(bytes(self._buffer[at + 4 : at + 4 + size]))
            at += 4 + size
        del self._buffer[:at]

    def close(self) -> None:
        """The stream ended. Without an end frame, or in the middle of a frame, that is a fault."""
        if self.fault is None and (self.end is None or self._buffer):
            self._give_up("the launcher's stream ended before its end frame")

    def _give_up(self, why: str) -> None:
        self.fault = why
        self.end = None
        self._buffer.clear()

    def _frame(self, frame: bytes) -> None:
        mac, body = frame[:_MAC], frame[_MAC:]
        expected = hmac.new(self._key, struct.pack(">Q", self._sequence) + body, hashlib.sha256).digest()
        if not hmac.compare_digest(mac, expected):
            self._give_up("a frame that the launcher did not make")
            return
        self._sequence += 1
        if self.end is not None:
            self._give_up("a frame after the end frame")
            return
        try:
            self._take(body[:1], body[1:])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self._give_up(f"a frame that does not decode: {error}"[:300])

    def _take(self, kind: bytes, payload: bytes) -> None:
        if kind in (b"O", b"E"):
            kept = self.stdout if kind == b"O" else self.stderr
            kept += payload[: self._cap - len(kept)]
        elif kind == b"S" and self.started is None:
            self.started = _STARTED.decode(payload)
        elif kind == b"D":
            self.report = read_report(payload)
        elif kind == b"X":
            self.end = _END.decode(payload)
        elif kind in self._others and self.started is not None:
            self._other(kind, payload)
        elif kind == b"F":
            self._give_up(_FAULT.decode(payload).what)
        else:
            self._give_up(f"an unexpected frame {kind!r}")

    def _other(self, kind: bytes, payload: bytes) -> None:
        try:
            self._others[kind](payload)
        except (OSError, ValueError) as error:
            self._give_up(f"{error}"[:300])
