"""Builds each image twice from nothing and tells in what the two differ: layers, files, settings.

Equal layers are equal byte for byte (times, owners, modes and all). Where some are not, the file systems
are compared file by file. What is never equal is the image's id: the engine writes the time of the build
into it. Ends with 1 when a file, its owner, its mode, its time or a setting differs.
Usage: scripts/compare_images.py [sandbox|observer|gate|gate-action|base ...]   (default: all but base)
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import itertools
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import image as itself
from docker import DockerClient

from gate.errors import InconclusiveError
from gate.sandbox.backends.container import engine
from gate.sandbox.images import engine_images

TARGETS = (*engine_images.TARGETS, "gate", "gate-action")
BASE = "base"
"""What the images stand on where there is no registry: made of Debian packages, not by the engine."""
TIMED = ("Created", "Container", "Hostname", "Image")
"""Settings that name the time or place of a build, not the image."""
ENGINES = {".dockerenv", "etc/hostname", "etc/hosts", "etc/mtab", "etc/resolv.conf", "dev", "dev/console"}
"""Files that the engine makes in each container."""
TOUCHED = {"etc", "dev/pts", "dev/shm", "proc", "sys"}
"""Where it does so: their time is today's."""


@dataclass(frozen=True)
class Kept:
    """One file: what a reader of the image sees of it, and apart from that its time."""

    seen: tuple[object, ...]
    time: int


@dataclass(frozen=True)
class Compared:
    """Two builds of one target. ``layers``: pairs of digests; the lists hold paths or setting names."""

    target: str
    size: int
    files: int
    layers: tuple[tuple[str, str], ...]
    differing: list[str]
    times: list[str]
    settings: list[str]

    @property
    def equal(self) -> bool:
        """Nothing that a reader of the image could tell."""
        return not self.differing and not self.times and not self.settings

    def told(self) -> str:
        """One line, and one for each difference."""
        same = sum(one == other for one, other in self.layers)
        size = f"{self.size / 1e6:.0f} MB, {self.files} files"
        lines = [f"{self.target}: {size}, {same} of {len(self.layers)} layers equal byte for byte"]
        for word, names in (("file", self.differing), ("time", self.times), ("setting", self.settings)):
            lines += [f"  {word} differs: {ascii(name)[1:-1]}" for name in names[:20]]
            lines += [f"  and {len(names) - 20} more"] if len(names) > 20 else []
        return "\n".join(lines)


def compare(client: DockerClient, target: str) -> Compared:
    """Build ``target`` twice without the engine's cache and compare; nothing is left behind."""
    with built(client, target, 1) as one, built(client, target, 2) as other:
        return between(client, target, one, other)


def between(client: DockerClient, target: str, one: str, other: str) -> Compared:
    """Two images that should be the same one."""
    told = [client.api.inspect_image(name) for name in (one, other)]
    stacks = [said["RootFS"]["Layers"] for said in told]
    layers = tuple(itertools.zip_longest(*stacks, fillvalue=""))
    files = [walked(client, name) for name in (one, other)]
    settings = [settings_of(said) for said in told]
    paths = sorted(set(files[0]) | set(files[1]))
    nothing = Kept((), 0)
    pairs = {path: (files[0].get(path, nothing), files[1].get(path, nothing)) for path in paths}
    return Compared(
        target=target,
        size=told[0]["Size"],
        files=len(paths),
        layers=layers,
        differing=[path for path, (a, b) in pairs.items() if a.seen != b.seen],
        times=[path for path, (a, b) in pairs.items() if a.seen == b.seen and a.time != b.time],
        settings=sorted(k for k in settings[0] | settings[1] if settings[0].get(k) != settings[1].get(k)),
    )


@contextlib.contextmanager
def built(client: DockerClient, target: str, turn: int) -> Iterator[str]:
    """The name of a fresh build; gone at the end."""
    name = f"gate-compared:{target}-{turn}"
    if target == BASE:
        engine_images.bootstrap(client, name, itself.PACKAGES)
    elif target in engine_images.TARGETS:
        engine_images.build(client, target, engine_images.base_image(client), name)
    else:
        itself.build(client, target, name, cached=False)
    try:
        yield name
    finally:
        client.api.remove_image(name)


def walked(client: DockerClient, name: str) -> dict[str, Kept]:
    """Every file of an image, from a container that never runs. What the engine mounts there is left out."""
    made = client.api.create_container(name, command=["-"], labels={engine_images.LABEL: "image"})
    try:
        with tempfile.TemporaryFile() as whole:
            for chunk in client.api.export(made["Id"]):
                whole.write(chunk)
            whole.seek(0)
            with tarfile.open(fileobj=whole) as tar:
                return {member.name: _kept(tar, member) for member in tar if member.name not in ENGINES}
    finally:
        client.api.remove_container(made["Id"], v=True)


def _kept(tar: tarfile.TarFile, member: tarfile.TarInfo) -> Kept:
    stream = tar.extractfile(member) if member.isreg() else None
    digest = hashlib.file_digest(stream, "sha256").hexdigest() if stream else ""
    about = (member.type, member.mode, member.uid, member.gid, member.linkname, tuple(member.pax_headers))
    time = 0 if member.name in TOUCHED else int(member.mtime)
    return Kept((*about, member.devmajor, member.devminor, member.size, digest), time)


def settings_of(said: dict[str, Any]) -> dict[str, str]:
    """What `docker inspect` says of an image's settings, without what tells a build from another."""
    config = {f"Config.{name}": str(value) for name, value in said["Config"].items() if name not in TIMED}
    return {**config, **{name: str(said[name]) for name in ("Os", "Architecture", "Author")}}


def main(argv: list[str]) -> int:
    """Compare, and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join((*TARGETS, BASE)))
    given = parser.parse_args(argv)
    if unknown := set(given.targets) - {*TARGETS, BASE}:
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    equal = True
    try:
        with contextlib.closing(engine.connect(timeout=1_200.0)) as client:
            for target in given.targets or TARGETS:
                found = compare(client, target)
                equal = equal and found.equal
                print(found.told(), flush=True)
    except InconclusiveError as error:
        itself.say(f"{error.message} {error.advice}".strip())
        return 1
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
