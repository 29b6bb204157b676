"""Criterion 6: can a file be put where it should not be, inside or outside? Runs inside a sandbox only."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys

from kit import ARGUMENTS, Answer, check, error_text, head_of, walk

GROUP = "standing"
MARK = "gate-isolation-mark"
SYSTEM = (
    "/",
    "/etc",
    "/usr",
    "/usr/bin",
    "/usr/local",
    "/usr/local/bin",
    "/usr/lib",
    "/lib",
    "/bin",
    "/opt",
    "/opt/gate",
    "/var",
    "/var/tmp",
    "/var/lib",
    "/home",
    "/root",
    "/srv",
    "/mnt",
    "/media",
    "/boot",
)
DEVICES = ("/dev", "/proc", "/sys", "/sys/fs/cgroup", "/run", "/run/gate", "/var/run", "/run/lock")


def made_in(folders: list[str]) -> Answer:
    """Held when no file can be made in any of these folders. What is made is removed."""
    made, said = [], set()
    for folder in folders:
        path = os.path.join(folder, f"{MARK}-{os.getpid()}")
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            os.unlink(path)
            made.append(folder)
        except OSError as error:
            said.add(error_text(error))
    return (
        not made,
        f"make a file in each of {len(folders)} folders",
        f"made in {', '.join(made)}" if made else "; ".join(sorted(said)),
    )


@check(GROUP, "write.system-folders")
def system_folders() -> Answer:
    """The root file system stays as it was."""
    return made_in(list(SYSTEM))


@check(GROUP, "write.device-folders")
def device_folders() -> Answer:
    """Neither do the kernel's own file systems take files."""
    return made_in(list(DEVICES))


@check(GROUP, "write.any-folder")
def any_folder() -> Answer:
    """Every folder there is: writable are only the scratch places."""
    scratch = ("/work", "/tmp", "/dev/shm", "/dev/mqueue", *ARGUMENTS.get("planted", []))
    found = []
    tops = [
        line.split()[4]
        for line in head_of("/proc/self/mountinfo", 1 << 20).decode("utf-8", "replace").splitlines()
        if len(line.split()) > 5
    ]
    fixed = [
        top for top in tops if top != "/" and os.path.isdir(top) and os.statvfs(top).f_flag & os.ST_RDONLY
    ]
    if os.statvfs("/").f_flag & os.ST_RDONLY:
        folders = [*fixed, "/", *(top for top in tops if top not in fixed)]
    else:
        folders = [*fixed, *(folder for folder, _ in walk("/", ("/proc", "/sys", *scratch, *fixed)))]
    for top in [
        top
        for top in tops
        if top not in fixed and top != "/" and not top.startswith(("/proc", "/sys", *scratch))
    ]:
        folders += [folder for folder, _ in walk(top, tuple(fixed))]
    for folder in folders:
        if folder.startswith(scratch) or not os.path.isdir(folder):
            continue
        try:
            path = os.path.join(folder, f"{MARK}-{os.getpid()}")
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            os.unlink(path)
            found.append(folder)
        except OSError:
            continue
    return (
        not found,
        f"make a file in {len(folders)} folders: every mount, every folder of a writable one, but scratch",
        f"made in {', '.join(found[:6])}" if found else "none took it",
    )


@check(GROUP, "write.programs")
def programs() -> Answer:
    """Change a program, a library or the loader's list, for whoever runs next."""
    paths = [
        sys.executable,
        "/bin/sh",
        "/opt/gate/launcher/main.py",
        "/opt/gate/driver/main.py",
        "/etc/ld.so.preload",
        "/etc/ld.so.cache",
        "/etc/passwd",
        "/etc/hosts",
        "/etc/resolv.conf",
        os.__file__,
    ]
    opened, said = [], set()
    for path in paths:
        try:
            os.close(os.open(path, os.O_WRONLY))
            opened.append(path)
        except OSError as error:
            said.add(error_text(error))
    return (
        not opened,
        f"open {len(paths)} programs and settings for writing",
        f"opened {opened}" if opened else "; ".join(sorted(said)),
    )


@check(GROUP, "write.remove-system")
def remove_system() -> Answer:
    """Delete or rename what belongs to the system; none of them is empty, so nothing can go."""
    said = set()
    for path in ("/etc", "/usr/lib", "/opt/gate"):
        try:
            os.rmdir(path)
            return False, f"rmdir {path}", "it is gone"
        except OSError as error:
            said.add(error_text(error))
        try:
            os.rename(path, path + "-gone")
            os.rename(path + "-gone", path)
            return False, f"rename {path}", "it worked"
        except OSError as error:
            said.add(error_text(error))
    return True, "remove and rename /etc, /usr/lib, /opt/gate", "; ".join(sorted(said))


@check(GROUP, "write.traversal")
def traversal() -> Answer:
    """Up and out of the tree by dots: ends at the sandbox's own root."""
    up = "../" * 24
    held, _, happened = made_in(
        [
            f"/work/tree/{up}{name}"
            for name in (
                "",
                "etc",
                "root",
                "home",
                "var/tmp",
                ARGUMENTS.get("host_folder", "/host").lstrip("/"),
            )
        ]
    )
    return held, "make files at ../../.. from the tree, at the host's own folder names too", happened


