"""The way out of set-up: what it lets through, and the ways around it that others have fallen for (IS-5)."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import UsageError
from gate.model.behaviour import BehaviourKind
from gate.sandbox.egress import Allowed, Proxy, RefusedError, behaviours, canonical, public
from gate.settings import load

ALLOWED = Allowed.of(["index.example", "*.files.example"], [443])
PUBLIC = "93.184.216.34"


async def _nowhere(host: str, port: int) -> list[str]:
    """What the allowed names resolve to here: a closed port of nobody's, never asked of a real server."""
    raise OSError("no such host")


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with Proxy(ALLOWED, resolver=_nowhere) as running:
        yield running


def _ask(proxy: Proxy, head: bytes, then: bytes = b"") -> bytes:
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=5) as link:
        link.sendall(head)
        answer = link.recv(4096)
        if then:
            link.sendall(then)
            answer += link.recv(4096)
        return answer


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
    (told,) = behaviours(proxy.refusals)
    assert (told.kind, told.denied) == (BehaviourKind.CONNECT, True)
    assert told.detail["why"]


@pytest.mark.parametrize("place", [b"index.example:443", b"INDEX.Example.:443", b"a.b.files.example:443"])
def test_the_same_name_in_another_writing_is_looked_up(place: bytes, proxy: Proxy) -> None:
    _ask(proxy, _connect(place))
    assert [refusal.why for refusal in proxy.refusals] == ["OSError"]  # it came as far as the look-up


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

    with Proxy(ALLOWED, resolver=inside) as proxy:
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

    with Proxy(ALLOWED, resolver=outside) as proxy:
        assert _ask(proxy, _connect(b"index.example:443"), first).startswith(b"HTTP/1.1 200 ")
    assert why in proxy.refusals[0].why
    assert not proxy.served


def test_an_empty_list_allows_nothing() -> None:
    with Proxy(Allowed.of([], [443]), resolver=_nowhere) as proxy:
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


def test_setup_that_is_not_built_yet_is_said() -> None:
    with pytest.raises(UsageError, match="not built yet"):
        load(environ={"GATE_SANDBOX_SETUP": "requirements"})


@pytest.mark.slow
def test_a_real_package_index_answers_through_it(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True
    )
    index = told.stdout.strip() or "https://pypi.org/simple"
    host = urllib.parse.urlsplit(index).hostname or ""
    try:
        reachable = all(public(str(entry[4][0])) for entry in socket.getaddrinfo(host, 443))
    except OSError:
        reachable = False
    if not reachable or urllib.parse.urlsplit(index).scheme != "https":
        pytest.skip("no package index on the public Internet is configured and reachable here")
    with Proxy(Allowed.of([host, "*." + host, "files.pythonhosted.org"], [443])) as proxy:
        done = subprocess.run(
            [
                *(
                    sys.executable,
                    "-m",
                    "pip",
                    "--proxy",
                    f"http://127.0.0.1:{proxy.port}",
                    "download",
                    "six",
                ),
                *("--isolated", "--no-deps", "--no-cache-dir", "--index-url", index, "-d", str(tmp_path)),
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, (done.stderr[-500:], proxy.refusals)
        assert host in proxy.served
        assert not proxy.refusals
