"""Every observed group of calls, once for real: made inside a sandbox by raw system call, read back here."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gate.tracing.events import (
    Attempt,
    Control,
    Exec,
    Exit,
    File,
    Fork,
    Memfd,
    Net,
    Open,
    PathQuery,
    Process,
    Signal,
    Socket,
)
from tests.integration.launching import PYTHON, ROOM, Launched, launch, python, why_no_bwrap
from tests.integration.raw_calls import RAW, REFUSED, all_refused

pytestmark = pytest.mark.skipif(bool(why_no_bwrap()), reason=why_no_bwrap() or "bubblewrap works")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Launched:
    return python(
        tmp_path_factory.mktemp("files"),
        RAW
        + """
fd = os.open("/tmp/d", os.O_RDONLY | os.O_DIRECTORY)
how = at(struct.pack("<QQQ", os.O_RDWR | os.O_CREAT, 0o640, 0))
call(2, b"plain", os.O_RDONLY)                       # open, relative
call(85, b"/tmp/d/created", 0o600)                   # creat
call(257, fd, b"at", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
call(437, fd, b"how", how, 24)                       # openat2
call(257, -100, b"odd\\n\\xff\\\\name", os.O_RDWR | os.O_CREAT, 0o600)
call(82, b"created", b"renamed"); call(264, fd, b"renamed", fd, b"r2"); call(316, fd, b"r2", fd, b"r3", 1)
call(86, b"r3", b"hard"); call(265, fd, b"r3", fd, b"hard2", 0)
call(88, b"/etc/passwd", b"soft"); call(266, b"t t", fd, b"soft2")
call(90, b"at", 0o777); opened = os.open("at", os.O_RDWR); call(91, opened, 0o4755)
call(268, fd, b"at", 0o700); call(452, fd, b"at", 0o701, 0)
call(92, b"at", -1, -1); call(93, opened, -1, -1); call(94, b"at", 0, 0); call(260, fd, b"at", 5, 6, 0x100)
call(76, b"at", 3); call(77, opened, 9)
call(83, b"m1", 0o755); call(258, fd, b"m2", 0o750); call(133, b"fifo", 0o10644, 0)
call(280, fd, b"at", 0, 0); call(280, opened, 0, 0, 0); call(235, b"at", 0)
call(188, b"at", b"user.x", b"v", 1, 0); call(197, b"at", b"user.x")
call(87, b"hard"); call(263, fd, b"hard2", 0); call(263, fd, b"m1", 0x200); call(84, b"m2")
call(4, b"/.dockerenv", at(bytes(256)))
call(21, b"/proc/1/cgroup", 4); call(89, b"/proc/self/exe", at(bytes(64)), 64)
call(332, -100, b"/sys/class/dmi", 0, 0xfff, at(bytes(256)))
call(269, fd, b"at", 4); call(80, b"/tmp")
""",
    )


CASES = [
    (Open, {"call": "open", "path": "/tmp/d/plain", "access": "r", "flags": ""}),
    (Open, {"call": "creat", "path": "/tmp/d/created", "access": "w", "mode": 0o600}),
    (Open, {"call": "openat", "path": "/tmp/d/at", "access": "w", "flags": "O_CREAT|O_TRUNC", "mode": 0o644}),
    (Open, {"call": "openat2", "path": "/tmp/d/how", "access": "rw", "flags": "O_CREAT", "mode": 0o640}),
    (Open, {"path": "/tmp/d/odd\\x0a\\xff\\\\name", "access": "rw"}),
    (File, {"call": "rename", "path": "/tmp/d/renamed", "other": "/tmp/d/created"}),
    (File, {"call": "renameat", "path": "/tmp/d/r2", "other": "/tmp/d/renamed"}),
    (File, {"call": "renameat2", "path": "/tmp/d/r3", "other": "/tmp/d/r2", "flags": "RENAME_NOREPLACE"}),
    (File, {"call": "link", "path": "/tmp/d/hard", "other": "/tmp/d/r3"}),
    (File, {"call": "linkat", "path": "/tmp/d/hard2", "other": "/tmp/d/r3"}),
    (File, {"call": "symlink", "path": "/tmp/d/soft", "other": "/etc/passwd"}),
    (File, {"call": "symlinkat", "path": "/tmp/d/soft2", "other": "t t"}),
    (File, {"call": "chmod", "path": "/tmp/d/at", "mode": 0o777}),
    (File, {"call": "fchmod", "path": "/tmp/d/at", "mode": 0o4755}),
    (File, {"call": "fchmodat", "path": "/tmp/d/at", "mode": 0o700}),
    (File, {"call": "fchmodat2", "path": "/tmp/d/at", "mode": 0o701}),
    (File, {"call": "chown", "path": "/tmp/d/at", "uid": -1, "gid": -1}),
    (File, {"call": "fchown", "path": "/tmp/d/at"}),
    (File, {"call": "lchown", "path": "/tmp/d/at", "uid": 0, "gid": 0}),
    (File, {"call": "fchownat", "path": "/tmp/d/at", "uid": 5, "gid": 6, "flags": "AT_SYMLINK_NOFOLLOW"}),
    (File, {"call": "truncate", "path": "/tmp/d/at", "size": 3}),
    (File, {"call": "mkdir", "path": "/tmp/d/m1", "mode": 0o755}),
    (File, {"call": "mkdirat", "path": "/tmp/d/m2", "mode": 0o750}),
    (File, {"call": "mknod", "path": "/tmp/d/fifo", "mode": 0o10644}),
    (File, {"call": "utimensat", "path": "/tmp/d/at"}),
    (File, {"call": "utimes", "path": "/tmp/d/at"}),
    (File, {"call": "setxattr", "path": "/tmp/d/at", "other": "user.x"}),
    (File, {"call": "removexattr", "path": "/tmp/d/at", "other": "user.x"}),
    (File, {"call": "unlink", "path": "/tmp/d/hard"}),
    (File, {"call": "unlinkat", "path": "/tmp/d/hard2", "flags": ""}),
    (File, {"call": "unlinkat", "path": "/tmp/d/m1", "flags": "AT_REMOVEDIR"}),
    (File, {"call": "rmdir", "path": "/tmp/d/m2"}),
    (PathQuery, {"call": "stat", "path": "/.dockerenv"}),
    (PathQuery, {"call": "access", "path": "/proc/1/cgroup"}),
    (PathQuery, {"call": "readlink", "path": "/proc/self/exe"}),
    (PathQuery, {"call": "statx", "path": "/sys/class/dmi"}),
    (PathQuery, {"call": "faccessat", "path": "/tmp/d/at"}),
    (PathQuery, {"call": "chdir", "path": "/tmp"}),
]


@pytest.mark.parametrize(
    ("kind", "wanted"), CASES, ids=lambda v: v.get("call", "") if isinstance(v, dict) else None
)
def test_file_call_is_in_the_trace(files: Launched, kind: type[object], wanted: dict[str, object]) -> None:
    assert len(files.of(kind, **wanted)) >= 1
    assert files.completeness.whole


def test_exec_family_and_process_tree(tmp_path: Path) -> None:
    seen = python(
        tmp_path,
        RAW
        + """
os.environ["LD_PRELOAD"] = "/nowhere.so"; os.environ["SECRET"] = "x"
pid = os.fork()
if pid == 0:
    os.execve("/bin/echo", ["echo", "-n", "a b"], os.environ)
os.waitpid(pid, 0)
fd = os.open("/bin/true", os.O_RDONLY | os.O_CLOEXEC)
pid = os.fork()
if pid == 0:
    os.execve(fd, ["by-fd"], {})
os.waitpid(pid, 0)
mem = os.memfd_create("hidden", 1)
os.write(mem, open("/bin/true", "rb").read())
pid = os.fork()
if pid == 0:
    call(322, mem, b"", at(struct.pack("<QQ", at(b"memory\\0"), 0)), 0, 0x1000)
os.waitpid(pid, 0)
pid = os.fork()
if pid == 0:
    try: os.execv("/no/such", ["x"])
    except OSError: os.open("/tmp/after", os.O_RDONLY | os.O_CREAT)
    os._exit(7)
os.waitpid(pid, 0)
import _thread, time
lock = _thread.allocate_lock(); lock.acquire()
_thread.start_new_thread(lambda: (os.open("/etc/hostname", 0), lock.release()), ()); lock.acquire()
""",
    )
    main = seen.of(Process)[0]
    echo = seen.of(Exec, path="/bin/echo")[0]
    assert (echo.argv, echo.argc, echo.cwd) == (("echo", "-n", "a b"), 3, "/tmp/d")
    assert echo.env["LD_PRELOAD"] == "/nowhere.so"
    assert "SECRET" not in echo.env
    after = seen.of(Process, pid=echo.pid)
    assert [p.why for p in after] == ["first", "exec"]
    assert after[1].exe.endswith("/echo")
    assert after[1].ppid == main.pid
    assert after[1].comm == "echo"
    by_fd = seen.of(Exec, argv=("by-fd",))[0]
    assert by_fd.path.endswith(("/true", "/coreutils"))
    assert seen.of(Memfd, name="hidden")
    memory = seen.of(Exec, argv=("memory",))[0]
    assert memory.path.startswith("/memfd:hidden")
    assert seen.of(Process, pid=memory.pid, why="exec")[0].exe.startswith("/memfd:hidden")
    failed = seen.of(Exec, path="/no/such")[0]
    assert [p.why for p in seen.of(Process, pid=failed.pid)] == ["first"]
    assert seen.of(Exit, pid=failed.pid, code=7)
    threads = [o for o in seen.of(Open, path="/etc/hostname") if o.tid]
    assert len(threads) == 1
    assert threads[0].pid == main.pid
    assert any(f.thread for f in seen.of(Fork))
    assert len([f for f in seen.of(Fork) if not f.thread]) == 4
    assert seen.completeness.whole


def test_network_calls(tmp_path: Path) -> None:
    seen = python(
        tmp_path,
        RAW
        + """
def quiet(f, *a):
    try: return f(*a)
    except OSError: return None
t = socket.socket(); quiet(t.connect, ("198.51.100.7", 4444))
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); quiet(u.sendto, b"probe\\n", ("192.0.2.9", 53))
v = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); quiet(v.connect, ("2001:db8::1", 853))
quiet(u.sendmsg, [b"one", b"two"], [], 0, ("203.0.113.5", 99))
a = at(struct.pack("<H", 2) + struct.pack(">H", 5353) + socket.inet_aton("192.0.2.77") + bytes(8))
iov = at(struct.pack("<QQ", at(b"hello"), 5))
one = struct.pack("<QIIQQQQII", a, 16, 0, iov, 1, 0, 0, 0, 0) + bytes(8)
call(307, u.fileno(), at(one + one), 2, 0)
x = socket.socket(socket.AF_UNIX); quiet(x.connect, "/run/docker.sock"); quiet(x.connect, "\\0abstract")
quiet(x.connect, "relative.sock")
s = socket.socket(); s.bind(("127.0.0.1", 0)); port = s.getsockname()[1]; s.listen(3)
c = socket.create_connection(("127.0.0.1", port)); c.send(b"x")
n = socket.socket(16, socket.SOCK_RAW, 0); n.bind((0, 0))
print(port)
for family in (17, 38, 40):
    quiet(socket.socket, family, 3)
