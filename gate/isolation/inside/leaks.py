"""Criterion 5: what can be learned about the host, its user and its secrets? Runs inside a sandbox only."""

from __future__ import annotations

import glob
import os
import re
import socket

from kit import ARGUMENTS, Answer, absent, call, check, head_of, refused, unreadable, walk

GROUP = "standing"
ENVIRONMENT = {
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "PWD",
    "TZ",
    "SHLVL",
    "_",
}
SENSITIVE = re.compile(
    r"pass|secret|token|key|credential|ssh_|k8s|kube|docker|aws|azure|gcp|github|ci_", re.IGNORECASE
)
SECRET_FILES = (
    "~/.ssh",
    "~/.aws",
    "~/.kube",
    "~/.docker",
    "~/.netrc",
    "~/.git-credentials",
    "~/.gitconfig",
    "~/.npmrc",
    "~/.pypirc",
    "~/.gnupg",
    "~/.bash_history",
    "~/.config/gcloud",
    "~/.azure",
    "~/.pip",
    "~/.token",
    "/root/.ssh",
    "/root/.aws",
    "/root/.bash_history",
    "/root/.docker",
    "/var/run/secrets/kubernetes.io/serviceaccount/token",
    "/run/secrets",
    "/.git",
    "/.svn",
    "/etc/kubernetes",
    "/etc/docker",
    "/etc/ssh/ssh_host_rsa_key",
    "/var/lib/docker",
    "/var/lib/kubelet",
    "/var/lib/containerd",
    "/home/runner",
    "/github",
    "/etc/machine-id",
)


def everywhere(wants: bytes) -> list[str]:
    """Files below /proc/PID that hold these bytes."""
    found = []
    for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
        for name in ("environ", "cmdline", "mountinfo", "cgroup", "maps"):
            if wants in head_of(f"/proc/{pid}/{name}", 1 << 20):
                found.append(f"/proc/{pid}/{name}")
    return found


@check(GROUP, "leak.environment")
def environment() -> Answer:
    """An allow-list, not a list of bad names."""
    allowed = ENVIRONMENT | set(ARGUMENTS.get("environment", []))
    extra = sorted(set(os.environ) - allowed)
    return (
        not extra,
        "names of all variables",
        f"beyond the allow-list: {extra}"
        if extra
        else f"{len(os.environ)} variables, all from the allow-list",
    )


@check(GROUP, "leak.environment-secrets")
def environment_secrets() -> Answer:
    """Names that sound like a secret; a secret that the host's gate had in its environment."""
    named = [
        name for name in os.environ if SENSITIVE.search(name) and name not in ARGUMENTS.get("environment", [])
    ]
    secret = ARGUMENTS.get("secret", "").encode()[::-1]  # sent reversed, so that the arguments do not hold it
    found = everywhere(secret) if secret else []
    return (
        not named and not found,
        "variables that sound like secrets; a host variable's value below /proc/*/",
        f"found {named + found}" if named or found else "none",
    )


@check(GROUP, "leak.flag-file")
def flag_file() -> Answer:
    """A file with a fresh name that the host made for this run, by its path and by detours (IS-4)."""
    path = ARGUMENTS.get("flag", "")
    if not path:
        return None, "the host's flag file", "the host made none"
    detours = [
        "",
        "/proc/self/root",
        "/proc/1/root",
        "/proc/1/cwd/../../../../../..",
        "/proc/thread-self/root",
        "/work/tree/../..",
        "/mnt",
        "/host",
        "/hostfs",
        "/proc/1/task/1/root",
    ]
    return unreadable(
        f"read a file of the host's by {len(detours)} paths", [detour + path for detour in detours]
    )


