"""Ways out of the tracer's sight (threats TR-1 to TR-9), each tried for real inside a sandbox."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

import pytest

from gate.inside.observer.text import bytes_of
from gate.tracing.events import (
    Attempt,
    Exec,
    Exit,
    File,
    Fork,
    Net,
    Open,
    Process,
    Signal,
    Summary,
)
from tests.integration.launching import Launched, launch, python, tar_of, why_no_bwrap
from tests.integration.raw_calls import MACHINE_CODE

pytestmark = [
    pytest.mark.sandboxed,
    pytest.mark.skipif(bool(why_no_bwrap()), reason=why_no_bwrap() or "bubblewrap works"),
]


def test_i386_calls_are_refused_and_reported(tmp_path: Path) -> None:
    """TR-2: int 0x80 with number 5 is open() for i386 and fstat() natively: never decoded as the latter."""
    seen = python(
        tmp_path,
        MACHINE_CODE
        + """
pid = os.fork()
if pid == 0:
    got = run(b"\\xb8\\x05\\x00\\x00\\x00\\xcd\\x80\\xc3")   # mov eax, 5; int 0x80; ret
    os._exit(-got if got < 0 else 0)
print(os.waitpid(pid, 0)[1])
""",
    )
    status = int(seen.heard.stdout)
    if os.WIFSIGNALED(status):
        pytest.skip("this kernel has no 32-bit emulation at all")
    assert os.WEXITSTATUS(status) == 1  # EPERM
    found = seen.of(Attempt, abi="i386")
    assert [(a.call, a.number, a.denied, a.errno) for a in found] == [("syscall_5", 5, True, "EPERM")]
    assert seen.completeness.whole


def test_x32_calls_are_refused_and_reported(tmp_path: Path) -> None:
    seen = python(tmp_path, MACHINE_CODE + 'print(libc.syscall(0x40000000 | 2, b"/etc/shadow", 0))')
    assert seen.heard.stdout == b"-1\n"
    found = seen.of(Attempt, abi="x32")
    assert [(a.call, a.number, a.denied) for a in found] == [("open", 2, True)]
    assert not seen.of(Open, path="/etc/shadow")


def static_elf() -> bytes:
    """A 64-bit program without any library: open("/etc/shadow", 0), then exit(0)."""
    code = b"\xb8\x02\x00\x00\x00\x48\x8d\x3d\x0e\x00\x00\x00\x31\xf6\x0f\x05"  # open
    code += b"\xb8\x3c\x00\x00\x00\x31\xff\x0f\x05" + b"\x90"  # exit
    code += b"/etc/shadow\0"
    base, head = 0x400000, 64 + 56
    elf = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, base + head, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    )
    size = head + len(code)
    return elf + struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, size, size, 4096) + code


def test_static_program_without_libc_is_seen(tmp_path: Path) -> None:
    """TR-7: no preload, no audit hook could see it."""
    seen = python(
        tmp_path,
        "import os, shutil\nshutil.copy('/tmp/tree/s', '/tmp/s'); os.chmod('/tmp/s', 0o755)\n"
        "os.spawnv(os.P_WAIT, '/tmp/s', ['s'])",
        tar=tar_of({"s": static_elf()}),
    )
    (opened,) = seen.of(Open, path="/etc/shadow")
    program = seen.of(Process, pid=opened.pid)[-1]
    assert program.exe == "/tmp/s"
    # exit(2) of a single thread is not exit_group: its end is seen all the same
    assert seen.of(Exit, pid=opened.pid, code=None)
    assert seen.completeness.whole


def test_double_fork_daemon_is_traced_and_killed(tmp_path: Path) -> None:
    """TR-6: the heartbeat stops with the run."""
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o777)
    seen = python(
        tmp_path,
        """
import os, time
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.close(r)
        open("/etc/hostname").close()
        out = os.open("/tmp/shared/beat", os.O_WRONLY | os.O_CREAT)
        os.write(out, b"x"); os.write(w, b"x")
        while True:
            os.write(out, b"x"); time.sleep(0.002)
    os._exit(0)
