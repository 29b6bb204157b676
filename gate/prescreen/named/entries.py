"""Entries of a table of downloads that have no digest, where all the others have one.

A loader that checks a digest only where one is written fetches such an entry unchecked; the line itself looks
like its neighbours. Lock files are read elsewhere (gate/supply/inputs). Runs in the limited child.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

import msgspec

from gate.prescreen.identities.names import words_of
from gate.prescreen.identities.rows import row_of
from gate.supply.yaml_data import UnreadableYamlError, read_yaml_documents

_DIGESTS: Final = frozenset({
    "sha", "sha1", "sha256", "sha384", "sha512", "md5", "checksum", "digest", "integrity", "hash",
    "signature",
    "blake2", "blake3", "sig", "sum",
})  # fmt: skip
_COMES: Final = frozenset({
    "path", "url", "uri", "file", "href", "src", "source", "download", "archive", "location", "asset",
})  # fmt: skip
_MOST: Final = 5_000
_DEEPEST: Final = 12


class Entry(msgspec.Struct, frozen=True):
    """One table at ``path``: the entries that come from somewhere, with and without a digest."""

    path: str
    held: list[str]
    loose: list[str]


def read(path: str, data: bytes, options: Mapping[str, Any]) -> list[Entry]:
    """The tables of a file, at least one of whose entries has a digest."""
    del options
    found: list[Entry] = []
    for document in _documents(path, data):
        waiting: list[tuple[object, tuple[str, ...]]] = [(document, ())]
        count = 0
        while waiting and count < _MOST:
            value, at = waiting.pop()
            count += 1
            if len(at) > _DEEPEST:
                continue
            below = [*_members(value)]
            waiting += [(one, (*at, name)) for name, one in below]
            entries = [(name, one) for name, one in below if isinstance(one, Mapping) and _comes(one)]
            held = [name for name, one in entries if _digest(one)]
            if held:
                loose = [name for name, one in entries if not _digest(one)]
                found.append(Entry("/".join(at), held[:200], loose[:200]))
    return found


def _documents(path: str, data: bytes) -> list[object]:
    suffix = PurePosixPath(path).suffix.lower()
    try:
        if suffix in (".yaml", ".yml"):
            return [one.data for one in read_yaml_documents(data)]
        return [json.loads(data) if suffix == ".json" else tomllib.loads(data.decode("utf-8"))]
    except (UnreadableYamlError, ValueError, RecursionError):
        return []


def _members(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        yield from ((str(name), one) for name, one in value.items())
    elif isinstance(value, list):
        yield from ((row_of(one) or str(number), one) for number, one in enumerate(value))


def _comes(entry: Mapping[str, object]) -> bool:
    return any(_says(name, _COMES) and isinstance(one, str) for name, one in entry.items())


def _digest(entry: Mapping[str, object]) -> bool:
    return any(_says(name, _DIGESTS) and bool(value) for name, value in entry.items())


def _says(name: object, words: frozenset[str]) -> bool:
    return not words.isdisjoint(words_of(str(name)).split("-"))
