"""The host's end of the sinkhole: one process for a session, a log file for every sandbox.

It runs where it can enter the sandboxes' network namespaces: for bubblewrap beside gate, as the same user;
for containers in one of its own. What it answers, and how packets get to it: gate/sandbox/sinkhole/.
"""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol, Self

from docker import DockerClient

from gate import proc
from gate.errors import CouldNotLook
from gate.model.run import SandboxSpec
from gate.sandbox import container, podman
from gate.sandbox.attach import Attached
from gate.sandbox.channel import Tracing
from gate.sandbox.observer.many import HEAD
from gate.sandbox.parcel import HOME
from gate.sandbox.session import Aftermath, Box
from gate.sandbox.sinkhole import tls
from gate.sandbox.talk import STDOUT, Ending
from gate.sandbox.tunnel import Tunnel

BUNDLE: Final = f"{HOME}/.cache/ca-bundle.pem"
"""The authority's certificate inside the sandbox: a place that every program may read."""
TRUST: Final = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "GIT_SSL_CAINFO",
)
SYSCTLS: Final = {f"net.ipv6.conf.{name}.disable_ipv6": "0" for name in ("all", "default", "lo")}
"""Engines switch IPv6 off where a container has no network."""
_TUN: Final = "/dev/net/tun"
_WGETRC: Final = f"{HOME}/.cache/wgetrc"
_PROGRAM: Final = Path(__file__).resolve().parent / "sinkhole" / "__main__.py"
_CAPABILITIES: Final = (
    *("SYS_PTRACE", "SYS_ADMIN"),  # to open a sandbox's namespace, and enter it
    *("NET_ADMIN", "NET_RAW", "NET_BIND_SERVICE"),  # its routes, rules and sockets
    *("SETUID", "SETGID", "SETPCAP"),  # to give all of them up
)
_READY_SECONDS: Final = 20.0
_MAX_FRAME: Final = 1 << 20
_ADVICE: Final = (
    'The kernel needs nft_tproxy. sandbox.network = "none" runs without a network that answers: less is seen.'
)


def trusting(spec: SandboxSpec, authority: bytes) -> SandboxSpec:
    """The same sandbox, whose programs take our certificates for good ones."""
    return replace(
        spec,
        files={
            **spec.files,
            BUNDLE: tls.certificate_of(authority),
            _WGETRC: f"ca_certificate = {BUNDLE}\n".encode(),
        },
        env={**dict.fromkeys(TRUST, BUNDLE), "WGETRC": _WGETRC, **spec.env},
    )


class Sunk:
    """One sandbox's place at the sinkhole: its log outside."""

    def __init__(self, log: Path) -> None:
        self.token = secrets.token_hex(16)
        self.log = log
        self.ready = threading.Event()
        self.ended = threading.Event()
        self.why = ""
        self.tunnel: Tunnel | None = None
        self.fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)


class Line(Protocol):
    """A running sinkhole program's stdin and stdout."""

    def send(self, data: bytes) -> None:
        """Raises OSError."""
        ...

    def recv(self) -> bytes | None:
        """What it said next; None at the end. Raises OSError."""
        ...

    def close(self) -> None:
        """End it. Never raises."""
        ...

    def muttered(self) -> str:
        """The last of its stderr."""
        ...


class LocalLine:
    """The program as a child of gate's."""

    def __init__(self) -> None:
        self._noise = os.memfd_create("sinkhole-stderr")
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-B", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._noise,
            env=proc.clean_environment(),
            cwd="/",
            start_new_session=True,
        )

    def send(self, data: bytes) -> None:
        """See Line."""
        if self._child.stdin is not None:
            self._child.stdin.write(data)
            self._child.stdin.flush()

    def recv(self) -> bytes | None:
        """See Line."""
        out = self._child.stdout
        return (os.read(out.fileno(), 1 << 16) if out is not None else b"") or None

    def close(self) -> None:
        """See Line."""
        proc.kill_group(self._child)
        with contextlib.suppress(OSError):
            os.close(self._noise)

    def muttered(self) -> str:
        """See Line."""
        with contextlib.suppress(OSError):
            return os.pread(self._noise, 4096, 0).decode(errors="replace").strip()[-300:]
        return ""


class ContainerLine:
    """The program in a container that sees the host's processes and may enter their namespaces."""

    def __init__(
        self, client: DockerClient, *, image: str, labels: Mapping[str, str], devices: Sequence[str] = ()
    ) -> None:
        self._client = client
        self._said = b""
        self._attached: Attached | None = None
        body = options(image, labels, devices)
        self._id, self._volumes = podman.create(client, body)
        try:
            self._attached = Attached(client, self._id)
            client.api.start(self._id)
        except BaseException:
            self.close()
            raise

    def send(self, data: bytes) -> None:
        """See Line."""
        if self._attached is not None:
            self._attached.socket.sendall(data)

    def recv(self) -> bytes | None:
        """See Line."""
        if self._attached is None:
            return None
        data = self._attached.socket.recv(1 << 16)
        out = b""
        for stream, piece in self._attached.split(data):
            if stream == STDOUT:
                out += piece
            else:
                self._said = (self._said + piece)[-4096:]
        return out if data else None

    def close(self) -> None:
        """See Line."""
        if self._attached is not None:
            self._attached.close()
        podman.remove(self._client, self._id, self._volumes)

    def muttered(self) -> str:
        """See Line."""
        return self._said.decode(errors="replace").strip()[-300:]