@check(GROUP, "write.symlink")
def symlink() -> Answer:
    """Write through a link that points out of the tree."""
    said = set()
    for number, target in enumerate(
        (
            "/etc/cron.d/gate",
            "/root/.ssh/authorized_keys",
            "/usr/local/bin/gate-x",
            "/proc/1/root/etc/gate-x",
            ARGUMENTS.get("host_folder", "/host") + "/gate-x",
        )
    ):
        link = f"/work/tree/link-{number}-{os.getpid()}"
        try:
            os.symlink(target, link)
            with open(link, "w") as file:
                file.write("x")
            os.unlink(target)
            return False, f"write through a link to {target}", "it worked"
        except OSError as error:
            said.add(error_text(error))
    return (
        True,
        "write through links to /etc/cron.d, authorized_keys, /usr/local/bin, the host's folder",
        "; ".join(sorted(said)),
    )


@check(GROUP, "write.hard-link")
def hard_link() -> Answer:
    """A second name for a file of root's (fs.protected_hardlinks)."""
    said = set()
    for path in ("/etc/passwd", "/bin/sh", sys.executable, "/opt/gate/launcher/main.py"):
        try:
            os.link(path, f"/tmp/hard-{os.getpid()}")
            os.unlink(f"/tmp/hard-{os.getpid()}")
            return False, f"link {path}", "it worked"
        except OSError as error:
            said.add(error_text(error))
    return True, "hard links to files of root's", "; ".join(sorted(said))


@check(GROUP, "write.setuid")
def setuid() -> Answer:
    """A setuid copy of a shell: it may be made, but it must not work."""
    path = f"/tmp/setuid-{os.getpid()}"
    with open("/bin/sh", "rb") as source, open(path, "wb") as target:
        target.write(source.read())
    try:
        os.chmod(path, 0o6755)
    except OSError as error:
        return True, "chmod 6755 on a copy of the shell", error_text(error)
    done = subprocess.run([path, "-c", "id -u; id -g"], capture_output=True, check=False, timeout=5)
    os.unlink(path)
    try:
        os.chown(__file__, 0, 0)
        return False, "chown to root", "it worked"
    except OSError as error:
        given = error_text(error)
    root = b"0" in done.stdout.split()
    return (
        not root,
        "chmod 6755 on a copy of the shell and run it; chown to root",
        f"runs as {done.stdout.split()}; chown: {given}",
    )


@check(GROUP, "write.file-capabilities")
def file_capabilities() -> Answer:
    """Privileges given to a file (security.capability)."""
    path = f"/tmp/caps-{os.getpid()}"
    with open(path, "wb"):
        pass
    value = bytes.fromhex("0100000200200000000000000000000000000000")  # version 2, CAP_SYS_ADMIN
    try:
        os.setxattr(path, "security.capability", value)
    except OSError as error:
        return (
            error.errno in (errno.EPERM, errno.EOPNOTSUPP, errno.EACCES, errno.EINVAL),
            "setxattr security.capability",
            error_text(error),
        )
    finally:
        os.unlink(path)
    return False, "setxattr security.capability", "it worked"


@check(GROUP, "write.remount")
def remount() -> Answer:
    """Where the kernel says read-only it must be the mount that says it."""
    flags = {
        path: bool(os.statvfs(path).f_flag & os.ST_RDONLY) for path in ("/", "/usr", "/opt/gate", "/etc")
    }
    writable = [path for path, read_only in flags.items() if not read_only]
    return (
        not writable,
        "statvfs of /, /usr, /opt/gate, /etc",
        f"not read-only: {writable}" if writable else "all mounted read-only",
    )


@check(GROUP, "write.scratch-flags")
def scratch_flags() -> Answer:
    """Scratch that honours neither setuid bits nor device nodes."""
    listed = head_of("/proc/self/mountinfo", 1 << 20).decode("utf-8", "replace")
    told = {
        line.split()[4]: line.split()[5].split(",") for line in listed.splitlines() if len(line.split()) > 5
    }
    bad = []
    for path in ("/work", "/tmp", "/dev/shm"):
        if os.path.isdir(path):
            flags = os.statvfs(path).f_flag
            for name, bit in (("nosuid", os.ST_NOSUID), ("nodev", getattr(os, "ST_NODEV", 4))):
                if not flags & bit and name not in told.get(path, ()):
                    bad.append(f"{path} without {name}")
    return not bad, "mount flags of /work, /tmp, /dev/shm", ", ".join(bad) or "nosuid, nodev"


@check(GROUP, "write.launcher-channel")
def launcher_channel() -> Answer:
    """The channel on which results leave: a forged result would be written there."""
    opened = []
    for pid in {1, os.getppid()}:
        try:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                path = f"/proc/{pid}/fd/{fd}"
                # its parent is this probe itself, whose stdout is its own
                if os.readlink(path) not in own_links():
                    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                    opened.append(path)
        except OSError:
            continue
    return (
        not opened,
        "open the launcher's descriptors for writing",
        f"opened {opened}" if opened else "all refused",
    )


def own_links() -> list[str]:
    """What this process itself holds."""
    out = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            out.append(os.readlink(f"/proc/self/fd/{fd}"))
        except OSError:
            continue
    return out


@check(GROUP, "write.results-are-data")
def results_are_data() -> Answer:
    """Nothing is taken from the sandbox's files: not a result by a known name either."""
    for name in ("result.json", "report.json", "trace.jsonl", "arguments.json"):
        for folder in ("/work", "/work/tree", "/tmp"):
            path = os.path.join(folder, name)
            try:
                if os.path.lexists(path) and not stat.S_ISLNK(os.lstat(path).st_mode):
                    os.unlink(path)
                os.symlink(ARGUMENTS.get("flag") or "/etc/shadow", path)
            except OSError:
                continue
    return (
        True,
        "links to the host's flag file under the names of results",
        "left there; the host looks whether anything came out",
    )
