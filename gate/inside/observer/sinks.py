"""The far end of gVisor's reports: takes what the sentries send and passes it on untouched.

``sinks.py FOLDER``: a folder of slots, shared with the host. A slot has its own runtime in the engine, so
its two files belong to one sandbox at a time: ``FOLDER/N/sink.sock`` (SOCK_SEQPACKET: the sentry's packets)
and ``FOLDER/N/log`` (a FIFO: its strace). A slot is held by a lock on its folder, which the kernel frees
when we die. Handshake: the sentry sends a protobuf message whose field 1 is its version and wants one back
(gVisor, pkg/sentry/seccheck: points/common.proto, sinks/remote).

The folder also gets the files of naming.py.

stdin, lines: ``claim TOKEN SLOTS`` (TOKEN: 32 hex digits) · ``release TOKEN``. End of stdin: all ends.
stdout, frames as many.py's: TOKEN (16 bytes), one type byte, u32 big-endian length, payload.
``r`` ready (payload: the slot's number) · ``b`` all slots are taken · ``t`` packets, each with its length
(u32 little endian) in front · ``s`` bytes of the log; ends a round in which both were emptied · ``e`` the
sentry ended.

Order: what the log says in a round was reported after all packets that caused it were sent. A slow reader
slows the sentries down (they wait), so nothing is lost for want of speed. Standard library only.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import os
import selectors
import socket
import struct
import sys
import time

if __package__:
    from . import naming
else:  # started by path, outside the project
    _here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, os.path.dirname(_here))
    naming = importlib.import_module(os.path.basename(_here) + ".naming")

HEAD = struct.Struct(">16scI")
_LENGTH = struct.Struct("<I")
_PACKET = 1 << 18
_BATCH = 1 << 16
_BATCHES = 15
"""Read in one go: less than a frame may hold, and nearly all that the log's pipe does."""
_TURN = 4096
_PAUSE = 0.008
"""Seconds for which reports gather, so that a call does not wake four processes, on processors that the
sandbox could use. The sockets and pipes hold what comes meanwhile; when they are full we do not pause."""
_HANDSHAKE = b"\x08\x01"
_HANDSHAKE_SECONDS = 5
_F_SETPIPE_SZ = 1031


class Slot:
    """One claimed slot. Raises BlockingIOError when somebody else holds it."""

    def __init__(self, folder: str, number: int, token: bytes) -> None:
        self.token = token
        self.number = number
        self.place = os.path.join(folder, str(number))
        os.makedirs(self.place, mode=0o700, exist_ok=True)
        self.lock = os.open(self.place, os.O_RDONLY | os.O_DIRECTORY)
        self.link: socket.socket | None = None
        self.held = b""
        self.busy = False
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._clean()
            os.mkfifo(self._path("log"), 0o600)
            self.log = os.open(self._path("log"), os.O_RDWR | os.O_NONBLOCK)  # never at its end
        except OSError:
            os.close(self.lock)
            raise
        with contextlib.suppress(OSError):
            fcntl.fcntl(self.log, _F_SETPIPE_SZ, 1 << 20)
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.server.bind(self._path("sink.sock"))
        os.chmod(self._path("sink.sock"), 0o600)  # the runtime connects as the host's root; nobody else may
        self.server.listen(1)

    def _path(self, name: str) -> str:
        return os.path.join(self.place, name)

    def _clean(self) -> None:
        for name in ("sink.sock", "log"):  # left by an observer that was killed
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path(name))

    def accept(self) -> bool:
        """The sentry comes; True when it did."""
        link, _ = self.server.accept()
        link.settimeout(_HANDSHAKE_SECONDS)
        try:
            if self.link is not None or not link.recv(4096):
                raise OSError("not a sentry")
            link.send(_HANDSHAKE)
        except OSError:
            link.close()
            return False
        link.setblocking(False)
        self.link = link
        return True

    def turn(self) -> bool:
        """Pass on what is there; False when the sentry ended."""
        if not self.held:
            self.held = self._read_log(_BATCHES)
        more, ended = self._packets()
        self.busy = more or len(self.held) >= _BATCH
        if more:
            return True
        say(self.token, b"s", self.held)
        self.held = b""
        if ended:
            while rest := self._read_log():
                say(self.token, b"s", rest)
            say(self.token, b"e", b"")
        return not ended

    def _read_log(self, batches: int = 1) -> bytes:
        """What is in the log; with as many batches as its pipe holds, all of it."""
        read = bytearray()
        with contextlib.suppress(BlockingIOError):
            for _ in range(batches):
                read += os.read(self.log, _BATCH)
        return bytes(read)

    def _packets(self) -> tuple[bool, bool]:
        """(there may be more, the sentry ended)."""
        if self.link is None:
            return False, False
        out = bytearray()
        more, ended = True, False
        for _ in range(_TURN):
            try:
                packet = self.link.recv(_PACKET)
            except BlockingIOError:
                more = False
                break
            except OSError:
                packet = b""
            if not packet:
                more, ended = False, True
                break
            out += _LENGTH.pack(len(packet)) + packet
            if len(out) >= _BATCH:
                say(self.token, b"t", out)
                out = bytearray()
        if out:
            say(self.token, b"t", out)
        return more, ended

    def close(self) -> None:
        """Free the slot; a sentry that still writes waits in vain until it is killed."""
        for link in (self.link, self.server):
            if link is not None:
                link.close()
        self._clean()
        os.close(self.log)
        os.close(self.lock)