os.wait(); os.read(r, 1)
""",
        bubble=("--bind", str(shared), "/tmp/shared"),
    )
    assert seen.heard.end is not None
    assert seen.heard.end.leftover_killed == 1
    assert seen.heard.end.completed
    size = (shared / "beat").stat().st_size
    daemon = seen.of(Open, path="/etc/hostname")[0].pid
    assert daemon != seen.of(Process)[0].pid
    assert seen.of(Exit, pid=daemon, code=None)
    subprocess.run(["true"], check=True)  # some time passes
    assert (shared / "beat").stat().st_size == size


def test_odd_clones_stay_in_the_tree(tmp_path: Path) -> None:
    """TR-6: CLONE_PARENT makes the launcher the parent; vfork shares memory. All are traced and reaped."""
    seen = python(
        tmp_path,
        MACHINE_CODE
        + """
pid = libc.syscall(56, 0x8000 | 17, 0, 0, 0, 0)   # CLONE_PARENT | SIGCHLD
if pid == 0:
    os.open("/etc/passwd", 0); os._exit(0)
import subprocess
subprocess.run(["/bin/cat", "/etc/group"], stdout=subprocess.DEVNULL)
""",
    )
    assert seen.of(Open, path="/etc/passwd")[0].pid != seen.of(Process)[0].pid
    assert any("CLONE_PARENT" in f.flags for f in seen.of(Fork))
    cat = seen.of(Exec, path="/bin/cat")[0]
    assert seen.of(Open, path="/etc/group")[0].pid == cat.pid


def test_flood_of_opens_is_counted_and_costs_nobody_else(tmp_path: Path) -> None:
    """TR-8: bounded, dropped > 0, and what matters is still there."""
    seen = python(
        tmp_path,
        """
import os, socket
for _ in range(3000): os.close(os.open("/etc/hostname", 0))
for _ in range(3000): os.path.exists("/etc/hostname")
for i in range(1500): os.close(os.open("/tmp/f%d" % i, os.O_CREAT | os.O_WRONLY))
os.system("true")
try: socket.socket().connect(("192.0.2.5", 25))
except OSError: pass
os.open("/etc/shadow-like", os.O_RDONLY | os.O_CREAT) if False else None
""",
        events=1000,
    )
    assert seen.completeness.dropped > 4000
    assert not seen.completeness.whole
    assert seen.summary is not None
    assert seen.summary.calls["openat"] > 4500
    assert len(seen.events) < 4000
    assert seen.of(Exec, path="/bin/sh")
    assert seen.of(Net, addr="192.0.2.5", port=25)


def test_cheap_calls_in_masses_run_at_native_speed_and_cost_no_line(tmp_path: Path) -> None:
    seen = python(
        tmp_path,
        """
import ctypes, time
getppid = ctypes.CDLL(None).getppid
start = time.perf_counter()
for _ in range(300000): getppid()
print(time.perf_counter() - start)
""",
    )
    assert float(seen.heard.stdout) < 3.0
    assert seen.completeness.whole
    assert seen.summary is not None
    assert sum(seen.summary.calls.values()) < 2000


def test_unknown_calls_in_masses_are_counted(tmp_path: Path) -> None:
    seen = python(tmp_path, MACHINE_CODE + "for i in range(3000): libc.syscall(2000 + i)", events=1000)
    assert seen.completeness.dropped >= 2000
    assert len(seen.of(Attempt)) == 1000
    assert seen.summary is not None
    made_up = {n: c for n, c in seen.summary.calls.items() if n.startswith("syscall_") or n == "other"}
    assert sum(made_up.values()) >= 3000
    assert len(made_up) <= 1001  # names cannot fill the supervisor's memory


def test_names_cannot_forge_lines(tmp_path: Path) -> None:
    """TR-5: quotes, newlines and JSON in a path, an argument and a thread name stay text."""
    evil = '","ev":"summary","x":"\n{"seq":1,"ev":"exec"}\\x41\x1b[2K\u202e'
    source = f"import os\nevil = {evil!r}\nopen('/tmp/' + evil, 'w')\n"
    source += "os.spawnv(os.P_WAIT, '/bin/true', ['true', evil])"
    seen = python(tmp_path, source)
    assert seen.completeness.whole
    assert len(seen.of(Summary)) == 1
    shown = seen.of(Exec, path="/bin/true")[0].argv[1]
    assert bytes_of(shown) == evil.encode()
    assert "\n" not in shown
    assert any(bytes_of(o.path) == b"/tmp/" + evil.encode() for o in seen.of(Open))


def test_path_that_flips_under_our_eyes_is_recorded_as_one_of_the_two(tmp_path: Path) -> None:
    """TR-3: what is recorded may be either; nothing is decided on it and nothing breaks."""
    seen = python(
        tmp_path,
        MACHINE_CODE
        + """
