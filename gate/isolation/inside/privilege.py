"""Criterion 2: what may this process do to the machine? Runs inside a sandbox only."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import signal
import struct
from collections.abc import Callable
from typing import Any

from kit import (
    ARGUMENTS,
    Answer,
    call,
    check,
    libc,
    not_here,
    refused,
    status,
    why,
)

GROUP = "standing"
NEW_USER, NEW_MOUNT, NEW_NET, NEW_PID = 0x10000000, 0x00020000, 0x40000000, 0x20000000
CLONE_FLAGS = {"user": NEW_USER, "mount": NEW_MOUNT, "network": NEW_NET, "pid": NEW_PID}
NO_TERMINAL = 0x5401


def blank(size: int = 256) -> Any:
    """A zeroed buffer."""
    return ctypes.create_string_buffer(size)


def calls(*attempts: tuple[str, tuple[Any, ...]], also: tuple[int, ...] = ()) -> Answer:
    """Held when every one of these system calls is refused."""
    said = []
    for name, arguments in attempts:
        held, tried, happened = refused(name, lambda n=name, a=arguments: call(n, *a), also)
        if not held:
            return held, f"{name}(2)", f"{tried}: {happened}"
        said.append(f"{name}: {happened.split(' ')[0]}")
    return True, ", ".join(name for name, _ in attempts), "; ".join(said)


def simple(name: str, *attempts: tuple[str, tuple[Any, ...]], also: tuple[int, ...] = ()) -> None:
    """A check that is nothing but calls which must be refused."""

    def function() -> Answer:
        return calls(*attempts, also=also)

    check(GROUP, name)(function)


# Arguments are such that success changes nothing: an impossible flag, an empty image, no such path.
simple("privilege.mount", ("mount", (b"none", b"/tmp", b"tmpfs", 0, None)))
simple("privilege.umount", ("umount2", (b"/proc", 2)), also=(errno.EINVAL,))
simple("privilege.pivot-root", ("pivot_root", (b"/tmp", b"/tmp")))
simple("privilege.chroot", ("chroot", (b"/tmp",)))
simple(
    "privilege.mount-api",
    ("fsopen", (b"tmpfs", 0)),
    ("open_tree", (-100, b"/", 1)),
    ("mount_setattr", (-100, b"/tmp", 0, blank(), 32)),
    also=(errno.EINVAL,),
)
simple(
    "privilege.modules",
    ("init_module", (blank(), 0, b"")),
    ("finit_module", (0, b"", 0)),
    ("delete_module", (b"none", 0)),
)
simple("privilege.bpf", ("bpf", (0, blank(), 128)))
simple("privilege.perf", ("perf_event_open", (blank(), 0, -1, -1, 0)))
simple("privilege.userfaultfd", ("userfaultfd", (1,)))
simple("privilege.io-uring", ("io_uring_setup", (8, blank())))
simple(
    "privilege.keyrings",
    ("add_key", (b"user", b"gate", b"x", 1, -3)),
    ("keyctl", (0, -3, 1)),
    ("request_key", (b"user", b"gate", None, -3)),
)
simple("privilege.file-handles", ("open_by_handle_at", (0, blank(), 0)))
simple("privilege.kexec", ("kexec_load", (0, 0, None, 0)))
simple("privilege.reboot", ("reboot", (0xFEE1DEAD, 672274793, 0x7FFFFFFF, 0)))
simple("privilege.swap", ("swapon", (b"/tmp/none", 0)), ("swapoff", (b"/tmp/none",)))
simple("privilege.hostname", ("sethostname", (b"localhost", 9)), ("setdomainname", (b"none", 4)))
simple(
    "privilege.accounting",
    ("acct", (b"/tmp/none",)),
    ("quotactl", (0x80000100, None, 0, None)),
    also=(errno.ENOENT,),
)
simple("privilege.kernel-ring", ("syslog", (3, blank(4096), 4096)))
simple("privilege.fanotify", ("fanotify_init", (0, 0)))


@check(GROUP, "privilege.time")
def set_time() -> Answer:
    """Setting the clock to what it says is no change."""
    now = struct.pack("qq", 0, 0)
    buffer = ctypes.create_string_buffer(now, len(now))
    call("clock_gettime", 0, buffer)
    return calls(("clock_settime", (0, buffer)), ("settimeofday", (buffer, None)), also=(errno.EINVAL,))


@check(GROUP, "privilege.ports")
def ports() -> Answer:
    """Raw access to I/O ports, which only x86 has."""
    if platform.machine() != "x86_64":
        return not_here("iopl(2)", "this machine has no I/O ports")
    return calls(("iopl", (3,)), ("ioperm", (0x80, 1, 1)))


@check(GROUP, "privilege.unshare")
def unshare() -> Answer:
    """A namespace of one's own is the first step of many escapes (CVE-2022-0492)."""
    return calls(*(("unshare", (flag,)) for flag in CLONE_FLAGS.values()))


