"""One sandbox's sinkhole: accepts every connection and datagram, answers plausibly, writes down what came.

Bounds: connections at once and in all, bytes kept of each, bytes of the log. Past a bound it goes on
accepting and counts what it did not keep.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import ipaddress
import os
import re
import socket
import ssl
import struct
from collections.abc import Callable
from typing import Any

from . import client_hello, names, netlink, tls, web
from .log import Log
from .outage import Outage
from .streams import Plain, Secured, Stream

PORT = 17
"""Where diverted packets go: a port nobody asks for by number, as the address stays the original one."""
AT_ONCE = 256
IN_ALL = 5_000
DATAGRAMS = 20_000
_BUDGET = 16 << 20
_IDLE = 2.0
_FIRST = 4.0
"""Seconds for a client's own first words: a busy machine may keep it from its processor that long."""
_LAST = 0.4
_DEEP = 3
_RESET = (135, 139, 445)
"""Ports that are closed almost everywhere: reset, so that code goes on as it would outside."""
_BANNERS = {
    21: b"220 ready\r\n",
    22: b"SSH-2.0-OpenSSH_9.6\r\n",
    25: b"220 mail ESMTP\r\n",
    587: b"220 mail ESMTP\r\n",
    2525: b"220 mail ESMTP\r\n",
    110: b"+OK ready\r\n",
    143: b"* OK ready\r\n",
}
_IP_TRANSPARENT, _IPV6_TRANSPARENT = 19, 75
_IP_RECVORIGDSTADDR, _IPV6_RECVORIGDSTADDR = 20, 74
_MAPPED = "::ffff:"


class Sockets:
    """Everything that needs privileges, made before any byte is read. ``set_up``: the routes and rules."""

    def __init__(self, set_up: Callable[[int], None] = netlink.set_up) -> None:
        set_up(PORT)
        self.tcp = [_dual(socket.SOCK_STREAM)]
        self.udp = _dual(socket.SOCK_DGRAM)
        for level, option in (
            (socket.IPPROTO_IP, _IP_RECVORIGDSTADDR),
            (socket.IPPROTO_IPV6, _IPV6_RECVORIGDSTADDR),
        ):
            self.udp.setsockopt(level, option, 1)
        self.local: list[socket.socket] = []
        for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            resolver = socket.socket(family, socket.SOCK_DGRAM)
            resolver.bind((address, 53))
            self.local.append(resolver)
            stream = socket.socket(family, socket.SOCK_STREAM)
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            stream.bind((address, 53))
            self.tcp.append(stream)
        self.raw4 = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        self.raw6 = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)
        for sock in (*self.tcp, self.udp, *self.local, self.raw4, self.raw6):
            sock.setblocking(False)
        for sock in self.tcp:
            sock.listen(1024)

    def shown(self, address: str) -> str:
        """An address as the sandbox knows it."""
        return address

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """The loop runs: where packets have to be carried here, that begins."""

    def rest(self) -> None:
        """The sandbox is dead: carry what is left."""


def _dual(kind: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET6, kind)
    sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    sock.setsockopt(socket.IPPROTO_IP, _IP_TRANSPARENT, 1)
    sock.setsockopt(socket.IPPROTO_IPV6, _IPV6_TRANSPARENT, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("::", PORT))
    return sock