@check(GROUP, "leak.flag-walk")
def flag_walk() -> Answer:
    """The same file by name, wherever it may be mounted."""
    name = os.path.basename(ARGUMENTS.get("flag", ""))
    if not name:
        return None, "the host's flag file", "the host made none"
    count = 0
    for folder, entries in walk("/", ("/proc", "/sys")):
        count += len(entries)
        if any(entry.name == name for entry in entries):
            return False, "walk through the whole file system for it", f"found in {folder}"
    return True, "walk through the whole file system for it", f"not among {count} files"


@check(GROUP, "leak.kernel-ring")
def kernel_ring() -> Answer:
    """Dmesg tells hardware, drivers, addresses, other containers."""
    if ARGUMENTS.get("own_kernel"):
        paths = ["/dev/kmsg"]
    else:
        held, tried, happened = refused("syslog(2)", lambda: call("syslog", 10, None, 0))
        if not held:
            return held, tried, happened
        paths = ["/dev/kmsg", "/proc/kmsg", "/var/log/kern.log", "/var/log/syslog", "/var/log/dmesg"]
    return unreadable(f"syslog(2), {', '.join(paths)}", paths)


@check(GROUP, "leak.kernel-memory")
def kernel_memory() -> Answer:
    """The memory of the kernel and of the machine."""
    return unreadable(
        "/proc/kcore, /dev/mem, /dev/kmem, /dev/port, /sys/kernel/vmcoreinfo",
        ["/proc/kcore", "/dev/mem", "/dev/kmem", "/dev/port", "/sys/kernel/vmcoreinfo", "/proc/vmcore"],
    )


@check(GROUP, "leak.kernel-symbols")
def kernel_symbols() -> Answer:
    """Addresses that an exploit needs. Lines of zeros are none."""
    shown = [
        line
        for line in head_of("/proc/kallsyms").splitlines()
        if not line.startswith(b"0000000000000000") and b" " in line
    ]
    return not shown, "/proc/kallsyms", f"{len(shown)} addresses" if shown else "no address to be had"


@check(GROUP, "leak.proc")
def proc_files() -> Answer:
    """What /proc says about the machine and everybody on it."""
    names: tuple[str, ...] = (
        "keys",
        "key-users",
        "sched_debug",
        "timer_list",
        "modules",
        "config.gz",
        "iomem",
        "ioports",
        "partitions",
        "diskstats",
        "slabinfo",
        "vmallocinfo",
        "sysvipc/shm",
        "acpi",
        "scsi/scsi",
        "interrupts",
        "asound",
        "bus/pci/devices",
    )
    if ARGUMENTS.get("own_kernel"):
        names = ("keys", "key-users", "sched_debug", "timer_list", "config.gz", "slabinfo", "acpi", "asound")
    return unreadable(
        f"read {len(names)} files of /proc about the machine", [f"/proc/{name}" for name in names]
    )


@check(GROUP, "leak.boot-line")
def boot_line() -> Answer:
    """The kernel's command line names disks, consoles and sometimes secrets."""
    if ARGUMENTS.get("own_kernel"):
        return unreadable(
            "/proc/cmdline, against the host's", ["/proc/cmdline"], ARGUMENTS.get("boot_line", "?").encode()
        )
    return unreadable("/proc/cmdline", ["/proc/cmdline"])


@check(GROUP, "leak.hardware")
def hardware() -> Answer:
    """Serial numbers, vendors, disks, network cards."""
    paths = [
        f"/sys/class/dmi/id/{name}"
        for name in ("product_name", "product_serial", "sys_vendor", "board_serial", "product_uuid")
    ]
    paths += [
        *glob.glob("/sys/class/net/*/address"),
        *glob.glob("/sys/block/*/size"),
        "/sys/firmware/acpi/tables/DSDT",
        "/sys/hypervisor/uuid",
    ]
    bad = [path for path in paths if head_of(path).strip(b"0:\n \0")]
    return (
        not bad,
        f"{len(paths)} files of /sys about the hardware",
        f"readable: {bad[:4]}" if bad else "none tells anything",
    )