@check(GROUP, "privilege.clone-namespace")
def clone_namespace() -> Answer:
    """The same through clone(2): the child leaves at once."""

    def make() -> None:
        pid = call("clone", NEW_USER | signal.SIGCHLD, 0, 0, 0, 0)
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

    return refused("clone(CLONE_NEWUSER)", make)


@check(GROUP, "privilege.setns")
def setns() -> Answer:
    """Join the namespaces of the sandbox's first process."""
    said = []
    for kind in ("user", "net", "mnt", "pid"):
        for pid in (1, os.getppid()):
            try:
                fd = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
            except OSError as error:
                said.append(f"{kind} of {pid}: {why(error)}")
                continue
            held, _, happened = refused("setns", lambda fd=fd: call("setns", fd, 0))
            if not held:
                return held, f"setns({kind} of process {pid})", happened
            said.append(f"{kind} of {pid}: {happened}")
    return True, "setns into the namespaces of other processes", "; ".join(sorted(set(said)))


@check(GROUP, "privilege.ptrace")
def ptrace() -> Answer:
    """Attach to the launcher, the first process, and read its memory another way."""
    first, above = 1, os.getppid()
    said = [
        refused(f"process {pid}", lambda pid=pid: call("ptrace", 16, pid, 0, 0)) for pid in {first, above}
    ]
    remote = ctypes.create_string_buffer(struct.pack("PL", 0x400000, 16), 16)
    local = ctypes.create_string_buffer(struct.pack("PL", ctypes.addressof(blank()), 16), 16)
    said.append(refused("process_vm_readv", lambda: call("process_vm_readv", first, local, 1, remote, 1, 0)))
    bad = [answer for answer in said if not answer[0]]
    tried = "ptrace(ATTACH) and process_vm_readv of the first process and of the parent"
    return (bad[0][0], tried, bad[0][2]) if bad else (True, tried, said[0][2])


@check(GROUP, "privilege.memory-of-others")
def memory_of_others() -> Answer:
    """/proc/PID/mem, the same without ptrace."""
    mine = {os.getpid(), os.getppid()}
    others = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in mine]
    opened = []
    for pid in others:
        try:
            os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
            opened.append(str(pid))
        except OSError:
            pass
    return (
        not opened,
        f"open /proc/PID/mem of {len(others)} other processes",
        f"opened {opened}" if opened else "all refused",
    )


@check(GROUP, "privilege.uid")
def uid() -> Answer:
    """Root inside is one kernel bug from root outside."""
    ids = {*os.getresuid(), *os.getresgid()}
    return 0 not in ids, "getresuid, getresgid", f"user {os.getuid()}, group {os.getgid()}"


