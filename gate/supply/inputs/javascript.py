"""Locks of pnpm and bun as inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.supply.inputs.model import Archive, Input, Inputs, UnreadableInputError
from gate.supply.inputs.npm import digest_of, locked, source_of
from gate.supply.inputs.text import json_table, table_of, text_of, yaml_table
from gate.supply.javascript.placed_lock import without_last_commas

_NEEDS: Final = ("dependencies", "optionalDependencies")
_OWN: Final = (*_NEEDS, "devDependencies")
_Table = Mapping[str, object]


def pnpm(text: str) -> Inputs:
    """pnpm-lock.yaml, of versions 5 to 9. A package is named by its key; importers say what it is called."""
    data = yaml_table(text)
    packages, snapshots = table_of(data.get("packages")), table_of(data.get("snapshots"))
    needs = _pnpm_needs(snapshots or packages)
    importers = [table_of(importer) for importer in table_of(data.get("importers")).values()] or [data]
    own = [
        (name, reference)
        for importer in importers
        for key in _OWN
        for name, value in table_of(importer.get(key)).items()
        if (reference := text_of(table_of(value).get("version")) or text_of(value))
    ]
    edges = [
        (name, text_of(reference))
        for entry in (snapshots or packages).values()
        for key in _NEEDS
        for name, reference in table_of(table_of(entry).get(key)).items()
    ]
    found = [_pnpm_one(key, table_of(entry), needs) for key, entry in packages.items()]
    found += (alias for name, reference in (*own, *edges) if (alias := _pnpm_alias(name, reference)))
    return Inputs(
        inputs=tuple(dict.fromkeys(found)),
        asked=tuple(dict.fromkeys(name for name, _ in own)),
        tells_runs=not snapshots,  # before version 9
    )


def _pnpm_one(key: str, entry: _Table, needs: Mapping[str, tuple[str, ...]]) -> Input:
    resolution = table_of(entry.get("resolution"))
    name, version = _pnpm_named(key, entry)
    runs = text_of(entry.get("requiresBuild")) == "true"
    if repository := text_of(resolution.get("repo")):
        return Input(
            name=name, kind="vcs", where=repository, version=version, runs=runs,
            revision=text_of(resolution.get("commit")), needs=needs.get(name, ()),
        )  # fmt: skip
    if directory := text_of(resolution.get("directory")):
        return Input(name=name, kind="path", where=directory, version=version)
    address, integrity = text_of(resolution.get("tarball")), text_of(resolution.get("integrity"))
    return locked(name, name, version, address, integrity, needs.get(name, ()), runs=runs)


def _pnpm_named(key: str, entry: _Table) -> tuple[str, str]:
    """``@s/a@1.0.0(b@2)``, ``/@s/a@1.0.0``, ``/@s/a/1.0.0_b@2``; what has an address says its name inside."""
    bare = key.removeprefix("/").partition("(")[0]
    parts = bare.split("/")
    scope = 2 if bare.startswith("@") else 1
    if len(parts) > scope and parts[scope][:1].isdigit():
        name, version = "/".join(parts[:scope]), "/".join(parts[scope:]).partition("_")[0]
    else:
        name = front(bare)
        version = bare[len(name) + 1 :].partition("_")[0]
    return text_of(entry.get("name")) or name, text_of(entry.get("version")) or version


def _pnpm_needs(entries: _Table) -> dict[str, tuple[str, ...]]:
    """By name: what it is bound to, aliases and what they stand for alike."""
    found: dict[str, set[str]] = {}
    for key, value in entries.items():
        entry = table_of(value)
        name = _pnpm_named(key, entry)[0]
        for kind in _NEEDS:
            for other, reference in table_of(entry.get(kind)).items():
                alias = _pnpm_alias(other, text_of(reference))
                found.setdefault(name, set()).update({other} | ({alias.actual} if alias else set()))
    return {name: tuple(sorted(names)) for name, names in found.items()}


def _pnpm_alias(name: str, reference: str) -> Input | None:
    """A name that is bound to the key of another package: ``lodash: /lodahs@1.0.0``."""
    bare = reference.partition("(")[0]
    if bare.startswith(("link:", "file:", "workspace:", "http", "git")) or "://" in bare:
        return None
    if bare.startswith("/") or bare.find("@", 1) > 0:
        real, version = _pnpm_named(bare, {})
        if real and real != name and not real[0].isdigit():
            return Input(name=name, actual=real, version=version, needs=(real,))
    return None


def front(asked: str) -> str:
    """The name in ``@s/a@^1``."""
    at = asked.find("@", 1)
    return asked[:at] if at > 0 else asked


def bun(text: str) -> Inputs:
    """bun.lock: JSON with commas at the end of lists; a package is ``[name@version, place, facts, hash]``."""
    data = json_table(without_last_commas(text))
    spaces = [table_of(space) for space in table_of(data.get("workspaces")).values()]
    if not spaces:
        raise UnreadableInputError("it is no lock of bun's")
    asked = [name for space in spaces for key in _OWN for name in table_of(space.get(key))]
    found = []
    for key, value in table_of(data.get("packages")).items():
        parts = value if isinstance(value, list) and value and isinstance(value[0], str) else None
        if parts is None:
            raise UnreadableInputError("it is no lock of bun's")
        real = front(parts[0])
        version = parts[0][len(real) + 1 :]
        if version.startswith("workspace:"):
            continue
        names = key.split("/")
        name = "/".join(names[-2:]) if names[-2:-1] and names[-2].startswith("@") else names[-1]
        facts = next((table_of(part) for part in parts[1:] if isinstance(part, dict)), {})
        needs = tuple(other for kind in (*_NEEDS, "peerDependencies") for other in table_of(facts.get(kind)))
        digest = parts[-1] if isinstance(parts[-1], str) and "-" in parts[-1] and len(parts) > 1 else ""
        place = text_of(parts[1]) if len(parts) > 1 else ""
        found.append(_bun_one(name, real, version, place, digest, needs))
    return Inputs(inputs=tuple(dict.fromkeys(found)), asked=tuple(dict.fromkeys(asked)))


def _bun_one(name: str, real: str, version: str, place: str, digest: str, needs: tuple[str, ...]) -> Input:
    actual = real if real != name else ""
    kind, where, revision = source_of(version, real)
    if kind != "registry":
        return Input(name=name, kind=kind, where=where, revision=revision, actual=actual, needs=needs)
    archive = Archive(where=place, digest=digest_of(digest)) if place else Archive(digest=digest_of(digest))
    return Input(
        name=name, where=place, version=version, actual=actual, needs=needs,
        archives=(archive,) if archive != Archive() else (),
    )  # fmt: skip
