"""Criterion 2, the files and programs that known escapes went through. Runs inside a sandbox only."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys

from kit import ARGUMENTS, Answer, check, error_text, head_of, status, unchangeable, unwritable, walk
from privilege import GROUP, calls


@check(GROUP, "privilege.setuid-files")
def setuid_files() -> Answer:
    """Programs that would run as their owner."""
    found: list[str] = []
    inert: list[str] = []
    bound = status("NoNewPrivs") == "1"
    tops = (
        "/usr/bin",
        "/usr/sbin",
        "/usr/local",
        "/usr/libexec",
        "/usr/lib/openssh",
        "/usr/lib/dbus-1.0",
        "/usr/lib/policykit-1",
        "/opt",
    )
    for top in tops:
        for _, entries in walk(top, ()):
            for entry in entries:
                try:
                    if not entry.is_file(follow_symlinks=False):
                        continue
                    if entry.stat(follow_symlinks=False).st_mode & 0o6000:
                        dead = bound or os.statvfs(entry.path).f_flag & os.ST_NOSUID
                        (inert if dead else found).append(entry.path)
                except OSError:
                    continue
    tried = f"walk through {' '.join(tops)} for setuid and setgid programs"
    if found:
        return False, tried, f"with effect: {', '.join(found[:8])}"
    return (
        True,
        tried,
        f"none has an effect ({len(inert)} carry the bit, made void by no_new_privs or nosuid)",
    )


@check(GROUP, "privilege.setuid-effect")
def setuid_effect() -> Answer:
    """Run the programs that would make one root."""
    said = []
    for words in (["sudo", "-n", "id", "-u"], ["su", "-c", "id -u"], ["pkexec", "id", "-u"], ["newgrp"]):
        try:
            done = subprocess.run(
                words, capture_output=True, stdin=subprocess.DEVNULL, timeout=5, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            said.append(f"{words[0]}: {error_text(error)}")
            continue
        if done.stdout.strip() == b"0":
            return False, " ".join(words), "it ran as root"
        said.append(f"{words[0]}: exit {done.returncode}")
    return True, "sudo -n, su, pkexec, newgrp", "; ".join(said)


@check(GROUP, "privilege.docker-socket")
def docker_socket() -> Answer:
    """Every Unix socket file there is, and whether an engine answers behind it."""
    import socket

    found = []
    for _, entries in walk("/", ("/proc", "/sys")):
        for entry in entries:
            try:
                if (
                    entry.is_file(follow_symlinks=False)
                    or entry.is_dir(follow_symlinks=False)
                    or entry.is_symlink()
                ):
                    continue
                if not stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode):
                    continue
                with socket.socket(socket.AF_UNIX) as link:
                    link.settimeout(1)
                    link.connect(entry.path)
                    found.append(entry.path)
            except OSError:
                continue
    named = [
        path
        for path in (
            "/var/run/docker.sock",
            "/run/docker.sock",
            "/run/containerd/containerd.sock",
            "/run/podman/podman.sock",
            "/run/crio/crio.sock",
            "/var/run/buildkit/buildkitd.sock",
        )
        if os.path.exists(path)
    ]
    both = sorted({*found, *named})
    return (
        not both,
        "walk through / for sockets and connect to each; known engine sockets",
        f"found {both}" if both else "none",
    )


@check(GROUP, "privilege.core-pattern")
def core_pattern() -> Answer:
    """A program named there is run by the host's kernel, as root."""
    return unwritable(
        "open core_pattern, uevent_helper, modprobe, binfmt_misc, sysrq-trigger, drop_caches for writing",
        [
            "/proc/sys/kernel/core_pattern",
            "/proc/sysrq-trigger",
            "/proc/sys/vm/drop_caches",
            "/sys/kernel/uevent_helper",
            "/proc/sys/kernel/modprobe",
            "/proc/sys/fs/binfmt_misc/register",
            "/proc/sys/kernel/hotplug",
        ],
    )


@check(GROUP, "privilege.sysctl")
def sysctl() -> Answer:
    """All of /proc/sys, and the buttons beside it."""
    paths = ["/proc/sys/kernel/panic", "/proc/sys/vm/overcommit_memory"]
    for folder, _, names in os.walk("/proc/sys"):
        paths += [os.path.join(folder, name) for name in names]
    held, _, happened = unchangeable("", paths)
    return held, f"write back what {len(paths)} settings of the kernel say", happened


