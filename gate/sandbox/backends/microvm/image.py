"""What a microVM boots: the distribution's kernel, our initial file system, the sandbox image as a disk, and
for the simulated network a second disk with the libraries that it needs (the sandbox image has none of them).

Made once for every version of the images, kept in the user's cache. Formats: cpio "newc" (Linux,
Documentation/driver-api/early-userspace/buffer-format.rst), squashfs (made by squashfs-tools from a tar).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Final

from gate import process
from gate.dataclass import dataclass
from gate.errors import InconclusiveError
from gate.regex import regex
from gate.resources import inside_dir
from gate.sandbox import reaper
from gate.sandbox.backends.container import engine
from gate.sandbox.backends.container.engine import API_ERRORS
from gate.sandbox.contract import BackendOptions
from gate.sandbox.dependencies import layers
from gate.sandbox.images import engine_images

_MODULES: Final = ("virtio_mmio", "virtio_blk", "virtio_console", "squashfs")
_NETWORK_MODULES: Final = ("nft_tproxy",)
_LIBRARIES: Final = regex(
    r"(?:.*/)?(?:dist|site)-packages/((?:h11|cryptography|cffi|cffi\.libs|_cffi_backend[^/]*)(?:/.*)?)\Z"
)
"""Of the observer's image: what gate/inside/sinkhole uses beside the standard library."""
_PLACES: Final = (Path("/var/lib/gate/kernel"), Path.home() / ".cache/gate/kernel", Path("/"))
_PACKAGE: Final = "linux-image-cloud-amd64"
_INSIDE: Final = inside_dir()
_OURS: Final = ("observer", "sinkhole")
"""Folders of ours that run inside."""
_DEPENDS: Final = regex(rb"\0depends=([^\0]*)\0")
_BUILD_SECONDS: Final = 120
_IN_USE_SECONDS: Final = 2 * 3600
_OLD_SECONDS: Final = 7 * 24 * 3600
INSTALL_HINT: Final = (
    "On Debian: apt-get install qemu-system-x86 busybox-static squashfs-tools; `make setup` in a checkout "
    "(or sudo gate doctor --fix) fetches the kernel. Elsewhere unpack Debian's linux-image-...-cloud-amd64 "
    "below /var/lib/gate/kernel (dpkg-deb -x)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Bootable:
    """The files that a machine is started from, and the kernel's release."""

    kernel: Path
    initrd: Path
    root: Path
    release: str
    libraries: Path | None = None
    """A disk with what the simulated network needs."""
    dependencies: Path | None = None
    """A disk with what the project needs: a folder for each side."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kernel:
    """An unpacked kernel package: its image and where its modules are."""

    image: Path
    modules: Path
    release: str


def find_kernel() -> Kernel:
    """The newest kernel for virtual machines that set-up unpacked or the distribution installed.

    Raises InconclusiveError.
    """
    for place in _PLACES:
        found = sorted((place / "boot").glob("vmlinuz-*-cloud-amd64"))
        for image in reversed(found):
            release = image.name.removeprefix("vmlinuz-")
            for modules in (place / "lib/modules" / release, place / "usr/lib/modules" / release):
                if modules.is_dir() and os.access(image, os.R_OK):
                    return Kernel(image=image, modules=modules, release=release)
    raise InconclusiveError("no kernel for virtual machines", advice=INSTALL_HINT)


def fetch_kernel(place: Path | None = None) -> Kernel:
    """Download the distribution's kernel package and unpack it without installing it (no boot loader is
    touched). Raises InconclusiveError.
    """
    with contextlib.suppress(InconclusiveError):
        return find_kernel()
    place = place or (_PLACES[0] if os.geteuid() == 0 else _PLACES[1])
    with tempfile.TemporaryDirectory(prefix="gate-kernel-") as folder:
        told = process.run(["apt-cache", "depends", _PACKAGE], deadline=30)
        names = re.findall(r"Depends: (linux-image-[0-9][\w.+-]*)", told.stdout.decode(errors="replace"))
        if not names:
            raise InconclusiveError(f"the distribution has no {_PACKAGE}", advice=INSTALL_HINT)
        process.run(["apt-get", "-qq", "download", names[-1]], deadline=300, cwd=Path(folder))
        archives = list(Path(folder).glob("*.deb"))
        if not archives:
            raise InconclusiveError(f"{names[-1]} could not be downloaded", advice=INSTALL_HINT)
        place.mkdir(parents=True, exist_ok=True)
        process.run(["dpkg-deb", "-x", archives[0], place], deadline=120)
    return find_kernel()


def bootable(
    *,
    network: bool = False,
    wanted: Sequence[tuple[str, Path]] = (),
    options: BackendOptions | None = None,
) -> Bootable:
    """Everything to boot this version of the sandbox image, ``network``: with the simulated network's
    libraries, ``wanted``: with these dependencies (folder on their disk, tar). Makes what is missing; one
    maker at a time.

    Raises InconclusiveError.
    """
    kernel = find_kernel()
    options = options or BackendOptions()
    busybox = shutil.which("busybox")
    if busybox is None:
        raise InconclusiveError("busybox is not installed", advice=INSTALL_HINT)
    try:
        folder = cache()
        with (folder / "lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            content = initrd(kernel, Path(busybox))
            first = folder / f"initrd-{hashlib.sha256(content).hexdigest()[:16]}.cpio"
            _have(first, "initrd-*", lambda new: _write(new, content))
            of = options
            chosen = engine_images.tag("sandbox", of.python, of.image, services=of.services).partition(":")[2]
            root = folder / f"root-{chosen}.squashfs"
            _have(root, "root-*", lambda new: _make_root(new, options))
            libraries = folder / f"libraries-{chosen}.squashfs" if network else None
            if libraries is not None:
                _have(libraries, "libraries-*", lambda new: _make_libraries(new, options))
            dependencies = _dependencies(folder, wanted)
    except OSError as error:
        raise InconclusiveError(
            f"the files of the virtual machine cannot be made: {error}",
            advice="Is the disk full? They lie in ~/.cache/gate/microvm.",
        ) from error
    return Bootable(
        kernel=kernel.image,
        initrd=first,
        root=root,
        release=kernel.release,
        libraries=libraries,
        dependencies=dependencies,
    )


def cache() -> Path:
    """The folder of this user for all of it. Raises OSError."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "gate" / "microvm"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _dependencies(folder: Path, wanted: Sequence[tuple[str, Path]]) -> Path | None:
    """The disk with the layers; those that nobody used for a week go."""
    if not wanted:
        return None
    name = layers.name_of("\n".join(f"{place} {layers.digest(tar)}" for place, tar in wanted))
    disk = folder / f"dependencies-{name}.squashfs"
    for old in folder.glob("dependencies-*"):
        if old != disk and old.stat().st_mtime < time.time() - _OLD_SECONDS:
            old.unlink(missing_ok=True)
    _have(disk, "", lambda new: _squash(_joined(wanted), new))
    os.utime(disk)
    return disk


