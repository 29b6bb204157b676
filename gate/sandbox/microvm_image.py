"""What a microVM boots: the distribution's kernel, our initial file system, the sandbox image as a disk.

Made once for every version of the image, kept in the user's cache. Formats: cpio "newc" (Linux,
Documentation/driver-api/early-userspace/buffer-format.rst), squashfs (made by squashfs-tools from a tar).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gate import proc
from gate.errors import CouldNotLook
from gate.sandbox import engine, images, reap
from gate.sandbox.engine import API_ERRORS

_MODULES: Final = ("virtio_mmio", "virtio_blk", "virtio_console", "squashfs")
_PLACES: Final = (Path("/var/lib/gate/kernel"), Path.home() / ".cache/gate/kernel", Path("/"))
_PACKAGE: Final = "linux-image-cloud-amd64"
_HERE: Final = Path(__file__).resolve().parent
_DEPENDS: Final = re.compile(rb"\0depends=([^\0]*)\0")
_BUILD_SECONDS: Final = 120
HOW_TO_GET: Final = (
    "On Debian and Ubuntu: apt-get install qemu-system-x86 busybox-static squashfs-tools; "
    "`make setup` in a checkout (or sudo gate doctor --fix) fetches the kernel"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Bootable:
    """Three files that a machine is started from, and the kernel's release."""

    kernel: Path
    initrd: Path
    root: Path
    release: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Kernel:
    """An unpacked kernel package: its image and where its modules are."""

    image: Path
    modules: Path
    release: str


def find_kernel() -> Kernel:
    """The newest kernel for virtual machines that set-up unpacked or the distribution installed.

    Raises CouldNotLook.
    """
    for place in _PLACES:
        found = sorted((place / "boot").glob("vmlinuz-*-cloud-amd64"))
        for image in reversed(found):
            release = image.name.removeprefix("vmlinuz-")
            for modules in (place / "lib/modules" / release, place / "usr/lib/modules" / release):
                if modules.is_dir() and os.access(image, os.R_OK):
                    return Kernel(image=image, modules=modules, release=release)
    raise CouldNotLook("no kernel for virtual machines", advice=HOW_TO_GET)


def fetch_kernel(place: Path | None = None) -> Kernel:
    """Download the distribution's kernel package and unpack it without installing it (no boot loader is
    touched). Raises CouldNotLook.
    """
    with contextlib.suppress(CouldNotLook):
        return find_kernel()
    place = place or (_PLACES[0] if os.geteuid() == 0 else _PLACES[1])
    with tempfile.TemporaryDirectory(prefix="gate-kernel-") as folder:
        told = proc.run(["apt-cache", "depends", _PACKAGE], deadline=30)
        names = re.findall(r"Depends: (linux-image-[0-9][\w.+-]*)", told.stdout.decode(errors="replace"))
        if not names:
            raise CouldNotLook(f"the distribution has no {_PACKAGE}", advice=HOW_TO_GET)
        proc.run(["apt-get", "-qq", "download", names[-1]], deadline=300, cwd=Path(folder))
        archives = list(Path(folder).glob("*.deb"))
        if not archives:
            raise CouldNotLook(f"{names[-1]} could not be downloaded", advice=HOW_TO_GET)
        place.mkdir(parents=True, exist_ok=True)
        proc.run(["dpkg-deb", "-x", archives[0], place], deadline=120)
    return find_kernel()


