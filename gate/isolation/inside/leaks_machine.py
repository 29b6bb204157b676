"""Criterion 5: what can be learned about the machine and its processes? Runs inside a sandbox only."""

from __future__ import annotations

import glob
import os
import re

from kit import ARGUMENTS, Answer, call, check, head_of, refused, unreadable

GROUP = "standing"


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
