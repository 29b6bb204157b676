"""Paths that programs read to find out where they run (threats EV-3), by what they ask."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from gate.regex import regex

_PROBES: Final = (
    ("container-marker", r"/\.dockerenv|/run/\.containerenv|/\.dockerinit|/run/systemd/container|/dev/lxd"),
    ("tracer-pid", r"/proc/(?:self|1|<pid>)/(?:task/<tid>/)?status|/proc/sys/kernel/yama/ptrace_scope"),
    (
        "cgroup",
        r"/proc/(?:self|1|<pid>)/(?:cgroup|cpuset|mountinfo|mounts|mountstats)|/proc/mounts|/proc/cgroups|/sys/fs/cgroup/.*",
    ),
    (
        "machine",
        r"/sys/class/dmi.*|/sys/devices/virtual/dmi.*|/sys/firmware/.*|/proc/scsi/.*|/sys/block.*|/dev/mem|/proc/device-tree.*",
    ),
    (
        "hypervisor",
        r"/sys/hypervisor.*|/proc/xen.*|/proc/sysinfo|/proc/modules|/sys/module/.*|/dev/(?:kvm|vboxguest|vmci)",
    ),
    ("network-card", r"/sys/class/net.*|/sys/devices/.*/net/.*/address|/proc/net/(?:dev|arp|route|if_inet6)"),
    ("kernel-log", r"/dev/kmsg|/proc/kmsg|/var/log/dmesg.*"),
    ("uptime", r"/proc/uptime"),
    ("cpu", r"/proc/cpuinfo"),
    ("first-process", r"/proc/1/(?:cmdline|comm|environ|sched|stat|exe|maps)"),
    ("machine-id", r"/etc/machine-id|/var/lib/dbus/machine-id|/proc/sys/kernel/random/boot_id"),
    (
        "address-space",
        r"/proc/sys/kernel/randomize_va_space|/proc/sched_debug|/sys/kernel/debug/sched.*|/proc/kcore|/proc/kallsyms",
    ),
)
_COMPILED = tuple((name, regex(pattern)) for name, pattern in _PROBES)


@lru_cache(maxsize=10_000)
def probe_of(path: str) -> str | None:
    """What reading this path (its stable name) finds out about the machine, or None."""
    if path.startswith(("/proc", "/sys", "/.", "/run", "/dev", "/etc/machine", "/var/l")):
        for name, pattern in _COMPILED:
            if pattern.fullmatch(path):
                return name
    return None
