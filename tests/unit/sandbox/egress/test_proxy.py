"""The way out of set-up: what it lets through, and the ways around it that others have fallen for (IS-5)."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import UsageError
from gate.model.behaviour import BehaviourKind
from gate.model.run import Completeness, Outcome, Probe, RunRecord
from gate.sandbox.egress.proxy import Allowed, Proxy, RefusedError, canonical, public
from gate.sandbox.egress.rules import ConfiguredHost, metadata, parse
from gate.sandbox.egress.upstream import Upstreams
from gate.tracing.behaviour.reduction import behaviours
from tests.package_index import serving

ALLOWED = Allowed.of(["index.example", "*.files.example"], [443])
PUBLIC = "93.184.216.34"


async def _nowhere(host: str, port: int) -> list[str]:
    """What the allowed names resolve to here: a closed port of nobody's, never asked of a real server."""
    raise OSError("no such host")


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with Proxy(ALLOWED, resolver=_nowhere, listen=True) as running:
        yield running


def _ask(proxy: Proxy, head: bytes, then: bytes = b"") -> bytes:
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=5) as link:
        link.sendall(head)
        answer = link.recv(4096)
        if then:
            link.sendall(then)
            answer += link.recv(4096)
        return answer


def _run(proxy: Proxy) -> RunRecord:
    """The installing run that made these attempts."""
    probe = Probe(id="i", phase="install", target="install", path=None, argv=("pip",), driver=False)
    return RunRecord(
        probe=probe,
        side="head",
        outcome=Outcome.EXITED_NONZERO,
        exit_code=1,
        seconds=1.0,
        peak_memory=None,
        completed=True,
        trace=None,
        completeness=Completeness(),
        refused=tuple(proxy.refusals),
    )


def _connect(place: bytes, *headers: bytes) -> bytes:
    return b"CONNECT " + place + b" HTTP/1.1\r\n" + b"".join(h + b"\r\n" for h in headers) + b"\r\n"


BYPASSES = {
    "another-host": _connect(b"attacker.example:443"),
    "suffix-without-dot": _connect(b"evilindex.example:443"),
    "suffix-appended": _connect(b"index.example.attacker.example:443"),
    "prefix": _connect(b"index.example-attacker.example:443"),
    "wildcard-itself": _connect(b"files.example:443"),
    "wildcard-suffix": _connect(b"evilfiles.example:443"),
    "below-an-exact-name": _connect(b"a.index.example:443"),
    "another-port": _connect(b"index.example:22"),
    "port-zero": _connect(b"index.example:0"),
    "port-too-large": _connect(b"index.example:65979"),
    "port-signed": _connect(b"index.example:+443"),
    "port-words": _connect(b"index.example:https"),
    "nul-in-name": _connect(b"attacker.example\0.index.example:443"),
    "nul-before-suffix": _connect(b"attacker.example\0index.example:443"),
    "control-character": _connect(b"index.example\x0b:443"),
    "percent-nul": _connect(b"attacker.example%00.files.example:443"),
    "underscore": _connect(b"a_b.files.example:443"),
    "user-part": _connect(b"index.example@attacker.example:443"),
    "metadata-address": _connect(b"169.254.169.254:80"),
    "metadata-at-443": _connect(b"169.254.169.254:443"),
    "loopback": _connect(b"127.0.0.1:443"),
    "loopback-decimal": _connect(b"2130706433:443"),
    "loopback-hex": _connect(b"0x7f.0.0.0x1:443"),
    "loopback-name": _connect(b"localhost:443"),
    "ipv6-loopback": _connect(b"[::1]:443"),
    "ipv6-mapped": _connect(b"[::ffff:10.0.0.1]:443"),
    "ipv6-bare": _connect(b"::1:443"),
    "direct-address": _connect(b"203.0.113.7:443"),
    "two-dots-at-the-end": _connect(b"index.example..:443"),
    "empty-label": _connect(b".files.example:443"),
    "full-width-letters": _connect("\uff49ndex.example:443".encode()),
    "kelvin-sign": _connect("a.files.example\u212a:443".encode()),
    "plain-http": b"GET http://index.example/ HTTP/1.1\r\nHost: index.example\r\n\r\n",
    "post-absolute": b"POST http://169.254.169.254/latest HTTP/1.1\r\nHost: index.example\r\n\r\n",
    "other-host-header": _connect(b"index.example:443", b"Host: attacker.example"),
    "space-in-target": _connect(b"index.example:443 attacker.example:443"),
}


