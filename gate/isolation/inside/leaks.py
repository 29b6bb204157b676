"""Criterion 5: what can be learned about the host, its user and its secrets? Runs inside a sandbox only."""

from __future__ import annotations

import glob
import os
import re
import socket

from kit import ARGUMENTS, Answer, absent, check, head_of, unreadable, walk

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
