"""What the forked child does until it becomes the code under test. Part of launch.py."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import threading

from . import machine_files
from .tree_unpacker import LauncherError

TYPE_CHECKING = False  # typing alone takes a tenth of the start
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Optional, Set

    Job = Dict[str, Any]

DRIVER_FD = 3
PR_CAPBSET_DROP, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 24, 47, 4
LAST_CAPABILITY = 63
CAPABILITY_VERSION = 0x20080522
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_NEW_LISTENER, SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV = 8, 32
SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}
MS_RDONLY, MS_BIND = 1, 4096
MEMLOCK = 8 << 20
"""Linux's own default since 5.16; locked memory counts as memory."""
KEPT_CAPABILITIES = 1 << 5 | 1 << 6 | 1 << 7
"""CAP_KILL, CAP_SETGID, CAP_SETUID: what it takes to start and end the code as another user."""

libc = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int) -> None:
    """Set one thing about this process. Raises LauncherError."""
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise LauncherError(f"prctl {option}: {os.strerror(ctypes.get_errno())}")


def high(fd: int) -> int:
    """The same file at a descriptor of 10 or more, closed on exec; the old one is closed."""
    new = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(fd)
    return new


def set_limits(limits: Job) -> None:
    """rlimits; 0 or a missing key leaves one alone (a cgroup holds it). None is above what there is."""
    wanted = {
        resource.RLIMIT_CORE: 1,  # bytes: as good as none
        resource.RLIMIT_MEMLOCK: MEMLOCK,
        resource.RLIMIT_NOFILE: limits.get("open_files"),
        resource.RLIMIT_FSIZE: limits.get("file_size"),
        resource.RLIMIT_NPROC: limits.get("pids"),
        resource.RLIMIT_DATA: limits.get("memory"),
        resource.RLIMIT_CPU: limits.get("cpu_seconds"),
    }
    for which, value in wanted.items():
        if value:
            bound = 0 if which == resource.RLIMIT_CORE else int(value)
            _, most = resource.getrlimit(which)
            if most != resource.RLIM_INFINITY:
                bound = min(bound, most)
            resource.setrlimit(which, (bound, bound))
    soft = int(limits.get("soft_memory") or 0)
    if soft:
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        if most == resource.RLIM_INFINITY or soft < most:
            resource.setrlimit(resource.RLIMIT_DATA, (soft, most))


def find_program(name: str, env: Dict[str, str], cwd: str) -> str:
    """The path to execute. Looked up before the filter acts, so that it leaves no trace."""
    if "/" in name:
        return name if name.startswith("/") else os.path.join(cwd, name)
    for folder in env.get("PATH", "/usr/local/bin:/usr/bin:/bin").split(":"):
        path = os.path.join(folder or cwd, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise LauncherError(f"no program {name!r} in the sandbox")


def drop_capabilities() -> None:
    """None at all, for ever: also where the sandbox left some (bubblewrap run by root does)."""
    for number in range(LAST_CAPABILITY + 1):
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)  # fails without privilege: then there is nothing to drop
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    keep_capabilities(0)


def cover(paths: List[str]) -> None:
    """Hide these, as an engine does with paths that it masks: nothing to read in a file, an empty folder, no
    device; what is the first process's own cannot even be opened. Those that are not there are left out.
    Raises LauncherError.
    """
    closed = b"/dev/.closed"
    os.close(os.open(closed, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0))
    for path in paths:
        name, own = path.encode(), path.startswith("/proc/1/")
        if not os.path.exists(path):
            continue
        failed = 0
        if os.path.isdir(path):
            failed = libc.mount(b"none", name, b"tmpfs", MS_RDONLY, b"mode=0700" if own else b"mode=0755")
        elif path.startswith("/dev/"):
            os.unlink(path)
        else:
            failed = libc.mount(closed if own else b"/dev/null", name, None, MS_BIND, None)
        if failed:
            raise LauncherError(f"cannot hide {path}: {os.strerror(ctypes.get_errno())}")
    os.unlink(closed)


def show_machine() -> None:
    """Lay what a hosted runner has over what tells a machine made for one run. Raises LauncherError."""
    shown = "/dev/.shown"
    for path, text in machine_files.texts().items():
        with open(os.open(shown, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o444), "w") as file:
            file.write(text)
            os.fchmod(file.fileno(), 0o444)
        if libc.mount(shown.encode(), path.encode(), None, MS_BIND, None):
            raise LauncherError(f"cannot show {path}: {os.strerror(ctypes.get_errno())}")
        os.unlink(shown)


def keep_capabilities(kept: int) -> None:
    """No others than these bits from here on. Raises LauncherError."""
    data = struct.pack("<6I", kept, kept, 0, 0, 0, 0)
    if libc.capset(struct.pack("<Ii", CAPABILITY_VERSION, 0), data) != 0:
        raise LauncherError(f"capset: {os.strerror(ctypes.get_errno())}")