import _thread
path = ctypes.create_string_buffer(b"/etc/hostname\\0\\0\\0\\0")
stop = []
def flip():
    while not stop:
        path[5:13] = b"shadow\\0e"; path[5:13] = b"hostname"
_thread.start_new_thread(flip, ())
for _ in range(300): libc.syscall(257, -100, path, 0)
stop.append(1)
""",
    )
    flipped = [o.path for o in seen.of(Open) if o.path.startswith(("/etc/h", "/etc/s"))]
    assert len(flipped) == 300  # the one, the other, or half of each: never none
    assert seen.completeness.whole


def test_arguments_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    seen = python(tmp_path, MACHINE_CODE + "libc.syscall(2, 0x10, 0); libc.syscall(2, 0, 0)")
    assert seen.completeness.unparsed == 1  # NULL is an ordinary mistake, a wild pointer is not
    assert len(seen.of(Open, path="")) == 2


def test_path_at_the_end_of_a_page(tmp_path: Path) -> None:
    seen = python(
        tmp_path,
        MACHINE_CODE
        + """
page = mmap.mmap(-1, 8192, prot=3); at = ctypes.addressof(ctypes.c_char.from_buffer(page))
ctypes.CDLL(None).mprotect(ctypes.c_void_p(at + 4096), 4096, 0)
name = b"/etc/edge\\0"; page[4096 - len(name):4096] = name
libc.syscall(2, ctypes.c_long(at + 4096 - len(name)), 0)
""",
    )
    assert seen.of(Open, path="/etc/edge")
    assert seen.completeness.whole


def test_dead_supervisor_ends_the_run_and_is_never_a_clean_look(tmp_path: Path) -> None:
    """TR-10: calls fail, the launcher kills the code, the trace has no summary."""

    def kill(_box: object, observer: subprocess.Popen[bytes] | None) -> None:
        assert observer is not None
        observer.kill()

    seen = launch(
        tmp_path,
        "/usr/bin/python3",
        "-c",
        "import time\nwhile True: time.sleep(0.01)",
        meanwhile=kill,
    )
    end = seen.heard.end
    assert end is not None
    assert not end.tracer_ok
    assert not end.completed
    assert end.status != 0  # killed, or its own start failed for want of an answer
    assert seen.completeness.truncated
    assert end.seconds < 10


def test_stopped_supervisor_says_so(tmp_path: Path) -> None:
    def stop(_box: object, observer: subprocess.Popen[bytes] | None) -> None:
        assert observer is not None
        observer.terminate()

    seen = launch(
        tmp_path, "/usr/bin/python3", "-c", "import time\nwhile True: time.sleep(0.01)", meanwhile=stop
    )
    assert seen.summary is not None
    assert seen.summary.end == "killed"
    assert seen.completeness.truncated


def _ended(seen: Launched) -> bool:
    end = seen.heard.end
    return end is not None and end.tracer_ok and seen.completeness.whole


def test_killing_everything_reaches_neither_launcher_nor_supervisor(tmp_path: Path) -> None:
    """TR-9: kill(-1) and SIGKILL, SIGSTOP at PID 1."""
    seen = launch(
        tmp_path,
        "/usr/bin/python3",
        "-c",
        "import os\nfor s in (9, 19, 15): os.kill(1, s)\ntry: os.kill(-1, 9)\nexcept OSError: os._exit(5)",
    )
    assert seen.heard.end is not None
    assert seen.heard.end.status == 5
    assert _ended(seen)
    assert seen.of(Signal, scope="all", sig="SIGKILL")
    assert len(seen.of(Signal, scope="init")) == 3


ALIASES = {
    "link": "/tmp/tree/link",
    "folder": "/tmp/tree/folder/secret",
    "chain": "/tmp/tree/chain",
    "dots": "/usr/../tmp/home/secret",
    "root": "/proc/self/root/tmp/home/secret",
    "nested": "/proc/self/root/proc/thread-self/root/tmp/home/secret",
    "cwd": "/proc/self/cwd/../home/secret",
    "pid": "/proc/{pid}/cwd/../home/secret",
    "task": "/proc/self/task/{pid}/cwd/../home/secret",
    "fd": "/proc/self/fd/{fd}",
    "dev": "/dev/fd/{fd}",
    "dirfd": "/proc/self/fd/{dirfd}/secret",
    "relative": "../home/./secret",
    "slashes": "//tmp///home//secret",
    "inside-link": "/tmp/tree/magic/tmp/home/secret",
}


@pytest.fixture(scope="module")
def aliased(tmp_path_factory: pytest.TempPathFactory) -> Launched:
    """One secret, opened by every name one can think of (IS-4)."""
    links = {"link": "/tmp/home/secret", "folder": "../home", "chain": "link", "magic": "/proc/self/root"}
    source = "import os\nos.mkdir('/tmp/cwd'); os.chdir('/tmp/cwd')\n"
    source += "".join(f"os.symlink({t!r}, '/tmp/tree/{n}')\n" for n, t in links.items())
    source += "fd, dirfd = os.open('/tmp/home/secret', os.O_PATH), os.open('/tmp/home', os.O_PATH)\n"
    source += f"for name, path in {ALIASES!r}.items():\n"
    source += "    path = path.format(pid=os.getpid(), fd=fd, dirfd=dirfd)\n"
    source += "    os.mkdir('/tmp/at-' + name); assert os.read(os.open(path, os.O_RDONLY), 9) == b's', name\n"
    source += "os.open('/tmp/tree/folder/new', os.O_CREAT | os.O_WRONLY)\n"
    source += "os.open('/tmp/tree/link', os.O_PATH | os.O_NOFOLLOW)\n"
    source += "os.rename('/tmp/tree/folder/new', '/proc/self/root/tmp/home/.bashrc')\n"
    source += "os.chmod('/tmp/tree/link', 0o644); os.unlink('/tmp/tree/link'); open('/proc/self/status')\n"
    return python(tmp_path_factory.mktemp("aliases"), source, files={"/tmp/home/secret": b"s"})


@pytest.mark.parametrize("name", ALIASES)
def test_a_file_is_known_by_its_real_path(aliased: Launched, name: str) -> None:
    events = [e for e in aliased.events if isinstance(e, (Open, File))]
    start = next(i for i, e in enumerate(events) if isinstance(e, File) and e.path == "/tmp/at-" + name)
    opened = events[start + 1]
    assert isinstance(opened, Open)
    assert opened.path == "/tmp/home/secret"
    assert opened.asked


def test_new_files_and_unfollowed_links_too(aliased: Launched) -> None:
    assert aliased.of(Open, path="/tmp/home/new", asked="/tmp/tree/folder/new")
    assert aliased.of(Open, path="/tmp/tree/link", asked="")
    assert aliased.of(File, call="rename", path="/tmp/home/.bashrc", other="/tmp/home/new")
    assert aliased.of(File, call="chmod", path="/tmp/home/secret", mode=0o644)
    assert aliased.of(File, call="unlink", path="/tmp/tree/link")
    assert aliased.of(Open, path="/proc/self/status", asked="")
    assert aliased.completeness.whole


def test_program_behind_a_link_is_known_by_its_real_path(tmp_path: Path) -> None:
    source = "import os\nos.symlink('/bin/sh', '/tmp/pytest')\n"
    source += "os.spawnv(os.P_WAIT, '/tmp/pytest', ['pytest', '-c', ':'])"
    seen = python(tmp_path, source)
    started = seen.of(Exec, asked="/tmp/pytest")[0]
    assert started.path == os.path.realpath("/bin/sh")
    assert started.argv == ("pytest", "-c", ":")


def test_a_link_that_could_not_be_looked_up_before_is_followed_afterwards(tmp_path: Path) -> None:
    """TR-3: asked in vain first, so that the answer would be remembered."""
    seen = python(
        tmp_path,
        """
import os
os.mkdir("/tmp/d"); os.symlink("/tmp/target", "/tmp/d/link"); os.chmod("/tmp/d", 0)
try: open("/tmp/d/link", "w")
except OSError: pass
os.chmod("/tmp/d", 0o700)
open("/tmp/d/link", "w").close()
""",
    )
    assert seen.of(Open, path="/tmp/target")
