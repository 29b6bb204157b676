"""Command lines and files of virtual machines: nothing in them leads to the network or to the host."""

from __future__ import annotations

import io
import json
import os
import re
import tarfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gate.errors import InconclusiveError
from gate.model.run import Limits
from gate.sandbox.backends.microvm import command, firecracker
from gate.sandbox.backends.microvm import image as microvm_image
from gate.sandbox.backends.microvm.command import Shape
from gate.sandbox.backends.microvm.image import Bootable, Kernel

BOOT = Bootable(
    kernel=Path("/k/vmlinuz"),
    initrd=Path("/c/a,b.cpio"),
    root=Path("/c/x,y.squashfs"),
    release="6.1",
    libraries=Path("/c/libraries.squashfs"),
)
PORTS = {"control": 7, "trace": 8, "said": 9, "network": 10}


def _shape(accelerator: command.Accelerator = "tcg", *, network: bool = False) -> Shape:
    return Shape(accelerator=accelerator, memory=768, network=network)


@pytest.mark.parametrize("accelerator", ["kvm", "tcg"])
def test_qemu_gets_one_disk_four_ports_and_no_network(accelerator: command.Accelerator) -> None:
    words = command.arguments(BOOT, _shape(accelerator), PORTS)
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
        "socket,id=network,fd=10",
    ]
    assert "spawn=deny" in text
    assert "-incoming" not in words
    assert "gate.network" not in text
    assert words[words.index("-m") + 1] == "768M"
    assert ("tsc_early_khz=" in text) == (accelerator == "tcg")


@pytest.mark.parametrize("network", [False, True])
def test_dependencies_are_a_disk_behind_the_others(network: bool) -> None:
    boot = replace(BOOT, dependencies=Path("/c/dependencies-1.squashfs"))
    shape = replace(_shape(network=network), dependencies="dependencies-1.squashfs")
    drives = [word for word in command.arguments(boot, shape, PORTS) if word.startswith("id=")]
    assert [drive.split(",")[0] for drive in drives] == [
        "id=root", *(["id=libraries"] if network else []), "id=dependencies",
    ]  # fmt: skip
    assert all("readonly=on" in drive for drive in drives)
    assert len(command.arguments(boot, _shape(), PORTS)) < len(command.arguments(boot, shape, PORTS))


def test_layers_lie_below_a_folder_for_each_side(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with tarfile.open(tmp_path / name, "w") as tar:
            member = tarfile.TarInfo("lib")
            member.type = tarfile.DIRTYPE
            tar.addfile(member)
            member = tarfile.TarInfo(f"lib/{name}.py")
            member.size = 3
            tar.addfile(member, io.BytesIO(b"x=1"))
    made = b"".join(microvm_image._joined([("base", tmp_path / "one"), ("head", tmp_path / "two")]))
    with tarfile.open(fileobj=io.BytesIO(made)) as tar:
        assert tar.getnames() == [
            "base",
            "base/lib",
            "base/lib/one.py",
            "head",
            "head/lib",
            "head/lib/two.py",
        ]


def test_the_simulated_network_is_a_second_disk_and_no_device() -> None:
    words = command.arguments(BOOT, _shape(network=True), PORTS)
    text = " ".join(words)
    assert not re.search(r"virtio-net|-netdev|-nic|vsock", text)
    assert text.count("readonly=on") == text.count("-drive") == 2
    assert words[words.index("-append") + 1].endswith(" gate.network")


def test_only_a_machine_that_is_to_be_stored_has_a_monitor() -> None:
    going_on = " ".join(command.arguments(BOOT, _shape(), PORTS, incoming=11))
    assert "-incoming fd:11" in going_on
    assert "-mon" not in going_on
    stored = " ".join(command.arguments(BOOT, _shape(), PORTS, monitor=12))
    assert "socket,id=monitor,fd=12" in stored
    assert "-incoming" not in stored


@pytest.mark.parametrize("limit", [1, 1 << 20, (1 << 20) + 1, 3 << 30])
def test_the_guest_has_the_codes_memory_and_its_own_in_few_sizes(limit: int) -> None:
    whole = command.memory(limit)
    assert whole << 20 >= limit + (192 << 20)
    assert (whole - 256) << 20 < limit + (192 << 20)
    assert whole % 256 == 0


@pytest.mark.parametrize("network", [False, True])
def test_firecracker_has_no_network_interface_and_disks_it_cannot_write(*, network: bool) -> None:
    config = firecracker.configuration(Limits(memory=256 << 20), network=network)
    assert json.loads(json.dumps(config)) == config
    assert "network-interfaces" not in config
    assert "mmds-config" not in config
    assert all(drive["is_read_only"] for drive in config["drives"])
    assert config["machine-config"] == {"vcpu_count": 1, "mem_size_mib": 512, "smt": False}
    boot = BOOT if network else replace(BOOT, libraries=None)
    inside = {str(path) for path in firecracker.jailed_files(boot)}
    assert len(config["drives"]) == 1 + network
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
        "memory.max": str((512 + 64) << 20),
        "memory.swap.max": "0",
        "pids.max": "32",
        "cpu.max": "50000 100000",
    }
    assert "--new-pid-ns" in ours
    assert "--daemonize" not in words
    assert theirs == ["--no-api", "--config-file", "/config.json"]


