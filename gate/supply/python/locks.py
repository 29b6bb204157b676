"""Lock files, read as data: exactly which versions a project runs with, for one interpreter, with hashes.

Each reader takes the lock's text and gives ``Requirements`` with ``locked``. The default groups, those named
for tests, and all extras are taken; where two of them want different versions, the first found counts. What
comes from somewhere else than an index (git, a folder outside) is left out and said.
Raises ValueError for text that is no such lock.
"""

from __future__ import annotations

import json
import tomllib
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from packaging.utils import canonicalize_name

from gate.supply.python.poetry import versions as poetry_versions
from gate.supply.python.requirements import (
    MOST_BYTES,
    TOOLS,
    Lines,
    Requirements,
    checked,
    is_for_tests,
    list_of,
    marker_applies,
    pin,
    table_of,
    text_of,
    without_tools,
)

if TYPE_CHECKING:
    from packaging.pylock import Package, PackageSdist, PackageWheel

Environment = dict[str, str]
_Table = Mapping[str, object]
_MOST_ASIDE: Final = 200
_LOCAL: Final = ("editable", "virtual", "directory", "path")


def read(name: str, path: str, raw: bytes, environment: Environment) -> Requirements:
    """The lock at ``path`` whose file name is ``name``. Raises ValueError."""
    reader = READERS["pylock.toml" if is_pylock(name) else name]
    if len(raw) > MOST_BYTES:
        raise ValueError("too large")
    try:
        found = reader(path, raw.decode("utf-8"), environment)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if reader is not _uv:  # which knows who asks for what
        found = replace(found, lines=without_tools(found.lines))
    return replace(found, paths=(path,), locked=True)


def is_pylock(name: str) -> bool:
    """True for the names that PEP 751 gives."""
    return name == "pylock.toml" or (name.startswith("pylock.") and name.endswith(".toml"))


def _uv(path: str, text: str, environment: Environment) -> Requirements:
    table = tomllib.loads(text)
    packages: list[_Table] = [table_of(p) for p in list_of(table.get("package"))]
    by_name: dict[str, list[_Table]] = {}
    for package in packages:
        by_name.setdefault(text_of(package.get("name")), []).append(package)
    own = [p for p in packages if any(kind in table_of(p.get("source")) for kind in _LOCAL[:3])]
    out = Lines(path)
    members = tuple(
        place
        for package in own
        for source in [table_of(package.get("source"))]
        if (place := next((text_of(source[kind]) for kind in _LOCAL[:3] if kind in source), ""))
    )
    names: set[str] = set()
    reached = _reached(_asked(own, environment), by_name, environment)
    asked = _asked_by_others(reached, own)
    for package in reached:
        name = text_of(package.get("name"))
        if any(package is mine for mine in own) or name in names or (name in TOOLS and name not in asked):
            continue
        names.add(name)
        _add_of_uv(out, package)
    aside: dict[str, tuple[str, ...]] = {}
    apart = _reached(_asked_aside(own, environment), by_name, environment)
    for package in [p for p in apart if text_of(p.get("name")) not in names][:_MOST_ASIDE]:
        more = Lines(path)
        for needed in (
            package,
            *_reached(_edges(package.get("dependencies"), environment), by_name, environment),
        ):
            _add_of_uv(more, needed)
        aside[canonicalize_name(text_of(package.get("name")))] = tuple(dict.fromkeys(more.kept))
    return Requirements(
        aside=aside,
        lines=tuple(out.kept),
        left=tuple(out.left),
        python=text_of(table.get("requires-python")),
        members=members,
    )


def _asked_by_others(reached: list[_Table], own: list[_Table]) -> set[str]:
    """The names that packages of an index depend on: a tool among them may be imported after all."""
    others = [package for package in reached if not any(package is mine for mine in own)]
    return {
        text_of(table_of(edge).get("name")) for other in others for edge in list_of(other.get("dependencies"))
    }


def _add(out: Lines, name: str, version: object, source: _Table, files: Iterable[object]) -> None:
    if "registry" in source:
        line = pin(name, version, (table_of(f).get("hash") for f in files))
    else:
        line, _ = checked(f"{name} @ {source.get('url')}")
    if line:
        out.kept.append(line)
    else:
        out.leave(f"{name[:100]} comes from {next(iter(source), 'nowhere')[:20]}, not from an index")


