"""Locks that say where each package lies: package-lock.json (versions 1 to 3), npm-shrinkwrap.json, bun.lock.

All become one table, as npm's version 3 has it: place → entry. Of that table what the wanted folders reach is
taken, by Node's own way of looking upwards. Raises ValueError for text that is no such lock.
"""

from __future__ import annotations

import json
import posixpath
from collections import deque
from collections.abc import Collection, Mapping
from typing import Final

from gate.supply.javascript.packages import (
    MOST,
    Package,
    Packages,
    fits_machine,
    is_name,
    is_version,
    table_of,
    text_of,
    texts_of,
)

Table = dict[str, Mapping[str, object]]
_MODULES: Final = "node_modules/"
_DEEPEST: Final = 40


def npm(path: str, text: str, folders: Collection[str], leave: Collection[str]) -> Packages:
    """package-lock.json or npm-shrinkwrap.json. ``folders``: those whose needs count, relative to the lock's
    (empty for itself). ``leave``: names that they are not installed for.
    """
    table = table_of(json.loads(text))
    packages = table.get("packages")
    if isinstance(packages, dict):
        return _reached(path, {k: table_of(v) for k, v in packages.items()}, folders, leave)
    if not isinstance(table.get("dependencies"), dict):
        raise ValueError("no lock of npm's")
    made: Table = {"": {"dependencies": dict.fromkeys(table_of(table["dependencies"]), "")}}
    _first_version(table_of(table["dependencies"]), "", made, 0)
    return _reached(path, made, [""], leave)


def _first_version(table: Mapping[str, object], above: str, made: Table, depth: int) -> None:
    """Version 1 nests: each package holds those that lie in its own node_modules."""
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    for name, value in table.items():
        entry = table_of(value)
        version = text_of(entry.get("version"))
        place = f"{above}{_MODULES}{name}"
        real, _, exact = (
            version.removeprefix("npm:").rpartition("@") if version.startswith("npm:") else ("", "", "")
        )
        made[place] = {
            **{key: entry[key] for key in ("resolved", "integrity", "optional") if key in entry},
            "version": exact or version,
            "dependencies": table_of(entry.get("requires")),
            **({"name": real} if real else {}),
            **({"inBundle": True} if entry.get("bundled") is True else {}),
            **({"link": True, "resolved": version[5:]} if version.startswith("file:") else {}),
        }
        _first_version(table_of(entry.get("dependencies")), f"{place}/", made, depth + 1)


def bun(path: str, text: str, folders: Collection[str], leave: Collection[str]) -> Packages:
    """bun.lock, JSON with commas at the end of lists."""
    table = table_of(json.loads(without_last_commas(text)))
    spaces = {k: table_of(v) for k, v in table_of(table.get("workspaces")).items()}
    if not spaces:
        raise ValueError("no lock of bun's")
    folder_of = {text_of(entry.get("name")): folder for folder, entry in spaces.items() if folder}
    made: Table = dict(spaces)
    for key, value in table_of(table.get("packages")).items():
        parts = value if isinstance(value, list) and value and isinstance(value[0], str) else None
        if parts is None:
            raise ValueError("no lock of bun's")
        name, _, version = parts[0].rpartition("@")
        place = _bun_place(key, folder_of)
        if version.startswith("workspace:"):
            made[place] = {"link": True, "resolved": version.removeprefix("workspace:")}
            continue
        facts = next((table_of(part) for part in parts[1:] if isinstance(part, dict)), {})
        address = parts[1] if len(parts) > 1 and isinstance(parts[1], str) else ""
        optional = set(parts_of(facts.get("optionalPeers")))
        peers = {k: v for k, v in texts_of(facts.get("peerDependencies")).items() if k not in optional}
        made[place] = {
            **{
                key: facts[key]
                for key in ("dependencies", "optionalDependencies", "os", "cpu")
                if key in facts
            },
            "peerDependencies": peers,
            "name": name,
            "version": version,
            "resolved": address,
            "integrity": parts[-1] if isinstance(parts[-1], str) and "-" in parts[-1] else "",
        }
    return _reached(path, made, folders, leave)


