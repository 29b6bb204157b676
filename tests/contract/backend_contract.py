"""The whole contract of a backend, as cases that one helper runs against each of them.

A case is a small program, what it runs in, and what must be true of its record. Programs run
inside a sandbox only.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from gate.model.change import Side
from gate.model.run import Limits, Outcome, Probe, RunRecord, SandboxSpec
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.contract import Backend
from tests.contract.capabilities import capability
from tests.contract.trees import DictTree

SLACK = 5.0
"""Seconds after its deadline within which every run must have ended."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """``check`` raises AssertionError with the record in view."""

    name: str
    code: str
    check: Callable[[RunRecord], None]
    deadline: float = 10.0
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    spec: SandboxSpec = field(default_factory=SandboxSpec)
    side: Side = "head"
    argv: tuple[str, ...] = ("python3", "main.py")
    until_deadline: bool = False
    """It never ends by itself: every second of its deadline is one of the test's."""


SLOWER: Final = 6.0
"""By how much every deadline is longer behind a backend that is slow (a processor in software): what
is tested is that it holds, not how far the code gets."""
SLOWEST: Final = 25.0
"""Seconds in which such a processor gets to the first line of a program even on a crowded host."""
_STARTS: Final = 5.0
"""How many times the seconds of a whole small program it may take on this host now to its first line."""


def working(name: str) -> Backend:
    """The backend; skips the test, saying why, where it does not work."""
    found = capability(name)
    if not found.available:
        pytest.skip(f"{found.backend}: {found.reason}")
    return BACKENDS[name]()


def unhurried(name: str, deadline: float, *, until_deadline: bool = False) -> float:
    """The deadline behind that backend; shorter where the program uses all of it."""
    if not (name == "microvm" and capability(name).reserve):
        return deadline
    if until_deadline:
        return min(max(deadline, _STARTS * _small_program_seconds(name)), SLOWEST)
    return max(SLOWER * deadline, SLOWEST)


@functools.cache
def _small_program_seconds(name: str) -> float:
    """How long a program of one line takes behind that backend on this host, as busy as it is."""
    tree = DictTree(files={"main.py": "print('hi')"})
    with BACKENDS[name]().open(SandboxSpec(), tree, tree) as session:
        return session.run(probe("python3", "main.py", deadline=SLOWEST), "head").seconds


def probe(*argv: str, deadline: float = 10.0, env: Mapping[str, str] | None = None) -> Probe:
    """A probe whose process is its own end (no driver)."""
    return Probe(
        id="t",
        phase="script",
        target="t",
        path="main.py",
        argv=argv,
        driver=False,
        deadline=deadline,
        env=env or {},
    )


def run_case(backend: Backend, case: Case) -> RunRecord:
    """Run one case in a session of its own and check what every record must satisfy."""
    tree = DictTree(files={"main.py": case.code, **case.files}, links=case.links)
    empty = DictTree(files={"main.py": "print('base')"})
    with backend.open(case.spec, empty, tree) as session:
        record = session.run(probe(*case.argv, deadline=case.deadline, env=case.env), case.side)
        check_any(record, case.spec.limits, case.deadline)
        case.check(record)
    return record


def check_any(record: RunRecord, limits: Limits, deadline: float) -> None:
    """What holds for every run, whatever the code did. Traces exist while the session is open."""
    assert record.seconds <= deadline + SLACK, f"ran {record.seconds:.1f} s with a deadline of {deadline}"
    assert len(record.stdout) <= limits.output
    assert len(record.stderr) <= limits.output
    assert record.stdout_total >= len(record.stdout)
    if record.fault is None:
        assert record.trace is not None
        assert trace_lines(record)[0]["ev"] == "start"
        assert trace_lines(record)[-1]["ev"] == "summary"


def trace_lines(record: RunRecord) -> list[dict[str, object]]:
    """The trace as plain dictionaries."""
    assert record.trace is not None
    return [json.loads(line) for line in Path(record.trace).read_text().splitlines()]


def _said(record: RunRecord) -> dict[str, Any]:
    """What the program printed as JSON on its last line."""
    assert record.outcome is Outcome.COMPLETED, (record.outcome, record.fault, record.stderr[-800:])
    assert record.fault is None
    said = json.loads(record.stdout.decode().splitlines()[-1])
    assert isinstance(said, dict)
    return said


def _hello(record: RunRecord) -> None:
    assert record.outcome is Outcome.COMPLETED, (record.fault, record.stderr)
    assert (record.exit_code, record.fault, record.completed) == (0, None, True)
    assert record.stdout == b"hi\n"
    assert record.stderr == b"there\n"
    assert record.completeness.whole
    assert record.peak_memory is None or 1 << 20 < record.peak_memory < 1 << 29
    execs = [str(line["path"]) for line in trace_lines(record) if line["ev"] == "exec"]
    assert any("python3" in path for path in execs)