def _joined(wanted: Sequence[tuple[str, Path]]) -> Iterator[bytes]:
    """The layers as one archive, each below a folder of its own."""
    with tempfile.TemporaryFile() as file:
        with tarfile.open(fileobj=file, mode="w") as out:
            for name, layer in wanted:
                top = tarfile.TarInfo(name)
                top.type, top.mode = tarfile.DIRTYPE, 0o755
                out.addfile(top)
                with tarfile.open(layer) as tar:
                    for member in tar:
                        content = tar.extractfile(member) if member.isreg() else None
                        member.name = f"{name}/{member.name}"
                        out.addfile(member, content)
        file.seek(0)
        yield from iter(lambda: file.read(1 << 20), b"")


def _have(path: Path, others: str, make: Callable[[Path], None]) -> None:
    """Make a file where it is missing, whole or not at all; those of other versions go, but not from under
    another gate that may start a machine from them.
    """
    with contextlib.suppress(FileNotFoundError):
        os.utime(path)
        return
    for old in path.parent.glob(others) if others else ():
        with contextlib.suppress(FileNotFoundError):  # another gate tidies up, too
            if old.stat().st_mtime < time.time() - _IN_USE_SECONDS:
                old.unlink()
    new = path.with_suffix(".new")
    try:
        make(new)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _make_root(path: Path, options: BackendOptions) -> None:
    """The sandbox image, as an uncompressed squashfs: reading costs no time inside."""
    with _exported("sandbox", options) as tar:
        _squash(tar, path)


def _make_libraries(path: Path, options: BackendOptions) -> None:
    """A few folders of the observer's image, made for the same Python."""
    with tempfile.TemporaryFile() as file:
        with _exported("observer", replace(options, image="", services=False)) as pieces:
            found = _pick(pieces, file)
        if not {"h11", "cryptography"} <= found:
            raise InconclusiveError("the observer's image lacks what the simulated network needs")
        file.seek(0)
        _squash(iter(lambda: file.read(1 << 20), b""), path)


