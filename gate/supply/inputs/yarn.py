"""yarn.lock of yarn 1 and of later ones as inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.supply.inputs.javascript import front
from gate.supply.inputs.model import Archive, Input, Inputs, UnreadableInputError
from gate.supply.inputs.npm import locked, source_of
from gate.supply.inputs.text import table_of, text_of, yaml_table

_NEEDS: Final = ("dependencies", "optionalDependencies")
_Table = Mapping[str, object]


def lock(text: str) -> Inputs:
    """yarn.lock of yarn 1 and of later ones."""
    if "__metadata:" in text:
        return _later(text)
    found = []
    for asked, entry, needs in _first(text):
        name = front(asked)
        wanted = asked[len(name) + 1 :]
        real = front(wanted.removeprefix("npm:")) if wanted.startswith("npm:") else name
        version, resolved, integrity = (entry.get(key, "") for key in ("version", "resolved", "integrity"))
        found.append(locked(name, real, version, resolved, integrity, needs))
    return Inputs(inputs=tuple(dict.fromkeys(found)))


def _first(text: str) -> Iterator[tuple[str, dict[str, str], tuple[str, ...]]]:
    """One block after another: what is asked, its facts, the names it needs. Every name of a block counts."""
    asked: list[str] = []
    entry: dict[str, str] = {}
    needs: list[str] = []
    seen: set[str] = set()
    section = ""
    for line in [*text.splitlines(), "end:"]:
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip(" "))
        if indent == 0:
            for name in {front(one): one for one in asked}.values():
                yield name, entry, tuple(needs)
            if not bare.endswith(":"):
                raise UnreadableInputError("it is no lock of yarn's")
            asked = [_unquoted(part.strip()) for part in bare[:-1].split(", ")]
            if seen & set(asked):
                raise UnreadableInputError("a key occurs twice", ambiguous=True)
            seen.update(asked)
            entry, needs, section = {}, [], ""
        elif indent == 2 and bare.endswith(":"):
            section = bare[:-1]
        elif indent == 2:
            key, _, value = bare.partition(" ")
            if key in entry:
                raise UnreadableInputError("a key occurs twice", ambiguous=True)
            entry[key], section = _unquoted(value.strip()), ""
        elif section in _NEEDS:
            needs.append(_unquoted(bare.partition(" ")[0]) if bare[0] != '"' else bare[1:].partition('"')[0])


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _later(text: str) -> Inputs:
    found: list[Input] = []
    asked: list[str] = []
    for key, value in yaml_table(text).items():
        entry = table_of(value)
        resolution = text_of(entry.get("resolution"))
        real = front(resolution)
        where = resolution[len(real) + 1 :]
        needs = tuple(name for kind in (*_NEEDS, "peerDependencies") for name in table_of(entry.get(kind)))
        if key == "__metadata" or not resolution:
            continue
        if where.startswith("workspace:"):
            asked += needs
            continue
        names = dict.fromkeys(front(part.strip()) for part in key.split(", "))
        found += [_one(name, real, where, entry, needs) for name in names]
    return Inputs(inputs=tuple(dict.fromkeys(found)), asked=tuple(dict.fromkeys(asked)))


def _one(name: str, real: str, where: str, entry: _Table, needs: tuple[str, ...]) -> Input:
    """``npm:1.0.0``, ``npm:1.0.0::__archiveUrl=…``, ``patch:a@npm%3A1.0.0#…``, an address or a repository."""
    version, checksum = text_of(entry.get("version")), text_of(entry.get("checksum"))
    cache, _, value = checksum.rpartition("/")
    digest = f"yarn {cache}:{value}" if checksum else ""  # of yarn's own archive, in one version of its cache
    archives = (Archive(digest=digest),) if digest else ()
    actual = real if real != name else ""
    plain, _, bindings = where.partition("::")
    if plain.startswith("npm:"):
        address = _unescaped(bindings.partition("__archiveUrl=")[2].partition("&")[0])
        kind, place, _ = source_of(address, real)
        archives = (Archive(where=address, digest=digest),) if address else archives
        return Input(
            name=name, kind=kind, where=place, version=version, actual=actual, archives=archives, needs=needs
        )
    if plain.startswith(("patch:", "virtual:")):
        return Input(name=name, version=version, actual=actual, needs=needs)
    kind, place, revision = source_of(where.replace("#commit=", "#"), real)
    if kind == "registry":
        kind, place = "path", plain
    return Input(
        name=name, kind=kind, where=place, version=version, revision=revision, actual=actual,
        archives=archives, needs=needs,
    )  # fmt: skip


def _unescaped(text: str) -> str:
    for escape, letter in (("%3A", ":"), ("%2F", "/"), ("%40", "@"), ("%3a", ":"), ("%2f", "/")):
        text = text.replace(escape, letter)
    return text
