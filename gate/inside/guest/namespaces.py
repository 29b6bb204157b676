"""What confines the code inside the guest: namespaces, mounts and a /dev of its own."""

from __future__ import annotations

import os
import resource
import stat
from typing import Any

import kernel  # type: ignore[import-not-found, unused-ignore]
from kernel import (  # type: ignore[import-not-found, unused-ignore]
    CODE,
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
    check,
    libc,
    mount,
)

UID = 65532
_NEW = kernel.NEW_NS | kernel.NEW_CGROUP | kernel.NEW_UTS | kernel.NEW_IPC | kernel.NEW_PID


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


def dependencies(folder: str) -> None:
    """Shows a disk's folder as /opt/deps, which the image does not have: what is in /opt stays there."""
    os.makedirs("/boot/opt")
    mount("/opt", "/boot/opt", "", MS_BIND)
    mount("opt", "/opt", "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=0755")
    places = {name: "/boot/opt/" + name for name in os.listdir("/boot/opt")}
    for name, place in {**places, "deps": folder}.items():
        os.mkdir("/opt/" + name)
        mount(place, "/opt/" + name, "", MS_BIND)
        mount(place, "/opt/" + name, "", MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)
    mount("opt", "/opt", "tmpfs", MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)


def names(host: str) -> None:
    """What engines write into /etc when they start a container; the image has these files empty."""
    from observer import naming  # type: ignore[import-not-found, unused-ignore]

    naming.write("/boot", host)
    shown = [*naming.FILES]
    if os.path.exists("/etc/hostname"):
        with open("/boot/hostname", "w") as file:
            file.write(host + "\n")
        os.chmod("/boot/hostname", 0o644)
        shown.append("hostname")
    for name in shown:
        mount("/boot/" + name, "/etc/" + name, "", MS_BIND)
        mount("/boot/" + name, "/etc/" + name, "", MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)


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
    from gate_launcher import machine_files  # type: ignore[import-not-found, unused-ignore]

    for path, text in machine_files.texts().items():
        source = "/boot/shown-" + path.rpartition("/")[2]
        with open(source, "w") as file:
            file.write(text)
        os.chmod(source, 0o444)
        mount(source, path, "", MS_BIND)
        mount(source, path, "", MS_BIND | MS_REMOUNT | MS_RDONLY | quiet)
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
    names(settings["host"])
    if settings["dependencies"]:
        dependencies(settings["dependencies"])
    check(libc.umount2(b"/boot", 2), "umount /boot")


def become_launcher(launch: Any, settings: dict[str, Any], control: int, link: int, noise: int) -> None:
    """Process 1 of the inner namespaces: never returns. The launcher's modules are there already, so no
    interpreter has to start once more.
    """
    mount("none", "/", "", MS_REC | MS_PRIVATE)
    devices()
    files(settings)
    host = settings["host"].encode()
    for number, fd in ((10, control), (11, link), (12, noise)):
        os.dup2(fd, number)
    for number, fd in ((0, 10), (1, 10), (2, 12), (3, 11)):
        os.dup2(fd, number)
    os.closerange(4, 1024)
    os.chdir("/")
    libc.sethostname(host, len(host))
    settings.clear()
    os.environ.clear()
    os.environ["PATH"] = "/usr/local/bin:/usr/bin:/bin"
    resource.setrlimit(resource.RLIMIT_NOFILE, (65536, 65536))  # the launcher sets the code's, lower ones
    os.setgroups([])
    os.setresgid(UID, UID, UID)
    os.setresuid(UID, UID, UID)
    check(libc.prctl(38, 1, 0, 0, 0), "no new privileges")
    os._exit(launch.main())


def box(launch: object, settings: dict[str, Any], control: int, link: int, noise: int) -> int:
    """The child that holds the inner namespaces; its pid."""
    child = os.fork()
    if child:
        return child
    try:
        kernel.write_setting(CODE + "/cgroup.procs", "0")
        check(libc.unshare(_NEW), "unshare")
        first = os.fork()
        if first == 0:
            become_launcher(launch, settings, control, link, noise)
        for fd in (control, link):
            os.close(fd)
        _, status = os.waitpid(first, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    except BaseException as error:
        os.write(noise, ("guest: %s\n" % error).encode())
        os._exit(125)
