"""The guest's way to its kernel: calls that Python's library lacks, clock, randomness, modules, ports."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import glob
import os
import socket
import struct
import time
from typing import Any

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = (
    1,
    2,
    4,
    8,
    32,
    4096,
    16384,
    1 << 18,
)
NEW_NS, NEW_CGROUP, NEW_UTS, NEW_IPC, NEW_PID = 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x20000000
CODE = "/sys/fs/cgroup/code"
PORT_SECONDS = 10.0
_ADD_ENTROPY, _RESEED = 0x40085203, 0x5207
"""RNDADDENTROPY and RNDRESEEDCRNG (uapi linux/random.h)."""
_FINIT_MODULE = 313
_OFTEN = (
    "import argparse, ast, base64, csv, dataclasses, datetime, decimal, enum, glob, hashlib, inspect, json",
    "import logging, pathlib, random, shutil, socket, sqlite3, subprocess, tempfile, unittest, uuid, zipfile",
    "import asyncio, http.client, ssl, urllib.request",
)
libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    """Raise OSError for a call that failed."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, what + ": " + os.strerror(number))


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    """Put a file system somewhere, or change one."""
    words = [word.encode() for word in (source, target, kind)]
    check(libc.mount(*words, ctypes.c_ulong(flags), options.encode()), "mount " + target)


def write_setting(path: str, text: str) -> None:
    """Write one kernel setting."""
    with open(path, "w") as file:
        file.write(text)


def number_in(path: str, key: str = "") -> int:
    """One number of a control group's file; 0 where there is none."""
    with contextlib.suppress(OSError, ValueError):
        with open(path) as file:
            text = file.read()
        for line in text.splitlines():
            if not key or line.startswith(key + " "):
                return int(line.split()[-1])
    return 0


def port(number: int) -> int:
    """One port of the console, which appears a moment after its driver."""
    until = time.monotonic() + PORT_SECONDS
    while True:
        found = glob.glob("/dev/vport*p%d" % number)
        if found:
            return os.open(found[0], os.O_RDWR)
        if time.monotonic() > until:
            raise OSError("no port %d" % number)
        time.sleep(0.005)


def exactly(fd: int, size: int) -> bytes:
    """So many bytes of a port."""
    data = b""
    while len(data) < size:
        part = os.read(fd, size - len(data))
        if not part:
            raise OSError("the port ended")
        data += part
    return data


def prepare() -> None:
    """What every guest needs, whatever its settings: proc, sys, control groups, loopback."""
    quiet = MS_NOSUID | MS_NODEV | MS_NOEXEC
    mount("proc", "/proc", "proc", quiet)
    mount("sys", "/sys", "sysfs", quiet)
    mount("cgroup", "/sys/fs/cgroup", "cgroup2", quiet)
    mount("tmp", "/tmp", "tmpfs", quiet, "size=4m,mode=1777")  # the guest's own, not the code's
    write_setting("/sys/fs/cgroup/cgroup.subtree_control", "+memory +pids")
    os.mkdir(CODE)
    with contextlib.suppress(OSError):
        write_setting(CODE + "/memory.oom.group", "0")
    with socket.socket() as any_socket:  # lo up: SIOCSIFFLAGS, IFF_UP | IFF_RUNNING
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 0x41))


def has_option(what: str) -> bool:
    """Whether this machine was started for it: ``network`` (the simulated one), ``warm`` (to be stored)."""
    with open("/proc/cmdline") as file:
        return "gate." + what in file.read().split()


def fill_page_cache() -> None:
    """Have read from the disk what most code needs, so that a machine stored now has it in memory."""
    for program in _OFTEN:
        words = ["env", "python3", "-B", "-c", program]
        quiet = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1, 2)]
        path = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
        os.waitpid(os.posix_spawn("/usr/bin/env", words, path, file_actions=quiet), 0)


def load_modules(folder: str) -> None:
    """Every module file of a folder, in the order of their names."""
    for path in sorted(glob.glob(folder + "/*.ko")):
        fd = os.open(path, os.O_RDONLY)
        check(libc.syscall(_FINIT_MODULE, fd, b"", 0), "module " + os.path.basename(path))
        os.close(fd)


def awake(settings: dict[str, Any]) -> None:
    """Make this machine differ from every other one that woke from the same stored state: the time
    (seconds since the epoch) and fresh randomness come from the host, before anything else begins.
    """
    time.clock_settime(time.CLOCK_REALTIME, settings["time"])
    entropy = bytes.fromhex(settings["entropy"])
    with open("/dev/random", "wb", buffering=0) as device:
        head = struct.pack("ii", 8 * len(entropy), len(entropy))
        fcntl.ioctl(device, _ADD_ENTROPY, head + entropy)
        with contextlib.suppress(OSError):  # since Linux 4.19; else it happens by itself
            fcntl.ioctl(device, _RESEED)


def limit(settings: dict[str, Any]) -> None:
    """What the code's control group may use."""
    write_setting(CODE + "/memory.max", str(settings["memory"]))
    write_setting(CODE + "/pids.max", str(settings["pids"]))