def _pick(pieces: Iterator[bytes], to: IO[bytes]) -> set[str]:
    """Write the libraries of an image's archive as an archive of their own; the names of the topmost."""
    found: set[str] = set()
    with (
        tarfile.open(fileobj=_Stream(pieces), mode="r|") as tar,
        tarfile.open(fileobj=to, mode="w") as out,
    ):
        for member in tar:
            match = _LIBRARIES.match(member.name)
            if match is None or not (member.isfile() or member.isdir()):
                continue
            content = tar.extractfile(member) if member.isfile() else None
            member.name = match[1]
            out.addfile(member, content)
            found.add(match[1].split("/")[0])
    return found


class _Stream(io.RawIOBase):
    """Pieces of bytes, as a file that can be read."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__()
        self._pieces = pieces
        self._rest = b""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """What is there of the present piece, or the next one; 0 at the end."""
        self._rest = self._rest or next(self._pieces, b"")
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


@contextlib.contextmanager
def _exported(target: engine_images.Target, options: BackendOptions) -> Iterator[Iterator[bytes]]:
    """An image's whole file system as a tar, in pieces. Raises InconclusiveError."""
    if shutil.which("sqfstar") is None:
        raise InconclusiveError("squashfs-tools is not installed", advice=INSTALL_HINT)
    with contextlib.closing(engine.connect(timeout=_BUILD_SECONDS)) as client:
        try:
            image = engine_images.ensure(
                client,
                target,
                python=options.python,
                named=options.image,
                services=options.services,
                say=options.say,
            )
            body = {"Image": image, "Cmd": ["true"], "Labels": reaper.labels()}
            made = str(client.api.create_container_from_config(body)["Id"])
            try:
                yield client.api.export(made)
            finally:
                reaper.remove_container(client, made)
        except API_ERRORS as error:
            raise InconclusiveError(
                f"the {target} image cannot be exported: {error}"[:300], advice=INSTALL_HINT
            ) from error


def _squash(tar: Iterator[bytes], to: Path) -> None:
    """Raises InconclusiveError; the disk may be full."""
    words = ["sqfstar", "-quiet", "-no-progress", "-noI", "-noD", "-noF", "-noX", str(to)]
    with tempfile.TemporaryFile() as said:
        with subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env=process.clean_environment(),
        ) as squash:
            if squash.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    for piece in tar:
                        squash.stdin.write(piece)
                with contextlib.suppress(BrokenPipeError):
                    squash.stdin.close()
        said.seek(0)
        last = " ".join(said.read(2000).decode(errors="replace").split())[-200:]
    if squash.returncode:
        raise InconclusiveError(
            f"sqfstar ended with {squash.returncode}: {last}", advice=f"Is the disk full? {INSTALL_HINT}"
        )
    to.chmod(0o644)  # a machine that root starts runs as nobody


def initrd(kernel: Kernel, busybox: Path) -> bytes:
    """The initial file system: busybox, drivers in the order they need each other, our programs."""
    cpio = _Cpio()
    for folder in (
        "bin",
        "dev",
        "root",
        "modules",
        "gate",
        *(f"gate/{name}" for name in _OURS),
        "gate/network",
    ):
        cpio.add(folder, b"", 0o40755)
    cpio.add("init", (_INSIDE / "guest/init.sh").read_bytes(), 0o100755)
    cpio.add("bin/busybox", busybox.read_bytes(), 0o100755)
    cpio.add("dev/console", b"", 0o20600, device=(5, 1))
    always = _in_order(kernel, _MODULES)
    for place, path in enumerate(always):
        cpio.add(f"modules/{place:02}-{path.name}", path.read_bytes(), 0o100644)
    network = [path for path in _in_order(kernel, _NETWORK_MODULES) if path not in always]
    for place, path in enumerate(network):
        cpio.add(f"gate/network/{place:02}-{path.name}", path.read_bytes(), 0o100600)
    for path in sorted((_INSIDE / "guest").glob("*.py")):
        cpio.add(f"gate/{path.name}", path.read_bytes(), 0o100600)
    for name in _OURS:
        for path in sorted((_INSIDE / name).glob("*.py")):
            cpio.add(f"gate/{name}/{path.name}", path.read_bytes(), 0o100600)
    return cpio.end()


def _in_order(kernel: Kernel, wanted: tuple[str, ...]) -> list[Path]:
    """Modules and what they depend on (their .modinfo section says), dependencies first."""
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

    for name in wanted:
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
