"""Many sinkholes behind one pair of pipes, each in its sandbox's network namespace.

stdin, one line each: ``ca BASE64`` (first; the authority's key and certificate), ``sink TOKEN PID`` (serve
the network namespace of that process), ``tunnel TOKEN`` (serve packets: a sandbox whose kernel is a program),
``packets TOKEN BASE64`` (each with its size before it, two bytes), ``fail TOKEN NUMBER`` (so many requests to
each destination fail from now on), ``stop TOKEN``. End of stdin: everything ends.

stdout, frames as of observer/many.py: TOKEN (16 bytes), one type byte, u32 big-endian length, payload.
``r`` ready · ``t`` log bytes · ``p`` packets for the sandbox · ``e`` it ended (payload: exit code, a space,
why).

One process for each sandbox. It enters the namespace, makes its sockets, and gives every privilege up
before it reads the first byte of anybody's.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import fcntl
import functools
import importlib
import os
import resource
import selectors
import signal
import socket
import struct
import sys
import time
from collections import deque
from typing import Any

_here = os.path.dirname(os.path.abspath(__file__))
if not __package__:  # started by path, in a container or beside bubblewrap
    sys.path.insert(0, os.path.dirname(_here))
_package = __package__ or os.path.basename(_here)
server = importlib.import_module(_package + ".server")
tls = importlib.import_module(_package + ".tls")
tunnel = importlib.import_module(_package + ".tunnel")

HEAD = struct.Struct(">16scI")
_CHUNK = 1 << 16
_MOST_WAITING = 16 << 20
_NEWUSER, _NEWNET = 0x10000000, 0x40000000
_NS_GET_USERNS = 0xB701
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
_NOBODY = 65534
_MAP_SECONDS = 3.0
_LIBC = ctypes.CDLL(None, use_errno=True)


class Mother:
    """Takes orders, forks, forwards."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self.children: dict[int, tuple[bytes, int, int]] = {}
        self.heard: set[int] = set()
        self.controls: dict[bytes, int] = {}
        self.lanes: dict[bytes, Lane] = {}
        self.orders = b""
        self.authority: Any = None

    def run(self) -> int:
        """Serve until stdin ends."""
        self.selector.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in self.selector.select():
                if key.fd == 0:
                    if not self._listen():
                        return 0
                elif key.data is not None:
                    key.data.turn()
                else:
                    self._forward(key.fd)

    def _listen(self) -> bool:
        data = os.read(0, _CHUNK)
        *lines, self.orders = (self.orders + data).split(b"\n")
        for line in lines:
            verb, *words = line.decode("ascii").split()
            if verb == "ca":
                self.authority = tls.Authority(base64.b64decode(words[0]))
                self.authority.context("sinkhole.invalid")
            elif verb == "sink":
                self._sink(bytes.fromhex(words[0]), functools.partial(_prepare, int(words[1])))
            elif verb == "tunnel":
                self._tunnel(bytes.fromhex(words[0]))
            elif verb == "packets":
                lane = self.lanes.get(bytes.fromhex(words[0]))
                if lane is not None:
                    lane.put(base64.b64decode(words[1]))
            elif verb == "fail":
                control = self.controls.get(bytes.fromhex(words[0]))
                if control is not None:
                    with contextlib.suppress(OSError):  # it has just ended
                        os.write(control, bytes([int(words[1])]))
            elif verb == "stop":
                self.stop(bytes.fromhex(words[0]))
            else:
                raise ValueError("not an order: " + repr(line[:80]))
        return bool(data)

    def stop(self, token: bytes) -> None:
        """The sandbox is dead: its process ends when it has taken in what is left."""
        lane = self.lanes.get(token)
        if lane is not None and lane.waiting:
            lane.last = True  # first what is on its way
            return
        control = self.controls.pop(token, None)
        if control is not None:
            os.close(control)

    def _tunnel(self, token: bytes) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        child = self._sink(token, functools.partial(_prepare_tunnel, theirs), ours)
        theirs.close()
        self.lanes[token] = Lane(self, token, ours, child)

    def _sink(self, token: bytes, prepare: Any, *ours: Any) -> int:
        out, into = os.pipe()
        stop, control = os.pipe()
        child = os.fork()
        if child == 0:
            code, why = 2, ""
            try:
                self.selector.close()
                os.close(out)
                os.close(control)
                lanes = (lane.link.fileno() for lane in self.lanes.values())
                for other in (0, *self.children, *self.controls.values(), *lanes):
                    with contextlib.suppress(OSError):
                        os.close(other)
                for link in ours:
                    link.close()
                sockets = prepare()
                server.run(into, stop, sockets, self.authority)
                code = 0
            except BaseException as error:
                why = "%s: %s" % (type(error).__name__, error)
            finally:
                with contextlib.suppress(OSError):
                    if why:
                        os.write(into, b"!" + why.encode("utf-8", "replace")[:500])
                os._exit(code)
        os.close(into)
        os.close(stop)
        self.controls[token] = control
        self.children[out] = (token, child, control)
        self.selector.register(out, selectors.EVENT_READ)
        return child

    def _forward(self, out: int) -> None:
        token, child, control = self.children[out]
        data = os.read(out, _CHUNK)
        if data and out not in self.heard and data[:1] != b"!":
            self.heard.add(out)
            _say(token, b"r", b"")
        if data and out in self.heard:
            _say(token, b"t", data)
            return
        self.selector.unregister(out)
        os.close(out)
        del self.children[out]
        self.heard.discard(out)
        if self.controls.pop(token, None) is not None:
            os.close(control)
        lane = self.lanes.pop(token, None)
        if lane is not None:
            lane.close()
        _, status = os.waitpid(child, 0)
        _say(token, b"e", str(os.waitstatus_to_exitcode(status)).encode() + b" " + data[1:])


