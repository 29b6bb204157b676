"""A network namespace of the sinkhole's own for a sandbox whose kernel is a program, joined by packets.

The sandbox's packets come through a socket from our mother process, and go into a tun device of a namespace
that has nothing else; the transparent-proxy rules take them from there, as they do in a sandbox's own
namespace. What the sinkhole answers comes out of the device and goes back. Needs CAP_SYS_ADMIN, CAP_NET_ADMIN
and /dev/net/tun.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import fcntl
import os
import socket
import struct

from . import netlink, server

SIZE = struct.Struct(">H")
RESOLVER = "10.0.2.3"
"""Where the sandbox's launcher passes on what is asked of 127.0.0.1 (launcher/tun.py)."""
CHUNK = 1 << 16
_TUNSETIFF = 0x400454CA
_IFF_TUN, _IFF_NO_PI = 1, 0x1000
_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)


class Tunnelled(server.Sockets):
    """The sockets of a namespace made here. ``link`` (SOCK_SEQPACKET) carries packets, each with its size."""

    def __init__(self, link: socket.socket) -> None:
        if _LIBC.unshare(_NEWNET) != 0:
            code = ctypes.get_errno()
            raise OSError(code, "cannot make a network namespace: " + os.strerror(code))
        self._link = link
        self._fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(self._fd, _TUNSETIFF, struct.pack("16sH22x", b"sandbox", _IFF_TUN | _IFF_NO_PI))
        super().__init__(self._set_up)
        link.setblocking(False)

    @staticmethod
    def _set_up(port: int) -> None:
        netlink.set_up(port, beyond=socket.if_nametoindex("sandbox"))

    def shown(self, address: str) -> str:
        """An address as the sandbox knows it: the launcher's name server is the sandbox's 127.0.0.1."""
        return "127.0.0.1" if address == RESOLVER else address

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Packets go both ways from now on."""
        loop.add_reader(self._link, self._inwards)
        loop.add_reader(self._fd, self._outwards)

    def rest(self) -> None:
        """What was on its way when the sandbox ended."""
        self._inwards()

    def _inwards(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while data := self._link.recv(CHUNK):
                at = 0
                while at < len(data):
                    (size,) = SIZE.unpack_from(data, at)
                    with contextlib.suppress(OSError):  # no packet at all: a network would not carry it
                        os.write(self._fd, data[at + SIZE.size : at + SIZE.size + size])
                    at += SIZE.size + size
            asyncio.get_running_loop().remove_reader(self._link)

    def _outwards(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                packet = os.read(self._fd, CHUNK)
                if _for_sandbox(packet):  # lost when nobody takes it, as on any network
                    self._link.send(SIZE.pack(len(packet)) + packet)


def _for_sandbox(packet: bytes) -> bool:
    """Not what our own kernel says to find neighbours and routers."""
    if packet[0] >> 4 == 4:
        return packet[16:20] == socket.inet_pton(socket.AF_INET, netlink.OWN4)
    return packet[24:40] == socket.inet_pton(socket.AF_INET6, netlink.OWN6)