@pytest.mark.parametrize("name", BYPASSES)
def test_a_way_around_is_refused_and_told(name: str, proxy: Proxy) -> None:
    assert _ask(proxy, BYPASSES[name]).startswith(b"HTTP/1.1 403 ")
    assert len(proxy.refusals) == 1
    (told,) = [b for b in behaviours(_run(proxy)) if b.kind is BehaviourKind.CONNECT]
    assert told.denied
    assert told.detail["why"]


@pytest.mark.parametrize("place", [b"index.example:443", b"INDEX.Example.:443", b"a.b.files.example:443"])
def test_the_same_name_in_another_writing_is_looked_up(place: bytes, proxy: Proxy) -> None:
    _ask(proxy, _connect(place))
    assert not proxy.refusals  # it came as far as the look-up
    assert "no such host" in proxy.failures[0]


@pytest.mark.parametrize(
    "address",
    [
        *("10.0.0.8", "127.0.0.1", "169.254.169.254", "192.168.1.1", "100.64.0.1", "0.0.0.0", "224.0.0.1"),
        *("::1", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::", "fd00:ec2::254"),
    ],
)
def test_a_name_that_leads_inside_is_refused(address: str) -> None:
    async def inside(host: str, port: int) -> list[str]:
        return [PUBLIC, address]  # one good one does not help

    with Proxy(ALLOWED, resolver=inside, listen=True) as proxy:
        assert _ask(proxy, _connect(b"index.example:443")).startswith(b"HTTP/1.1 403 ")
        assert "not public" in proxy.refusals[0].why
    assert not public(address)


def _hello(name: str) -> bytes:
    out = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return out.read()


@pytest.mark.parametrize(
    ("first", "why"),
    [
        (_hello("attacker.example"), "another one"),
        (b"GET / HTTP/1.1\r\nHost: attacker.example\r\n\r\n", "not TLS"),
        (b"SSH-2.0-x\r\n", "not TLS"),
    ],
    ids=["fronting", "plain-text", "ssh"],
)
def test_what_follows_must_be_tls_for_the_same_name(first: bytes, why: str) -> None:
    async def outside(host: str, port: int) -> list[str]:
        return [PUBLIC]

    with Proxy(ALLOWED, resolver=outside, listen=True) as proxy:
        assert _ask(proxy, _connect(b"index.example:443"), first).startswith(b"HTTP/1.1 200 ")
    assert why in proxy.refusals[0].why
    assert not proxy.served


def test_an_empty_list_allows_nothing() -> None:
    with Proxy(Allowed.of([], [443]), resolver=_nowhere, listen=True) as proxy:
        assert _ask(proxy, _connect(b"index.example:443")).startswith(b"HTTP/1.1 403 ")


def test_the_shipped_rules_are_read() -> None:
    allowed = Allowed.load()
    assert allowed.hosts
    assert allowed.ports == {443}


@pytest.mark.parametrize(
    "text", ["", "version = 2\nhosts = []\nports = []", "version = 1\nhosts = ['10.0.0.1']\nports = []"]
)
def test_bad_rules_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "egress.toml"
    path.write_text(text)
    with pytest.raises(UsageError):
        Allowed.load(path)


@given(st.text(max_size=80))
def test_a_canonical_name_is_plain_and_stays_itself(text: str) -> None:
    try:
        name = canonical(text)
    except RefusedError:
        return
    assert canonical(name) == name == canonical(name.upper() + ".")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")


def test_attempts_are_named_as_they_were_written(proxy: Proxy) -> None:
    _ask(proxy, b"GET http://cdn.attacker.example/x.whl HTTP/1.1\r\nHost: cdn.attacker.example\r\n\r\n")
    _ask(proxy, _connect(b"evil.attacker.example:8443"))
    _ask(proxy, b"\x16\x03\x01 not a request\r\n\r\n")
    assert [r.asked for r in proxy.refusals] == [
        "cdn.attacker.example:80",
        "evil.attacker.example:8443",
        "?",
    ]


def test_an_own_place_may_be_inside_and_without_tls() -> None:
    with serving() as index:
        index.files["a-1.whl"] = b"wheel" * 40_000
        own = ConfiguredHost.of(index.place, inside=True)
        with Proxy(Allowed.of([], [443], [own])) as proxy, proxy.dial() as link:
            link.settimeout(5)
            head = f"GET {index.place}/files/a-1.whl HTTP/1.1\r\nHost: 127.0.0.1:{index.port}\r\n"
            # a second request behind the first one goes nowhere
            again = f"GET {index.place}/second HTTP/1.1\r\nHost: 127.0.0.1:{index.port}\r\n\r\n"
            link.sendall(f"{head}X-Smuggled: 1\r\n\r\n{again}".encode())
            got = b""
            while piece := link.recv(1 << 16):
                got += piece
        assert got.partition(b"\r\n\r\n")[2] == b"wheel" * 40_000
        assert index.asked == ["/files/a-1.whl"]
        assert not proxy.refusals


@pytest.mark.parametrize(
    "request_line",
    [
        b"GET http://127.0.0.1:1/ HTTP/1.1",
        b"GET http://10.0.0.8:8080/ HTTP/1.1",
        b"POST http://10.0.0.9:8080/ HTTP/1.1",
        b"GET http://10.0.0.9:8080@203.0.113.5/ HTTP/1.1",
        b"GET https://10.0.0.9:8080/ HTTP/1.1",
        b"GET http://[::ffff:10.0.0.9]:8080/ HTTP/1.1",
        b"GET http://10.0.0.09:8080/ HTTP/1.1",
        b"GET http://index.example/ HTTP/1.1",
    ],
)
def test_next_to_an_own_place_nothing_is_allowed(request_line: bytes) -> None:
    with Proxy(
        Allowed.of(["index.example"], [443], [ConfiguredHost.of("http://10.0.0.9:8080", inside=True)]),
        resolver=_nowhere,
        listen=True,
    ) as proxy:
        assert _ask(proxy, request_line + b"\r\n\r\n").startswith(b"HTTP/1.1 403 ")
    assert len(proxy.refusals) == 1


def test_an_own_place_does_not_lead_inside_unless_said_so_and_never_to_metadata() -> None:
    async def inside(host: str, port: int) -> list[str]:
        return ["10.1.2.3"]

    async def link_local(host: str, port: int) -> list[str]:
        return ["169.254.169.254"]

    head = b"GET http://mirror.example:8080/simple/ HTTP/1.1\r\n\r\n"
    for resolver, said in ((inside, False), (link_local, True)):
        own = ConfiguredHost.of("http://mirror.example:8080", inside=said)
        with Proxy(Allowed.of([], [443], [own]), resolver=resolver, listen=True) as proxy:
            assert _ask(proxy, head).startswith(b"HTTP/1.1 403 ")
        assert "not public" in proxy.refusals[0].why
    assert metadata("::ffff:169.254.169.254")
    assert metadata("fd00:ec2::254")
    assert not metadata("10.1.2.3")


@pytest.mark.parametrize(
    "text", ["ftp://x.example", "user@", "x_y.example", "host:port", "", "a.example:99999"]
)
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(RefusedError):
        ConfiguredHost.of(text, inside=True)


def test_own_places_are_read() -> None:
    assert ConfiguredHost.of("Mirror.Example.", inside=True) == ConfiguredHost(
        host="mirror.example", port=443, inside=True
    )
    assert ConfiguredHost.of("10.0.0.9:8080", inside=True).port == 8080
    assert ConfiguredHost.of("http://10.0.0.9", inside=True) == ConfiguredHost(
        host="10.0.0.9", port=80, inside=True, plain=True
    )
    assert ConfiguredHost.of("https://[fd00::9]:8443/simple", inside=False).host == "fd00::9"
    wanted = parse(
        _connect(b"[fd00::9]:8443"), Allowed.of([], [], [ConfiguredHost.of("[fd00::9]:8443", inside=True)])
    )
    assert (wanted.host, wanted.port) == ("fd00::9", 8443)


def test_no_more_is_fetched_than_may_be() -> None:
    with serving() as index:
        index.files["big-1.whl"] = bytes(4 << 20)
        own = ConfiguredHost.of(index.place, inside=True)
        with Proxy(Allowed.of([], [443], [own]), most=1 << 20) as proxy, proxy.dial() as link:
            link.settimeout(5)
            link.sendall(f"GET {index.place}/files/big-1.whl HTTP/1.1\r\n\r\n".encode())
            got = 0
            while piece := link.recv(1 << 16):
                got += len(piece)
        assert proxy.too_much
        assert got <= 1 << 20


class _Company:
    """An HTTP proxy of a made-up company network: notes what it is asked, answers everything itself."""

    def __init__(self, answer: bytes) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self.heard = b""
        self._answer = answer
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        link, _ = self._server.accept()
        with link:
            link.settimeout(5)
            while b"\r\n\r\n" not in self.heard:
                self.heard += link.recv(4096)
            link.sendall(self._answer)
            while data := link.recv(4096):
                self.heard += data

    def close(self) -> None:
        self._thread.join(5)
        self._server.close()


def test_the_way_out_may_be_a_proxy_of_this_network() -> None:
    company = _Company(b"HTTP/1.1 200 ok\r\n\r\n")
    upstream = Upstreams.of({"HTTPS_PROXY": f"http://me:p%40ss@127.0.0.1:{company.port}"})
    with Proxy(ALLOWED, resolver=_nowhere, upstream=upstream) as proxy, proxy.dial() as link:
        link.settimeout(5)
        link.sendall(_connect(b"index.example:443"))
        assert link.recv(4096).startswith(b"HTTP/1.1 200 ")
        link.sendall(_hello("index.example"))
        for _ in range(100):
            if b"\x16\x03" in company.heard:
                break
            threading.Event().wait(0.05)
    company.close()
    head, _, rest = company.heard.partition(b"\r\n\r\n")
    assert head.startswith(b"CONNECT index.example:443 HTTP/1.1")
    assert b"Proxy-Authorization: Basic bWU6cEBzcw==" in head
    assert rest.startswith(b"\x16\x03")
    assert not proxy.refusals


def test_a_proxy_that_says_no_is_a_failure_of_ours() -> None:
    company = _Company(b"HTTP/1.1 407 who are you\r\n\r\n")
    upstream = Upstreams.of({"https_proxy": f"127.0.0.1:{company.port}"})
    with Proxy(ALLOWED, resolver=_nowhere, upstream=upstream) as proxy, proxy.dial() as link:
        link.settimeout(5)
        link.sendall(_connect(b"index.example:443"))
        link.recv(4096)
        link.sendall(_hello("index.example"))
        assert link.recv(4096) == b""
    company.close()
    assert "407" in proxy.failures[0]


def test_proxies_of_this_network_are_chosen_as_everybody_does() -> None:
    table = {
        "HTTPS_PROXY": "http://a.example:3128",
        "http_proxy": "http://b.example",
        "NO_PROXY": "mirror.example,10.0.0.9",
    }
    chosen = Upstreams.of(table)
    by = chosen.to("index.example", 443, plain=False)
    assert by is not None
    assert (by.host, by.port) == ("a.example", 3128)
    plain = chosen.to("index.example", 80, plain=True)
    assert plain is not None
    assert (plain.host, plain.port) == ("b.example", 80)
    assert chosen.to("mirror.example", 443, plain=False) is None
    assert chosen.to("10.0.0.9", 80, plain=True) is None
    assert Upstreams.of({}).to("index.example", 443, plain=False) is None
    with pytest.raises(UsageError):
        Upstreams.of({"HTTPS_PROXY": "socks5://a.example"}).check()