class Sinks:
    """One process, one thread: it only copies."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.selector = selectors.DefaultSelector()
        self.slots: dict[str, Slot] = {}
        self.orders = b""

    def run(self) -> int:
        """Serve until stdin ends."""
        self.selector.register(0, selectors.EVENT_READ, None)
        while True:
            ready = self.selector.select()
            if self._only_reports(ready):
                time.sleep(_PAUSE)
            for key, _ in ready:
                slot: Slot | None = key.data
                if slot is None:
                    if not self._listen():
                        for held in self.slots.values():
                            held.close()
                        return 0
                elif self.slots.get(slot.token.hex()) is not slot:
                    continue  # released a moment ago
                elif key.fileobj is slot.server:
                    if slot.accept():
                        assert slot.link is not None
                        self.selector.register(slot.link, selectors.EVENT_READ, slot)
                elif not slot.turn():
                    self._forget(slot)

    def _only_reports(self, ready: list[tuple[selectors.SelectorKey, int]]) -> bool:
        """Nobody waits for an answer of ours, and nobody's buffers fill faster than we look."""
        slots = [key.data for key, _ in ready]
        return all(
            slot is not None and key.fileobj is not slot.server and not slot.busy
            for slot, (key, _) in zip(slots, ready, strict=True)
        )

    def _listen(self) -> bool:
        data = os.read(0, _BATCH)
        *lines, self.orders = (self.orders + data).split(b"\n")
        for line in lines:
            verb, token, *rest = line.decode("ascii").split()
            if verb == "claim":
                self._claim(token, int(rest[0]))
            elif token in self.slots:
                slot = self.slots.pop(token)
                self._forget(slot)
                slot.close()
        return bool(data)

    def _claim(self, token: str, slots: int) -> None:
        for number in range(slots):
            with contextlib.suppress(BlockingIOError):
                slot = Slot(self.folder, number, bytes.fromhex(token))
                self.slots[token] = slot
                self.selector.register(slot.server, selectors.EVENT_READ, slot)
                self.selector.register(slot.log, selectors.EVENT_READ, slot)
                say(slot.token, b"r", str(number).encode())
                return
        say(bytes.fromhex(token), b"b", b"")

    def _forget(self, slot: Slot) -> None:
        for one in (slot.link, slot.server, slot.log):
            if one is not None:
                with contextlib.suppress(KeyError, ValueError):
                    self.selector.unregister(one)


def say(token: bytes, kind: bytes, payload: bytes | bytearray) -> None:
    """One frame; waits until the host took it."""
    data = memoryview(HEAD.pack(token, kind, len(payload)) + payload)
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    naming.remove_old(sys.argv[1])
    names = os.path.join(sys.argv[1], sys.argv[2])
    naming.write(names, sys.argv[2])
    try:
        code = Sinks(sys.argv[1]).run()
    finally:
        naming.remove(names)
    sys.exit(code)
