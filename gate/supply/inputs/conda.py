"""What conda and pixi take: ``conda-lock.yml``, ``pixi.lock`` and lists of addresses (``@EXPLICIT``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.regex import regex
from gate.supply.inputs.model import Archive, Input, Inputs
from gate.supply.inputs.text import table_of, tables_of, text_of, yaml_table

_FILE: Final = regex(r"/([^/]+?)-([^/-]+)-[^/-]+\.(?:conda|tar\.bz2)$")


def conda_lock(text: str) -> Inputs:
    """``conda-lock.yml``: one list over all platforms."""
    found = []
    for row in tables_of(yaml_table(text).get("package")):
        sums = table_of(row.get("hash"))
        made = _input(text_of(row.get("url")), text_of(sums.get("sha256")), text_of(sums.get("md5")))
        if made is not None:
            found.append(made)
    return _lock(found)


def pixi(text: str) -> Inputs:
    """``pixi.lock``: packages of conda and of PyPI by address."""
    found = []
    for row in tables_of(yaml_table(text).get("packages")):
        address = text_of(row.get("conda")) or text_of(row.get("pypi")) or text_of(row.get("url"))
        made = _input(address, text_of(row.get("sha256")), text_of(row.get("md5")))
        if made is not None:
            found.append(made)
    return _lock(found)


def _lock(found: list[Input]) -> Inputs:
    return Inputs(kind="lock", inputs=tuple(found), asked=tuple(dict.fromkeys(one.name for one in found)))


def _input(address: str, sha256: str, md5: str) -> Input | None:
    if not address.startswith(("http://", "https://", "file:")):
        return None
    match = _FILE.search(address)
    file = address.rpartition("/")[2].partition("#")[0]
    name, version = (match[1], match[2]) if match else (file.partition("-")[0], "")
    return Input(
        name=name,
        kind="registry",
        where=_channel(address),
        version=version,
        archives=(Archive(name=file, digest=next(_digests(sha256, md5), "")),),
    )


def _digests(sha256: str, md5: str) -> Iterator[str]:
    if sha256:
        yield f"sha256:{sha256.lower()}"
    if md5:
        yield f"md5:{md5.lower()}"


def _channel(address: str) -> str:
    """The channel of a package's address: without the platform's folder and the file."""
    return "/".join(address.split("/")[:-2])