@contextlib.contextmanager
def acting_as(user: Optional[int]) -> Iterator[None]:
    """With the file rights of that user and group for a while; as we are where it is None."""
    if user is None:
        yield
        return
    os.setresgid(-1, user, -1)
    os.setresuid(-1, user, -1)
    try:
        yield
    finally:
        os.setresuid(-1, 0, -1)
        os.setresgid(-1, 0, -1)


def become_user(user: Optional[int]) -> None:
    """For good. Where the launcher keeps another user, the code can neither signal nor open it."""
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)


class SockFprog(ctypes.Structure):
    """struct sock_fprog (uapi linux/filter.h)."""

    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def install_guard(program: bytes) -> None:
    """Put a filter on this thread that nobody listens to: it only refuses. Raises LauncherError."""
    number = SYS_SECCOMP.get(os.uname().machine)
    if number is None:
        raise LauncherError(f"no seccomp on {os.uname().machine}")
    buffer = ctypes.create_string_buffer(program, len(program))
    wanted = SockFprog(len(program) // 8, ctypes.addressof(buffer))
    if libc.syscall(number, SECCOMP_SET_MODE_FILTER, 0, ctypes.byref(wanted)) != 0:
        raise LauncherError(f"seccomp: {os.strerror(ctypes.get_errno())}")


def install_filter(program: bytes, link: socket.socket) -> None:
    """Put the seccomp filter on this thread and hand its listener to the observer.

    Sending is itself an observed call, so a second thread, which the filter does not cover, does it.
    Returns when the observer has taken over.
    """
    number = SYS_SECCOMP.get(os.uname().machine)
    if number is None:
        raise LauncherError(f"no seccomp on {os.uname().machine}")
    fds: List[int] = []
    ready = threading.Event()
    problem: List[str] = []

    def hand_over() -> None:
        ready.wait()
        if not fds:
            return
        try:
            socket.send_fds(link, [b"L"], fds)
            if link.recv(1) != b"K":
                problem.append("the observer did not answer")
        except OSError as error:
            problem.append(f"the observer is gone: {error}")

    helper = threading.Thread(target=hand_over, daemon=True)
    helper.start()
    buffer = ctypes.create_string_buffer(program, len(program))
    wanted = SockFprog(len(program) // 8, ctypes.addressof(buffer))
    listener = -1
    for flags in (
        SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
        SECCOMP_FILTER_FLAG_NEW_LISTENER,  # before Linux 5.19
    ):
        listener = libc.syscall(number, SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(wanted))
        if listener >= 0:
            break
    if listener >= 0:
        fds.append(listener)
    else:
        problem.append(f"seccomp: {os.strerror(ctypes.get_errno())}")
    ready.set()
    helper.join()
    if problem:
        raise LauncherError(problem[0])


def become_target(job: Job, fds: Dict[str, Any], link: Optional[socket.socket]) -> None:
    """In the child: never returns. An error is written to ``fds['status']`` (closed by exec)."""
    status = fds["status"]
    try:
        os.setsid()
        become_user(job["tracer"].get("user"))
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # after that: a change of user takes it back
        if os.getppid() != fds["launcher"]:
            os._exit(126)
        for number, fd in ((0, fds["null"]), (1, fds["out"]), (2, fds["err"])):
            os.dup2(fd, number)
        keep = {status}
        if link is not None:
            keep.add(link.fileno())
        if fds["driver"] is not None:
            os.dup2(fds["driver"], DRIVER_FD)
            keep.add(DRIVER_FD)
        close_others(keep)
        for number in range(1, signal.NSIG):
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.umask(0o022)
        os.chdir(job["cwd"])
        env = dict(job["env"])
        if fds["driver"] is not None:
            env["GATE_DRIVER_FD"] = str(DRIVER_FD)
        path = find_program(job["argv"][0], env, job["cwd"])
        set_limits(job["limits"])
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        drop_capabilities()
        if link is not None and job["tracer"]["kind"] == "strace":
            install_guard(bytes.fromhex(job["tracer"]["filter"]))
            if link.recv(1) != b"K":  # who reads strace's output saw that: the trace begins here
                raise LauncherError("strace does not see this process")
        elif link is not None:
            install_filter(bytes.fromhex(job["tracer"]["filter"]), link)
        elif job["tracer"]["kind"] == "guard":
            install_guard(bytes.fromhex(job["tracer"]["filter"]))
        os.execve(path, job["argv"], env)
    except BaseException as error:
        os.write(status, f"{type(error).__name__}: {error}".encode("utf-8", "replace")[:1000])
    os._exit(126)


def close_others(keep: Set[int]) -> None:
    """Close every descriptor above 2 that is not kept."""
    low = 3
    for fd in sorted(fd for fd in keep if fd > 2):
        os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 1 << 16))
