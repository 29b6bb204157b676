"""One running QEMU and our ends of its guest's console ports; below microvm_box.py, microvm_snapshot.py."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from gate import process
from gate.errors import InconclusiveError
from gate.process import readable
from gate.sandbox import reaper
from gate.sandbox.backends.microvm import command
from gate.sandbox.backends.microvm.command import PORTS, Shape
from gate.sandbox.backends.microvm.image import INSTALL_HINT, Bootable

_NOBODY: Final = 65532
_MOST_SAID: Final = 1 << 16
_LAST_WORDS: Final = 0.3
_ENDS_WITH_US: Final = (
    "setpriv", "--pdeathsig", "KILL", "--", "sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"',
)  # fmt: skip
"""util-linux. While it boots, nothing in a guest listens: without this, one whose gate was killed waits until
the next gate finds it (reap.py). The shell asks whether the gate was killed before the kernel knew of it."""


@cache
def _starter(pid: int) -> ThreadPoolExecutor:  # noqa: ARG001  # a forked process has no such thread
    """One thread for all machines of a process: the kernel takes the death of the thread that started a child
    for that of the parent (prctl(2), PR_SET_PDEATHSIG), and threads of a session end before its process.
    """
    return ThreadPoolExecutor(1, thread_name_prefix="machines")


class Machine:
    """Started, not yet ready. ``stored``: the file to go on from instead of booting. ``monitored``: with a
    line to QEMU itself (``monitor``). Raises InconclusiveError.
    """

    def __init__(
        self, boot: Bootable, shape: Shape, *, stored: Path | None = None, monitored: bool = False
    ) -> None:
        self._noise = b""
        self._told: dict[str, Any] = {}
        self._qemu: subprocess.Popen[bytes] | None = None
        names = (*PORTS, "monitor") if monitored else PORTS
        pairs = {name: socket.socketpair() for name in names}
        self.ends = {name: ours for name, (ours, _) in pairs.items()}
        """Our ends of the ports, by name."""
        theirs = {name: other for name, (_, other) in pairs.items()}
        try:
            self._start(boot, shape, {name: other.fileno() for name, other in theirs.items()}, stored)
        except BaseException:
            self.remove()
            raise
        finally:
            for other in theirs.values():
                other.close()

    def _start(self, boot: Bootable, shape: Shape, ports: dict[str, int], stored: Path | None) -> None:
        files: list[int] = []
        try:
            # by descriptor: the machine runs as nobody, who may not enter the cache's folder
            paths = {"kernel": boot.kernel, "initrd": boot.initrd, "root": boot.root}
            for name in ("libraries", "dependencies"):
                if (path := getattr(boot, name)) is not None:
                    paths[name] = path
            seen: dict[str, Any] = {}
            for name, path in paths.items():
                files.append(os.open(path, os.O_RDONLY))
                seen[name] = Path(f"/proc/self/fd/{files[-1]}")
            incoming = None
            if stored is not None:
                incoming = os.open(stored, os.O_RDONLY)
                files.append(incoming)
            monitor = ports.pop("monitor", None)
            called = command.NAME + reaper.owned_name()
            words = command.arguments(
                replace(boot, **seen), shape, ports, incoming=incoming, monitor=monitor, called=called
            )
            if shutil.which(_ENDS_WITH_US[0]):
                words = [*_ENDS_WITH_US, str(os.getpid()), *words]
            root = os.geteuid() == 0 and shape.accelerator == "tcg"
            starting = _starter(os.getpid()).submit(
                subprocess.Popen,
                words,
                pass_fds=[*ports.values(), *files, *([] if monitor is None else [monitor])],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=process.clean_environment(),
                cwd="/",
                start_new_session=True,
                user=_NOBODY if root else None,
                group=_NOBODY if root else None,
                extra_groups=[] if root else None,
            )
            self._qemu = starting.result()
        except OSError as error:
            raise InconclusiveError(
                f"cannot start a virtual machine: {error}", advice=INSTALL_HINT
            ) from error
        finally:
            for fd in files:
                os.close(fd)

    @property
    def pid(self) -> int:
        """QEMU's."""
        return 0 if self._qemu is None else self._qemu.pid

    @property
    def ended(self) -> bool:
        """QEMU is not there any more, for whatever reason."""
        return self._qemu is None or self._qemu.poll() is not None

    @property
    def used(self) -> float:
        """Seconds of the processor that QEMU has used."""
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8", errors="replace")
            return sum(map(int, text.rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    @property
    def guest_reports(self) -> Mapping[str, object]:
        """Everything the guest has told of itself."""
        return self._told

    def order(self, line: str) -> None:
        """Tell the guest something; it may be gone."""
        with contextlib.suppress(OSError):
            self.ends["said"].send(line.encode() + b"\n")

    def give(self, settings: Mapping[str, object]) -> bool:
        """The guest's settings, which it waits for. False when it is gone already."""
        data = json.dumps(settings).encode()
        try:
            self.ends["control"].sendall(struct.pack(">I", len(data)) + data)
        except OSError:
            return False
        return True

    def wait_for(self, what: str, seconds: float) -> bool:
        """Listen to the guest until it tells ``what``; False when it does not."""
        until = time.monotonic() + seconds
        said = self.ends["said"]
        while what not in self._told:
            left = until - time.monotonic()
            if left <= 0 or not readable(said, left):
                return False
            data = b""
            with contextlib.suppress(OSError):
                data = said.recv(4096)
            if not data or len(self._noise) > _MOST_SAID:
                return False
            *lines, self._noise = (self._noise + data).split(b"\n")
            for line in lines:
                self._listen(line)
        return True

    def _listen(self, line: bytes) -> None:
        """A line of the guest's: an object of ours, or a complaint of some program."""
        try:
            fields = json.loads(line) if line.startswith(b"{") else {"noise": line.decode("latin1")}
        except (ValueError, RecursionError):
            return
        if isinstance(fields, dict):
            self._told |= fields

    def why(self) -> str:
        """Why it did not do what it should, for people."""
        if self._told.get("noise"):
            return str(self._told["noise"])[:300]
        if self._qemu is not None and self._qemu.stderr is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._qemu.wait(_LAST_WORDS)  # its ports close a moment before it is gone
            if self.ended:
                said = self._qemu.stderr.read(400).decode(errors="replace").strip()
                return " ".join(said.split()) or f"it ended ({self._qemu.returncode})"
        return "no answer in time"

    def kill(self) -> None:
        """SIGKILL to the machine."""
        if self._qemu is not None:
            with contextlib.suppress(OSError):
                self._qemu.kill()

    def remove(self) -> None:
        """The process, and our ends of its ports."""
        self.kill()
        if self._qemu is not None:
            self._qemu.wait()
            if self._qemu.stderr is not None:
                self._qemu.stderr.close()
        for ours in self.ends.values():
            ours.close()
