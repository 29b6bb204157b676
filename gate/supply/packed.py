"""What is in an archive, as far as its own lists tell: members, sums, and what does not fit.

Runs in the limited child. Nothing is unpacked to a disk and nothing is run. A member is read only to compare
it with what the archive itself says about it: a wheel's RECORD, the source beside a compiled module.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from importlib.util import source_hash
from pathlib import PurePosixPath
from typing import Final

import msgspec

from gate.regex import regex

_ZIPS: Final = (
    *(".whl", ".jar", ".war", ".ear", ".aar", ".zip", ".pyz", ".pyzw", ".egg", ".nupkg", ".vsix", ".xpi"),
    *(".apk", ".crx", ".phar", ".zipapp"),
)
_TARS: Final = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".gem", ".crate")
_MOST: Final = 8_000
"""Members."""
_LARGEST: Final = 8 << 20
"""Bytes that one member is read to."""
_ALL: Final = 64 << 20
"""Bytes of all of them."""
_CACHED: Final = regex(
    r"(?P<folder>.*/|)__pycache__/(?P<name>[^/]+)\.(?:cpython|pypy)[\w-]*(?:\.opt-\d)?\.pyc$"
)


class Member(msgspec.Struct, frozen=True):
    """One file of the archive. ``digest``: of its content, in whatever way the archive tells it."""

    name: str
    digest: str


class Packed(msgspec.Struct, frozen=True):
    """``compiled``: modules in bytecode with source beside them. ``foreign``: what does not belong to
    what the archive says of it, each as a sentence.
    """

    members: list[Member] = []
    compiled: list[str] = []
    foreign: list[str] = []
    unreadable: str = ""


def is_archive(path: str) -> bool:
    """Is this an archive that ``read`` understands, by its name?"""
    return path.lower().endswith((*_ZIPS, *_TARS))


def read(path: str, data: bytes, options: Mapping[str, object]) -> Packed:
    """The lists of one archive; of one that cannot be read, why."""
    del options
    try:
        if path.lower().endswith(_TARS):
            return Packed(members=list(_tar(data)))
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            return _zip(opened)
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        OSError,
        ValueError,
        EOFError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        return Packed(unreadable=f"cannot be read ({type(error).__name__})")


def _tar(data: bytes) -> Iterator[Member]:
    left = _ALL
    with tarfile.open(fileobj=io.BytesIO(data)) as opened:
        for number, one in enumerate(opened):
            if number > _MOST or left < one.size:
                raise ValueError("it is larger than what is read")
            file = opened.extractfile(one) if one.isfile() else None
            if file is not None:
                left -= one.size
                yield Member(one.name.removeprefix("./"), hashlib.sha256(file.read()).hexdigest())


def _zip(opened: zipfile.ZipFile) -> Packed:
    infos = [info for info in opened.infolist() if not info.is_dir()]
    if len(infos) > _MOST:
        raise ValueError("it has more members than what is read")
    names = {info.filename for info in infos}
    members = [Member(info.filename, f"{info.CRC:08x}:{info.file_size}") for info in infos]
    compiled = [(name, source) for name in sorted(names) if (source := _source(name)) in names]
    foreign = [*_not_its_source(opened, compiled), *_not_recorded(opened, names)]
    if len(names) < len(infos):
        foreign.append("two of its members have one name, and readers differ in which of them counts")
    return Packed(members=members, compiled=[name for name, _ in compiled], foreign=foreign)


def _source(name: str) -> str:
    """The source that a compiled module is made of, by its name."""
    if not name.endswith(".pyc"):
        return ""
    cached = _CACHED.match(name)
    return f"{cached['folder']}{cached['name']}.py" if cached else name[:-1]


def _not_its_source(opened: zipfile.ZipFile, compiled: list[tuple[str, str]]) -> Iterator[str]:
    """A compiled module whose own header names another source, or asks that nobody looks (PEP 552)."""
    for name, source in compiled[:200]:
        header, text = _content(opened, name)[:16], _content(opened, source)
        flags = int.from_bytes(header[4:8], "little")
        size = len(text) & 0xFFFFFFFF
        same = (
            header[8:16] == source_hash(text)
            if flags & 1
            else int.from_bytes(header[12:16], "little") == size
        )
        if not same:
            yield f"{name} was not compiled from {source}"
        elif flags & 1 and not flags & 2:
            yield f"{name} says that it is never to be compared with {source}"


def _not_recorded(opened: zipfile.ZipFile, names: set[str]) -> Iterator[str]:
    """Members of a wheel that its RECORD tells another hash of, or none."""
    record = next((name for name in sorted(names) if name.endswith(".dist-info/RECORD")), "")
    if not record:
        return
    rows = {
        row[0]: row[1]
        for row in csv.reader(io.StringIO(_content(opened, record).decode("utf-8", "replace")))
        if len(row) > 1
    }
    left = _ALL
    for name in sorted(names):
        folder = PurePosixPath(name).parent.name
        if name == record or (folder.endswith(".dist-info") and name.endswith((".jws", ".p7s"))):
            continue
        kind, _, said = rows.get(name, "").partition("=")
        size = opened.getinfo(name).file_size
        left -= size
        if left < 0:
            return
        if name not in rows:
            yield f"{name} is not on the wheel's own list"
        elif kind == "sha256" and size <= _LARGEST:
            digest = base64.urlsafe_b64encode(hashlib.sha256(_content(opened, name)).digest())
            if digest.decode().rstrip("=") != said.rstrip("="):
                yield f"{name} is not the file of the wheel's own list"


def _content(opened: zipfile.ZipFile, name: str) -> bytes:
    with opened.open(name) as file:
        return file.read(_LARGEST + 1)