def bootable() -> Bootable:
    """Everything to boot this version of the sandbox image. Makes what is missing; one maker at a time.

    Raises CouldNotLook.
    """
    kernel = find_kernel()
    busybox = shutil.which("busybox")
    if busybox is None:
        raise CouldNotLook("busybox is not installed", advice=HOW_TO_GET)
    folder = _cache()
    with (folder / "lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        content = initrd(kernel, Path(busybox))
        first = folder / f"initrd-{hashlib.sha256(content).hexdigest()[:16]}.cpio"
        if not first.exists():
            _drop(folder, "initrd-*")
            _whole(first, content)
        root = folder / f"root-{images.digest()}.squashfs"
        if not root.exists():
            _drop(folder, "root-*")
            _make_root(root)
    return Bootable(kernel=kernel.image, initrd=first, root=root, release=kernel.release)


def _cache() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "gate" / "microvm"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _drop(folder: Path, pattern: str) -> None:
    for old in folder.glob(pattern):
        old.unlink(missing_ok=True)


def _whole(path: Path, content: bytes) -> None:
    new = path.with_suffix(".new")
    new.write_bytes(content)
    new.replace(path)


def _make_root(path: Path) -> None:
    """The sandbox image, as an uncompressed squashfs: reading costs no time inside."""
    if shutil.which("sqfstar") is None:
        raise CouldNotLook("squashfs-tools is not installed", advice=HOW_TO_GET)
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    with contextlib.closing(engine.connect(timeout=_BUILD_SECONDS)) as client:
        try:
            image = images.ensure(client, "sandbox")
            body = {"Image": image, "Cmd": ["true"], "Labels": reap.labels()}
            made = str(client.api.create_container_from_config(body)["Id"])
            try:
                _squash(client.api.export(made), new)
            finally:
                reap.remove_container(client, made)
        except API_ERRORS as error:
            raise CouldNotLook(
                f"the sandbox image cannot be exported: {error}"[:300], advice=HOW_TO_GET
            ) from error
    new.replace(path)


def _squash(tar: Iterator[bytes], to: Path) -> None:
    words = ["sqfstar", "-quiet", "-no-progress", "-noI", "-noD", "-noF", "-noX", str(to)]
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=proc.clean_environment(),
    ) as squash:
        if squash.stdin is not None:
            for piece in tar:
                squash.stdin.write(piece)
    if squash.returncode:
        raise CouldNotLook(f"sqfstar ended with {squash.returncode}", advice=HOW_TO_GET)
    to.chmod(0o644)  # a machine that root starts runs as nobody


def initrd(kernel: Kernel, busybox: Path) -> bytes:
    """The initial file system: busybox, drivers in the order they need each other, our two programs."""
    cpio = _Cpio()
    for folder in ("bin", "dev", "root", "modules", "gate", "gate/observer"):
        cpio.add(folder, b"", 0o40755)
    cpio.add("init", (_HERE / "guest/init.sh").read_bytes(), 0o100755)
    cpio.add("bin/busybox", busybox.read_bytes(), 0o100755)
    cpio.add("dev/console", b"", 0o20600, device=(5, 1))
    for place, path in enumerate(_in_order(kernel)):
        cpio.add(f"modules/{place:02}-{path.name}", path.read_bytes(), 0o100644)
    cpio.add("gate/guest.py", (_HERE / "guest/guest.py").read_bytes(), 0o100600)
    for path in sorted((_HERE / "observer").glob("*.py")):
        cpio.add(f"gate/observer/{path.name}", path.read_bytes(), 0o100600)
    return cpio.end()


def _in_order(kernel: Kernel) -> list[Path]:
    """The drivers and what they depend on (their .modinfo section says), dependencies first."""
    all_of_them = {path.stem.replace("-", "_"): path for path in kernel.modules.rglob("*.ko")}
    order: dict[str, Path] = {}

    def take(name: str) -> None:
        path = all_of_them.get(name)
        if path is None or name in order:
            return  # built in, or there already
        told = _DEPENDS.search(path.read_bytes())
        for other in (told[1].decode("ascii") if told else "").split(","):
            take(other.replace("-", "_"))
        order[name] = path

    for name in _MODULES:
        take(name)
    return list(order.values())


class _Cpio:
    """A "newc" archive, always the same bytes for the same content."""

    def __init__(self) -> None:
        self._out = bytearray()
        self._count = 0

    def add(self, name: str, content: bytes, mode: int, *, device: tuple[int, int] = (0, 0)) -> None:
        self._count += 1
        raw = name.encode("ascii") + b"\0"
        numbers = (self._count, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(raw), 0)
        self._out += b"070701" + b"".join(b"%08X" % number for number in numbers) + raw
        self._pad()
        self._out += content
        self._pad()

    def _pad(self) -> None:
        self._out += bytes(-len(self._out) % 4)

    def end(self) -> bytes:
        self.add("TRAILER!!!", b"", 0)
        return bytes(self._out)
