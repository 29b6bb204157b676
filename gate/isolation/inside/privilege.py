"""Criterion 2: what may this process do to the machine? Runs inside a sandbox only."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
import struct
from typing import Any

from kit import (
    Answer,
    call,
    check,
    error_text,
    not_here,
    refused,
)

GROUP = "standing"
NEW_USER, NEW_MOUNT, NEW_NET, NEW_PID = 0x10000000, 0x00020000, 0x40000000, 0x20000000
CLONE_FLAGS = {"user": NEW_USER, "mount": NEW_MOUNT, "network": NEW_NET, "pid": NEW_PID}


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
                said.append(f"{kind} of {pid}: {error_text(error)}")
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
