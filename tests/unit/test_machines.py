"""Command lines and files of virtual machines: nothing in them leads to the network or to the host."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gate.errors import CouldNotLook
from gate.model.run import Limits
from gate.sandbox import firecracker, microvm_image, microvm_machine
from gate.sandbox.microvm_image import Bootable, Kernel

BOOT = Bootable(
    kernel=Path("/k/vmlinuz"), initrd=Path("/c/a,b.cpio"), root=Path("/c/x,y.squashfs"), release="6.1"
)


@pytest.mark.parametrize("accelerator", ["kvm", "tcg"])
def test_qemu_gets_one_disk_three_ports_and_no_network(accelerator: microvm_machine.Accelerator) -> None:
    words = microvm_machine.arguments(BOOT, accelerator, limit=512 << 20, control=7, trace=8, said=9)
    text = " ".join(words)
    assert "-nodefaults" in words
    assert "-no-user-config" in words
    assert not re.search(r"virtio-net|-netdev|-nic|vsock|9p|virtiofs|-monitor|-qmp|-gdb|hostfwd", text)
    assert text.count("readonly=on") == text.count("-drive") == 1
    assert "file=/c/x,,y.squashfs" in text  # a comma does not end the option
    assert [word for word in words if word.startswith("socket,")] == [
        "socket,id=control,fd=7",
        "socket,id=trace,fd=8",
        "socket,id=said,fd=9",
    ]
    assert "spawn=deny" in text
    assert words[words.index("-m") + 1] == "640M"
    assert ("tsc_early_khz=" in text) == (accelerator == "tcg")


@pytest.mark.parametrize("limit", [1, 1 << 20, (1 << 20) + 1, 3 << 30])
def test_the_guest_has_the_codes_memory_and_its_own(limit: int) -> None:
    whole = microvm_machine.memory(limit)
    assert whole << 20 >= limit + (128 << 20)
    assert (whole - 1) << 20 < limit + (128 << 20)


def test_firecracker_has_no_network_interface_and_a_disk_it_cannot_write() -> None:
    config = firecracker.configuration(Limits(memory=256 << 20))
    assert json.loads(json.dumps(config)) == config
    assert "network-interfaces" not in config
    assert "mmds-config" not in config
    assert all(drive["is_read_only"] for drive in config["drives"])
    assert config["machine-config"] == {"vcpu_count": 1, "mem_size_mib": 384, "smt": False}
    inside = {str(path) for path in firecracker.jailed_files(BOOT)}
    named = {config["boot-source"]["kernel_image_path"], config["boot-source"]["initrd_path"]}
    assert named | {drive["path_on_host"] for drive in config["drives"]} == inside


def test_the_jailer_drops_root_and_bounds_everything() -> None:
    words = firecracker.jailer(
        "gate-1a", Limits(memory=256 << 20, cpus=0.5), uid=65532, gid=65532, base=Path("/srv/jail")
    )
    ours, theirs = words[: words.index("--")], words[words.index("--") + 1 :]
    assert ours[:5] == ["jailer", "--id", "gate-1a", "--exec-file", "/usr/bin/firecracker"]
    groups = dict(ours[n + 1].split("=", 1) for n, word in enumerate(ours) if word == "--cgroup")
    assert groups == {
        "memory.max": str((256 + 128 + 64) << 20),
        "memory.swap.max": "0",
        "pids.max": "32",
        "cpu.max": "50000 100000",
    }
    assert "--new-pid-ns" in ours
    assert "--daemonize" not in words
    assert theirs == ["--no-api", "--config-file", "/config.json"]


@pytest.mark.parametrize("name", ["", "a/b", "../x", "a b", "x" * 65, "é"])
def test_the_jailer_gets_no_odd_id(name: str) -> None:
    with pytest.raises(CouldNotLook, match="not an id"):
        firecracker.jailer(name, Limits(), uid=1, gid=1, base=Path("/srv"))


def test_no_machine_as_root() -> None:
    with pytest.raises(CouldNotLook, match="root"):
        firecracker.jailer("a", Limits(), uid=0, gid=5, base=Path("/srv"))


def _members(cpio: bytes) -> dict[str, tuple[int, bytes]]:
    """Reads a newc archive by its specification (thirteen fields of eight hexadecimal digits)."""
    out: dict[str, tuple[int, bytes]] = {}
    at = 0
    while True:
        assert cpio[at : at + 6] == b"070701"
        numbers = [int(cpio[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
        mode, size, length = numbers[1], numbers[6], numbers[11]
        name = cpio[at + 110 : at + 109 + length].decode()
        at = (at + 110 + length + 3) & ~3
        if name == "TRAILER!!!":
            return out
        out[name] = (mode, cpio[at : at + size])
        at = (at + size + 3) & ~3


def test_the_initial_file_system_loads_drivers_after_what_they_need(tmp_path: Path) -> None:
    modules = tmp_path / "modules"
    modules.mkdir()
    wants = {
        "virtio": b"",
        "virtio_ring": b"virtio",
        "virtio_mmio": b"virtio,virtio_ring",
        "virtio-console": b"virtio_ring",
        "unwanted": b"",
    }
    for name, depends in wants.items():
        (modules / f"{name}.ko").write_bytes(b"ELF\0license=GPL\0depends=" + depends + b"\0name=x\0")
    busybox = tmp_path / "busybox"
    busybox.write_bytes(b"odd")
    kernel = Kernel(image=tmp_path / "vmlinuz", modules=modules, release="6.1")
    made = microvm_image.initrd(kernel, busybox)
    assert made == microvm_image.initrd(kernel, busybox)
    members = _members(made)
    order = [name.split("-", 1)[1] for name in sorted(members) if name.startswith("modules/")]
    assert order == ["virtio.ko", "virtio_ring.ko", "virtio_mmio.ko", "virtio-console.ko"]
    assert members["bin/busybox"] == (0o100755, b"odd")
    assert members["init"][0] == 0o100755
    assert members["gate/guest.py"][0] == 0o100600
    assert "gate/observer/supervisor.py" in members