""",
    )
    port = int(seen.heard.stdout)
    assert seen.of(Socket, family="AF_INET", kind="SOCK_STREAM")
    assert seen.of(Net, call="connect", addr="198.51.100.7", port=4444, proto="tcp", family="AF_INET")
    sent = seen.of(Net, call="sendto", addr="192.0.2.9", port=53, proto="udp")[0]
    assert (sent.size, sent.head) == (6, "probe\\x0a")
    assert seen.of(Net, call="connect", addr="2001:db8::1", port=853, proto="udp", family="AF_INET6")
    message = seen.of(Net, call="sendmsg", addr="203.0.113.5", port=99)[0]
    assert (message.size, message.head) == (6, "onetwo")
    assert len(seen.of(Net, call="sendmmsg", addr="192.0.2.77", port=5353, head="hello")) == 2
    assert seen.of(Net, addr="/run/docker.sock", family="AF_UNIX")
    assert seen.of(Net, addr="@abstract")
    assert seen.of(Net, addr="/tmp/d/relative.sock")
    assert seen.of(Net, call="listen", addr="127.0.0.1", port=port, proto="tcp")
    assert seen.of(Net, call="connect", addr="127.0.0.1", port=port)
    assert seen.of(Net, call="bind", family="AF_NETLINK")
    refused = seen.of(Attempt, call="socket", denied=True, errno="EAFNOSUPPORT")
    assert [a.detail.split()[0] for a in refused] == ["AF_PACKET", "AF_ALG", "AF_VSOCK"]
    assert seen.completeness.whole


def test_signals_and_own_standing(tmp_path: Path) -> None:
    seen = python(
        tmp_path,
        RAW
        + """
