"""The network of a sandbox whose kernel is a program. Part of launch.py; standard library only.

gVisor's network has no rule that would hand every connection to one port, but it has tun devices: an
interface of ours gets the route to every address, and its packets go to the host, untouched, over our own
stdin and stdout. The sinkhole there (gate/inside/sinkhole/tunnel.py) answers them. Nothing here looks into a
packet.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import socket
import struct
from collections import OrderedDict

from .tree_unpacker import LauncherError

TYPE_CHECKING = False  # typing alone takes a tenth of the start
if TYPE_CHECKING:
    from typing import Callable

    Say = Callable[[bytes, bytes], None]

OWN = (("10.0.2.15", socket.AF_INET, 24), ("fd00:2::15", socket.AF_INET6, 64))
"""What the sandbox takes for its own addresses: those of an everyday virtual machine."""
RESOLVER = "10.0.2.3"
"""Where questions for 127.0.0.1 are passed on to."""
MTU = 32000
"""Large: every packet is handed on by programs. The same at the other end."""
SIZE = struct.Struct(">H")
CHUNK = 1 << 16
_TUNSETIFF = 0x400454CA
_IFF_TUN, _IFF_NO_PI = 1, 0x1000
_REQUEST, _ACK, _CREATE = 0x1, 0x4, 0x400
_NEWLINK, _NEWADDR, _NEWROUTE = 16, 20, 24
_MOST_QUESTIONS = 256


def _attr(kind: int, payload: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(payload), kind) + payload + bytes(-len(payload) % 4)


def _ask(kind: int, body: bytes, what: str) -> None:
    """One netlink request. Raises LauncherError."""
    message = struct.pack("=IHHII", 16 + len(body), kind, _REQUEST | _ACK | _CREATE, 1, 0) + body
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as link:
        link.bind((0, 0))
        link.send(message)
        (code,) = struct.unpack_from("=i", link.recv(CHUNK), 16)
    if code:
        raise LauncherError(f"{what}: {os.strerror(-code)}")


class Tunnel:
    """The interface, and a name server on 127.0.0.1 that passes questions on through it. ``say`` sends a
    frame; stdin must hold nothing else from ``begin`` on.
    """

    def __init__(self, high: Callable[[int], int]) -> None:
        self._fd = high(os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK))
        fcntl.ioctl(self._fd, _TUNSETIFF, struct.pack("16sH22x", b"eth0", _IFF_TUN | _IFF_NO_PI))
        index = socket.if_nametoindex("eth0")
        up = struct.pack("=BxHiII", 0, 0, index, 1, 1)
        _ask(_NEWLINK, up + _attr(4, struct.pack("=I", MTU)), "interface up")
        for address, family, bits in OWN:
            raw = socket.inet_pton(family, address)
            head = struct.pack("=BBBBi", family, bits, 2, 0, index)
            _ask(_NEWADDR, head + _attr(1, raw) + _attr(2, raw), "address " + address)
            head = struct.pack("=BBBBBBBBI", family, 0, 0, 0, 254, 3, 0, 1, 0)
            route = _attr(1, bytes(len(raw))) + _attr(4, struct.pack("=i", index))
            _ask(_NEWROUTE, head + route, "route for everything")
        self._names = self._socket(socket.SOCK_DGRAM, high)
        self._streams = self._socket(socket.SOCK_STREAM, high)
        self._streams.listen(64)
        self._asked: OrderedDict[socket.socket, tuple[str, int]] = OrderedDict()
        self._high = high
        self._heard = bytearray()

    @staticmethod
    def _socket(kind: int, high: Callable[[int], int]) -> socket.socket:
        made = socket.socket(socket.AF_INET, kind)
        made.bind(("127.0.0.1", 53))
        made = socket.socket(fileno=high(made.detach()))
        made.setblocking(False)
        return made

    def begin(self, selector: selectors.BaseSelector, say: Say) -> None:
        """Serve from now on, as callbacks in this selector."""
        self._selector, self._say = selector, say
        selector.register(self._fd, selectors.EVENT_READ, self._outwards)
        selector.register(0, selectors.EVENT_READ, self._inwards)
        selector.register(self._names, selectors.EVENT_READ, self._question)
        selector.register(self._streams, selectors.EVENT_READ, self._stream)

    def close(self) -> None:
        """The code is gone: what it sent at last goes out still."""
        while self._outwards():
            pass
        for fileobj in (self._fd, self._names, self._streams, 0):
            with contextlib.suppress(KeyError):
                self._selector.unregister(fileobj)
        os.close(self._fd)

    def _outwards(self) -> bool:
        """Packets of the code's, many in one frame; False when there were none."""
        batch = bytearray()
        with contextlib.suppress(BlockingIOError):
            while len(batch) < CHUNK:
                packet = os.read(self._fd, CHUNK)
                batch += SIZE.pack(len(packet)) + packet
        if batch:
            self._say(b"P", bytes(batch))
        return bool(batch)

    def _inwards(self) -> None:
        """Packets of the host's."""
        data = os.read(0, CHUNK)
        if not data:
            self._selector.unregister(0)
            return
        self._heard += data
        at = 0
        while len(self._heard) - at >= SIZE.size:
            (size,) = SIZE.unpack_from(self._heard, at)
            if len(self._heard) - at < SIZE.size + size:
                break
            with contextlib.suppress(OSError):  # one that the interface does not want is lost
                os.write(self._fd, self._heard[at + SIZE.size : at + SIZE.size + size])
            at += SIZE.size + size
        del self._heard[:at]

    def _question(self) -> None:
        """For our name server: each leaves from a socket of its own, by which its answer is known."""
        with contextlib.suppress(OSError):
            while True:
                data, peer = self._names.recvfrom(CHUNK)
                if len(self._asked) >= _MOST_QUESTIONS:
                    self._forget(next(iter(self._asked)))
                out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                out = socket.socket(fileno=self._high(out.detach()))
                out.setblocking(False)
                self._asked[out] = peer
                self._selector.register(out, selectors.EVENT_READ, lambda out=out: self._answer(out))
                out.sendto(data, (RESOLVER, 53))

    def _answer(self, out: socket.socket) -> None:
        with contextlib.suppress(OSError):
            self._names.sendto(out.recv(CHUNK), self._asked[out])
        self._forget(out)

    def _forget(self, out: socket.socket) -> None:
        del self._asked[out]
        self._selector.unregister(out)
        out.close()

    def _stream(self) -> None:
        """The same over TCP: two sockets, and what comes out of one goes into the other."""
        with contextlib.suppress(OSError):
            inner, _ = self._streams.accept()
            outer = socket.socket()
            pair = [socket.socket(fileno=self._high(one.detach())) for one in (inner, outer)]
            for one in pair:
                one.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                pair[1].connect((RESOLVER, 53))
            for one, other in (pair, pair[::-1]):
                self._selector.register(
                    one, selectors.EVENT_READ, lambda one=one, other=other: self._hand_on(one, other)
                )

    def _hand_on(self, one: socket.socket, other: socket.socket) -> None:
        data = b""
        with contextlib.suppress(OSError):
            data = one.recv(CHUNK)
            if data:
                other.sendall(data)  # small: what does not fit at once ends the conversation
                return
        for sock in (one, other):
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(sock)
            sock.close()
