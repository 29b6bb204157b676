"""Makes every address local and hands every packet to one port, by netlink(7); no program is started.

In a network namespace that has loopback only: the loopback goes up and gets the address of an ordinary
machine, both default routes become ``local`` ones, and a transparent-proxy rule (``tproxy``, nft(8)) gives
all TCP and UDP that is meant for another machine to our two sockets with its original destination kept. Needs
CAP_NET_ADMIN over the namespace, and the kernel's nft_tproxy.
"""

from __future__ import annotations

import errno
import os
import socket
import struct

MTU = 32000
"""Of an interface behind which a sandbox is."""
OWN4, OWN6 = "10.0.2.15", "fd00:2::15"
"""What the sandbox takes for its own addresses: those of an everyday virtual machine."""

_REQUEST, _ACK, _CREATE, _APPEND = 0x1, 0x4, 0x400, 0x800
_NEWLINK, _NEWADDR, _NEWROUTE = 16, 20, 24
_LOCAL_TABLE, _MAIN_TABLE, _RTN_UNICAST, _RTN_LOCAL, _SCOPE_HOST = 255, 254, 1, 2, 254
_IFF_UP = 1
_NFT = 10 << 8
_NEWTABLE, _NEWCHAIN, _NEWRULE = _NFT, _NFT | 3, _NFT | 6
_BATCH_BEGIN, _BATCH_END = 16, 17
_NF_ACCEPT = 1
_EQ, _GTE = 0, 5
_PREROUTING, _MANGLE = 0, -150


class NetworkError(OSError):
    """The namespace cannot be set up; the text says which step failed."""


def attr(kind: int, payload: bytes) -> bytes:
    """One attribute, padded to four bytes."""
    return struct.pack("=HH", 4 + len(payload), kind) + payload + bytes(-len(payload) % 4)


def nest(kind: int, *attrs: bytes) -> bytes:
    """An attribute that holds attributes."""
    return attr(kind | 0x8000, b"".join(attrs))


def message(kind: int, flags: int, seq: int, payload: bytes) -> bytes:
    """One netlink message."""
    return struct.pack("=IHHII", 16 + len(payload), kind, flags, seq, 0) + payload


