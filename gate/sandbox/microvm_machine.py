"""QEMU's command line for one guest. Pure: builds lists only.

The machine type ``microvm`` has no PCI, no firmware devices, no graphics: a processor, memory, and virtio
devices (QEMU, docs/system/i386/microvm.rst). Ours: one read-only disk and three console ports.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final, Literal

from gate.sandbox.microvm_image import Bootable

Accelerator = Literal["kvm", "tcg"]
PROGRAM: Final = "qemu-system-x86_64"
COMMAND_LINE: Final = (
    "quiet loglevel=0 panic=-1 reboot=t rdinit=/init random.trust_cpu=on mitigations=off nokaslr "
    "cryptomgr.notests audit=0"
)
_USUAL_KHZ: Final = 2_000_000
_GUEST_MEMORY: Final = 128 << 20
"""What kernel, drivers and observer need beyond the code's own limit."""
SANDBOX: Final = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"


def memory(limit: int) -> int:
    """The guest's memory in whole MiB for a limit of the code in bytes."""
    return (limit + _GUEST_MEMORY + (1 << 20) - 1) >> 20


def arguments(
    boot: Bootable, accelerator: Accelerator, *, limit: int, control: int, trace: int, said: int
) -> list[str]:
    """The whole command. ``control``, ``trace``, ``said``: inherited, connected Unix sockets."""
    machine = f"microvm,accel={accelerator},rtc=on,isa-serial=off"
    words = [PROGRAM, "-M", machine, "-cpu", "host" if accelerator == "kvm" else "max"]
    words += ["-m", f"{memory(limit)}M", "-smp", "1", "-nodefaults", "-no-user-config", "-display", "none"]
    words += ["-no-reboot", "-sandbox", SANDBOX, "-name", "gate-sandbox"]
    line = COMMAND_LINE if accelerator == "kvm" else f"{COMMAND_LINE} {_told_the_time()}"
    words += ["-kernel", str(boot.kernel), "-initrd", str(boot.initrd), "-append", line]
    words += ["-drive", f"id=root,file={_quoted(boot.root)},format=raw,if=none,readonly=on,cache=unsafe"]
    words += ["-device", "virtio-blk-device,drive=root", "-device", "virtio-serial-device,max_ports=4"]
    for number, (name, fd) in enumerate((("control", control), ("trace", trace), ("said", said)), 1):
        words += ["-chardev", f"socket,id={name},fd={fd}"]
        words += ["-device", f"virtserialport,chardev={name},nr={number},name={name}"]
    return words


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
    return f"tsc_early_khz={khz} lpj=4000000 no_timer_check tsc=reliable"


def _quoted(path: Path) -> str:
    """A comma in an option's value is doubled."""
    return str(path).replace(",", ",,")