def options(image: str, labels: Mapping[str, str], devices: Sequence[str] = ()) -> dict[str, Any]:
    """The body of ``POST /containers/create``; ``devices`` are the host's. Its capabilities are used between
    the order for a sandbox and the first byte from it; the process that reads those bytes has none, and is
    nobody.
    """
    return container.watcher_options(
        image,
        labels,
        memory=512 << 20,
        pids=256,
        entrypoint=("python3", "-I", "-B", "/opt/gate/sinkhole/__main__.py"),
        PidMode="host",
        CapAdd=list(_CAPABILITIES),
        SecurityOpt=["no-new-privileges", "apparmor=unconfined"],
        Tmpfs={"/tmp": "rw,noexec,nosuid,nodev,size=4m,mode=1777"},  # noqa: S108  # its own
        Devices=[
            {"PathOnHost": path, "PathInContainer": path, "CgroupPermissions": "rw"} for path in devices
        ],
    )


class Sinkhole:
    """A running sinkhole program. Use as a context manager."""

    def __init__(self, line: Line, folder: Path, authority: bytes) -> None:
        self._line = line
        self._folder = folder
        self._places: dict[bytes, Sunk] = {}
        self._lock = threading.Lock()
        self.dead = threading.Event()
        threading.Thread(target=self._read, name="sinkhole", daemon=True).start()
        self._order(b"ca " + base64.b64encode(authority) + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dead.set()
        self._line.close()

    def around(self, box: SinkableBox) -> SunkBox:
        """The same sandbox, with a network that answers. On failure the sandbox is removed and CouldNotLook
        raised.
        """
        try:
            return SunkBox(box, self, self.serve(box.network_pid))
        except BaseException:
            box.remove()
            raise

    def joined(self, box: Box) -> TunnelBox:
        """The same for a sandbox whose network comes in packets."""
        try:
            return TunnelBox(box, self, self.tunnelled())
        except BaseException:
            box.remove()
            raise

    def serve(self, pid: int) -> Sunk:
        """A place for the network namespace of that process, ready. Raises CouldNotLook."""
        return self._begin(f"sink {{}} {pid}\n")

    def tunnelled(self) -> Sunk:
        """A place for packets, ready; they go through its ``tunnel``. Raises CouldNotLook."""
        return self._begin("tunnel {}\n", packets=True)

    def _begin(self, order: str, *, packets: bool = False) -> Sunk:
        place = Sunk(self._folder / f"{secrets.token_hex(8)}.net.jsonl")
        if packets:
            head = f"packets {place.token} ".encode()
            place.tunnel = Tunnel(lambda some: self._order(head + base64.b64encode(some) + b"\n"))
        with self._lock:
            self._places[bytes.fromhex(place.token)] = place
        self._order(order.format(place.token).encode())
        place.ready.wait(_READY_SECONDS)
        if place.ended.is_set() or not place.ready.is_set():
            why = place.why or self._line.muttered() or "it said nothing"
            self.forget(place)
            raise CouldNotLook(f"no sinkhole for the sandbox: {why}", advice=_ADVICE)
        return place

    def finish(self, place: Sunk, deadline: float) -> None:
        """The sandbox is dead: wait (seconds) for the last line of its log."""
        with contextlib.suppress(CouldNotLook):
            self._order(f"stop {place.token}\n".encode())
            place.ended.wait(deadline)

    def forget(self, place: Sunk) -> None:
        """Nothing more is expected; the log file stays."""
        with contextlib.suppress(CouldNotLook):
            self._order(f"stop {place.token}\n".encode())
        with self._lock:
            if self._places.pop(bytes.fromhex(place.token), None) is not None:
                os.close(place.fd)
        if place.tunnel is not None:
            place.tunnel.close()

    def _order(self, line: bytes) -> None:
        with self._lock:
            if self.dead.is_set():
                raise CouldNotLook(f"the sinkhole is gone: {self._line.muttered()}", advice=_ADVICE)
            try:
                self._line.send(line)
            except OSError as error:
                raise CouldNotLook(f"the sinkhole cannot be reached: {error}", advice=_ADVICE) from error

    def _read(self) -> None:
        rest = b""
        try:
            while (data := self._line.recv()) is not None:
                rest = self._frames(rest + data)
        except (OSError, ValueError):
            pass
        finally:
            self.dead.set()
            with self._lock:
                for place in self._places.values():
                    place.ended.set()
                    place.ready.set()

    def _frames(self, data: bytes) -> bytes:
        """Act on whole frames; return what is left over."""
        at = 0
        while len(data) - at >= HEAD.size:
            token, kind, length = HEAD.unpack_from(data, at)
            if length > _MAX_FRAME:
                raise ValueError("the sinkhole sent a frame too long")
            end = at + HEAD.size + length
            if len(data) < end:
                break
            with self._lock:
                place = self._places.get(token)
                if place is not None:
                    _take(place, kind, data[at + HEAD.size : end])
            at = end
        return data[at:]


def _take(place: Sunk, kind: bytes, payload: bytes) -> None:
    if kind == b"t":
        left = memoryview(payload)
        while left:
            left = left[os.write(place.fd, left) :]
    elif kind == b"p" and place.tunnel is not None:
        place.tunnel.arrived(payload)
    elif kind == b"r":
        place.ready.set()
    elif kind == b"e":
        place.why = payload.partition(b" ")[2].decode(errors="replace")[:300]
        place.ended.set()
        place.ready.set()


Around = Callable[["SinkableBox"], Box]


@contextlib.contextmanager
def beside_gate(spec: SandboxSpec, folder: Path) -> Iterator[tuple[SandboxSpec, Around]]:
    """For walls of this user's own making: the spec to use, and what to do with every started sandbox.
    Without ``network = "sinkhole"`` both are left as they are.
    """
    with _with(spec, folder, LocalLine) as both:
        yield both


@contextlib.contextmanager
def in_container(
    spec: SandboxSpec, folder: Path, client: DockerClient, *, image: str, labels: Mapping[str, str]
) -> Iterator[tuple[SandboxSpec, Around]]:
    """The same for a container engine's sandboxes; ``image`` is the observer's."""
    with _with(spec, folder, lambda: ContainerLine(client, image=image, labels=labels)) as both:
        yield both


@contextlib.contextmanager
def by_packets(
    spec: SandboxSpec, folder: Path, client: DockerClient, *, image: str, labels: Mapping[str, str]
) -> Iterator[tuple[SandboxSpec, Callable[[Box], Box]]]:
    """The same for sandboxes whose kernel is a program: their launcher hands the packets over."""

    def line() -> Line:
        return ContainerLine(client, image=image, labels=labels, devices=(_TUN,))

    if spec.network != "sinkhole":
        yield spec, lambda box: box
        return
    authority = tls.make_authority()
    with Sinkhole(line(), folder, authority) as sinkhole:
        yield trusting(spec, authority), sinkhole.joined


@contextlib.contextmanager
def _with(spec: SandboxSpec, folder: Path, line: Callable[[], Line]) -> Iterator[tuple[SandboxSpec, Around]]:
    if spec.network != "sinkhole":
        yield spec, lambda box: box
        return
    authority = tls.make_authority()
    with Sinkhole(line(), folder, authority) as sinkhole:
        yield trusting(spec, authority), sinkhole.around


class SinkableBox(Box, Protocol):
    """A started sandbox that says which process's network is its own."""

    @property
    def network_pid(self) -> int:
        """As the host counts. Raises CouldNotLook."""
        ...


class SunkBox:
    """A sandbox and its sinkhole. Implements session.Box by handing on."""

    def __init__(self, box: Box, sinkhole: Sinkhole, place: Sunk) -> None:
        self._box, self._sinkhole, self._place = box, sinkhole, place

    @property
    def network_log(self) -> Path:
        """What the sinkhole saw (read by gate/trace/sinkhole_log.py)."""
        return self._place.log

    @property
    def read_fd(self) -> int:
        """As the sandbox's."""
        return self._box.read_fd

    @property
    def write_fd(self) -> int:
        """As the sandbox's."""
        return self._box.write_fd

    @property
    def tracer(self) -> Tracing:
        """As the sandbox's."""
        return self._box.tracer

    @property
    def trace(self) -> Path:
        """As the sandbox's."""
        return self._box.trace

    def split(self, data: bytes) -> list[tuple[int, bytes]]:
        """As the sandbox's."""
        return self._box.split(data)

    def kill(self) -> None:
        """As the sandbox's."""
        self._box.kill()

    def aftermath(self, ending: Ending, status: int | None) -> Aftermath:
        """As the sandbox's."""
        return self._box.aftermath(ending, status)

    def trace_done(self, deadline: float) -> None:
        """Both logs have their last line, as far as they will."""
        self._box.trace_done(deadline)
        self._sinkhole.finish(self._place, deadline)

    def remove(self) -> None:
        """Both."""
        self._box.remove()
        self._sinkhole.forget(self._place)


class TunnelBox(SunkBox):
    """A sandbox whose network goes through its launcher's frames (session.BoxSession asks for ``tunnel``)."""

    @property
    def tunnel(self) -> Tunnel | None:
        """Where its packets go."""
        return self._place.tunnel
