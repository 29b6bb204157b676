"""The guest's process 1: walls the code off inside the machine too, watches it, tells how it ended.

Ports of the virtio console: 1 the launcher's stdin and stdout (before that, our settings: u32 big-endian
length and JSON), 2 the trace, 3 our own lines of JSON out and orders in (``k``: kill the code). The code
runs as another user than the observer, in namespaces and a control group of its own. Standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import glob
import json
import os
import select
import signal
import socket
import stat
import struct
import sys
import time
from typing import Any

UID = 65532
CODE = "/sys/fs/cgroup/code"
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
LAST_SECONDS = 3.0
PORT_SECONDS = 10.0
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


def put(path: str, text: str) -> None:
    """Write one kernel setting."""
    with open(path, "w") as file:
        file.write(text)


def exactly(fd: int, size: int) -> bytes:
    """So many bytes of a port."""
    data = b""
    while len(data) < size:
        part = os.read(fd, size - len(data))
        if not part:
            raise OSError("the port ended")
        data += part
    return data


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


def machine(settings: dict[str, Any]) -> None:
    """What the whole guest needs: proc, control group, loopback."""
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("sys", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("cgroup", "/sys/fs/cgroup", "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    put("/sys/fs/cgroup/cgroup.subtree_control", "+memory +pids")
    os.mkdir(CODE)
    put(CODE + "/memory.max", str(settings["memory"]))
    put(CODE + "/pids.max", str(settings["pids"]))
    with contextlib.suppress(OSError):
        put(CODE + "/memory.oom.group", "0")
    with socket.socket() as any_socket:  # lo up: SIOCSIFFLAGS, IFF_UP | IFF_RUNNING
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 0x41))


def devices() -> None:
    """A /dev with nothing in it that leads anywhere."""
    mount("dev", "/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "size=64k,mode=0755")
    os.umask(0)
    for name, major, minor in (
        ("null", 1, 3),
        ("zero", 1, 5),
        ("full", 1, 7),
        ("random", 1, 8),
        ("urandom", 1, 9),
        ("tty", 5, 0),
    ):
        os.mknod("/dev/" + name, stat.S_IFCHR | 0o666, os.makedev(major, minor))
    for name, to in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink("/proc/self/fd" + to, "/dev/" + name)
    os.mkdir("/dev/shm")
    os.umask(0o022)
    shared = MS_NOSUID | MS_NODEV | MS_NOEXEC
    mount("shm", "/dev/shm", "tmpfs", shared, "size=16m,mode=1777")
    mount("dev", "/dev", "tmpfs", MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NOEXEC)


def files(settings: dict[str, Any]) -> None:
    """Proc and sys without what tells of the machine; scratch; places for planted files."""
    quiet = MS_NOSUID | MS_NODEV | MS_NOEXEC
    mount("proc", "/proc", "proc", quiet)
    for path in settings["masked"]:
        if path.startswith("/sys") or not os.path.exists(path):
            continue
        if os.path.isdir(path):
            mount("none", path, "tmpfs", quiet | MS_RDONLY, "size=0")
        else:
            mount("/dev/null", path, "", MS_BIND)
    for path in settings["read_only"]:
        if os.path.exists(path):
            mount(path, path, "", MS_BIND)
            mount(path, path, "", MS_BIND | MS_REMOUNT | MS_RDONLY | quiet)
    mount("none", "/sys", "tmpfs", quiet | MS_RDONLY, "size=0")
    size = "size=%d,nr_inodes=%d" % (settings["scratch"], settings["inodes"])
    mount("work", "/work", "tmpfs", MS_NOSUID | MS_NODEV, size + ",mode=0755,uid=%d,gid=%d" % (UID, UID))
    mount("tmp", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, size + ",mode=1777")
    mount("run", "/run", "tmpfs", quiet, "size=1m,mode=0755")
    for folder in settings["planted"]:
        top = "/" + folder.split("/")[1]
        if top not in ("/run", "/var") and not os.path.ismount(top):
            mount("planted", top, "tmpfs", quiet, "size=1m,mode=0755")
        os.makedirs(folder, exist_ok=True)
        os.chown(folder, UID, UID)
    check(libc.umount2(b"/boot", 2), "umount /boot")


def become_launcher(settings: dict[str, Any], control: int, link: int, noise: int) -> None:
    """Process 1 of the inner namespaces: never returns."""
    mount("none", "/", "", MS_REC | MS_PRIVATE)
    devices()
    files(settings)
    for number, fd in ((10, control), (11, link), (12, noise)):
        os.dup2(fd, number)
    for number, fd in ((0, 10), (1, 10), (2, 12), (3, 11)):
        os.dup2(fd, number)
    os.closerange(4, 1024)
    os.chdir("/")
    libc.sethostname(b"localhost", 9)
    os.setgroups([])
    os.setresgid(UID, UID, UID)
    os.setresuid(UID, UID, UID)
    check(libc.prctl(38, 1, 0, 0, 0), "no new privileges")
    words = ["python3", "-I", "-S", "-B", "/opt/gate/launch.py"]
    os.execvpe("python3", words, {"PATH": "/usr/local/bin:/usr/bin:/bin"})


def box(settings: dict[str, Any], control: int, link: int, noise: int) -> int:
    """The child that holds the inner namespaces; its pid."""
    child = os.fork()
    if child:
        return child
    try:
        put(CODE + "/cgroup.procs", "0")
        check(libc.unshare(NEW_NS | NEW_CGROUP | NEW_UTS | NEW_IPC | NEW_PID), "unshare")
        first = os.fork()
        if first == 0:
            become_launcher(settings, control, link, noise)
        for fd in (control, link):
            os.close(fd)
        _, status = os.waitpid(first, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    except BaseException as error:
        os.write(noise, ("guest: %s\n" % error).encode())
        os._exit(125)


def observe(link: socket.socket, trace: int, settings: dict[str, Any]) -> int:
    """The child that supervises the code; its pid."""
    child = os.fork()
    if child:
        return child
    code = 2
    try:
        sys.path.insert(0, "/boot")
        from observer import supervisor  # type: ignore[import-not-found, unused-ignore]

        supervisor.stop_on_term()
        listener = supervisor.receive_listener(link, bytes.fromhex(settings["token"]))
        link.settimeout(None)
        watch = supervisor.Supervisor(listener, trace, link=link, events=settings["events"])
        code = 0 if watch.run(None) == "exited" else 1
    except BaseException as error:
        os.write(2, ("observer: %s\n" % error).encode())
    os._exit(code)


def number_in(path: str, key: str = "") -> int:
    """One number of a control group's file; 0 where there is none."""
    with contextlib.suppress(OSError, ValueError):
        with open(path) as file:
            text = file.read()
        for line in text.splitlines():
            if not key or line.startswith(key + " "):
                return int(line.split()[-1])
    return 0


