"""Unpickles a changed data file as the code that loads it would: what it does then is the trace's to tell.

Plain pickles (several in a row, too), those inside zip archives (PyTorch, npz), NumPy's object arrays, and
all of them compressed. Classes of packages that are not here get a stand-in, so that the rest still happens.
"""

from __future__ import annotations

import ast
import bz2
import gzip
import io
import lzma
import pickle
import resource
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

MOST_BYTES = 64 << 20
MOST_STREAMS = 50
MEMORY = 300 << 20
"""Bytes that loading may take: a small file can ask for any number."""
_PACKED = ((b"\x1f\x8b", "gzip"), (b"BZh", "bz2"), (b"\xfd7zXZ\x00", "xz"), (b"\x78", "zlib"))
_PICKLE = tuple(bytes((0x80, version)) for version in range(2, 6))


class Placeholder:
    """Takes the place of any class: made of anything, holds anything."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, *args: object, **kwargs: object) -> None:
        return

    def __setstate__(self, state: object) -> None:
        return

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self

    def __setitem__(self, key: object, value: object) -> None:
        return

    def append(self, value: object) -> None:
        """As a list."""

    extend = add = update = append


class Lenient(pickle.Unpickler):
    """Finds what there is, and a stand-in for the rest. ``lacking`` are the names of missing packages."""

    def __init__(self, stream: Any, lacking: list[str]) -> None:
        super().__init__(stream, encoding="latin-1")
        self._lacking = lacking

    def find_class(self, module: str, name: str) -> object:
        """As pickle does; errors of the module itself pass through."""
        try:
            return super().find_class(module, name)
        except (ImportError, AttributeError) as error:
            top = (getattr(error, "name", None) or module).partition(".")[0]
            if isinstance(error, ImportError) and top not in self._lacking:
                self._lacking.append(top)
            return type(name, (Placeholder,), {})

    def persistent_load(self, pid: object) -> object:
        """What PyTorch keeps beside the pickle."""
        return Placeholder()


def run(item: dict[str, Any], context: object, describe: Callable[[BaseException, list[str]], Any]) -> Any:
    """Load every pickle of the file. ``calls`` tells how each of them ended."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    if most == resource.RLIM_INFINITY or most > MEMORY:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, most))
    with open(item["path"], "rb") as file:
        data = file.read(MOST_BYTES)
    lacking: list[str] = []
    calls: list[list[str]] = []
    for name, stream in streams(data, item["path"]):
        if len(calls) >= MOST_STREAMS:
            break
        calls.append([f"unpickle {name}"[:200], _load(stream, lacking, context, describe)])
    report: dict[str, Any] = {"outcome": "completed", "calls": calls}
    if lacking:
        report.update(outcome="missing", missing=lacking[0][:100], stand_in=True)
    return report


def _load(stream: Any, lacking: list[str], context: Any, describe: Any) -> str:
    """One stream to its end: what follows a first pickle is loaded by old PyTorch files."""
    loaded = 0
    try:
        while loaded < MOST_STREAMS:
            value = Lenient(stream, lacking).load()
            loaded += 1
            del value
    except EOFError as error:
        return "returned" if loaded else describe(error, context.roots).get("exception", "EOFError")
    except BaseException as error:
        told = describe(error, context.roots)
        return "returned" if loaded else str(told.get("exception") or told["outcome"])
    return "returned"


def streams(data: bytes, name: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """What may be a pickle in these bytes, by name."""
    packed = next((kind for magic, kind in _PACKED if data.startswith(magic)), "")
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist()[:1000]:
                with archive.open(member) as file:
                    inner = file.read(MOST_BYTES)
                if inner.startswith(_PICKLE) or member.filename.endswith((".pkl", ".npy")):
                    yield from streams(inner, f"{name}:{member.filename}", depth + 1)
    elif data.startswith(b"\x93NUMPY"):
        yield from _numpy(data, name)
    elif packed and depth < 2:
        try:
            plain = _unpack(data, packed)
        except (OSError, EOFError, zlib.error, lzma.LZMAError):
            plain = b""
        if plain:
            yield from streams(plain, name, depth + 1)
        elif packed == "zlib":  # 0x78 is also how text may begin
            yield name, io.BytesIO(data)
    else:
        yield name, io.BytesIO(data)


def _unpack(data: bytes, kind: str) -> bytes:
    if kind == "zlib":
        return zlib.decompressobj().decompress(data, MOST_BYTES)
    opener: dict[str, Any] = {"gzip": gzip.GzipFile, "bz2": bz2.BZ2File, "xz": lzma.LZMAFile}
    keyword = "fileobj" if kind == "gzip" else "filename"
    with opener[kind](**{keyword: io.BytesIO(data)}) as file:
        plain: bytes = file.read(MOST_BYTES)
    return plain


def _numpy(data: bytes, name: str) -> Iterator[tuple[str, Any]]:
    """The pickle in an array of objects (NEP 1); other arrays hold none."""
    form, start = ("<H", 10) if data[6:7] == b"\x01" else ("<I", 12)
    try:
        (length,) = struct.unpack(form, data[8:start])
        header = ast.literal_eval(data[start : start + length].decode("latin-1"))
    except (struct.error, ValueError, SyntaxError):
        return
    if "O" in str(header.get("descr", "")) if isinstance(header, dict) else False:
        yield name, io.BytesIO(data[start + length :])
