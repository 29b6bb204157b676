"""What a run's network calls come to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gate.inside.observer.text import text_of
from gate.model.canary import Canary
from gate.tracing.behaviour.addresses import endpoint_text, reach
from gate.tracing.behaviour.dns_query import query_name
from gate.tracing.behaviour.network import NetView
from gate.tracing.readers.sinkhole import SinkholeLog
from tests.unit.tracing.trace_builder import Trace, told


def query(name: str, qtype: int = 1) -> bytes:
    labels = b"".join(bytes([len(p)]) + p.encode() for p in name.split("."))
    return (
        b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
        + labels
        + b"\0"
        + qtype.to_bytes(2, "big")
        + b"\0\x01"
    )


def ask(trace: Trace, name: str, qtype: int = 1) -> Trace:
    trace.net("connect", "127.0.0.11", 53, proto="udp")
    return trace.net("sendmmsg", "127.0.0.11", 53, proto="udp", size=40, head=text_of(query(name, qtype)))


@pytest.mark.parametrize(
    ("address", "where"),
    [
        ("127.0.0.1", "loopback"),
        ("127.9.9.9", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("0.0.0.0", "none"),
        ("::", "none"),
        ("10.1.2.3", "private"),
        ("192.168.0.1", "private"),
        ("fd00::1", "private"),
        ("169.254.169.254", "metadata"),
        ("fd00:ec2::254", "metadata"),
        ("169.254.7.7", "local"),
        ("fe80::1", "local"),
        ("224.0.0.251", "local"),
        ("255.255.255.255", "local"),
        ("203.0.113.7", "outside"),
        ("2001:db8::1", "outside"),
        ("8.8.8.8", "outside"),
        ("no address", "outside"),
    ],
)
def test_reach(address: str, where: str) -> None:
    assert reach(address) == where


def test_shown() -> None:
    assert endpoint_text("203.0.113.7", 443) == "203.0.113.7:443"
    assert endpoint_text("2001:db8::1", 443) == "[2001:db8::1]:443"
    assert endpoint_text("203.0.113.7", None) == "203.0.113.7"
    assert endpoint_text("127.0.0.1", 43210) == "loopback:*"
    assert endpoint_text("0.0.0.0", 8080) == "any:8080"


def test_a_connection_outward(tmp_path: Path) -> None:
    [seen] = Trace().net("connect", "203.0.113.7", 4444).seen(tmp_path)
    assert (seen.kind.value, seen.subject, seen.actor) == ("connect", "203.0.113.7:4444", "python")
    assert dict(seen.detail) == {"reach": "outside", "proto": "tcp", "port": "4444"}


def test_a_test_server_is_its_own_peer(tmp_path: Path) -> None:
    trace = (
        Trace().net("bind", "127.0.0.1", 0).net("bind", "127.0.0.1", 8765).net("listen", "127.0.0.1", 8765)
    )
    trace.net("connect", "127.0.0.1", 8765).net("connect", "::1", 54321)
    seen = {line: b for b in trace.seen(tmp_path) for line in told((b,))}
    assert set(seen) == {"listen loopback:8765", "connect loopback:*"}
    assert seen["connect loopback:*"].detail["own"] == "yes"


def test_elsewhere_the_port_of_a_test_server_is_chance(tmp_path: Path) -> None:
    trace = Trace().net("listen", "127.0.0.1", 41837).net("connect", "240.0.0.0", 41837)
    trace.net("listen", "0.0.0.0", 443).net("connect", "203.0.113.7", 443).net(
        "connect", "203.0.113.7", 41838
    )
    connects = [line for line in told(trace.seen(tmp_path)) if line.startswith("connect")]
    assert connects == ["connect 203.0.113.7:41838", "connect 203.0.113.7:443", "connect 240.0.0.0"]


def test_listening(tmp_path: Path) -> None:
    trace = Trace().net("listen", "0.0.0.0", 4444).net("bind", "0.0.0.0", 5353, proto="udp").net("listen")
    trace.net("bind", "0.0.0.0", 0, proto="udp")
    assert told(trace.seen(tmp_path)) == ["listen any:4444", "listen any:5353"]


def test_getaddrinfo_asking_for_routes_is_no_connection(tmp_path: Path) -> None:
    trace = Trace().net("connect", "203.0.113.7", 0, proto="udp").net("connect", "0.0.0.0", 0, proto="udp")
    trace.net("connect", family="AF_UNSPEC", proto="udp")
    assert trace.seen(tmp_path) == ()


def test_raw_without_a_port_is_a_connection(tmp_path: Path) -> None:
    assert told(Trace().net("connect", "203.0.113.7", 0, proto="raw").seen(tmp_path)) == [
        "connect 203.0.113.7:0"
    ]


def test_a_datagram(tmp_path: Path) -> None:
    trace = Trace().net("sendto", "203.0.113.7", 9999, proto="udp", size=5, head="hello")
    trace.net("sendto", "127.0.0.1", 5388, proto="udp", size=90000, head="x" * 256)
    first, second = trace.seen(tmp_path)
    assert (first.subject, first.detail["head"], first.detail["size"]) == ("203.0.113.7:9999", "hello", "5")
    assert (second.subject, second.detail["reach"]) == ("loopback:5388", "loopback")


def test_sends_on_a_connection_are_told_with_the_connection(tmp_path: Path) -> None:
    trace = Trace().net("connect", "203.0.113.7", 80).net("sendmsg", "203.0.113.7", 80, size=3, head="GET")
    trace.net("sendmsg", size=3, head="GET")
    assert told(trace.seen(tmp_path)) == ["connect 203.0.113.7:80"]


def test_names_are_told_instead_of_name_servers(tmp_path: Path) -> None:
    trace = ask(ask(Trace(), "C2.Example"), "c2.example", 28)
    [seen] = trace.seen(tmp_path)
    assert (seen.kind.value, seen.subject, seen.count) == ("dns", "c2.example", 2)
    assert seen.detail["name"] == "c2.example"
    assert seen.detail["server"] == "loopback:53"


def test_a_look_up_whose_name_is_not_seen(tmp_path: Path) -> None:
    trace = Trace().net("connect", "127.0.0.11", 53, proto="udp")
    assert told(trace.seen(tmp_path)) == ["dns ?"]
    trace.net("sendto", "127.0.0.11", 53, proto="udp", head="garbage")
    assert told(trace.seen(tmp_path)) == ["dns ?"]


def test_tunnelled_names_are_folded(tmp_path: Path) -> None:
    trace = Trace()
    for number in range(50):
        ask(trace, f"part-{chr(97 + number // 26)}{chr(97 + number % 26)}.t.example")
    seen = {b.subject: b.count for b in trace.seen(tmp_path)}
    assert len(seen) == 31
    assert seen["*.t.example"] == 20


def test_chance_parts_of_names_are_told_and_have_a_shape(tmp_path: Path) -> None:
    (seen,) = ask(Trace(), "9f86d081884c7d65.t.example").seen(tmp_path)
    assert (seen.subject, seen.shape) == ("9f86d081884c7d65.t.example", "*.t.example")
    assert seen.key == ("dns", "*.t.example", seen.actor)


def test_many_names_of_one_shape_become_one(tmp_path: Path) -> None:
    trace = Trace()
    for number in range(100, 200):
        ask(trace, f"s{number}.t{number}.example")
    seen = {b.subject: b.count for b in trace.seen(tmp_path)}
    assert len(seen) == 31
    assert seen["s*.t*.example"] == 70


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"\x12\x34" * 8,
        query("a.b")[:14],
        b"\x12\x34\x81" + query("a.b")[3:],
        b"\x12\x34\x01\x00\x00\x00" + query("a.b")[6:],
        query("a.b")[:12] + b"\xc0\x0c\0\0\0\0\0\0",
        query("a.b")[:12] + b"\x01a" * 300,
        query("a.b")[:17][:-1],
    ],
)
def test_what_is_no_query(packet: bytes) -> None:
    assert query_name(packet) is None


def test_queries() -> None:
    assert query_name(query("WWW.Example", 28)) == ("www.example", "AAAA")
    assert query_name(query("x", 999)) == ("x", "999")
    assert query_name(query("a.b")[:12] + b"\0\0\x02\0\x01") == (".", "NS")
    assert query_name(query("a.b")[:12] + b"\x03a\n.\0\0\x01\0\x01") == ("a??", "A")


def test_local_sockets(tmp_path: Path) -> None:
    trace = Trace()
    for path in (
        "/tmp/x.sock",
        "@abstract",
        "/var/run/nscd/socket",
        "/dev/log",
        "",
        "/work/tree/s",
        "/proc/self/x",
    ):
        trace.net("connect", path, family="AF_UNIX", proto="")
    trace.net("listen", "/srv/x.sock", family="AF_UNIX", proto="")
    trace.net("connect", "/var/run/docker.sock", family="AF_UNIX", proto="")
    trace.net("bind", "/srv/x.sock", family="AF_UNIX", proto="")
    trace.net("connect", "/run/gate/observer.sock", family="AF_UNIX", proto="")
    trace.net("bind", "0:0", family="AF_NETLINK", proto="")
    trace.net("connect", "2", 1024, family="AF_VSOCK", proto="")
    seen = told(trace.seen(tmp_path))
    assert [line for line in seen if "dev/log" not in line] == [
        "connect AF_VSOCK:2:1024",
        "connect unix:/var/run/docker.sock",
        "evade talks to the gate's sockets",
        "listen unix:/srv/x.sock",
    ]


def test_sockets_that_see_other_peoples_traffic(tmp_path: Path) -> None:
    trace = Trace().socket("AF_INET").socket("AF_UNIX").socket("AF_NETLINK", "SOCK_RAW")
    trace.socket("AF_PACKET", "SOCK_RAW", denied=True).socket("AF_INET", "SOCK_RAW").socket("AF_BLUETOOTH")
    assert told(trace.seen(tmp_path)) == [
        "denied socket AF_BLUETOOTH",
        "denied socket AF_INET raw",
        "denied socket AF_PACKET",
    ]


def test_a_foreign_abi(tmp_path: Path) -> None:
    assert "evade foreign-abi x32" in told(Trace().net("connect", "203.0.113.7", 1, abi="x32").seen(tmp_path))


CANARY = Canary(
    name="aws", path="/work/home/.aws/credentials", secrets=("AKIA7Q3ZK5M2XW8RT4YU", "wJalrXUtnFEMIK7MDENG")
)


def canaries(trace: Trace, folder: Path) -> dict[str, dict[str, str]]:
    return {b.subject: dict(b.detail) for b in trace.seen(folder, (CANARY,)) if b.kind.value == "canary"}


def test_read_then_network(tmp_path: Path) -> None:
    before = Trace().net("connect", "203.0.113.7", 443).open("/work/home/.aws/credentials")
    assert set(canaries(before, tmp_path)) == {"aws"}
    after = Trace().open("/work/home/.aws/credentials").net("connect", "203.0.113.7", 443)
    seen = canaries(after, tmp_path)
    assert seen["aws then network"]["to"] == "203.0.113.7:443"
    assert seen["aws then network"]["reader"] == "python"
    for quiet in (("connect", "127.0.0.1", 5432, "tcp"), ("connect", "203.0.113.7", 9, "udp")):
        local = Trace().open("/work/home/.aws/credentials").net(*quiet[:3], proto=quiet[3])
        assert set(canaries(local, tmp_path)) == {"aws"}


def test_read_then_a_name_look_up_or_a_datagram(tmp_path: Path) -> None:
    for trace in (
        ask(Trace().open("/work/home/.aws/credentials"), "c2.example"),
        Trace().open("/work/home/.aws/credentials").net("connect", "127.0.0.11", 53, proto="udp"),
        Trace().open("/work/home/.aws/credentials").net("sendto", "203.0.113.7", 9, proto="udp", head="x"),
    ):
        assert "aws then network" in canaries(trace, tmp_path)


def test_a_secret_in_datagrams_split_over_several(tmp_path: Path) -> None:
    trace = Trace()
    for piece in ("AKIA7Q", "3ZK5M2", "3ZK5M2", "XW8RT4YU"):
        trace.net("sendto", "203.0.113.7", 9, proto="udp", size=6, head=piece)
    assert canaries(trace, tmp_path)["aws in net 203.0.113.7:9"]["encoding"] == "raw"


def test_a_secret_in_dns_labels(tmp_path: Path) -> None:
    digits = b"wJalrXUtnFEMIK7MDENG".hex()
    trace = Trace()
    for start in range(0, len(digits), 10):
        ask(
            ask(trace, f"{digits[start : start + 10]}.t.example"),
            f"{digits[start : start + 10]}.t.example",
            28,
        )
    assert canaries(trace, tmp_path)["aws in dns t.example"]["encoding"] == "hex"


def test_a_secret_sent_to_ones_own_machine_does_not_leave(tmp_path: Path) -> None:
    trace = Trace().net("sendto", "127.0.0.1", 9, proto="udp", head="AKIA7Q3ZK5M2XW8RT4YU")
    assert canaries(trace, tmp_path) == {}


def test_a_secret_smuggled_to_the_name_server(tmp_path: Path) -> None:
    trace = Trace().net("sendto", "198.51.100.1", 53, proto="udp", head="AKIA7Q3ZK5M2XW8RT4YU")
    assert "aws in net 198.51.100.1:53" in canaries(trace, tmp_path)


def test_secrets_in_output(tmp_path: Path) -> None:
    trace = Trace()
    seen = trace.seen(tmp_path, (CANARY,), stdout=b"key=AKIA7Q3ZK5M2XW8RT4YU", stderr=b"GNEDM7KIMEFntUXrlaJw")
    assert {b.subject: b.detail["encoding"] for b in seen} == {
        "aws in stdout": "raw",
        "aws in stderr": "reversed",
    }


def test_more_destinations_than_kept_share_one_channel(tmp_path: Path) -> None:
    trace = Trace()
    for number in range(200):
        trace.net("sendto", f"203.0.113.{number}", 9, proto="udp", head=f"hello{number}")
    trace.net("sendto", "198.51.100.7", 9, proto="udp", head="AKIA7Q3ZK5M2XW8RT4YU")
    assert "aws in net *" in canaries(trace, tmp_path)


def test_port_53_is_no_cover(tmp_path: Path) -> None:
    """A stream to port 53, or a datagram with more than a question, is not hidden by a look-up."""
    stream = ask(Trace().net("connect", "203.0.113.7", 53), "x.local")
    assert told(stream.seen(tmp_path)) == ["connect 203.0.113.7:53", "dns x.local"]
    chosen = Trace().net("sendto", "203.0.113.7", 53, proto="udp", head=text_of(query("local") + b"data"))
    assert told(chosen.seen(tmp_path)) == ["dns local", "send 203.0.113.7:53"]
    silent = ask(Trace().net("connect", "203.0.113.7", 53, proto="udp"), "x.local")
    assert told(silent.seen(tmp_path)) == ["dns ? of 203.0.113.7:53", "dns x.local"]


@pytest.mark.parametrize(
    ("address", "shown", "where"),
    [
        ("127.0.0.1", "loopback:*", "loopback"),
        ("::1", "loopback:*", "loopback"),
        ("198.18.0.9", "a.example:41000", "outside"),
    ],
)
def test_localhost_asked_of_the_name_server_is_this_machine(address: str, shown: str, where: str) -> None:
    """A client asks for `localhost.` in its tests: the answer made their servers a stranger's machine."""
    given = {"127.0.0.1": "localhost", "::1": "localhost", "198.18.0.9": "a.example"}
    nobody: Any = None
    view = NetView(nobody, nobody, nobody, nobody, SinkholeLog(names=given))
    assert view.whereabouts(address, 41_000)[:2] == (where, shown)