def serve(inner: int, watcher: int, said: int) -> None:
    """Until the code ended; then how, and how much memory it took."""
    poll = select.poll()
    poll.register(said, select.POLLIN)
    wake, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    poll.register(wake, select.POLLIN)
    left, peak = {inner, watcher}, 0
    first = True
    while left and not (inner not in left and first is False and not poll.poll(LAST_SECONDS * 1000)):
        peak = max(peak, number_in(CODE + "/memory.peak") or number_in(CODE + "/memory.current"))
        for fd, _ in poll.poll(100) if inner in left else ():
            data = os.read(fd, 64)
            if fd == said and not data:
                return  # the gate on the host is gone: the machine goes off
            if fd == said and b"k" in data:
                put(CODE + "/cgroup.kill", "1")
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                left.clear()
                break
            if pid == 0:
                break
            left.discard(pid)
        first = inner in left
    oom = number_in(CODE + "/memory.events", "oom_kill") > 0
    os.write(said, json.dumps({"ended": True, "oom": oom, "peak": peak}).encode() + b"\n")


def main() -> None:
    """Never returns: the machine goes off."""
    control, trace, said = (port(number) for number in (1, 2, 3))
    os.dup2(said, 2)
    try:
        (size,) = struct.unpack(">I", exactly(control, 4))
        settings = json.loads(exactly(control, size))
        machine(settings)
        ours, theirs = socket.socketpair()
        watcher = observe(ours, trace, settings)
        ours.close()
        os.close(trace)
        inner = box(settings, control, theirs.detach(), said)
        os.close(control)
        os.write(said, b'{"ready": true}\n')
        serve(inner, watcher, said)
    except BaseException as error:
        os.write(said, ("guest: %s: %s\n" % (type(error).__name__, error)).encode())
    finally:
        libc.reboot(0x01234567)


if __name__ == "__main__":
    main()
