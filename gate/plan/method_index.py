"""Methods of the tree's product code by their names: what ``self.pool.metrics.push(x)`` may call, where
nothing says of which class the object is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Final

from gate.languages.path_roles import is_no_product
from gate.languages.sensitive_calls.python.methods import BY_NAME
from gate.model.change import Tree
from gate.model.sensitive import SourceReading

_FEW: Final = 4
"""Definitions of one name that are followed."""
_MOST_SEARCHED: Final = 3_000
_MOST_CANDIDATES: Final = 12
"""Files in which a name may be defined: beyond, it is everybody's."""
_BIGGEST: Final = 400_000
_CHUNK: Final = 200
_EVERYDAY: Final = (
    "builtins", "collections", "io", "pathlib", "re", "logging", "threading", "queue", "socket", "asyncio",
    "subprocess", "datetime", "concurrent.futures", "http.client", "urllib.request", "email.message",
    "configparser", "argparse", "contextvars", "decimal", "sqlite3", "zipfile", "tarfile", "csv", "string",
    "types", "smtplib", "xml.etree.ElementTree", "contextlib", "selectors", "random", "array",
)  # fmt: skip
"""Modules of the standard library whose objects are everywhere: ``x.update(y)`` is mostly one of theirs."""
Target = tuple[str, str]


class MethodIndex:
    """Knows the definitions in the files that were read, and in which others to look for a name."""

    def __init__(self, head: Tree, paths: Iterable[str]) -> None:
        self._head = head
        self._paths = sorted(path for path in paths if not is_no_product(path))[:_MOST_SEARCHED]
        self._texts: dict[str, bytes] | None = None
        self._candidates: dict[bytes, tuple[str, ...]] = {}
        self._read: set[str] = set()
        self._owners: dict[str, set[Target]] = {}

    def learn(self, path: str, reading: SourceReading) -> None:
        """Take the methods of a file that was read."""
        self._read.add(path)
        if not is_no_product(path):
            for name in reading.methods:
                self._owners.setdefault(name.rpartition(".")[2], set()).add((path, name))

    def files(self, name: str) -> tuple[str, ...]:
        """The files in which ``*receiver.method`` may be defined; none where it is everybody's name."""
        receiver, _, method = name.removeprefix(BY_NAME).rpartition(".")
        found = self._in_text(b"def " + method.encode())
        named = tuple(path for path in found if self._has_class(path, receiver))
        if method in everyday_methods() or len(found) > _MOST_CANDIDATES:
            return named[:_MOST_CANDIDATES]
        return found

    def definitions(self, name: str) -> tuple[Target, ...]:
        """The methods that ``*receiver.method`` may be: those of classes that are called like the receiver,
        else the few of that name, unless objects of the standard library have one, too.
        """
        receiver, _, method = name.removeprefix(BY_NAME).rpartition(".")
        owners = sorted(self._owners.get(method, ()))
        named = [target for target in owners if _plain(target[1].split(".")[-2]) == _plain(receiver)]
        if named:
            return tuple(named[:_FEW])
        files = self.files(name)
        if len(owners) > _FEW or method in everyday_methods() or not self._read.issuperset(files):
            return ()
        return tuple(owners)

    def _in_text(self, words: bytes) -> tuple[str, ...]:
        if words not in self._candidates:
            texts = self._all_texts()
            self._candidates[words] = tuple(path for path, text in texts.items() if words in text)
        return self._candidates[words]

    def _has_class(self, path: str, receiver: str) -> bool:
        wanted = _plain(receiver).encode()
        lines = self._all_texts()[path].split(b"\n")
        heads = (line.strip()[6:] for line in lines if line.strip().startswith(b"class "))
        return bool(wanted) and any(
            line.lower().replace(b"_", b"").startswith((wanted + b":", wanted + b"(", wanted + b"["))
            for line in heads
        )

    def _all_texts(self) -> Mapping[str, bytes]:
        if self._texts is None:
            self._texts = {}
            for at in range(0, len(self._paths), _CHUNK):
                chunk = tuple(self._paths[at : at + _CHUNK])
                self._texts.update(
                    (p, text) for p, text in self._head.read_many(chunk) if len(text) <= _BIGGEST
                )
        return self._texts


def _plain(word: str) -> str:
    """``_pool_metrics`` and ``PoolMetrics`` are one name."""
    return word.replace("_", "").lower()


@cache
def everyday_methods() -> frozenset[str]:
    """What objects of the standard library can be asked."""
    return frozenset(name for module in _EVERYDAY for name in _methods_of(module))


def _methods_of(module: str) -> Iterator[str]:
    for kind in vars(import_module(module)).values():
        if isinstance(kind, type):
            yield from (name for name in dir(kind) if not name.startswith("_"))