def send_messages(family: int, messages: bytes, wanted: int, what: str) -> None:
    """Send, then read ``wanted`` acknowledgements. Raises NetworkError for the first that is an error."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, family) as link:
        link.settimeout(5)
        link.bind((0, 0))
        link.send(messages)
        while wanted > 0:
            data = link.recv(1 << 16)
            while len(data) >= 16:
                size, kind = struct.unpack_from("=IH", data)
                if kind == 2:  # NLMSG_ERROR, 0 is success
                    code = -struct.unpack_from("=i", data, 16)[0]
                    if code and code != errno.EEXIST:
                        raise NetworkError(code, what + ": " + os.strerror(code))
                    wanted -= 1
                data = data[(size + 3) & ~3 :]


def set_up(port: int, beyond: int = 0) -> None:
    """All of it for the current namespace. ``port``: where both sockets listen. ``beyond``: the index of the
    interface behind which the sandbox is, and its addresses are; 0: they are here. Raises NetworkError.
    """
    index = socket.if_nametoindex("lo")
    up = struct.pack("=BxHiII", 0, 0, index, _IFF_UP, _IFF_UP)
    send_messages(socket.NETLINK_ROUTE, message(_NEWLINK, _REQUEST | _ACK, 1, up), 1, "loopback up")
    if beyond:
        up = struct.pack("=BxHiII", 0, 0, beyond, _IFF_UP, _IFF_UP) + attr(4, struct.pack("=I", MTU))
        send_messages(socket.NETLINK_ROUTE, message(_NEWLINK, _REQUEST | _ACK, 1, up), 1, "interface up")
    for family, own, bits in ((socket.AF_INET, OWN4, 32), (socket.AF_INET6, OWN6, 128)):
        raw = socket.inet_pton(family, own)
        head = struct.pack("=BBBBi", family, bits, 0x02, 0, index)  # IFA_F_NODAD
        body = head + attr(1, raw) + attr(2, raw)
        flags = _REQUEST | _ACK | _CREATE
        if beyond:
            route = struct.pack("=BBBBBBBBI", family, bits, 0, 0, _MAIN_TABLE, 3, 0, _RTN_UNICAST, 0)
            body = route + attr(1, raw) + attr(4, struct.pack("=i", beyond))  # RTA_DST, RTA_OIF
            send_messages(socket.NETLINK_ROUTE, message(_NEWROUTE, flags, 2, body), 1, "route to " + own)
        else:
            send_messages(socket.NETLINK_ROUTE, message(_NEWADDR, flags, 2, body), 1, "address " + own)
        route = struct.pack("=BBBBBBBBI", family, 0, 0, 0, _MAIN_TABLE, 3, _SCOPE_HOST, _RTN_LOCAL, 0)
        if family == socket.AF_INET6:
            route = struct.pack("=BBBBBBBBI", family, 0, 0, 0, _MAIN_TABLE, 3, 0, _RTN_LOCAL, 0)
        body = route + attr(4, struct.pack("=i", index))  # RTA_OIF
        body += b"" if beyond else attr(7, raw)  # RTA_PREFSRC
        send_messages(socket.NETLINK_ROUTE, message(_NEWROUTE, flags, 3, body), 1, "route for everything")
    _divert(port)


def _divert(port: int) -> None:
    """The rules: own addresses and multicast go their ordinary way, everything else to the port."""
    batch = [message(_BATCH_BEGIN, _REQUEST, 0, _nfgen(0, _NFT >> 8))]
    asked = 0

    def add(kind: int, family: int, body: bytes) -> None:
        nonlocal asked
        asked += 1
        batch.append(message(kind, _REQUEST | _ACK | _CREATE | _APPEND, asked, _nfgen(family, 0) + body))

    table, chain = attr(1, b"gate\0"), b"diverted\0"
    for family, at, local, own, many in (
        (2, 16, b"\x7f", socket.inet_pton(socket.AF_INET, OWN4), b"\xe0"),
        (10, 24, bytes(15) + b"\1", socket.inet_pton(socket.AF_INET6, OWN6), b"\xff"),
    ):
        add(_NEWTABLE, family, table)
        hook = nest(4, attr(1, struct.pack(">I", _PREROUTING)), attr(2, struct.pack(">i", _MANGLE)))
        add(_NEWCHAIN, family, table + attr(3, chain) + hook + attr(7, b"filter\0"))
        for value, how in ((local, _EQ), (own, _EQ), (many, _GTE)):
            add(_NEWRULE, family, _rule(chain, _destination(at, value, how), _verdict(_NF_ACCEPT)))
        for protocol in (socket.IPPROTO_TCP, socket.IPPROTO_UDP):
            add(_NEWRULE, family, _rule(chain, _protocol(protocol), _hand_to(family, port)))
    batch.append(message(_BATCH_END, _REQUEST, 0, _nfgen(0, _NFT >> 8)))
    send_messages(
        12, b"".join(batch), asked, "diverting rules (the kernel needs nft_tproxy)"
    )  # NETLINK_NETFILTER


def _nfgen(family: int, resource: int) -> bytes:
    return struct.pack(">BBH", family, 0, resource)


def _number(value: int) -> bytes:
    return struct.pack(">I", value)


def _rule(chain: bytes, *parts: bytes) -> bytes:
    return attr(1, b"gate\0") + attr(2, chain) + nest(4, *parts)


def _expression(name: bytes, *attrs: bytes) -> bytes:
    return nest(1, attr(1, name + b"\0"), nest(2, *attrs))


def _compare(value: bytes, how: int) -> bytes:
    return _expression(b"cmp", attr(1, _number(1)), attr(2, _number(how)), nest(3, attr(1, value)))


def _destination(at: int, value: bytes, how: int) -> bytes:
    load = _expression(
        b"payload",
        attr(1, _number(1)),
        attr(2, _number(1)),
        attr(3, _number(at)),
        attr(4, _number(len(value))),
    )
    return load + _compare(value, how)


def _protocol(number: int) -> bytes:
    return _expression(b"meta", attr(1, _number(1)), attr(2, _number(16))) + _compare(bytes([number]), _EQ)


def _verdict(code: int) -> bytes:
    return _expression(b"immediate", attr(1, _number(0)), nest(2, nest(2, attr(1, _number(code)))))


def _hand_to(family: int, port: int) -> bytes:
    load = _expression(b"immediate", attr(1, _number(1)), nest(2, attr(1, struct.pack(">H", port))))
    give = _expression(b"tproxy", attr(1, _number(family)), attr(3, _number(1)))
    return load + give + _verdict(_NF_ACCEPT)