def _of(record: RunRecord) -> tuple[object, ...]:
    """What a run came to, for a failure: some tests run this in a process that has no pytest."""
    return (
        record.outcome,
        record.exit_code,
        record.fault,
        record.seconds,
        record.peak_memory,
        record.stderr[-400:],
    )


def _nonzero(record: RunRecord) -> None:
    assert (record.outcome, record.exit_code, record.fault) == (Outcome.EXITED_NONZERO, 3, None), _of(record)


def _signalled(record: RunRecord) -> None:
    assert (record.outcome, record.exit_code, record.fault) == (Outcome.KILLED, -9, None), _of(record)


def _timed_out(record: RunRecord) -> None:
    assert (record.outcome, record.completed, record.fault) == (Outcome.TIMED_OUT, False, None), _of(record)
    assert b"begun" in record.stdout


def _out_of_memory(record: RunRecord) -> None:
    assert (record.outcome, record.fault) == (Outcome.OUT_OF_MEMORY, None), _of(record)


def _bounded(record: RunRecord) -> None:
    assert record.fault is None
    assert record.outcome is not Outcome.NEVER_STARTED


def _flooded(record: RunRecord) -> None:
    assert record.outcome is Outcome.COMPLETED, record.outcome
    assert record.stdout_total == 5 << 30
    assert len(record.stdout) <= 1 << 20


def flooded_in_part(record: RunRecord) -> None:
    """Where moving 5 GB takes longer than the deadline (a machine without KVM): held, and cut."""
    assert record.outcome in (Outcome.COMPLETED, Outcome.TIMED_OUT), record.outcome
    assert record.fault is None
    assert len(record.stdout) == 1 << 20


def _environment(record: RunRecord) -> None:
    env = _said(record)
    assert env.pop("PROBE_SAYS") == "x"
    assert env.pop("SPEC_SAYS") == "y"
    assert set(env) <= {"PATH", "HOME", "LANG", "LC_CTYPE", "TMPDIR", "USER", "LOGNAME", "PWD", "TZ"}, env


def _standing(record: RunRecord) -> None:
    said = _said(record)
    assert said["uid"] != 0
    assert said["gid"] != 0
    # an unprivileged user namespace cannot drop its maker's other groups; they map to nobody (65534)
    assert set(said["groups"]) <= {said["gid"], 65534}
    assert said["caps"] == ["0000000000000000"] * 4, said
    assert said["no_new_privs"] == "1"
    assert said["seccomp"] == "2"
    assert said["interfaces"] == ["lo"]
    assert said["fds"] == [0, 1, 2]
    assert said["stdin"] == "/dev/null"
    assert said["written"] == []
    assert said["setuid"] == []
    assert said["sockets"] == []
    assert said["reached"] == []


def _itself(record: RunRecord) -> None:
    said = _said(record)
    assert said["got"] == "x"
    for addresses in said["names"].values():
        assert addresses
        assert set(addresses) <= {"127.0.0.1", "127.0.1.1", "::1"}, said
    assert said["resolver"] in ([], ["nameserver", "127.0.0.1"]), "a resolver of the host's"


_LIMITED = """
import json, os, resource
print(json.dumps({name: resource.getrlimit(getattr(resource, "RLIMIT_" + name))
    for name in ("NOFILE", "FSIZE", "MEMLOCK", "STACK", "CORE")}))
"""


def _limited(record: RunRecord) -> None:
    """As on a hosted runner, as far as the machine has it."""
    said = _said(record)
    soft, hard = said["NOFILE"]
    assert 4096 <= soft == hard <= 65536, said
    assert said["FSIZE"] == [-1, -1]
    assert 0 < said["MEMLOCK"][1] <= 8 << 20
    assert said["STACK"][0] >= 8 << 20


_NAMED = """
import getpass, json, os, platform, pwd, socket
user = pwd.getpwuid(os.getuid())
print(json.dumps({"host": [socket.gethostname(), platform.node(), os.uname().nodename, socket.getfqdn()],
    "own": open("/etc/hostname").read().strip() if os.path.exists("/etc/hostname") else None,
    "address": socket.gethostbyname(socket.gethostname()),
    "user": [getpass.getuser(), user.pw_name, os.environ["USER"]],
    "home": [user.pw_dir, os.path.expanduser("~")], "system": platform.freedesktop_os_release()["ID"]}))
"""


