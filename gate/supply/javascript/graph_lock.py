"""Locks that say who needs what, not where it lies: pnpm-lock.yaml and yarn.lock (both formats).

Raises ValueError for text that is no such lock.
"""

from __future__ import annotations

import base64
import posixpath
from collections.abc import Collection, Mapping
from typing import Final

from gate.supply.javascript.indented import Table, read_indented
from gate.supply.javascript.packages import (
    Packages,
    fits_machine,
    is_name,
    is_version,
    table_of,
    text_of,
    texts_of,
)
from gate.supply.javascript.placing import LINK, Node, place

Manifests = Mapping[str, Mapping[str, object]]
"""Folder, relative to the lock's, → its package.json."""
KINDS: Final = ("dependencies", "optionalDependencies", "devDependencies")


def pnpm(path: str, text: str, folders: Collection[str], leave: Collection[str]) -> Packages:
    """pnpm-lock.yaml, of versions 5 to 9."""
    table = read_indented(text)
    if "lockfileVersion" not in table:
        raise ValueError("no lock of pnpm's")
    packages, snapshots = table_of(table.get("packages")), table_of(table.get("snapshots"))
    nodes: dict[str, Node] = {}
    left: list[str] = []
    for key in snapshots or packages:
        plain = key.removeprefix("/")
        facts = table_of(packages.get(key.partition("(")[0])) or table_of(packages.get(key))
        needs = table_of(snapshots.get(key)) if snapshots else facts
        name, version = _named(plain, facts)
        resolution = table_of(facts.get("resolution"))
        if not fits_machine(facts, name):
            continue
        if not (is_name(name) and is_version(version)) or "integrity" not in resolution:
            left.append(f"{path}: {plain[:100]}: it does not come from a registry")
            continue
        nodes[plain] = Node(
            name=name,
            version=version,
            address=_secure(resolution.get("tarball")),
            integrity=text_of(resolution.get("integrity")),
            needs={
                other: _pnpm_key(other, reference, "")
                for kind in ("dependencies", "optionalDependencies")
                for other, reference in texts_of(needs.get(kind)).items()
            },
        )
    importers = table_of(table.get("importers")) or {".": table}
    own = {
        _folder(folder): {
            name: _pnpm_key(name, reference, _folder(folder))
            for kind in KINDS
            for name, value in table_of(table_of(needs).get(kind)).items()
            if name not in leave and (reference := text_of(table_of(value).get("version")) or text_of(value))
        }
        for folder, needs in importers.items()
    }
    return place(path, nodes, own, sorted(folders), left)


def _named(key: str, facts: Mapping[str, object]) -> tuple[str, str]:
    """Name and version of ``@s/a@1.0.0(b@2.0.0)``, or of version 5's ``@s/a/1.0.0_b@2.0.0``."""
    bare = key.partition("(")[0]
    name, _, version = bare.rpartition("@")
    if is_name(name) and is_version(version):
        return name, version
    scope = 2 if bare.startswith("@") else 1
    parts = bare.split("/")
    version = "/".join(parts[scope:]).partition("_")[0]
    return text_of(facts.get("name")) or "/".join(parts[:scope]), text_of(facts.get("version")) or version


def _pnpm_key(name: str, reference: str, folder: str) -> str:
    """The key of what a name is bound to: a version, a key, or a folder."""
    if reference.startswith("link:"):
        return LINK + _folder(posixpath.normpath(posixpath.join(folder, reference.removeprefix("link:"))))
    bare = reference.partition("(")[0]
    if reference.startswith("/"):
        return reference.removeprefix("/")
    if "@" in bare[1:]:
        return reference
    return f"{name}@{reference}"


def _folder(text: str) -> str:
    return "" if text == "." else text


def _secure(address: object) -> str:
    text = text_of(address)
    return text if text.startswith("https://") else ""


