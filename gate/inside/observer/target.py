"""Looking at the watched processes: their memory, descriptors and standing, from outside.

Everything read here can change under our eyes (another thread): it is recorded, never enforced on.
Standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import struct

from .text import text_of

AT_FDCWD = -100
_PAGE = 4096
_HEADS = 256
_VECTORS = struct.Struct("=4Q")
_PIDFD_GETFD = 438  # same number on every architecture


class UnreadableError(Exception):
    """The target's memory could not be read there."""


class Memory:
    """Reads other processes' memory with process_vm_readv: one call, nothing cached that could go stale."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._readv = libc.process_vm_readv
        self._readv.restype = ctypes.c_ssize_t
        self._buffer = bytearray(65536)
        self._vectors = bytearray(32)  # two struct iovec: ours, theirs
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(self._buffer))
        at = ctypes.addressof(ctypes.c_char.from_buffer(self._vectors))
        self._near, self._far = ctypes.c_void_p(at), ctypes.c_void_p(at + 16)

    def _fetch(self, tid: int, address: int, size: int) -> int:
        """Copy into the buffer; returns how many bytes. Raises UnreadableError for none."""
        _VECTORS.pack_into(self._vectors, 0, self._address, size, address, size)
        got: int = self._readv(tid, self._near, 1, self._far, 1, 0)
        if got <= 0:
            raise UnreadableError(os.strerror(ctypes.get_errno()))
        return got

    def read(self, tid: int, address: int, size: int) -> bytes:
        """Up to ``size`` (at most 65536) bytes; fewer where mapped memory ends. UnreadableError if none."""
        return bytes(self._buffer[: self._fetch(tid, address, size)])

    def exactly(self, tid: int, address: int, size: int) -> bytes:
        """All of it, or UnreadableError."""
        if size == 0:
            return b""
        raw = self.read(tid, address, size)
        if len(raw) < size:
            raise UnreadableError("short")
        return raw

    def string(self, tid: int, address: int, most: int = _PAGE) -> bytes:
        """The bytes before the NUL; what is there of it when it is longer than ``most``."""
        got = self._fetch(tid, address, min(256, most))
        end = self._buffer.find(0, 0, got)
        if end < 0 and most > 256:
            got = self._fetch(tid, address, most)
            end = self._buffer.find(0, 0, got)
        return bytes(self._buffer[: got if end < 0 else end])

    def directory(self, tid: int, fd: int) -> str:
        """The path of a directory descriptor of the thread, as trace text; other tracers know it from
        elsewhere.
        """
        return directory(tid, fd)

    def resolve(self, tid: int, fd: int, path: bytes) -> bytes:
        """An absolute path, not normalised. Raises UnreadableError."""
        return resolve(tid, fd, path)

    def words(self, tid: int, address: int, most: int) -> list[int]:
        """A NULL-terminated array of pointers, without the NULL, at most ``most``."""
        out: list[int] = []
        while len(out) < most:
            raw = self.read(tid, address + 8 * len(out), min(4096, 8 * (most - len(out))))
            for at in range(0, len(raw) - 7, 8):
                word = int.from_bytes(raw[at : at + 8], "little")
                if word == 0:
                    return out
                out.append(word)
            if len(raw) < 8:
                break
        return out


class Process:
    """One watched process (thread group), as far as it was looked at."""

    __slots__ = (
        "comm",
        "exe",
        "exiting",
        "heads",
        "inner",
        "memory",
        "pid",
        "pidfd",
        "ppid",
        "recheck",
        "stamp",
        "tids",
        "uid",
    )

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.tids: set[int] = set()
        self.heads: dict[tuple[str, int], str] = {}
        self.memory = -1
        """A descriptor of /proc/PID/mem: half the price of process_vm_readv, which asks each time whether it
        may. It shows what the process was when opened: given back when that asks for another program."""
        self.pidfd = -1
        self.recheck: set[int] = set()
        """Threads that asked for another program and were not heard of since: it may be one any moment."""
        self.exiting = False
        self.stamp = ""
        self.refresh()

    def head(self, kind: str, call: str, tid: int) -> str:
        """How a line about a path begins: who made which call."""
        known = self.heads.get((call, tid))
        if known is None:
            known = f'"ev":"{kind}",{who(self.pid, tid)},"call":"{call}","path":'
            if len(self.heads) >= _HEADS:  # threads come and go
                self.heads.clear()
            self.heads[call, tid] = known
        return known

    def open_memory(self) -> int:
        """Make ``memory`` (and return it). Raises OSError."""
        self.memory = os.open(f"/proc/{self.pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        return self.memory

    def close_memory(self) -> None:
        """Give it back."""
        if self.memory >= 0:
            os.close(self.memory)
            self.memory = -1

    def refresh(self) -> None:
        """Read its standing again. What cannot be read stays empty."""
        fields = _status(self.pid)
        self.ppid = int(fields.get("PPid", "0"))
        self.inner = int(fields.get("NSpid", "0").split()[-1])
        self.uid = int(fields.get("Uid", "0").split()[0])
        self.comm = text_of(_slurp(f"/proc/{self.pid}/comm").rstrip(b"\n"))
        self.exe = link_text(f"/proc/{self.pid}/exe")

    def standing(self) -> dict[str, str | int]:
        """What a ``process`` line says of it."""
        who_it_is: dict[str, str | int] = {
            "pid": self.pid,
            "ppid": self.ppid,
            "exe": self.exe,
            "comm": self.comm,
        }
        return {**who_it_is, "inner": self.inner, "uid": self.uid}

    def program_changed(self) -> bool:
        """After an exec was asked for: is this a new program image by now? Reads it when it is."""
        stat = _slurp(f"/proc/{self.pid}/stat").rpartition(b")")[2].split()
        stamp = b" ".join(stat[23:26]).decode() + link_text(
            f"/proc/{self.pid}/exe"
        )  # startcode, endcode, startstack
        if stamp == self.stamp:
            return False
        self.stamp = stamp
        self.refresh()
        return True


def who(pid: int, tid: int) -> str:
    """The fields of a line that say who made the call."""
    return f'"pid":{pid},"tid":{tid}' if tid != pid else f'"pid":{pid}'


def process_of(tid: int) -> int:
    """The thread group of a thread; the thread itself when it is gone already."""
    return int(_status(tid).get("Tgid", "0")) or tid


def inner_children(pid: int) -> set[int]:
    """The pids of a process's children, as the code sees them: also those that made no call yet."""
    found = set()
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            for child in _slurp(f"/proc/{pid}/task/{thread}/children").split():
                found.add(int(_status(int(child)).get("NSpid", "0").split()[-1]))
    return found


