"""QEMU's command line for one guest. Pure: builds lists only.

The machine type ``microvm`` has no PCI, no firmware devices, no graphics: a processor, memory, and virtio
devices (QEMU, docs/system/i386/microvm.rst). Ours: read-only disks and four console ports.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.sandbox.backends.microvm.image import Bootable

Accelerator = Literal["kvm", "tcg"]
PROGRAM: Final = "qemu-system-x86_64"
NAME: Final = "gate-sandbox-"
"""What a machine's name begins with; its owner's comes after it."""
PORTS: Final = ("control", "trace", "said", "network")
"""The console's ports, from number 1 on (guest/guest.py)."""
COMMAND_LINE: Final = (
    "quiet loglevel=0 panic=-1 reboot=t rdinit=/init random.trust_cpu=on mitigations=off nokaslr "
    "cryptomgr.notests audit=0"
)
_USUAL_KHZ: Final = 2_000_000
_GUEST_MEMORY: Final = 192 << 20
"""What kernel, drivers, observer and simulated network need beyond the code's own limit."""
_STEP: Final = 256
"""MiB: few sizes, so that one stored machine serves many checks. What is not used costs the host nothing."""
SANDBOX: Final = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """What a stored machine and those started from it must have in common."""

    accelerator: Accelerator
    memory: int
    """MiB."""
    network: bool = False
    """With the simulated network inside."""
    dependencies: str = ""
    """The name of the disk with installed dependencies; empty: none."""


def memory(limit: int) -> int:
    """The guest's memory in MiB for a limit of the code in bytes: that, the guest's own, rounded up."""
    needed = (limit + _GUEST_MEMORY + (1 << 20) - 1) >> 20
    return -(-needed // _STEP) * _STEP


def arguments(
    boot: Bootable,
    shape: Shape,
    ports: Mapping[str, int],
    *,
    incoming: int | None = None,
    monitor: int | None = None,
    called: str = NAME,
) -> list[str]:
    """The whole command. ``called`` tells whose machine it is (sandbox/reap.py). ``ports`` and ``monitor``:
    inherited, connected Unix sockets; ``incoming``: an inherited file with a stored machine to go on from.
    """
    kvm = shape.accelerator == "kvm"
    machine = f"microvm,accel={shape.accelerator},rtc=on,isa-serial=off"
    words = [PROGRAM, "-M", machine, "-cpu", "host" if kvm else "max"]
    words += ["-m", f"{shape.memory}M", "-smp", "1", "-nodefaults", "-no-user-config", "-display", "none"]
    words += ["-no-reboot", "-sandbox", SANDBOX, "-name", called]
    line = kernel_line(shape)
    if incoming is not None or monitor is not None:  # the same for both
        line += " gate.warm"
    words += ["-kernel", str(boot.kernel), "-initrd", str(boot.initrd), "-append", line]
    disks = {
        "root": boot.root,
        "libraries": boot.libraries if shape.network else None,
        "dependencies": boot.dependencies if shape.dependencies else None,
    }
    for name, path in disks.items():
        if path is None:
            continue
        words += ["-drive", f"id={name},file={_quoted(path)},format=raw,if=none,readonly=on,cache=unsafe"]
        words += ["-device", f"virtio-blk-device,drive={name}"]
    words += ["-device", f"virtio-serial-device,max_ports={len(PORTS) + 1}"]
    for number, name in enumerate(PORTS, 1):
        words += ["-chardev", f"socket,id={name},fd={ports[name]}"]
        words += ["-device", f"virtserialport,chardev={name},nr={number},name={name}"]
    if incoming is not None:
        words += ["-incoming", f"fd:{incoming}"]
    if monitor is not None:  # only to store a machine that no code has been in
        words += ["-chardev", f"socket,id=monitor,fd={monitor}", "-mon", "chardev=monitor,mode=control"]
        words += ["-global", "migration.store-global-state=off"]
    return words


def kernel_line(shape: Shape) -> str:
    """The kernel's command line."""
    line = COMMAND_LINE if shape.accelerator == "kvm" else f"{COMMAND_LINE} {_told_the_time()}"
    return f"{line} gate.network" if shape.network else line


def _told_the_time() -> str:
    """Under TCG on a busy host the kernel cannot measure its clocks, and may wait for ever: tell it. The
    guest's counter is the host's (QEMU, cpu_get_tsc).
    """
    khz = _USUAL_KHZ
    with contextlib.suppress(OSError, ValueError, IndexError):
        for entry in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if entry.startswith("cpu MHz"):
                khz = int(float(entry.split(":")[1]) * 1000)
                break
    with contextlib.suppress(OSError, ValueError):  # where the frequency varies, the counter's does not
        khz = int(Path("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency").read_text(encoding="ascii"))
    return f"tsc_early_khz={khz} lpj=4000000 no_timer_check tsc=reliable"


def _quoted(path: Path) -> str:
    """A comma in an option's value is doubled."""
    return str(path).replace(",", ",,")
