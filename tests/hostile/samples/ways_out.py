"""Runs INSIDE a sandbox only: tries known ways out and prints those that were not refused (x86_64)."""

import ctypes
import json
import os
import socket

libc = ctypes.CDLL(None, use_errno=True)
worked = []
blank = ctypes.create_string_buffer(256)

CALLS = {
    "mount": (165, b"none", b"/tmp", b"tmpfs", 0, None),
    "umount2": (166, b"/proc", 2),
    "pivot_root": (155, b"/tmp", b"/tmp"),
    "swapon": (167, b"/tmp/x", 0),
    "sethostname": (170, b"owned", 5),
    "iopl": (172, 3),
    "init_module": (175, blank, 0, b""),
    "finit_module": (313, 0, b"", 0),
    "clock_settime": (227, 0, blank),
    "kexec_load": (246, 0, 0, None, 0),
    "add_key": (248, b"user", b"x", b"y", 1, -3),
    "keyctl": (250, 0, -3, 1),
    "unshare user": (272, 0x10000000),
    "unshare mount": (272, 0x20000),
    "setns": (308, 0, 0),
    "perf_event_open": (298, blank, 0, -1, -1, 0),
    "open_by_handle_at": (304, 0, blank, 0),
    "process_vm_readv of init": (310, 1, blank, 1, blank, 1, 0),
    "bpf": (321, 0, blank, 128),
    "userfaultfd": (323, 1),
    "io_uring_setup": (425, 8, blank),
    "open_tree": (428, -100, b"/", 1),
    "fsopen": (430, b"tmpfs", 0),
    "ptrace of init": (101, 16, 1, 0, 0),
    "chroot": (161, b"/tmp"),
    "mknod of a disk": (133, b"/tmp/sda", 0o60666, 0x800),
    "acct": (163, b"/tmp/x"),
    "quotactl": (179, 0x80000100, None, 0, None),
}
for name, (number, *arguments) in CALLS.items():
    if libc.syscall(number, *arguments) >= 0:
        worked.append(name)


def attempt(name, action):
    try:
        action()
    except (OSError, ValueError):
        return
    worked.append(name)


def write(path):
    with open(path, "w") as file:
        file.write("x")


def read(path):
    with open(path, "rb") as file:
        if not file.read(1):
            raise ValueError("nothing in it")


for path in (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sys/vm/drop_caches",
    "/proc/sysrq-trigger",
    "/proc/self/uid_map",
    "/proc/1/oom_score_adj",
    "/sys/fs/cgroup/release_agent",
    "/sys/fs/cgroup/memory/release_agent",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "/sys/fs/cgroup/cgroup.procs",
    "/etc/ld.so.preload",
    "/etc/passwd",
    "/usr/bin/python3",
    "/opt/gate/launcher/main.py",
):
    attempt("write " + path, lambda: write(path))
for path in (
    "/proc/kcore",
    "/proc/kmsg",
    "/proc/kallsyms",
    "/proc/cmdline",
    "/proc/1/mem",
    "/proc/1/environ",
    "/proc/1/root/etc/passwd",
    "/proc/1/fd/0",
    "/dev/kmsg",
    "/dev/mem",
    "/dev/kvm",
    "/dev/fuse",
    "/dev/vda",
    "/dev/sda",
    "/dev/net/tun",
    "/dev/loop-control",
    "/etc/shadow",
    "/root/.bashrc",
    "/var/run/docker.sock",
    "/sys/class/dmi/id/product_name",
    "/sys/kernel/vmcoreinfo",
):
    attempt("read " + path, lambda: read(path))

FAMILIES = {
    "raw socket": (socket.AF_INET, socket.SOCK_RAW, 1),
    "packet socket": (17, socket.SOCK_RAW, 0),
    "vsock": (40, socket.SOCK_STREAM, 0),
    "kernel crypto": (38, socket.SOCK_SEQPACKET, 0),
    "bluetooth": (31, socket.SOCK_RAW, 1),
}
for name, (family, kind, protocol) in FAMILIES.items():
    attempt(name, lambda: socket.socket(family, kind, protocol).close())


def datagram(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.sendto(b"x", (address, 53))


def stream(family, address):
    with socket.socket(family) as out:
        out.settimeout(1)
        out.connect((address, 80))


for address in ("192.0.2.1", "169.254.169.254", "203.0.113.9"):
    attempt("datagram to " + address, lambda: datagram(address))
    attempt("connection to " + address, lambda: stream(socket.AF_INET, address))
attempt("connection over IPv6", lambda: stream(socket.AF_INET6, "2001:db8::1"))
attempt("setuid", lambda: os.setuid(0))
attempt("setgid", lambda: os.setgid(0))
attempt("setgroups", lambda: os.setgroups([0]))
attempt("raise priority", lambda: os.nice(-5))
attempt("sees other people's processes", lambda: os.kill(3_000_000, 0))
attempt("control: reads its own status", lambda: read("/proc/self/status"))
print(json.dumps(worked))
