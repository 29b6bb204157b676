"""How gate talks with a running sinkhole program: a child of gate's, or a container beside the sandboxes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from gate import process
from gate.resources import inside_dir
from gate.sandbox.backends.container import options as container
from gate.sandbox.transport import STDOUT

if TYPE_CHECKING:
    from docker import DockerClient

    from gate.sandbox.backends.container.attach import Attached

_PROGRAM: Final = inside_dir() / "sinkhole" / "__main__.py"
_CAPABILITIES: Final = (
    *("SYS_PTRACE", "SYS_ADMIN"),  # to open a sandbox's namespace, and enter it
    *("NET_ADMIN", "NET_RAW", "NET_BIND_SERVICE"),  # its routes, rules and sockets
    *("SETUID", "SETGID", "SETPCAP"),  # to give all of them up
)


class SinkholeProcess(Protocol):
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

    def stderr_tail(self) -> str:
        """The last of its stderr."""
        ...


class LocalSinkholeProcess:
    """The program as a child of gate's."""

    def __init__(self) -> None:
        self._noise = os.memfd_create("sinkhole-stderr")
        self._child = subprocess.Popen(
            [sys.executable, "-I", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._noise,
            env=process.clean_environment(),
            cwd="/",
            start_new_session=True,
        )

    def send(self, data: bytes) -> None:
        """Raises OSError."""
        if self._child.stdin is not None:
            self._child.stdin.write(data)
            self._child.stdin.flush()

    def recv(self) -> bytes | None:
        """What it said next; None at the end."""
        out = self._child.stdout
        return (os.read(out.fileno(), 1 << 16) if out is not None else b"") or None

    def close(self) -> None:
        """End it."""
        process.kill_group(self._child)
        with contextlib.suppress(OSError):
            os.close(self._noise)

    def stderr_tail(self) -> str:
        """The last of its stderr."""
        with contextlib.suppress(OSError):
            return os.pread(self._noise, 4096, 0).decode(errors="replace").strip()[-300:]
        return ""


class ContainerSinkholeProcess:
    """The program in a container that sees the host's processes and may enter their namespaces."""

    def __init__(
        self, client: DockerClient, *, image: str, labels: Mapping[str, str], devices: Sequence[str] = ()
    ) -> None:
        from gate.sandbox.backends.container import podman
        from gate.sandbox.backends.container.attach import Attached

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
        """Raises OSError."""
        if self._attached is not None:
            self._attached.socket.sendall(data)

    def recv(self) -> bytes | None:
        """What it said next; None at the end."""
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
        """End it."""
        if self._attached is not None:
            self._attached.close()
        from gate.sandbox.backends.container import podman

        podman.remove(self._client, self._id, self._volumes)

    def stderr_tail(self) -> str:
        """The last of its stderr."""
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