class Sinkhole:
    """Serves until told to stop, then drains what is still there and writes the summary."""

    def __init__(self, sockets: Sockets, out: int, authority: tls.Authority) -> None:
        self._sockets = sockets
        self._log = Log(out, _BUDGET)
        self._names = names.Names()
        self._authority = authority
        self._tasks: set[asyncio.Task[None]] = set()
        self._count = 0
        self._datagrams = 0
        self._refused = 0
        self._outage = Outage()

    async def serve(self, control: int) -> None:
        """Until ``control`` (a pipe) is closed. A byte from it is a number: so many requests to each
        destination fail from then on.
        """
        loop = asyncio.get_running_loop()
        over = asyncio.Event()
        loop.add_reader(control, self._ordered, control, over)
        self._log.start()
        self._sockets.begin(loop)
        loop.add_reader(self._sockets.udp, self._datagram)
        for sock in self._sockets.local:
            loop.add_reader(sock, self._local_question, sock)
        for sock in self._sockets.tcp:
            loop.add_reader(sock, self._accept, sock)
        await over.wait()
        loop.remove_reader(control)
        await self._drain()
        self._log.end(connections=self._count, datagrams=self._datagrams, refused=self._refused)

    def _ordered(self, control: int, over: asyncio.Event) -> None:
        order = os.read(control, 1)
        if order:
            self._outage.begin(order[0])
        else:
            over.set()

    async def _drain(self) -> None:
        """The sandbox is dead: what it sent lies in our sockets' buffers, and no more comes."""
        self._sockets.rest()
        self._datagram()
        for sock in self._sockets.tcp:
            self._accept(sock)
        left = list(self._tasks)
        if left:
            _, late = await asyncio.wait(left, timeout=_LAST)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=_LAST)

    # --- datagrams

    def _local_question(self, sock: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                packet, peer = sock.recvfrom(65535)
                self._datagrams += 1
                answer = self._ask(packet, str(sock.getsockname()[0]), "udp")
                if answer:
                    with contextlib.suppress(OSError):
                        sock.sendto(answer, peer)

    def _datagram(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                packet, extra, _, peer = self._sockets.udp.recvmsg(65535, 256)
                where = _original(extra)
                self._datagrams += 1
                if where is None:
                    continue
                address, port = where
                answer = self._ask(packet, address, "udp") if port in (53, 5353) else None
                if answer is not None:
                    self._send_from(address, port, peer, answer)
                elif self._datagrams <= DATAGRAMS:
                    name = self._names.name_of(address)
                    data = packet[: 4 << 10]
                    self._log.say("udp", addr=address, port=port, name=name, size=len(packet), data=data)
                else:
                    self._log.dropped += 1

    def _ask(self, packet: bytes, server: str, proto: str) -> bytes | None:
        asked = names.question(packet)
        if asked is None:
            return None
        answer = names.reply(packet, asked, self._names)
        got = ""
        if asked.kind in (1, 28):
            got = str(ipaddress.ip_address(answer[-4:] if asked.kind == 1 else answer[-16:]))
        server = self._sockets.shown(server)
        self._log.say(
            "dns", server=server, proto=proto, name=asked.name, qtype=asked.qtype, raw=asked.raw, answer=got
        )
        return answer

    def _send_from(self, address: str, port: int, peer: Any, data: bytes) -> None:
        """A datagram that seems to come from where the question went."""
        to, to_port = _plain(peer[0]), peer[1]
        source, target = ipaddress.ip_address(address).packed, ipaddress.ip_address(to).packed
        body = struct.pack(">HHHH", port, to_port, 8 + len(data), 0) + data
        with contextlib.suppress(OSError):
            if len(source) == 4:
                head = struct.pack(">BBHHHBBH", 0x45, 0, 0, 0, 0, 64, 17, 0) + source + target
                self._sockets.raw4.sendto(head + body, (to, 0))
            else:
                total = _sum(source + target + struct.pack(">II", len(body), 17) + body)
                body = body[:6] + struct.pack(">H", total or 0xFFFF) + body[8:]
                head = struct.pack(">IHBB", 0x60000000, len(body), 17, 64) + source + target
                self._sockets.raw6.sendto(head + body, (to, 0))

    # --- connections

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                sock, peer = listener.accept()
                sock.setblocking(False)
                self._count += 1
                address, port = self._sockets.shown(_plain(sock.getsockname()[0])), sock.getsockname()[1]
                full = len(self._tasks) >= AT_ONCE or self._count > IN_ALL
                number = self._count
                name = self._names.name_of(address)
                told = self._log.say("connect", id=number, addr=address, port=port, name=name, source=peer[1])
                if full or not told or port in _RESET:
                    self._refused += int(port not in _RESET)
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    sock.close()
                    continue
                task = asyncio.get_running_loop().create_task(self._one(sock, number, address, port, name))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _one(self, sock: socket.socket, number: int, address: str, port: int, name: str) -> None:
        stream = Plain(sock)
        try:
            await self._talk(stream, number, name or address, port)
        except (OSError, EOFError, asyncio.CancelledError):
            pass
        finally:
            self._log.say("closed", id=number, size=stream.received)
            sock.close()

    async def _talk(
        self, stream: Stream, number: int, host: str, port: int, *, scheme: str = "http", depth: int = 0
    ) -> None:
        """Find out what is spoken, and speak it. ``depth``: tunnels and TLS layers around it."""
        if port in _BANNERS:
            if self._outage.next(host, port):
                return
            await stream.send(_BANNERS[port])
        first = await stream.recv(_FIRST)
        if not first:
            return
        if isinstance(stream, Plain) and port == 53:
            await self._resolver(stream, number, first)
        elif client_hello.looks_like_tls(first) and depth < _DEEP:
            inside, name = await self._secure(stream, number, host, first)
            if inside is not None:
                await self._talk(inside, number, name, port, scheme="https", depth=depth + 1)
        elif web.looks_like_http(first):
            stream.push_back(first)
            fails = functools.partial(self._outage.next, host, port)
            target = await web.answer_requests(stream, self._log, {"id": number, "scheme": scheme}, fails)
            if target is not None and depth < _DEEP:
                inner, _, its_port = target.rpartition(":")
                await self._talk(stream, number, inner.strip("[]") or host, _port(its_port), depth=depth + 1)
        elif port not in _BANNERS and self._outage.next(host, port):
            self._log.say("data", id=number, data=first[: self._log.keep])
        else:
            await self._raw(stream, number, port, first)

    async def _secure(
        self, stream: Stream, number: int, host: str, hello: bytes
    ) -> tuple[Secured | None, str]:
        """The stream inside, and the name that was wanted; None when the client does not go on."""
        wanted = client_hello.server_name(hello)
        while wanted is None and len(hello) < 1 << 16:
            more = await stream.recv(_IDLE)
            if not more:
                break
            hello += more
            wanted = client_hello.server_name(hello)
        stream.push_back(hello)
        name = wanted or host
        try:
            inside = Secured(stream, self._authority.context(name if _proper(name) else "sinkhole.invalid"))
            await inside.handshake(_FIRST)
        except (ssl.SSLError, EOFError) as error:
            self._log.say("tls", id=number, sni=wanted or "", ok=False, why=str(error)[:200])
            return None, name
        self._log.say("tls", id=number, sni=wanted or "", ok=True, why="")
        return inside, name

    async def _resolver(self, stream: Plain, number: int, first: bytes) -> None:
        """Questions over TCP: each with its length before it (RFC 1035, 4.2.2)."""
        data = first
        while True:
            while len(data) >= 2 and len(data) >= 2 + int.from_bytes(data[:2], "big"):
                size = int.from_bytes(data[:2], "big")
                answer = self._ask(data[2 : 2 + size], "tcp", "tcp")
                if answer is None:
                    self._log.say("data", id=number, data=data[: self._log.keep])
                    return
                await stream.send(struct.pack(">H", len(answer)) + answer)
                data = data[2 + size :]
            more = await stream.recv(_IDLE)
            if not more:
                return
            data += more

    async def _raw(self, stream: Stream, number: int, port: int, first: bytes) -> None:
        """Anything else: keep it; answer the commands of mail and file transfer, else say nothing."""
        kept = total = 0
        data: bytes | None = first
        mail = _Mail() if port in (21, 25, 587, 2525) else None
        try:
            while data:
                keep = self._log.keep
                if kept < keep:
                    self._log.say("data", id=number, data=data[: keep - kept])
                    kept += min(len(data), keep - kept)
                total += len(data)
                if mail is not None:
                    await stream.send(mail.answer(data))
                data = await stream.recv(_IDLE)
        finally:
            self._log.cut += int(total > kept)


class _Mail:
    """SMTP and FTP, as far as clients need to go on."""

    def __init__(self) -> None:
        self._in_text = False

    def answer(self, data: bytes) -> bytes:
        """What a server would say to these lines."""
        if self._in_text:
            if not data.endswith((b"\r\n.\r\n", b"\n.\n")):
                return b""
            self._in_text = False
            return b"250 queued\r\n"
        out = b""
        for line in data.splitlines():
            verb = line[:4].upper()
            if verb == b"DATA":
                self._in_text = True
                out += b"354 go on\r\n"
            elif verb == b"EHLO":
                out += b"250-mail\r\n250 AUTH PLAIN LOGIN\r\n"
            elif verb in (b"AUTH", b"PASS"):
                out += b"235 yes\r\n" if verb == b"AUTH" else b"230 yes\r\n"
            elif verb == b"USER":
                out += b"331 password\r\n"
            elif verb == b"PASV":
                out += b"227 Entering Passive Mode (198,18,0,1,40,10)\r\n"
            elif verb in (b"STOR", b"RETR"):
                out += b"150 go on\r\n226 done\r\n"
            elif verb == b"QUIT":
                out += b"221 bye\r\n"
            else:
                out += b"250 ok\r\n"
        return out


def _proper(name: str) -> bool:
    return bool(re.fullmatch(r"(?=.{1,253}\Z)[a-z0-9_*](?:[a-z0-9_.:-]*[a-z0-9])?", name))


def _port(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else 0


def _plain(address: str) -> str:
    return (
        address[len(_MAPPED) :]
        if address.startswith(_MAPPED) and "." in address
        else address.split("%", maxsplit=1)[0]
    )


def _original(extra: list[tuple[int, int, bytes]]) -> tuple[str, int] | None:
    """Where a datagram was meant to go, from its ancillary data (ip(7), ipv6(7))."""
    for level, kind, data in extra:
        if level == socket.IPPROTO_IP and kind == _IP_RECVORIGDSTADDR:
            return socket.inet_ntop(socket.AF_INET, data[4:8]), struct.unpack_from(">H", data, 2)[0]
        if level == socket.IPPROTO_IPV6 and kind == _IPV6_RECVORIGDSTADDR:
            return _plain(socket.inet_ntop(socket.AF_INET6, data[8:24])), struct.unpack_from(">H", data, 2)[0]
    return None


def _sum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    data += bytes(len(data) % 2)
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def run(out: int, control: int, sockets: Sockets, authority: tls.Authority) -> None:
    """Serve one sandbox; returns after the summary was written."""
    asyncio.run(Sinkhole(sockets, out, authority).serve(control))
    os.close(out)
