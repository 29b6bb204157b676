"""Values of data and settings: YAML, JSON, TOML, tables, catalogues, and lines of ``key = value``."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.prescreen.identities.catalogues import catalogue
from gate.prescreen.identities.options import in_lines
from gate.prescreen.identities.rows import rows_in, table
from gate.prescreen.identities.written import Written
from gate.supply.yaml_data import Path, UnreadableYamlError, leaves, read_yaml_documents

_MOST: Final = 20_000
_LONGEST: Final = 9_000


def written(path: str, data: bytes) -> Iterator[Written]:
    """The values of a file by its ending; what is no such data is read by lines."""
    suffix = PurePosixPath(path).suffix.lower()
    try:
        if suffix in (".yaml", ".yml"):
            for document in read_yaml_documents(data):
                records = rows_in(document.data)
                for where, value in leaves(document.data)[:_MOST]:
                    yield Written(_named(where), value, document.lines.get(where, 1), records.get(where, ""))
            return
        if suffix in (".csv", ".tsv", ".tab"):
            yield from table(data.decode("utf-8", "replace"), path)
            return
        if suffix == ".po":
            yield from catalogue(data.decode("utf-8", "replace"))
            return
        if suffix in (".json", ".webmanifest"):
            yield from _found(json.loads(data), data)
            return
        if suffix == ".toml":
            yield from _found(tomllib.loads(data.decode("utf-8")), data)
            return
    except (UnreadableYamlError, ValueError, RecursionError):
        pass
    yield from _lines(data)
    yield from in_lines(data.decode("utf-8", "replace"))


def _named(where: Path) -> tuple[str, ...]:
    return tuple(str(step) for step in where if not isinstance(step, int))


def _found(value: object, data: bytes) -> Iterator[Written]:
    """Where each value stands is found again by its text: the standard parsers keep no lines."""
    first: dict[str, int] = {}
    text = data.decode("utf-8", "replace").split("\n")
    for number, line in enumerate(text[:_MOST], 1):
        for word in line.replace("'", '"').split('"'):
            first.setdefault(word, number)
    records = rows_in(value)
    for where, one in leaves(value)[:_MOST]:
        yield Written(_named(where), one, first.get(one, 1), records.get(where, ""))


def _lines(data: bytes) -> Iterator[Written]:
    section: tuple[str, ...] = ()
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n")[:_MOST], 1):
        text = line.strip()
        if text.startswith(("#", ";", "//")) or len(text) > _LONGEST:
            continue
        if text.startswith("[") and text.endswith("]"):
            section = (text.strip("[]\"' "),)
            continue
        mark = min((at for at in (text.find("="), text.find(":")) if at > 0), default=0)
        key, value = text[:mark].removeprefix("export ").strip(" \"'-:?"), text[mark + 1 :]
        if mark and key and " " not in key:
            yield Written((*section, key), value.strip().rstrip(",").strip(" \"'"), number)