def _named(record: RunRecord) -> None:
    """As on a hosted runner: the machine, the user, the system."""
    said = _said(record)
    (host,) = set(said["host"])
    assert re.fullmatch(r"runnervm[a-z0-9]{5}", host)
    assert said["own"] in (host, None)
    assert said["address"] == "127.0.1.1"
    assert set(said["user"]) == {"runner"}
    assert set(said["home"]) == {"/work/home"}
    assert said["system"] in ("debian", "ubuntu", "fedora", "rhel", "arch")


_SIZED = """
import json
def first(path): return open(path).readline().split()
def opens(path):
    try: return bool(open(path, "w"))
    except OSError: return False
print(json.dumps({"up": float(first("/proc/uptime")[0]), "idle": float(first("/proc/uptime")[1]),
    "memory": first("/proc/meminfo")[:2],
    "writable": [p for p in ("/proc/uptime", "/proc/meminfo") if opens(p)]}))
"""


def _sized(record: RunRecord) -> None:
    """A machine that was not made for this run, and is not as small as it."""
    said = _said(record)
    assert said["up"] > 60
    assert said["idle"] > 0
    assert said["memory"][0] == "MemTotal:"
    assert int(said["memory"][1]) > 1 << 20, said
    assert said["writable"] == []


_FULL = """
import os
def fill(path, step):
    fd, total = os.open(path, os.O_CREAT | os.O_RDWR), 0
    try:
        for number in range(64):
            total += os.pwrite(fd, b"x" * (1 << 20), number * step)
    except OSError as error:
        print(path, total >> 20, os.strerror(error.errno))
    os.ftruncate(fd, 0)
for place in ("/tmp/one", "/work/tree/one"):
    fill(place, 1 << 20)
    fill(place, 1 << 30)
"""


def _full(record: RunRecord) -> None:
    """One file, whole or with holes, is as large as the scratch and no larger; that ends nothing else."""
    assert (record.outcome, record.fault) == (Outcome.COMPLETED, None), (record.outcome, record.stderr)
    lines = [line.split(maxsplit=2) for line in record.stdout.decode().splitlines()]
    assert [line[0] for line in lines] == ["/tmp/one", "/tmp/one", "/work/tree/one", "/work/tree/one"], lines
    assert all(int(line[1]) <= 25 and line[2] == "No space left on device" for line in lines), lines


_STANDING = """
import os
fds = []  # first: libffi (ctypes) keeps its own file open
for fd in range(256):
    try: os.fstat(fd); fds.append(fd)
    except OSError: pass
import ctypes, json, socket, stat
status = dict(l.split(":", 1) for l in open("/proc/self/status").read().splitlines())
def writable(path):
    try:
        with open(path, "w"): return True
    except OSError: return False
def reaches(where):
    with socket.socket() as s:
        s.settimeout(1)
        try: s.connect(where); return True
        except OSError: return False
setuid = []
for folder in ("/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/lib/openssh", "/usr/lib/dbus-1.0"):
    if os.path.isdir(folder):
        for name in os.listdir(folder):
            try: mode = os.lstat(os.path.join(folder, name)).st_mode
            except OSError: continue
            inert = os.statvfs(folder).f_flag & os.ST_NOSUID
            if stat.S_ISREG(mode) and mode & 0o6000 and not inert: setuid.append(name)
print(json.dumps({
    "uid": os.getuid(), "gid": os.getgid(), "groups": os.getgroups(),
    "caps": [status.get(k, "0" * 16).strip() for k in ("CapInh", "CapPrm", "CapEff", "CapAmb")],
    "no_new_privs": str(ctypes.CDLL(None).prctl(39, 0, 0, 0, 0)), "seccomp": status["Seccomp"].strip(),
    "interfaces": [name for _, name in socket.if_nameindex()],
    "fds": fds, "stdin": os.readlink("/proc/self/fd/0"),
    "written": [p for p in ("/x", "/etc/x", "/usr/x", "/opt/gate/x", "/opt/gate/launcher/main.py", "/run/x",
                            "/dev/x", "/sys/x", "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern")
                if writable(p)],
    "setuid": setuid,
    "sockets": [p for p in ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock",
                            "/run/podman/podman.sock") if os.path.exists(p)],
    "reached": [w for w in ("192.0.2.1", "169.254.169.254", "198.51.100.7") if reaches((w, 80))],
}))
"""

_ITSELF = """
import json, socket
server = socket.create_server(("localhost", 0))
socket.create_connection(("localhost", server.getsockname()[1]), timeout=5).sendall(b"x")
got = server.accept()[0].recv(1).decode()
names = {n: sorted({a[4][0] for a in socket.getaddrinfo(n, 80)}) for n in ("localhost", socket.gethostname())}
print(json.dumps({"got": got, "names": names, "resolver": open("/etc/resolv.conf").read().split()}))
"""