@check(GROUP, "privilege.groups")
def groups() -> Answer:
    """Groups such as docker, lxd, disk, sudo open doors; 65534 is how a user namespace shows foreign ones."""
    extra = [group for group in os.getgroups() if group not in (os.getgid(), 65534)]
    return not extra, "getgroups", f"extra groups {extra}" if extra else "none but its own"


@check(GROUP, "privilege.capabilities")
def capabilities() -> Answer:
    """All five sets; the bounding set says what exec of a privileged file could still give."""
    sets = {name: status(name) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}
    if not any(sets.values()):
        return None, "/proc/self/status", "it tells no capabilities"
    usable = [name for name, value in sets.items() if name != "CapBnd" and int(value or "0", 16)]
    # without new privileges the bounding set gives nothing
    bounding = int(sets["CapBnd"] or "0", 16) and status("NoNewPrivs") not in ("1", "")
    return not usable and not bounding, "capability sets", ", ".join(f"{k} {v}" for k, v in sets.items())


@check(GROUP, "privilege.no-new-privileges")
def no_new_privileges() -> Answer:
    """prctl(PR_GET_NO_NEW_PRIVS)."""
    value = libc.prctl(39, 0, 0, 0, 0) if libc else -1
    return value == 1, "prctl(PR_GET_NO_NEW_PRIVS)", f"{value}"


@check(GROUP, "privilege.seccomp")
def seccomp() -> Answer:
    """A filter on the code: by the kernel, or by a kernel of its own."""
    mode = status("Seccomp")
    if mode == "2":
        return True, "Seccomp in /proc/self/status", f"mode 2, {status('Seccomp_filters') or '?'} filters"
    if ARGUMENTS.get("own_kernel"):
        return (
            True,
            "Seccomp in /proc/self/status",
            f"mode {mode or '?'}; the kernel inside is the sandbox's own",
        )
    return False, "Seccomp in /proc/self/status", f"mode {mode or '?'}"


@check(GROUP, "privilege.call-sweep")
def call_sweep() -> Answer:
    """Every call that no build needs, with arguments that mean nothing; each must be refused."""
    from numbers_table import NAMES

    leave = {
        "exit",
        "exit_group",
        "fork",
        "vfork",
        "clone",
        "clone3",
        "rt_sigreturn",
        "pause",
        "select",
        "pselect6",
        "ppoll",
        "poll",
    }
    blocked, passed = 0, []
    for _, name in sorted(NAMES.get(platform.machine(), {}).items()):
        if name not in SWEPT or name in leave:
            continue
        try:
            call(name, -1, -1, -1, -1, -1, -1)
            passed.append(name)
        except OSError as error:
            if error.errno in (errno.EPERM, errno.EACCES, errno.ENOSYS):
                blocked += 1
            else:
                passed.append(f"{name} {errno.errorcode.get(error.errno or 0)}")
    tried = f"{blocked + len(passed)} system calls that only administrators need"
    if ARGUMENTS.get("own_kernel"):  # its own kernel may answer; what counts is that nothing works
        passed = [name for name in passed if " " not in name]
    return not passed, tried, f"not refused: {', '.join(passed)}" if passed else f"{blocked} refused"


SWEPT = frozenset(
    [
        "mount",
        "umount2",
        "pivot_root",
        "chroot",
        "move_mount",
        "open_tree",
        "fsopen",
        "fsconfig",
        "fsmount",
        "fspick",
        "mount_setattr",
        "setns",
        "unshare",
        "bpf",
        "perf_event_open",
        "userfaultfd",
        "io_uring_setup",
        "io_uring_enter",
        "io_uring_register",
        "keyctl",
        "add_key",
        "request_key",
        "init_module",
        "finit_module",
        "delete_module",
        "create_module",
        "kexec_load",
        "kexec_file_load",
        "settimeofday",
        "clock_settime",
        "adjtimex",
        "swapon",
        "swapoff",
        "acct",
        "quotactl",
        "syslog",
        "sethostname",
        "setdomainname",
        "iopl",
        "ioperm",
        "modify_ldt",
        "vhangup",
        "lookup_dcookie",
        "open_by_handle_at",
        "name_to_handle_at",
        "fanotify_init",
        "fanotify_mark",
        "ptrace",
        "process_vm_readv",
        "process_vm_writev",
        "pidfd_getfd",
        "kcmp",
        "memfd_secret",
        "statmount",
        "listmount",
    ]
)