def _add_of_uv(out: Lines, package: _Table) -> None:
    files = [*list_of(package.get("wheels")), package.get("sdist")]
    _add(out, text_of(package.get("name")), package.get("version"), table_of(package.get("source")), files)


def _asked(own: list[_Table], environment: Environment) -> list[_Table]:
    """What the project's own packages ask for: needs first, then groups for tests, then extras."""
    asked: list[_Table] = []
    late: list[_Table] = []
    for package in own:
        asked += _edges(package.get("dependencies"), environment)
        for group, edges in table_of(package.get("dev-dependencies")).items():
            if is_for_tests(group):
                asked += _edges(edges, environment)
        for edges in table_of(package.get("optional-dependencies")).values():
            late += _edges(edges, environment)
    return asked + late


def _asked_aside(own: list[_Table], environment: Environment) -> list[_Table]:
    """What their other groups ask for."""
    groups = [
        edges
        for package in own
        for group, edges in table_of(package.get("dev-dependencies")).items()
        if not is_for_tests(group)
    ]
    return [edge for edges in groups for edge in _edges(edges, environment)]


def _reached(
    asked: Iterable[_Table], by_name: Mapping[str, list[_Table]], environment: Environment
) -> list[_Table]:
    """The packages that these lead to, in that order."""
    todo = deque(asked)
    reached: list[_Table] = []
    seen: set[tuple[int, str]] = set()
    while todo:
        edge = todo.popleft()
        found = _target(edge, by_name, environment)
        if found is None:
            continue
        for extra in ("", *map(text_of, list_of(edge.get("extra")))):
            if (id(found), extra) in seen:
                continue
            seen.add((id(found), extra))
            if not extra:
                reached.append(found)
            further = (
                table_of(found.get("optional-dependencies")).get(extra)
                if extra
                else found.get("dependencies")
            )
            todo.extend(_edges(further, environment))
    return reached


def _edges(value: object, environment: Environment) -> list[_Table]:
    return [
        edge
        for item in list_of(value)
        if (edge := table_of(item)) and marker_applies(edge.get("marker"), environment)
    ]


def _target(edge: _Table, by_name: Mapping[str, list[_Table]], environment: Environment) -> _Table | None:
    """The package that an edge means: by name, and version where it says one; a fork's by its markers."""
    found = by_name.get(text_of(edge.get("name")), [])
    version = edge.get("version")
    fitting = [p for p in found if version is None or p.get("version") == version]
    for package in fitting:
        markers = list_of(package.get("resolution-markers"))
        if not markers or any(marker_applies(marker, environment) for marker in markers):
            return package
    return None


def _pylock(path: str, text: str, environment: Environment) -> Requirements:
    from packaging.pylock import PackageDirectory, Pylock

    try:
        lock = Pylock.from_dict(tomllib.loads(text))
        extras = [str(extra) for extra in lock.extras or ()]
        groups = {*(lock.default_groups or ()), *(g for g in lock.dependency_groups or () if is_for_tests(g))}
    except tomllib.TOMLDecodeError:
        raise
    except Exception as error:  # the library's own errors are no ValueErrors
        raise ValueError(f"no lock: {type(error).__name__}") from error
    out = Lines(path)
    names: set[str] = set()
    marks: dict[str, str | frozenset[str]] = {
        **environment,
        "extras": frozenset(extras),
        "dependency_groups": frozenset(groups),
    }
    for package in lock.packages:
        if package.name in names or not _counts(package, marks):
            continue
        names.add(package.name)
        files: list[PackageWheel | PackageSdist] = [
            *(package.wheels or ()),
            *([package.sdist] if package.sdist else []),
        ]
        hashes = [f"{kind}:{value}" for file in files for kind, value in file.hashes.items()]
        line = pin(package.name, str(package.version or ""), hashes) if files else ""
        if line:
            out.kept.append(line)
        elif not isinstance(package.directory, PackageDirectory):
            out.leave(f"{package.name[:100]} comes from no index")
    return Requirements(lines=tuple(out.kept), left=tuple(out.left), python=str(lock.requires_python or ""))