_DAEMON = """
import os, signal, time
for n in range(1, 32):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True: time.sleep(0.1)
    os._exit(0)
print('begun', flush=True)
while True: time.sleep(0.1)
"""

_FORK_BOMB = """
import os
print('begun', flush=True)
while True:
    try: os.fork()
    except OSError: pass
"""

_FILL = """
import json
n = 0
try:
    for i in range(10**6):
        with open(f'/tmp/{i}', 'wb') as f: f.write(b'x' * (1 << 20))
        n += 1
except OSError: pass
print(json.dumps({'mib': n}))
"""

_FLOOD = """
import os
block = bytes(1 << 20)
for _ in range(5 << 10):
    v = memoryview(block)
    while v: v = v[os.write(1, v):]
"""

_LINKS = """
import json, os
print(json.dumps({"text": os.readlink("passwd"), "loop": os.readlink("loop"), "up": os.readlink("up"),
    "passwd": open("passwd").read() if os.path.exists("passwd") else "", "kind": os.path.islink("passwd")}))
"""


def _links(record: RunRecord) -> None:
    said = _said(record)
    assert said["text"] == "/etc/passwd"
    assert said["loop"] == "loop"
    assert said["up"] == "../../../../.."
    assert said["kind"] is True
    ours = Path("/etc/passwd").read_text()
    assert said["passwd"] != ours, "the sandbox sees the host's own file"


def _planted(record: RunRecord) -> None:
    said = _said(record)
    assert said == {"/work/home/.aws/credentials": "one", "/run/secrets/kubernetes.io/token": "two"}


def _under(value: object, most: int) -> None:
    assert isinstance(value, int)
    assert 0 < value < most


def _failed(record: RunRecord) -> None:
    assert record.outcome in (Outcome.EXITED_NONZERO, Outcome.NEVER_STARTED), record.outcome
    assert not record.completed or record.exit_code


CASES = (
    Case(name="hello", code="import sys; print('hi'); print('there', file=sys.stderr)", check=_hello),
    Case(name="exits non-zero", code="raise SystemExit(3)", check=_nonzero),
    Case(name="kills itself", code="import os; os.kill(os.getpid(), 9)", check=_signalled),
    Case(
        name="endless loop",
        until_deadline=True,
        code="print('begun', flush=True)\nwhile True: pass",
        deadline=1.5,
        check=_timed_out,
    ),
    Case(
        name="ignores every signal and leaves a daemon",
        until_deadline=True,
        code=_DAEMON,
        deadline=1.5,
        check=_timed_out,
    ),
    Case(name="fork bomb", until_deadline=True, code=_FORK_BOMB, deadline=3.0, check=_bounded),
    Case(
        name="memory bomb",
        code="a = []\nwhile True: a.append(b'x' * (16 << 20))",
        deadline=240.0,  # it ends by itself; gVisor is slow at its limit, slower still beside others
        spec=SandboxSpec(limits=Limits(memory=128 << 20)),
        check=_out_of_memory,
    ),
    Case(
        name="fills its scratch",
        code=_FILL,
        spec=SandboxSpec(limits=Limits(scratch=32 << 20)),
        check=lambda record: _under(_said(record)["mib"], 34),
    ),
    Case(name="5 GB of output", code=_FLOOD, deadline=30.0, check=_flooded),
    Case(
        name="sees only its own environment",
        code="import json, os; print(json.dumps(dict(os.environ)))",
        env={"PROBE_SAYS": "x"},
        spec=SandboxSpec(env={"SPEC_SAYS": "y"}),
        check=_environment,
    ),
    Case(name="talks to itself by name", code=_ITSELF, check=_itself),
    Case(name="has a runner's limits", code=_LIMITED, check=_limited),
    Case(name="has a runner's names", code=_NAMED, check=_named),
    Case(name="asks how large the machine is", code=_SIZED, check=_sized),
    Case(name="fills a file", code=_FULL, check=_full, spec=SandboxSpec(limits=Limits(scratch=24 << 20))),
    Case(name="has no standing", code=_STANDING, check=_standing),
    Case(
        name="symlinks stay symlinks",
        code=_LINKS,
        links={"passwd": "/etc/passwd", "loop": "loop", "up": "../../../../.."},
        check=_links,
    ),
    Case(
        name="extra files are planted",
        code=(
            "import json\n"
            "paths = ('/work/home/.aws/credentials', '/run/secrets/kubernetes.io/token')\n"
            "print(json.dumps({p: open(p).read() for p in paths}))"
        ),
        spec=SandboxSpec(
            files={"/work/home/.aws/credentials": b"one", "/run/secrets/kubernetes.io/token": b"two"}
        ),
        check=_planted,
    ),
    Case(name="program does not exist", code="", argv=("no-such-program",), check=_failed),
)
