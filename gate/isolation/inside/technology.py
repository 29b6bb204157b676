"""Criterion 7: what is underneath, as seen from inside, and is it apart from the host's? Runs inside only."""

from __future__ import annotations

import os
import platform
import re

from kit import ARGUMENTS, Answer, check, head_of, not_here, status

GROUP = "standing"
KINDS = {
    "pid": "pid",
    "net": "network",
    "ipc": "ipc",
    "uts": "uts",
    "mnt": "mount",
    "cgroup": "cgroup",
    "user": "user",
}


def namespace(kind: str) -> Answer:
    """Another namespace than the host's gate has; with a kernel of its own the numbers mean nothing."""
    host = ARGUMENTS.get("namespaces", {}).get(kind)
    try:
        mine = os.readlink(f"/proc/self/ns/{kind}")
    except OSError:
        mine = ""
    if ARGUMENTS.get("own_kernel"):
        return True, f"/proc/self/ns/{kind}", f"{mine or 'not there'}; the kernel inside is not the host's"
    if not host or not mine:
        return None, f"/proc/self/ns/{kind}", f"cannot be compared: {mine or 'not there'}, host {host}"
    return mine != host, f"/proc/self/ns/{kind} against the host's", f"{mine}, host {host}"


def _each() -> None:
    for kind, title in KINDS.items():
        check(GROUP, f"technology.{title}-namespace")(lambda kind=kind: namespace(kind))


_each()


@check(GROUP, "technology.kernel")
def kernel() -> Answer:
    """A backend that claims a kernel of its own must show one."""
    version = head_of("/proc/version").decode("utf-8", "replace")[:80].strip()
    said = f"{platform.system()} {platform.release()}, {version}"
    boot = head_of("/proc/sys/kernel/random/boot_id").decode().strip()
    own = ARGUMENTS.get("own_kernel")
    same = bool(boot) and boot == ARGUMENTS.get("boot_id")
    if own:
        gvisor = (
            b"gVisor" in head_of("/proc/version")
            or platform.release() != ARGUMENTS.get("release")
            or not boot
        )
        return (
            not same and (gvisor or bool(boot)),
            "uname, /proc/version, boot id",
            f"{said}; boot id {'is the host' if same else 'is not the host'}'s",
        )
    return True, "uname, /proc/version, boot id", f"{said}; shares the host's kernel, as this backend says"


@check(GROUP, "technology.first-process")
def first_process() -> Answer:
    """Process 1 is ours, not the host's init."""
    name = head_of("/proc/1/comm").decode("utf-8", "replace").strip()
    return (
        name not in ("systemd", "init", "launchd", "tini", "dockerd") or bool(ARGUMENTS.get("own_kernel")),
        "/proc/1/comm",
        name or "not readable",
    )


@check(GROUP, "technology.security-module")
def security_module() -> Answer:
    """Where the host enforces AppArmor or SELinux, the code is confined by it."""
    if not ARGUMENTS.get("security_module"):
        return not_here("/proc/self/attr/current", "the host enforces neither AppArmor nor SELinux")
    label = head_of("/proc/self/attr/current").decode("utf-8", "replace").strip("\0\n ")
    if ARGUMENTS.get("own_kernel"):
        return True, "/proc/self/attr/current", "its own kernel stands between"
    return bool(label) and not label.startswith("unconfined"), "/proc/self/attr/current", label or "empty"


@check(GROUP, "technology.markers")
def markers() -> Answer:
    """What gives the technology away; malware looks for it (EV-3), so it is told, not judged."""
    seen = [
        path
        for path in (
            "/.dockerenv",
            "/run/.containerenv",
            "/proc/self/ns/cgroup",
            "/dev/kvm",
            "/sys/class/dmi",
        )
        if os.path.lexists(path)
    ]
    root = next(
        (
            line.split(" - ")[1].split()[0]
            for line in head_of("/proc/self/mountinfo", 1 << 20).decode("utf-8", "replace").splitlines()
            if " / / " in line or (len(line.split()) > 4 and line.split()[4] == "/")
        ),
        "?",
    )
    flags = "hypervisor" if re.search(rb"\bhypervisor\b", head_of("/proc/cpuinfo")) else "no hypervisor flag"
    return (
        True,
        "files, root file system, CPU flags",
        f"{', '.join(seen) or 'no marker'}; root on {root}; {flags}; host name {platform.node()}",
    )


@check(GROUP, "technology.tracer")
def tracer() -> Answer:
    """The observer does not show as a debugger, and cannot be taken off."""
    pid = status("TracerPid")
    return pid in ("0", ""), "TracerPid", pid or "not told"


@check(GROUP, "technology.propagation")
def propagation() -> Answer:
    """A mount made inside must not show outside: no mount may be shared."""
    lines = head_of("/proc/self/mountinfo", 1 << 20).decode("utf-8", "replace").splitlines()
    shared = [line.split()[4] for line in lines if re.search(r" shared:\d+", line.split(" - ")[0])]
    return (
        not shared,
        "shared mounts in /proc/self/mountinfo",
        f"shared: {shared[:5]}" if shared else f"none of {len(lines)}",
    )


@check(GROUP, "technology.limits")
def limits() -> Answer:
    """The limits that the process itself can see; where a file has none, what it could be written to has."""
    import resource

    seen = {
        name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1]
        for name in ("NOFILE", "FSIZE", "CORE", "NPROC", "MEMLOCK")
    }
    bad = [name for name in ("NOFILE", "MEMLOCK") if seen[name] == resource.RLIM_INFINITY]
    if seen["FSIZE"] == resource.RLIM_INFINITY:
        bad += _without_size()
    return (
        not bad and seen["CORE"] in (0, 1),
        "getrlimit" + (f"; no limit: {bad}" if bad else ""),
        ", ".join(
            f"{name} {'none' if value == resource.RLIM_INFINITY else value}" for name, value in seen.items()
        ),
    )


_OF_THE_KERNEL = frozenset(("proc", "sysfs", "devpts", "mqueue", "cgroup", "cgroup2"))


def _without_size() -> list[str]:
    """Mounts that may be written to and hold more than the scratch, or do not say how much."""
    most = max(int(ARGUMENTS["scratch"]), 64 << 20)
    found = []
    for line in head_of("/proc/self/mountinfo", 1 << 20).decode("utf-8", "replace").splitlines():
        place, kind = line.split()[4], line.split(" - ")[1].split()[0]
        if kind in _OF_THE_KERNEL or not os.path.isdir(place) or not os.access(place, os.W_OK):
            continue
        room = os.statvfs(place)
        if not 0 < room.f_blocks * room.f_frsize <= most:
            found.append(f"{place} ({kind})")
    return found


@check(GROUP, "technology.raise-limits")
def raise_limits() -> Answer:
    """Hard limits can only go down."""
    import resource

    raised = []
    for name in ("NOFILE", "MEMLOCK", "CORE"):
        which = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(which)[1]
        try:
            resource.setrlimit(which, (hard, hard + 1))
            raised.append(name)
        except (OSError, ValueError):
            continue
    return not raised, "setrlimit above the hard limits", f"raised {raised}" if raised else "refused"
