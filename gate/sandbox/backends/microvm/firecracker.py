"""Firecracker instead of QEMU, where its binary and KVM are there: configuration and jailer command. Pure.

Not yet a backend of its own: this machine type has no virtio console, so the guest would speak over vsock
(ports 1 to 4 as the console's), and it wants the kernel as an ELF file. Formats: Firecracker's
docs/jailer.md and its API (``--config-file`` takes the same objects).
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any, Final

from gate.errors import InconclusiveError
from gate.model.run import Limits
from gate.sandbox.backends.microvm.command import memory
from gate.sandbox.backends.microvm.image import Bootable

FIRECRACKER: Final = "/usr/bin/firecracker"
JAILER: Final = "jailer"
BOOT_ARGUMENTS: Final = (
    "reboot=k panic=1 pci=off 8250.nr_uarts=0 i8042.noaux i8042.nomux i8042.dumbkbd quiet loglevel=0 "
    "rdinit=/init random.trust_cpu=on audit=0"
)
_GUEST: Final = 3
"""Vsock address of the guest: 0 to 2 are taken (uapi linux/vm_sockets.h)."""
_ID_LENGTH: Final = 64
_SECOND_US: Final = 1_000_000


def configuration(limits: Limits, *, network: bool = False) -> dict[str, Any]:
    """The machine, with paths as the jailed process sees them. No network interface, no logger; ``network``:
    with what the simulated one inside needs.
    """
    disks = {"root": "/root.squashfs", **({"libraries": "/libraries.squashfs"} if network else {})}
    return {
        "boot-source": {
            "kernel_image_path": "/vmlinux",
            "initrd_path": "/initrd.cpio",
            "boot_args": f"{BOOT_ARGUMENTS} gate.network" if network else BOOT_ARGUMENTS,
        },
        "drives": [
            {"drive_id": name, "path_on_host": path, "is_root_device": False, "is_read_only": True}
            for name, path in disks.items()
        ],
        "machine-config": {"vcpu_count": 1, "mem_size_mib": memory(limits.memory), "smt": False},
        "vsock": {"guest_cid": _GUEST, "uds_path": "/v.sock"},
        "entropy": {},
    }


def jailed_files(boot: Bootable) -> dict[PurePosixPath, Path]:
    """What the jail needs: path inside -> file on the host (linked or copied there by the caller)."""
    files = {
        PurePosixPath("/vmlinux"): boot.kernel,
        PurePosixPath("/initrd.cpio"): boot.initrd,
        PurePosixPath("/root.squashfs"): boot.root,
    }
    if boot.libraries is not None:
        files[PurePosixPath("/libraries.squashfs")] = boot.libraries
    return files


def jailer(machine: str, limits: Limits, *, uid: int, gid: int, base: Path) -> list[str]:
    """The jailer's command line: chroot, own pid namespace, control group, no file but what lies in the jail.

    Raises InconclusiveError for an id that the jailer refuses (letters, digits and hyphens, at most 64) and
    for root, as whom a machine must not run.
    """
    if not (0 < len(machine) <= _ID_LENGTH and machine.replace("-", "").isalnum() and machine.isascii()):
        raise InconclusiveError(f"not an id of a machine: {machine!r}", advice="Letters, digits and hyphens.")
    if uid <= 0 or gid <= 0:
        raise InconclusiveError(
            "a virtual machine must not run as root", advice="Give an unprivileged uid and gid."
        )
    held = memory(limits.memory) + 64 << 20
    groups = {
        "memory.max": str(held),
        "memory.swap.max": "0",
        "pids.max": "32",
        "cpu.max": f"{int(limits.cpus * _SECOND_US / 10)} {_SECOND_US // 10}",
    }
    words = [JAILER, "--id", machine, "--exec-file", FIRECRACKER, "--uid", str(uid), "--gid", str(gid)]
    words += ["--chroot-base-dir", str(base), "--new-pid-ns", "--cgroup-version", "2"]
    for name, value in groups.items():
        words += ["--cgroup", f"{name}={value}"]
    words += ["--resource-limit", "no-file=64", "--resource-limit", f"fsize={1 << 30}"]
    return [*words, "--", "--no-api", "--config-file", "/config.json"]
