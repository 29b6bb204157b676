"""Criterion 2: which rights and calls are left to this process? Runs inside a sandbox only."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
from collections.abc import Callable

from kit import ARGUMENTS, Answer, call, check, error_text, libc, not_here, refused, status
from privilege import GROUP


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
    attempts: list[Callable[[], object]] = [
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
        return True, "open /dev/tty and push a key with TIOCSTI", error_text(error)
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