def yarn(
    path: str, text: str, manifests: Manifests, folders: Collection[str], leave: Collection[str]
) -> Packages:
    """yarn.lock, of yarn 1 and of later ones. Which folder needs what is told by their manifests."""
    table = read_indented(text)
    later = "__metadata" in table
    if not later and "yarn lockfile v1" not in text[:200]:
        raise ValueError("no lock of yarn's")
    keys: dict[str, str] = {}
    nodes: dict[str, Node] = {}
    left: list[str] = []
    for first, value in table.items():
        entry = table_of(value)
        asked = [part.strip().strip("\"'") for part in first.split(",")]
        if (
            first == "__metadata"
            or not entry
            or not fits_machine(_conditions(text_of(entry.get("conditions"))))
        ):
            continue
        found = _later(entry) if later else _first(asked[0], entry)
        if isinstance(found, str):
            keys |= {_plain(one): found for one in asked}
        elif found is None:
            left.append(f"{path}: {asked[0][:100]}: it does not come from a registry")
        else:
            nodes[asked[0]] = found
            keys |= {_plain(one): asked[0] for one in asked}
    by_name = {text_of(m.get("name")): f for f, m in manifests.items() if f}

    def key_of(name: str, wanted: str) -> str:
        key = keys.get(_plain(f"{name}@{wanted}"), "")
        if not key and name in by_name:
            return LINK + by_name[name]
        return key

    bound = {
        key: Node(
            name=node.name, version=node.version, address=node.address, integrity=node.integrity,
            needs={name: key_of(name, wanted) for name, wanted in node.needs.items()},
        )
        for key, node in nodes.items()
    }  # fmt: skip
    own = {
        folder: {
            name: key_of(name, wanted)
            for kind in KINDS
            for name, wanted in texts_of(manifest.get(kind)).items()
            if name not in leave
        }
        for folder, manifest in manifests.items()
    }
    return place(path, bound, own, sorted(folders), left)


def _plain(asked: str) -> str:
    """``a@npm:^1`` as ``a@^1``; an alias (``a@npm:b@^1``) stays as it is."""
    at = asked.find("@", 1)
    wanted = asked[at + 1 :]
    return f"{asked[:at]}@{wanted.removeprefix('npm:')}"


def _first(asked: str, entry: Mapping[str, object]) -> Node | None:
    """An entry of yarn 1's lock."""
    version, resolved = text_of(entry.get("version")), text_of(entry.get("resolved"))
    name, _, wanted = asked[1:].partition("@")
    name = asked[:1] + name
    if wanted.startswith("npm:"):
        name = wanted.removeprefix("npm:").rpartition("@")[0] or name
    address, _, digest = resolved.partition("#")
    if not (is_name(name) and is_version(version) and address.startswith("https://")):
        return None
    integrity = text_of(entry.get("integrity"))
    if not integrity and len(digest) == 40:
        try:
            integrity = f"sha1-{base64.b64encode(bytes.fromhex(digest)).decode()}"
        except ValueError:
            integrity = ""
    needs = texts_of(entry.get("dependencies")) | texts_of(entry.get("optionalDependencies"))
    return Node(name=name, version=version, address=address, integrity=integrity, needs=needs)


def _later(entry: Mapping[str, object]) -> Node | str | None:
    """An entry of a later yarn's lock; a folder behind LINK. Its checksum is of yarn's own archive, so
    that the registry itself has to say what the package's is.
    """
    resolution = text_of(entry.get("resolution"))
    name, _, where = resolution[1:].partition("@")
    name = resolution[:1] + name
    if where.startswith("workspace:"):
        return LINK + _folder(where.removeprefix("workspace:"))
    if where.startswith("patch:"):  # the package that is patched
        where = f"npm:{text_of(entry.get('version'))}"
    version = where.removeprefix("npm:").partition("::")[0]
    if not (is_name(name) and is_version(version) and where.startswith("npm:")):
        return None
    return Node(name=name, version=version, needs=texts_of(entry.get("dependencies")))


def _conditions(text: str) -> Table:
    """``os=darwin & cpu=arm64`` as a table."""
    pairs = (part.strip().partition("=") for part in text.split("&"))
    return {key: value for key, equals, value in pairs if equals}