import resource, signal
signal.signal(signal.SIGUSR1, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.kill(os.getpid(), signal.SIGUSR1)
call(234, os.getpid(), os.getpid(), int(signal.SIGUSR1)); call(200, os.getpid(), int(signal.SIGUSR1))
pid = os.fork()
if pid == 0:
    os.kill(os.getppid(), signal.SIGUSR1); os.kill(1, 0)
    while True: signal.pause()
fd = os.pidfd_open(pid); signal.pidfd_send_signal(fd, signal.SIGCONT)
os.kill(0, signal.SIGUSR1 if False else 0)
import time
while not os.path.exists("/proc/%d" % pid): pass
time.sleep(0.05); os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)
call(157, 15, b"sshd", 0, 0, 0)                       # prctl(PR_SET_NAME)
hidden = call(157, 4, 0, 0, 0, 0)                     # prctl(PR_SET_DUMPABLE, 0)
print(hidden, call(157, 3, 0, 0, 0, 0))
os.open("/etc/hostname", 0)
call(157, 38, 1, 0, 0, 0)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); resource.getrlimit(resource.RLIMIT_NOFILE)
call(105, 0)                                          # setuid
call(112)                                             # setsid
""",
    )
    assert seen.of(Signal, call="kill", sig="SIGUSR1", scope="self")
    assert seen.of(Signal, call="tgkill", scope="self")
    assert seen.of(Signal, call="tkill", scope="self")
    assert seen.of(Signal, scope="parent", sig="SIGUSR1")
    assert seen.of(Signal, scope="init", sig="0", target=1)
    assert seen.of(Signal, call="pidfd_send_signal", scope="child", sig="SIGCONT")
    assert seen.of(Signal, scope="group", target=0)
    killed = seen.of(Signal, sig="SIGKILL", scope="child")[0]
    assert seen.of(Signal, scope="parent")[0].pid != killed.pid
    assert seen.of(Exit, pid=seen.of(Signal, scope="parent")[0].pid, code=None)
    assert seen.of(Control, op="PR_SET_NAME", value="sshd")
    assert seen.of(Control, op="PR_SET_DUMPABLE", denied=True)
    assert seen.heard.stdout == b"0 1\n"  # it was told yes, and stayed visible
    assert seen.of(Open, path="/etc/hostname")
    assert seen.of(Control, op="PR_SET_NO_NEW_PRIVS")
    assert [c.value for c in seen.of(Control, op="RLIMIT_NOFILE")] == ["64:64"]
    assert seen.of(Control, call="setuid", value="0")
    assert seen.of(Control, call="setsid")
    assert seen.completeness.whole


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> Launched:
    return python(tmp_path_factory.mktemp("refused"), all_refused())


@pytest.mark.parametrize("name", REFUSED)
def test_refused_and_reported(refusals: Launched, name: str) -> None:
    answers = dict(line.split() for line in refusals.heard.stdout.decode().splitlines())
    assert answers[name] == "-1"  # EPERM
    attempts = refusals.of(Attempt, call=name)
    assert len(attempts) == 1
    assert attempts[0].denied
    assert attempts[0].errno == "EPERM"


def test_refusals_by_other_means(refusals: Launched) -> None:
    answers = dict(line.split() for line in refusals.heard.stdout.decode().splitlines())
    assert answers["unknown"] == answers["clone3"] == "-38"  # ENOSYS
    assert answers["nested"] == "-16"  # EBUSY: no listener of their own
    assert answers["query"] == "0"
    assert refusals.of(Attempt, call="syscall_900", errno="ENOSYS", number=900)
    assert refusals.of(Attempt, call="seccomp", errno="EBUSY")
    assert refusals.of(Attempt, call="unshare")[0].detail == "CLONE_NEWUSER"
    assert refusals.of(Attempt, call="mount")[0].detail == "none /tmp tmpfs"
    assert refusals.completeness.whole


def test_what_comes_before_the_code_is_not_in_the_trace(tmp_path: Path) -> None:
    seen = launch(tmp_path, "/bin/true")
    first = [type(e).__name__ for e in seen.events[:4]]
    assert first == ["Start", "Process", "Exec", "Process"]
    assert not [e for e in seen.of(Open) if "gate" in e.path or "tree" in e.path]
    assert seen.summary is not None
    assert seen.summary.end == "exited"
    assert seen.observer_code == 0


def test_without_look_questions_about_paths_stay_silent(tmp_path: Path) -> None:
    seen = python(tmp_path, 'import os; os.path.exists("/etc/x"); open("/etc/hostname")', look=False)
    assert not seen.of(PathQuery)
    assert seen.of(Open, path="/etc/hostname")


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="changes to an ordinary user, which needs root")
def test_everything_works_for_an_ordinary_user(tmp_path: Path) -> None:
    there = subprocess.run(
        ["test", "-r", ROOM / "observer/__main__.py"], user=65534, group=65534, check=False
    )
    if there.returncode:
        pytest.skip("the project is not readable for others")
    seen = launch(
        tmp_path,
        PYTHON,
        "-I",
        "-c",
        "import os, socket\nos.system('cat /etc/hostname')\nos.kill(os.getpid(), 0)\n"
        "os.setuid(os.getuid())\nsocket.socket().bind(('127.0.0.1', 8099))",
        user=65534,
    )
    if seen.heard.fault and b"bwrap" in seen.noise:
        pytest.skip(f"no user namespaces for ordinary users: {seen.noise.decode()[-200:]}")
    assert seen.heard.fault is None
    assert seen.completeness.whole
    assert seen.of(Process)[0].uid == 65534
    assert seen.of(Open, path="/etc/hostname")
    assert seen.of(Exec)[0].argv[0] == PYTHON
    assert seen.of(Net, call="bind", addr="127.0.0.1", port=8099, proto="tcp")
    assert seen.of(Signal, scope="self")