def _status(pid: int) -> dict[str, str]:
    text = _slurp(f"/proc/{pid}/status").decode("ascii", "replace")
    return dict(line.partition(":\t")[::2] for line in text.split("\n"))


def _slurp(path: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, 16384)
    except OSError:
        return b""
    finally:
        os.close(fd)


def link_text(path: str) -> str:
    """Where a /proc link points, as trace text; empty when it cannot be read."""
    try:
        return text_of(os.readlink(os.fsencode(path)))
    except OSError:
        return ""


def _directory_link(tid: int, fd: int) -> str:
    return f"/proc/{tid}/cwd" if fd == AT_FDCWD else f"/proc/{tid}/fd/{fd}"


def directory(tid: int, fd: int) -> str:
    """The path of a directory descriptor (or the working directory) of the thread, as trace text."""
    return link_text(_directory_link(tid, fd))


def resolve(tid: int, fd: int, path: bytes) -> bytes:
    """An absolute path, as the kernel would start looking; not normalised.

    Raises UnreadableError when the directory of a relative path is not to be had.
    """
    if path.startswith(b"/"):
        return path
    try:
        base = os.readlink(_directory_link(tid, fd).encode())
    except OSError as error:
        raise UnreadableError("directory") from error
    return base.rstrip(b"/") + b"/" + path if path else base


def borrow_socket(pid: int, fd: int) -> socket.socket | None:
    """A copy of the process's socket, to ask it for its names; None when it cannot be had."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return None
    try:
        got = ctypes.CDLL(None, use_errno=True).syscall(_PIDFD_GETFD, handle, fd, 0)
    finally:
        os.close(handle)
    if got < 0:
        return None
    try:
        return socket.socket(fileno=got)
    except OSError:
        with contextlib.suppress(OSError):
            os.close(got)
        return None