def parts_of(value: object) -> list[str]:
    """The texts of a list."""
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []


def _bun_place(key: str, folder_of: Mapping[str, str]) -> str:
    """``a/@s/b`` is b of scope s, in a's own node_modules; the first name may be a workspace's."""
    names: list[str] = []
    for part in key.split("/"):
        if names and names[-1].startswith("@") and "/" not in names[-1]:
            names[-1] += f"/{part}"
        else:
            names.append(part)
    above = ""
    if len(names) > 1 and names[0] in folder_of:
        above = folder_of[names.pop(0)] + "/"
    return above + "/".join(_MODULES + name for name in names)


def without_last_commas(text: str) -> str:
    """JSON of what is JSON but for commas before closing brackets."""
    out: list[str] = []
    comma = -1
    inside = escaped = False
    for letter in text:
        if inside:
            if escaped:
                escaped = False
            else:
                escaped = letter == "\\"
                inside = letter != '"'
        elif letter == ",":
            comma = len(out)
        elif letter in "]}" and comma >= 0:
            out[comma] = " "
            comma = -1
        elif not letter.isspace():
            inside, comma = letter == '"', -1
        out.append(letter)
    return "".join(out)


def _reached(path: str, table: Table, folders: Collection[str], leave: Collection[str]) -> Packages:
    """What these folders need of a table of places."""
    top = posixpath.dirname(path)
    found: dict[str, Package] = {}
    links: dict[str, str] = {}
    left: list[str] = []
    waiting = deque(
        (folder, name) for folder in folders for name in _needs(table, folder, own=True) if name not in leave
    )
    seen: set[str] = set()
    while waiting:
        at, name = waiting.popleft()
        place = _look_up(table, at, name)
        if place is None or place in seen or not is_name(name):
            continue
        seen.add(place)
        entry = table[place]
        if entry.get("link") is True:
            target = posixpath.normpath(text_of(entry.get("resolved")))
            if not target.startswith(("..", "/")):
                links[posixpath.join(top, place)] = posixpath.join(top, target)
                waiting.extend((target, other) for other in _needs(table, target, own=False))
            continue
        if not fits_machine(entry, name) or entry.get("inBundle") is True:
            continue
        package = _package(top, place, name, entry)
        if package is None:
            left.append(f"{path}: {name}: it does not come from a registry")
            continue
        found[place] = package
        if len(found) > MOST:
            raise ValueError(f"more than {MOST} packages")
        waiting.extend((place, other) for other in _needs(table, place, own=False))
    return Packages(
        packages=tuple(found[place] for place in sorted(found)), links=tuple(sorted(links.items())),
        left=tuple(left), paths=(path,),
    )  # fmt: skip


def _needs(table: Table, place: str, *, own: bool) -> list[str]:
    entry = table.get(place, {})
    kinds = [
        "dependencies",
        "optionalDependencies",
        "peerDependencies",
        *(["devDependencies"] if own else []),
    ]
    return [name for kind in kinds for name in table_of(entry.get(kind)) if not name.startswith("@types/")]


def _look_up(table: Table, place: str, name: str) -> str | None:
    """Where Node finds a package from there: the nearest node_modules that has it."""
    at = place
    while True:
        candidate = f"{at}/{_MODULES}{name}" if at else f"{_MODULES}{name}"
        if candidate in table:
            return candidate
        if not at:
            return None
        at = posixpath.dirname(at)


def _package(top: str, place: str, named: str, entry: Mapping[str, object]) -> Package | None:
    address, integrity = text_of(entry.get("resolved")), text_of(entry.get("integrity"))
    name, version = text_of(entry.get("name")) or named, text_of(entry.get("version"))
    parts = place.split("/")
    if not (is_name(name) and is_version(version)) or ".." in parts or "" in parts:
        return None
    if address and not address.startswith(("https://", "http://")):
        return None
    optional = entry.get("optional") is True
    return Package(
        place=posixpath.join(top, place), name=name, version=version, address=address, integrity=integrity,
        optional=optional,
    )  # fmt: skip