@check(GROUP, "privilege.foreign-calls")
def foreign_calls() -> Answer:
    """i386 (int 0x80) and x32 calls pass by filters that only know the native numbers."""
    if platform.machine() != "x86_64":
        return not_here("int 0x80", "only x86-64 has a second set of calls")
    code = bytes.fromhex("b8 14 00 00 00 cd 80 c3".replace(" ", ""))  # mov eax, getpid of i386; int 0x80; ret
    pid = os.fork()
    if pid == 0:
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(code)
        function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
        os._exit(7 if function() == os.getpid() else 8)
    code32 = os.waitpid(pid, 0)[1]
    if libc is None:
        return None, "int 0x80", "no C library"
    x32 = int(libc.syscall(ctypes.c_long(0x40000000 | 39)))
    happened = f"int 0x80: wait status {code32}; x32 getpid: {x32}"
    return os.WEXITSTATUS(code32) != 7 and x32 < 0, "getpid through int 0x80 and through x32", happened


@check(GROUP, "privilege.become-root")
def become_root() -> Answer:
    """setuid(0) and its like, without any file's help."""
    attempts: list[Callable[[], Any]] = [
        lambda: os.setresuid(0, 0, 0),
        lambda: os.setresgid(0, 0, 0),
        lambda: os.setgroups([0]),
    ]
    said = [refused("become root", attempt, also=(errno.EINVAL,)) for attempt in attempts]
    bad = [answer for answer in said if not answer[0]]
    return (bad or said)[0][0], "setresuid(0), setresgid(0), setgroups([0])", (bad or said)[0][2]


@check(GROUP, "privilege.priority")
def priority() -> Answer:
    """Take the processor from others: raise the priority, real-time scheduling, lock memory."""
    said = [
        refused("nice(-5)", lambda: os.nice(-5)),
        refused("SCHED_FIFO", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))),
    ]
    bad = [answer for answer in said if not answer[0]]
    return (bad or said)[0][0], "nice(-5), sched_setscheduler(SCHED_FIFO)", (bad or said)[0][2]


@check(GROUP, "privilege.terminal")
def terminal() -> Answer:
    """TIOCSTI pushes keys into the terminal of whoever started the sandbox (CVE-2017-5226)."""
    import fcntl
    import termios

    try:
        fd = os.open("/dev/tty", os.O_RDWR)
    except OSError as error:
        return True, "open /dev/tty and push a key with TIOCSTI", why(error)
    return refused("TIOCSTI on /dev/tty", lambda: fcntl.ioctl(fd, termios.TIOCSTI, b"\n"))


@check(GROUP, "privilege.dirty-pipe")
def dirty_pipe() -> Answer:
    """CVE-2022-0847, on a file of its own: can a page that may only be read be written through a pipe?"""
    path = "/tmp/only-read"
    with open(path, "wb") as file:
        file.write(b"a" * 64)
    os.chmod(path, 0o400)
    fd = os.open(path, os.O_RDONLY)
    out, into = os.pipe()
    os.write(into, bytes(65536))
    left = 65536
    while left:
        left -= len(os.read(out, left))
    os.splice(fd, into, 1, offset_src=0) if hasattr(os, "splice") else call(
        "splice", fd, None, into, None, 1, 0
    )
    os.write(into, b"b")
    with open(path, "rb") as file:
        dirty = b"b" in file.read()
    return (
        not dirty,
        "splice a read-only file into a full pipe, write behind it",
        "the file changed" if dirty else "the file stayed as it was",
    )