def _counts(package: Package, marks: Mapping[str, str | frozenset[str]]) -> bool:
    try:
        return package.marker is None or package.marker.evaluate(marks, context="lock_file")
    except Exception:  # noqa: BLE001  # hostile text, as in requirements.marker_applies
        return False


def _poetry(path: str, text: str, environment: Environment) -> Requirements:
    table = tomllib.loads(text)
    metadata = table_of(table.get("metadata"))
    old = table_of(metadata.get("files"))  # before lock-version 2
    extras = ("", *table_of(table.get("extras")))
    out = Lines(path)
    names: set[str] = set()
    for item in list_of(table.get("package")):
        package = table_of(item)
        name = text_of(package.get("name"))
        groups = [str(g) for g in list_of(package.get("groups")) or [package.get("category") or "main"]]
        marker = package.get("markers")
        if isinstance(marker, dict):  # one for each group
            marker = next((marker[g] for g in groups if g in marker), None)
        wanted = any(group == "main" or is_for_tests(group) for group in groups)
        if not wanted or name in names or not marker_applies(marker, environment, extras):
            continue
        names.add(name)
        files = list_of(package.get("files")) or list_of(old.get(name))
        if source := _poetry_source(table_of(package.get("source"))):
            _add(out, name, package.get("version"), source, files)
    python = poetry_versions(text_of(metadata.get("python-versions")))
    return Requirements(lines=tuple(out.kept), left=tuple(out.left), python=python)


def _poetry_source(source: _Table) -> _Table | None:
    """As the other locks have it; None for a folder or file of the project's own."""
    kind = text_of(source.get("type"))
    if kind in ("directory", "file"):
        return None
    return source if kind == "url" else {"registry" if kind in ("", "legacy") else kind: ""}


def _pdm(path: str, text: str, environment: Environment) -> Requirements:
    table = tomllib.loads(text)
    out = Lines(path)
    names: set[str] = set()
    for item in list_of(table.get("package")):
        package = table_of(item)
        name = text_of(package.get("name"))
        groups = [str(g) for g in list_of(package.get("groups")) or ["default"]]
        wanted = any(group == "default" or is_for_tests(group) for group in groups)
        if not wanted or name in names or not marker_applies(package.get("marker"), environment):
            continue
        if "path" in package:  # the project itself, or one beside it
            continue
        names.add(name)
        source: _Table = {"registry": ""}
        for kind in ("git", "url"):
            source = {kind: package[kind]} if kind in package else source
        old = table_of(table_of(table.get("metadata")).get("files"))
        files = list_of(package.get("files")) or list_of(old.get(f"{name} {package.get('version')}"))
        _add(out, name, package.get("version"), source, files)
    return Requirements(
        lines=tuple(out.kept),
        left=tuple(out.left),
        python=text_of(next((table_of(t).get("requires_python") for t in _targets(table)), "")),
    )


def _targets(table: _Table) -> list[object]:
    return list_of(table_of(table.get("metadata")).get("targets"))


def _pipfile(path: str, text: str, environment: Environment) -> Requirements:
    table = table_of(json.loads(text))
    out = Lines(path)
    names: set[str] = set()
    for section in ("default", "develop"):
        for name, item in table_of(table.get(section)).items():
            package = table_of(item)
            if canonicalize_name(name) in names or not marker_applies(package.get("markers"), environment):
                continue
            names.add(canonicalize_name(name))
            version = text_of(package.get("version"))
            if not version.startswith("=="):
                if "editable" not in package and "path" not in package:
                    out.leave(f"{name[:100]} comes from no index")
                continue
            files = [{"hash": h} for h in list_of(package.get("hashes"))]
            _add(out, name, version[2:], {"registry": ""}, files)
    asked = table_of(table_of(table.get("_meta")).get("requires"))
    python = text_of(asked.get("python_full_version") or asked.get("python_version"))
    return Requirements(
        lines=tuple(out.kept), left=tuple(out.left), python=f"=={python}.*" if python.count(".") == 1 else ""
    )


READERS: Final[dict[str, Callable[[str, str, Environment], Requirements]]] = {
    "uv.lock": _uv,
    "pylock.toml": _pylock,
    "poetry.lock": _poetry,
    "pdm.lock": _pdm,
    "Pipfile.lock": _pipfile,
}
"""In the order in which they count where a folder has several."""