@check(GROUP, "leak.processes")
def processes() -> Answer:
    """Only its own: the launcher, this probe and what it starts."""
    names: dict[str, str] = {}
    for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
        names[pid] = head_of(f"/proc/{pid}/comm").decode("utf-8", "replace").strip()
    foreign = {
        pid: name
        for pid, name in names.items()
        if not re.match(r"python|bwrap|init|sh$|launch|kthreadd|$", name) and not kernel_thread(pid)
    }
    return (
        not foreign and len(names) < 200,
        "list /proc",
        f"sees {sorted(foreign.values())[:6]}" if foreign else f"{len(names)} processes, all its own",
    )


def kernel_thread(pid: str) -> bool:
    """True for a thread of a kernel of its own: such have no command line."""
    return bool(ARGUMENTS.get("own_kernel")) and not head_of(f"/proc/{pid}/cmdline")


@check(GROUP, "leak.launcher")
def launcher() -> Answer:
    """The environment, memory map and open files of the process that started this one."""
    found = []
    for pid in {1, os.getppid()}:
        if status_same(pid):
            continue
        for name in ("environ", "maps", "auxv"):
            if head_of(f"/proc/{pid}/{name}"):
                found.append(f"/proc/{pid}/{name}")
        try:
            found += [f"/proc/{pid}/fd/{fd}" for fd in os.listdir(f"/proc/{pid}/fd")]
        except OSError:
            continue
    return (
        not found,
        "environ, maps, auxv and fd of the first process",
        f"readable: {found[:5]}" if found else "all refused",
    )


def status_same(pid: int) -> bool:
    """True when that process is this probe itself (each check is a child of it)."""
    return bool(head_of(f"/proc/{pid}/cmdline") == head_of("/proc/self/cmdline"))


@check(GROUP, "leak.mounts")
def mounts() -> Answer:
    """Mounts show where things lie on the host."""
    wanted = [text for text in ARGUMENTS.get("host_paths", []) if len(text) > 3]
    lines = head_of("/proc/self/mountinfo", 1 << 20).decode("utf-8", "replace").splitlines()
    bad = [
        line.split()[4] for line in lines if len(line.split()) > 4 and any(text in line for text in wanted)
    ]
    return (
        not bad,
        "the host's folders in /proc/self/mountinfo",
        f"shown by {sorted(set(bad))[:6]}" if bad else f"{len(lines)} mounts name no folder of the host's",
    )


@check(GROUP, "leak.disks")
def disks() -> Answer:
    """Names of the host's disks."""
    lines = head_of("/proc/self/mountinfo", 1 << 20).decode("utf-8", "replace").splitlines()
    block = [line.split()[4] for line in lines if re.search(r" - \S+ /dev/(sd|vd|nvme|mapper|dm-|xvd)", line)]
    if ARGUMENTS.get("own_kernel"):
        return True, "disks in /proc/self/mountinfo", f"{len(block)} of its own machine"
    return (
        not block,
        "disks in /proc/self/mountinfo",
        f"shown by {sorted(set(block))[:6]}" if block else "none",
    )


@check(GROUP, "leak.cgroup-path")
def cgroup_path() -> Answer:
    """Its own control group must be the root it sees."""
    text = head_of("/proc/self/cgroup").decode("utf-8", "replace")
    paths = {line.split(":", 2)[2] for line in text.splitlines() if line.count(":") >= 2}
    bad = sorted(path for path in paths if path != "/")
    if ARGUMENTS.get("own_kernel"):
        bad = [
            path for path in bad if not re.fullmatch(r"/[0-9a-f]{64}", path)
        ]  # its own kernel's, not the host's
    return not bad, "/proc/self/cgroup", f"{bad[:3]}" if bad else "/ only"


