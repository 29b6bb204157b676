"""Cargo.lock and Cargo.toml as inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gate.supply.inputs.model import Archive, Input, Inputs, SourceKind
from gate.supply.inputs.text import table_of, tables_of, text_of, texts_of, toml_table

_Table = Mapping[str, object]


def lock(text: str) -> Inputs:
    """Cargo.lock, of versions 1 to 4. What has no source is the project's own."""
    data = toml_table(text)
    old = {key: text_of(value) for key, value in table_of(data.get("metadata")).items()}
    found: list[Input] = []
    asked: list[str] = []
    for package in tables_of(data.get("package")):
        name, version = text_of(package.get("name")), text_of(package.get("version"))
        needs = tuple(line.partition(" ")[0] for line in texts_of(package.get("dependencies")))
        source = text_of(package.get("source"))
        if not source:
            asked += needs
            continue
        kind, where, revision = _source(source)
        digest = text_of(package.get("checksum")) or old.get(f"checksum {name} {version} ({source})", "")
        archives = (Archive(digest=f"sha256:{digest}"),) if digest and digest != "<none>" else ()
        found.append(
            Input(
                name=name, kind=kind, where=where, version=version, revision=revision, archives=archives,
                needs=needs,
            )
        )  # fmt: skip
    return Inputs(inputs=tuple(found), asked=tuple(dict.fromkeys(asked)))


def _source(text: str) -> tuple[SourceKind, str, str]:
    scheme, _, address = text.partition("+")
    address, _, revision = address.partition("#")
    kinds: dict[str, SourceKind] = {
        "git": "vcs",
        "path": "path",
        "registry": "registry",
        "sparse": "registry",
    }
    return kinds.get(scheme, "url"), address.partition("?")[0], revision


def manifest(text: str) -> Inputs:
    """Cargo.toml: what is asked for, and ``[patch]`` and ``[replace]``, which put something in its place."""
    data = toml_table(text)
    found = list(_tables(data, 0))
    for patches in table_of(data.get("patch")).values():
        found += (_asked(name, value) for name, value in table_of(patches).items())
    for name, value in table_of(data.get("replace")).items():
        found.append(_asked(name.partition(":")[0], value))
    return Inputs(kind="manifest", inputs=tuple(dict.fromkeys(found)))


def settings(text: str) -> Inputs:
    """.cargo/config.toml: folders that stand in for crates (``paths``), and ``[patch]``.

    Cargo takes the crate of a folder in ``paths`` for the one of the same name in the registry, whatever
    manifests and the lock say.
    """
    data = toml_table(text)
    found = []
    for folder in texts_of(data.get("paths")):
        name = folder.rstrip("/").rpartition("/")[2]
        found.append(Input(name=name, kind="path", where=folder, actual=folder))
    for patches in table_of(data.get("patch")).values():
        for name, value in table_of(patches).items():
            one = _asked(name, value)
            found.append(replace(one, actual=one.actual or one.where) if one.kind == "path" else one)
    return Inputs(kind="manifest", inputs=tuple(dict.fromkeys(found)))


def _tables(data: _Table, depth: int) -> Iterator[Input]:
    for key, value in data.items():
        table = table_of(value)
        if key in ("dependencies", "dev-dependencies", "build-dependencies"):
            yield from (_asked(name, asked) for name, asked in table.items())
        elif depth == 1 or (depth == 0 and key in ("target", "workspace")):
            yield from _tables(table, depth + 1)


def _asked(name: str, value: object) -> Input:
    table = table_of(value)
    actual = text_of(table.get("package"))
    version = text_of(value) or text_of(table.get("version"))
    kind: SourceKind = "registry"
    where, revision = text_of(table.get("registry-index")) or text_of(table.get("registry")), ""
    if "git" in table:
        kind, where = "vcs", text_of(table["git"])
        revision = next((text_of(table[key]) for key in ("rev", "tag", "branch") if key in table), "")
    elif "path" in table:
        kind, where = "path", text_of(table["path"])
    return Input(
        name=name, kind=kind, where=where, version=version, revision=revision,
        actual=actual if actual != name else "",
    )  # fmt: skip