class Lane:
    """Packets of one sandbox, to and from its process. Nobody waits for anybody; a sandbox that sends more
    than its process can take in loses that process, and with it the last line of its log: seen as a hole.
    """

    def __init__(self, mother: Mother, token: bytes, link: socket.socket, child: int) -> None:
        self.link = link
        self.waiting: deque[bytes] = deque()
        self.last = False
        self._mother, self._token, self._child = mother, token, child
        self._size = 0
        mother.selector.register(link, selectors.EVENT_READ, self)

    def put(self, packets: bytes) -> None:
        """For the process."""
        self._size += len(packets)
        if self._size > _MOST_WAITING:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child, signal.SIGKILL)
            self.waiting.clear()
            return
        self.waiting.append(packets)
        self._push()

    def turn(self) -> None:
        """Something can be read or written."""
        if self.link.fileno() < 0:  # closed a moment ago, by an event of the same round
            return
        try:
            while data := self.link.recv(_CHUNK):
                _say(self._token, b"p", data)
            self._mother.selector.unregister(self.link)  # it is dead; its other pipe tells the rest
        except BlockingIOError:
            self._push()
        except OSError:
            self._mother.selector.unregister(self.link)

    def close(self) -> None:
        """The process is dead. Further calls do nothing."""
        with contextlib.suppress(KeyError, ValueError):
            self._mother.selector.unregister(self.link)
        self.link.close()

    def _push(self) -> None:
        try:
            while self.waiting:
                self.link.send(self.waiting[0])
                self._size -= len(self.waiting.popleft())
        except BlockingIOError:
            pass
        except OSError:
            self.waiting.clear()
        with contextlib.suppress(KeyError):
            wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self.waiting else 0)
            self._mother.selector.modify(self.link, wanted, self)
        if self.last and not self.waiting:
            self.last = False
            self._mother.stop(self._token)


def _prepare_tunnel(link: socket.socket):  # type: ignore[no-untyped-def]  # as _prepare
    """A namespace of its own, joined to the sandbox by ``link``; privileges gone."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    sockets = tunnel.Tunnelled(link)
    _give_up()
    return sockets


def _prepare(pid: int):  # type: ignore[no-untyped-def]  # server.Sockets, whose module has two names
    """Into the namespace of ``pid``, sockets made, privileges gone."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    network = os.open("/proc/%d/ns/net" % pid, os.O_RDONLY)
    owner = fcntl.ioctl(network, _NS_GET_USERNS)
    if os.fstat(owner).st_ino != os.stat("/proc/self/ns/user").st_ino:
        _enter(owner, _NEWUSER)
    if os.fstat(network).st_ino == os.stat("/proc/self/ns/net").st_ino:
        raise OSError("the sandbox has no network of its own")
    _enter(network, _NEWNET)
    os.close(network)
    os.close(owner)
    sockets = server.Sockets()
    _give_up()
    return sockets


def _mapped(kind: str) -> int:
    """Nobody's number; inside a user namespace that knows a single one, that."""
    until = time.monotonic() + _MAP_SECONDS
    while True:
        with open("/proc/self/%s_map" % kind, encoding="ascii") as file:
            words = file.readline().split()
        if words:
            return _NOBODY if int(words[2]) > _NOBODY else int(words[0])
        # The sandbox tells its process before it has written the map of its namespace.
        if time.monotonic() >= until:
            raise OSError("the sandbox's user namespace has no %s map" % kind)
        time.sleep(0.005)


def _enter(fd: int, kind: int) -> None:
    if _LIBC.setns(fd, kind) != 0:
        code = ctypes.get_errno()
        raise OSError(code, "cannot enter a namespace: " + os.strerror(code))


def _give_up() -> None:
    """No privilege is left, and none can come back."""
    for number in range(64):
        _LIBC.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    with contextlib.suppress(OSError):
        os.setgroups([])
    with contextlib.suppress(OSError):  # an ordinary user stays who he is
        group, user = _mapped("gid"), _mapped("uid")
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    header = struct.pack("=Ii", 0x20080522, 0)
    if _LIBC.capset(header, bytes(24)) != 0:
        raise OSError(ctypes.get_errno(), "cannot drop privileges")
    _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # a change of user clears it
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (512 << 20, 512 << 20))


def _say(token: bytes, kind: bytes, payload: bytes) -> None:
    data = memoryview(HEAD.pack(token, kind, len(payload)) + payload)
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    sys.exit(Mother().run())