@check(GROUP, "leak.names")
def names() -> Answer:
    """The machine's name, its user's name and home."""
    shown = (
        f"{socket.gethostname()} {os.uname().nodename} "
        + head_of("/etc/hostname").decode("utf-8", "replace")
        + head_of("/etc/hosts").decode("utf-8", "replace")
        + head_of("/etc/passwd").decode("utf-8", "replace")
    )
    bad = [text for text in ARGUMENTS.get("host_names", []) if len(text) > 3 and text in shown]
    return (
        not bad,
        "host name, /etc/hostname, /etc/hosts, /etc/passwd",
        f"they hold {bad}" if bad else "they hold nothing of the host's",
    )


@check(GROUP, "leak.shadow")
def shadow() -> Answer:
    """Password hashes, sudo's rules."""
    return unreadable(
        "/etc/shadow, /etc/gshadow, /etc/sudoers, /etc/security/opasswd",
        ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/security/opasswd", "/etc/shadow-"],
    )


@check(GROUP, "leak.secret-files")
def secret_files() -> Answer:
    """Where tools keep credentials, in this home and in others."""
    held, _, happened = absent("", [os.path.expanduser(path) for path in SECRET_FILES])
    return held, f"{len(SECRET_FILES)} places where credentials and histories lie", happened


@check(GROUP, "leak.homes")
def homes() -> Answer:
    """Home folders of others."""
    found = []
    for top in ("/home", "/root", "/Users", "/var/lib/jenkins", "/opt/actions-runner"):
        try:
            found += [
                os.path.join(top, name)
                for name in os.listdir(top)
                if not name.startswith(".") or top != "/root"
            ]
        except OSError:
            continue
    plain = [path for path in found if path not in ("/root/.bashrc", "/root/.profile")]
    return (
        not plain,
        "list /home, /root and homes of CI services",
        f"{plain[:5]}" if plain else "nothing to see",
    )


@check(GROUP, "leak.services")
def services() -> Answer:
    """Nothing is set up to be served or scheduled inside."""
    running = [head_of(path).decode("utf-8", "replace").strip() for path in glob.glob("/proc/[0-9]*/comm")]
    bad = [
        name
        for name in running
        if re.match(
            r"sshd|ftpd|httpd|nginx|apache|kubelet|dockerd|containerd|cron|mysqld|postgres|redis", name
        )
    ]
    ports = [
        line.split()[1]
        for name in ("tcp", "tcp6")
        for line in head_of(f"/proc/net/{name}").decode("ascii", "replace").splitlines()[1:]
        if len(line.split()) > 3 and line.split()[3] == "0A"
    ]
    ports = [port for port in ports if not ARGUMENTS.get("sinkhole")]
    return (
        not bad and not ports,
        "service processes and listening ports",
        f"{bad} {ports}" if bad or ports else "none",
    )


@check(GROUP, "leak.randomised-memory")
def randomised_memory() -> Answer:
    """Addresses differ from run to run (randomize_va_space 2, or what its own kernel does)."""
    value = head_of("/proc/sys/kernel/randomize_va_space").strip().decode()
    if value:
        return value == "2", "/proc/sys/kernel/randomize_va_space", value
    import subprocess
    import sys

    words = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        "import ctypes; print(ctypes.addressof(ctypes.create_string_buffer(1 << 20)))",
    ]
    seen = {subprocess.run(words, capture_output=True, check=False).stdout for _ in range(3)}
    return len(seen) > 1, "addresses in three processes", f"{len(seen)} different"


@check(GROUP, "leak.sockets")
def open_sockets() -> Answer:
    """Sockets that other processes of the machine hold would show in /proc/net if it were shared."""
    names = [
        name
        for name in head_of("/proc/net/unix", 1 << 20).decode("utf-8", "replace").splitlines()[1:]
        if re.search(r"/systemd/|/run/user/|dbus|docker|containerd", name)
    ]
    return (
        not names,
        "/proc/net/unix for the host's services",
        f"{len(names)} lines" if names else "none of the host's",
    )
