"""The project itself, as an editable install would leave it: metadata, entry points, a place on the path.

Made from what its manifests say, without running its build. Where a build would make the version up from git,
a made-up one stands for it; modules that only a build writes (``_version.py``) exist for imports alone.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from gate.regex import regex
from gate.supply.python.declared import Declared
from gate.supply.python.project import Project

MADE_UP: Final = "9999.0"
"""Of a project whose version only a build can say: newer than whatever its own tests ask for."""
_NAME: Final = regex(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?\Z")
_DOTTED: Final = regex(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z", re.ASCII)
_FINDER: Final = "_gate_generated"
_FINDER_SOURCE: Final = '''\
"""Modules that a build of the project would have written, where the tree lacks them."""
import importlib.abc, importlib.util, sys

VERSION = {version!r}
NAMES = {names!r}
SOURCE = """
from types import SimpleNamespace
version = __version__ = {version!r}
version_tuple = __version_tuple__ = {numbers!r}
commit_id = __commit_id__ = None
"""


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name in NAMES else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(SOURCE, vars(module))


sys.meta_path.append(Finder())
'''


def version_of(declared: Declared) -> str:
    """Its version, or one that is made up."""
    try:
        return str(Version(declared.version))
    except InvalidVersion:
        return MADE_UP


def files(
    projects: Iterable[Project], tree: str, site: str, folders: Mapping[str, object]
) -> dict[str, bytes]:
    """Files of a layer: name → content. ``tree``: where the tree lies inside; ``site``: the layer's folder
    of packages; ``folders``: folders of the tree that hold files.
    """
    made: dict[str, bytes] = {}
    paths: list[str] = []
    generated: dict[str, str] = {}
    for project in projects:
        declared = project.declared
        paths += _source_folders(project, folders)
        if not _NAME.match(declared.name):
            continue
        version = version_of(declared)
        info = f"{site}/{canonicalize_name(declared.name).replace('-', '_')}-{version}.dist-info"
        made |= {f"{info}/{name}": text.encode() for name, text in _info(project, version, tree).items()}
        made |= _scripts(declared)
        generated |= dict.fromkeys(_version_modules(declared), version)
    if made or generated:
        lines = [posixpath.normpath(f"{tree}/{path}") for path in dict.fromkeys(paths)]
        if generated:
            made[f"{site}/{_FINDER}.py"] = _finder(generated)
            lines.append(f"import {_FINDER}")
        text = "".join(f"{line}\n" for line in lines if line.isprintable())
        made[f"{site}/__editable__.gate.pth"] = text.encode("utf-8", "replace")
    return made


def _source_folders(project: Project, folders: Mapping[str, object]) -> list[str]:
    """Where a project's packages lie in the tree: folders of source that it has, or its own."""
    wanted = (*project.declared.sources, "src", "lib")
    roots = dict.fromkeys(posixpath.normpath(posixpath.join(project.folder, s)) for s in wanted)
    found = [r for r in roots if any(f == r or f.startswith(f"{r}/") for f in folders)][:4]
    return found if any(posixpath.basename(r) == "src" for r in found) else [*found, project.folder]


def _version_modules(declared: Declared) -> Iterator[str]:
    """The modules that a build would write the version to."""
    for file in declared.version_files:
        path = posixpath.relpath(file, "src") if file.startswith("src/") else file
        module = posixpath.splitext(path)[0]
        if re.fullmatch(r"\w+(?:/\w+)*", module, re.ASCII):
            yield module.replace("/", ".")


def _finder(generated: Mapping[str, str]) -> bytes:
    version = next(iter(generated.values()))
    numbers = tuple(Version(version).release)
    return _FINDER_SOURCE.format(version=version, numbers=numbers, names=frozenset(generated)).encode()


def _info(project: Project, version: str, tree: str) -> dict[str, str]:
    declared = project.declared
    needs = [line for line in declared.requirements.lines if line.isprintable()]
    metadata = ["Metadata-Version: 2.1", f"Name: {declared.name}", f"Version: {version}"]
    metadata += [f"Requires-Dist: {line}" for line in needs]
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in entries.items()) + "\n"
        for group, entries in declared.entry_points.items()
    )
    address = {
        "url": f"file://{posixpath.normpath(f'{tree}/{project.folder}')}",
        "dir_info": {"editable": True},
    }
    made = {
        "METADATA": "".join(f"{line}\n" for line in metadata),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: gate\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "INSTALLER": "gate\n",
        "direct_url.json": json.dumps(address),
        "entry_points.txt": points,
    }
    names = sorted([*made, "RECORD"])
    folder = f"{canonicalize_name(declared.name).replace('-', '_')}-{version}.dist-info"
    return {**made, "RECORD": "".join(f"{folder}/{name},,\n" for name in names)}


def _scripts(declared: Declared) -> dict[str, bytes]:
    """Console scripts, as pip writes them."""
    made = {}
    for name, place in declared.entry_points.get("console_scripts", {}).items():
        module, _, attribute = place.partition("[")[0].strip().partition(":")
        if (
            re.fullmatch(r"[\w.]+", module)
            and re.fullmatch(r"[\w.]+", attribute)
            and re.fullmatch(r"[\w.-]+", name)
        ):
            first = attribute.partition(".")[0]
            text = (
                f"#!/usr/bin/env python3\nimport sys\nfrom {module} import {first}\nsys.exit({attribute}())\n"
            )
            made[f"bin/{name}"] = text.encode()
    return made