@pytest.mark.parametrize("name", ["", "a/b", "../x", "a b", "x" * 65, "é"])
def test_the_jailer_gets_no_odd_id(name: str) -> None:
    with pytest.raises(InconclusiveError, match="not an id"):
        firecracker.jailer(name, Limits(), uid=1, gid=1, base=Path("/srv"))


def test_no_machine_as_root() -> None:
    with pytest.raises(InconclusiveError, match="root"):
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
        "nft_tproxy": b"nf_tables,virtio",
        "nf_tables": b"",
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
    network = [name for name in sorted(members) if name.startswith("gate/network/")]
    assert network == ["gate/network/00-nf_tables.ko", "gate/network/01-nft_tproxy.ko"]
    assert members["bin/busybox"] == (0o100755, b"odd")
    assert members["init"][0] == 0o100755
    assert members["gate/main.py"][0] == 0o100600
    assert {"gate/observer/supervisor.py", "gate/sinkhole/server.py", "gate/kernel.py"} <= set(members)


def test_only_what_the_simulated_network_needs_is_picked_from_an_image() -> None:
    image = io.BytesIO()
    with tarfile.open(fileobj=image, mode="w") as tar:
        for name in (
            "usr/lib/python3/dist-packages/h11/__init__.py",
            "usr/lib/python3/dist-packages/h11-0.14.dist-info/METADATA",
            "usr/local/lib/python3.12/site-packages/cryptography/x509.py",
            "usr/lib/python3/dist-packages/_cffi_backend.cpython-311-x86_64-linux-gnu.so",
            "usr/lib/python3/dist-packages/requests/__init__.py",
            "etc/shadow",
        ):
            tar.addfile(tarfile.TarInfo(name), io.BytesIO())
        link = tarfile.TarInfo("usr/lib/python3/dist-packages/h11/link.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/shadow"
        tar.addfile(link)
    data = image.getvalue()
    out = io.BytesIO()
    pieces = iter([data[:700], data[700:]])
    found = microvm_image._pick(pieces, out)
    assert found == {"h11", "cryptography", "_cffi_backend.cpython-311-x86_64-linux-gnu.so"}
    out.seek(0)
    with tarfile.open(fileobj=out) as tar:
        assert tar.getnames() == [
            "h11/__init__.py",
            "cryptography/x509.py",
            "_cffi_backend.cpython-311-x86_64-linux-gnu.so",
        ]


def test_files_of_another_version_stay_while_a_machine_may_be_started_from_them(tmp_path: Path) -> None:
    long_ago, in_use, made = (tmp_path / f"initrd-{name}.cpio" for name in ("old", "used", "new"))
    for path in (long_ago, in_use):
        path.write_bytes(b"x")
    os.utime(long_ago, (1, 1))
    for _ in range(2):
        microvm_image._have(made, "initrd-*", lambda new: microvm_image._write(new, b"made"))
        assert made.read_bytes() == b"made"
        assert in_use.exists()
        assert not long_ago.exists()
    os.utime(made, (1, 1))
    microvm_image._have(made, "initrd-*", lambda _: pytest.fail("it is there"))
    assert made.stat().st_mtime > time.time() - 60, "used just now"
