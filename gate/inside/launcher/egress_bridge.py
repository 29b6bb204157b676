"""The way out of a sandbox that installs, and what it brings home. Part of launch.py; standard library only.

A connection to one loopback port is handed on, byte for byte, to the host over our own stdin and stdout: the
proxy that decides about it runs there, out of reach. The sandbox's network has no other route.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import stat
import struct

TYPE_CHECKING = False  # typing alone takes a tenth of the start
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterator

    Say = Callable[[bytes, bytes], None]

HEAD = struct.Struct(">II")
CHUNK = 1 << 16
MOST = 64
"""Connections at once."""
_OWED = 4 << 20
"""Bytes for slow readers inside, above which the host is not read any more."""


class _Link:
    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.owed = bytearray()
        self.closing = False


class Bridge:
    """Listens on 127.0.0.1 inside. ``say`` sends a frame; stdin must hold nothing else from ``begin`` on."""

    def __init__(self, port: int, high: Callable[[int], int]) -> None:
        server = socket.create_server(("127.0.0.1", port), backlog=MOST)
        self._server = socket.socket(fileno=high(server.detach()))
        self._server.setblocking(False)
        self._links: Dict[int, _Link] = {}
        self._count = 0
        self._heard = bytearray()
        self._listening = False

    def begin(self, selector: selectors.BaseSelector, say: Say) -> None:
        """Serve from now on, as callbacks in this selector."""
        self._selector, self._say = selector, say
        selector.register(self._server, selectors.EVENT_READ, self._accept)
        self._listen(True)

    def close(self) -> None:
        """The code is gone: nobody is left to serve."""
        for number in list(self._links):
            self._drop(number)
        self._listen(False)
        self._selector.unregister(self._server)
        self._server.close()

    def _listen(self, on: bool) -> None:
        if on != self._listening:
            self._listening = on
            if on:
                self._selector.register(0, selectors.EVENT_READ, self._hear)
            else:
                self._selector.unregister(0)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            sock, _ = self._server.accept()
            if len(self._links) >= MOST:
                sock.close()
                return
            sock.setblocking(False)
            self._count += 1
            number = self._count
            self._links[number] = _Link(sock)
            self._selector.register(sock, selectors.EVENT_READ, lambda: self._serve(number))
            self._tell(number, b"o")

    def _tell(self, number: int, what: bytes, data: bytes = b"") -> None:
        self._say(b"N", number.to_bytes(4, "big") + what + data)

    def _serve(self, number: int) -> None:
        """Something can be read from a client, or written to it."""
        link = self._links.get(number)
        if link is None:
            return
        try:
            if link.owed:
                del link.owed[: link.sock.send(link.owed)]
        except BlockingIOError:
            pass
        except OSError:
            self._end(number)
            return
        if link.closing and not link.owed:
            self._drop(number)
            return
        try:
            data = b"" if link.closing else link.sock.recv(CHUNK)
            if data:
                self._tell(number, b"d", data)
            elif not link.closing:
                self._end(number)
                return
        except BlockingIOError:
            pass
        except OSError:
            self._end(number)
            return
        self._watch(link)

    def _watch(self, link: _Link) -> None:
        # a closing link is only written to: what it reads would be its end, for ever ready
        wanted = selectors.EVENT_WRITE if link.closing else selectors.EVENT_READ
        wanted |= selectors.EVENT_WRITE if link.owed else 0
        key = self._selector.get_key(link.sock)
        if key.events != wanted:
            self._selector.modify(link.sock, wanted, key.data)
        self._listen(sum(len(other.owed) for other in self._links.values()) < _OWED)

    def _end(self, number: int) -> None:
        self._tell(number, b"c")
        self._drop(number)

    def _drop(self, number: int) -> None:
        link = self._links.pop(number)
        self._selector.unregister(link.sock)
        link.sock.close()
        self._listen(sum(len(other.owed) for other in self._links.values()) < _OWED)

    def _hear(self) -> None:
        """What the host says: a number, a length, data; length 0 ends that connection."""
        data = os.read(0, CHUNK)
        if not data:
            self._listen(False)
            return
        self._heard += data
        while len(self._heard) >= HEAD.size:
            number, size = HEAD.unpack_from(self._heard)
            if len(self._heard) < HEAD.size + size:
                return
            part = bytes(self._heard[HEAD.size : HEAD.size + size])
            del self._heard[: HEAD.size + size]
            link = self._links.get(number)
            if link is not None:
                link.owed += part
                link.closing = link.closing or not size
                self._serve(number)


def collect(folder: str, say: Say, most: int) -> None:
    """Send the regular files below a folder as a tar, in A frames. No link is followed or sent; after
    ``most`` bytes it stops in the middle (the host has then seen that it is too much).
    """
    import tarfile

    sent = 0

    class Out:
        def write(self, data: bytes) -> int:
            nonlocal sent
            if sent <= most:
                say(b"A", bytes(data))
            sent += len(data)
            return len(data)

    with tarfile.open(fileobj=Out(), mode="w|", format=tarfile.PAX_FORMAT, bufsize=CHUNK) as tar:  # type: ignore[call-overload]
        for path in _files(folder):
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(fd, "rb") as file:
                found = os.fstat(fd)
                if not stat.S_ISREG(found.st_mode):
                    continue
                member = tarfile.TarInfo(os.path.relpath(path, folder))
                member.size, member.mode = found.st_size, 0o755 if found.st_mode & 0o100 else 0o644
                tar.addfile(member, file)
            if sent > most:
                return


def _files(folder: str) -> Iterator[str]:
    for top, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(top, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                yield path


def _raise(error: Any) -> None:
    raise error