@check(GROUP, "privilege.cgroup-release-agent")
def release_agent() -> Answer:
    """CVE-2022-0492: a program that the host runs when a control group empties."""
    paths = [
        "/sys/fs/cgroup/release_agent",
        "/sys/fs/cgroup/cgroup.procs",
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/notify_on_release",
    ]
    for folder, _, names in os.walk("/sys/fs/cgroup"):
        paths += [os.path.join(folder, name) for name in names]
    held, _, happened = unwritable("", paths)
    mounted, _, mounting = calls(
        ("mount", (b"cgroup", b"/tmp", b"cgroup", 0, b"memory")),
        ("mount", (b"none", b"/tmp", b"cgroup2", 0, None)),
    )
    bad = mounting if held else happened
    return held and mounted, f"open {len(paths)} control group files for writing; mount a hierarchy", bad


@check(GROUP, "privilege.own-executable")
def own_executable() -> Answer:
    """CVE-2019-5736: overwrite the runtime through /proc/PID/exe."""
    links = [f"/proc/{pid}/exe" for pid in ("self", "1", str(os.getppid()), "thread-self")]
    return unwritable("open /proc/{self,1,parent}/exe for writing", [*links, sys.executable])


@check(GROUP, "privilege.leaked-folder")
def leaked_folder() -> Answer:
    """CVE-2024-21626: a descriptor of a folder outside, or a working folder there."""
    out = []
    for name in os.listdir("/proc/self/fd"):
        link = f"/proc/self/fd/{name}"
        try:
            if os.path.isdir(link) and not os.readlink(link).startswith("/proc/"):
                out.append(os.readlink(link))
        except OSError:
            continue
    cwd = os.getcwd()
    outside = not cwd.startswith("/work/tree")
    return (
        not out and not outside,
        "descriptors of folders, the working folder",
        f"{out or 'no folder is open'}; cwd {cwd}",
    )


@check(GROUP, "privilege.descriptors")
def descriptors() -> Answer:
    """Anything that was open before this program was started (pipes of this check's own parent apart)."""
    links = {}
    for fd in range(3, 1024):
        try:
            links[fd] = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            continue
    known = ARGUMENTS.get("own_pipes", [])
    extra = {
        fd: link for fd, link in links.items() if not re.match(r"pipe:|/proc/", link) and link not in known
    }
    pipes = [fd for fd, link in links.items() if link.startswith("pipe:")]
    held = not extra and len(pipes) <= 1
    return (
        held,
        "every descriptor from 3 to 1023",
        f"inherited: {extra or pipes}" if not held else "only stdin, stdout, stderr",
    )


@check(GROUP, "privilege.devices")
def devices() -> Answer:
    """Nodes of /dev that are not the harmless ones."""
    harmless = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"}
    found = []
    for folder, _, names in os.walk("/dev"):
        for name in names:
            path = os.path.join(folder, name)
            try:
                mode = os.lstat(path).st_mode
            except OSError:
                continue
            inside_pts = folder.startswith("/dev/pts")
            if (stat.S_ISBLK(mode) or stat.S_ISCHR(mode)) and name not in harmless and not inside_pts:
                found.append(path)
    return (
        not found,
        "walk through /dev",
        f"found {found[:8]}" if found else "null zero full random urandom tty only",
    )


@check(GROUP, "privilege.make-device")
def make_device() -> Answer:
    """A node for the first disk, then reading it."""
    said = []
    for number, name in ((0x800, "sda"), (0xFE00, "vda"), (0x101, "mem")):
        path = f"/tmp/node-{name}"
        kind = stat.S_IFCHR if name == "mem" else stat.S_IFBLK
        try:
            os.mknod(path, kind | 0o600, number)
        except OSError as error:
            said.append(f"{name}: {error_text(error)}")
            continue
        data = head_of(path, 16)
        os.unlink(path)
        if data:
            return False, f"mknod {name}", "made a device node and read from it"
        said.append(f"{name}: made, but cannot be opened")
    return True, "mknod of a disk and of memory, then read", "; ".join(sorted(set(said)))


@check(GROUP, "privilege.user-map")
def user_map() -> Answer:
    """Write to the maps of the user namespace; is root inside root outside?"""
    held, _, happened = unwritable("", ["/proc/1/uid_map", "/proc/1/gid_map", "/proc/1/oom_score_adj"])
    lines = head_of("/proc/self/uid_map").decode().split()
    return (
        held,
        "open /proc/1/{uid_map,gid_map,oom_score_adj} for writing",
        f"{happened}; own map {' '.join(lines)}",
    )
