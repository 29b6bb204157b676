"""Reads what a project depends on from its manifests and lock files, as data. Runs in the limited child only.

Formats: PEP 508 and pip's requirements format, PEP 621, PEP 735, Poetry, uv and Pipfile TOML, setup.cfg,
package.json, package-lock.json (lockfileVersion 1 to 3), yarn.lock, pip.conf, and the settings files of
settings_files.py.
"""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Final, Literal

from packaging.utils import canonicalize_name

from gate.dataclass import dataclass
from gate.regex import regex
from gate.supply import build_settings, installed_commands, settings_files

BUILD_REQUIRES: Final = "build-system.requires"
"""Hooks of this name: packages whose code builds the project."""

Ecosystem = Literal["pypi", "npm"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Dependency:
    """One name that is asked for. ``asked`` is the version or address as written."""

    ecosystem: Ecosystem
    name: str
    asked: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """A place that packages come from: an index, a registry, a host to be trusted."""

    kind: Literal["index", "extra-index", "find-links", "trusted-host", "registry", "proxy", "resolved"]
    where: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """What one file says. ``hooks`` maps a script's name to its command, ``commands`` that of an
    installed command to what it calls; ``hashes`` counts packages with integrity pins.
    """

    kind: Literal["manifest", "lock", "settings"]
    dependencies: tuple[Dependency, ...] = ()
    origins: tuple[Origin, ...] = ()
    hooks: Mapping[str, str] | None = None
    commands: Mapping[str, str] | None = None
    hashes: int = 0
    unreadable: str = ""


_REQUIREMENT: Final = regex(r"^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(@\s*\S+|[(<>=!~;][^;#]*)?")
_OPTION: Final = regex(
    r"^(?:(-i|--index-url)|(--extra-index-url)|(-f|--find-links)|(--trusted-host))(?:[ =]+)(\S+)"
)
_KINDS: Final = ("index", "extra-index", "find-links", "trusted-host")
_NPM_HOOKS: Final = (
    "preinstall",
    "install",
    "postinstall",
    "preprepare",
    "prepare",
    "postprepare",
    "dependencies",
)
_NPM_TABLES: Final = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")


def is_manifest(path: str) -> bool:
    """True for a file that ``read`` understands."""
    return _reader(path) is not None


def read(path: str, data: bytes, options: Mapping[str, object]) -> Manifest:
    """One manifest; a file that cannot be parsed has ``unreadable`` set."""
    del options
    reader = _reader(path)
    if reader is None:
        return Manifest(kind="manifest", unreadable="is no known manifest")
    try:
        result: Manifest = reader(data.decode("utf-8-sig"))
    except (ValueError, RecursionError, configparser.Error, AttributeError, TypeError) as error:
        kind: Literal["manifest", "lock"] = "lock" if "lock" in path.lower() else "manifest"
        return Manifest(kind=kind, unreadable=f"cannot be parsed ({type(error).__name__})")
    return result


def _reader(path: str) -> Any:
    name = PurePosixPath(path).name.lower()
    if re.search(r"requirements[^/]*\.(?:txt|in)$|(?:^|/)requirements/[^/]*\.(?:txt|in)$", path.lower()):
        return _requirements
    if re.fullmatch(r"constraints[^/]*\.txt", name):
        return _requirements
    last_two = "/".join(path.lower().split("/")[-2:])
    settings = settings_files.READERS.get(name) or settings_files.READERS.get(last_two)
    settings = settings or build_settings.READERS.get(name)
    if settings is not None:
        return partial(_settings, settings)
    return _BY_NAME.get(name)


def _settings(reader: Callable[[str], Iterator[settings_files.Place]], text: str) -> Manifest:
    origins = tuple(Origin(kind=kind, where=where) for kind, where in reader(text) if where)
    return Manifest(kind="settings", origins=origins)


def _requirement(line: str) -> Dependency | None:
    match = _REQUIREMENT.match(line.strip())
    if not match:
        return None
    return Dependency(ecosystem="pypi", name=canonicalize_name(match[1]), asked=(match[2] or "").strip())


def _requirements(text: str) -> Manifest:
    dependencies: list[Dependency] = []
    origins: list[Origin] = []
    joined = re.sub(r"\\\r?\n", " ", text)
    for raw in joined.splitlines():
        line = re.sub(r"(?:^|\s)#.*$", "", raw).strip()
        if not line:
            continue
        if option := _OPTION.match(line):
            kind = next(k for k, group in zip(_KINDS, option.groups(), strict=False) if group)
            origins.append(Origin(kind=kind, where=option[5]))  # type: ignore[arg-type]
        elif match := re.match(
            r"^(?:-e|--editable)?\s*((?:git|hg|svn|bzr)\+\S+|https?://\S+|file:\S+)", line
        ):
            egg = re.search(r"#egg=([\w.-]+)", match[1])
            dependencies.append(Dependency(ecosystem="pypi", name=egg[1] if egg else "", asked=match[1]))
        elif not line.startswith("-") and (found := _requirement(line.partition(" --hash=")[0])):
            dependencies.append(found)
    return Manifest(
        kind="manifest",
        dependencies=tuple(dependencies),
        origins=tuple(origins),
        hashes=text.count("--hash="),
    )


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _pyproject(text: str) -> Manifest:
    data = tomllib.loads(text)
    project = data.get("project", {})
    lines = [*_strings(project.get("dependencies")), *_strings(data.get("build-system", {}).get("requires"))]
    for group in (
        *project.get("optional-dependencies", {}).values(),
        *data.get("dependency-groups", {}).values(),
    ):
        lines += _strings(group)
    dependencies = [d for d in map(_requirement, lines) if d]
    tool = data.get("tool", {})
    poetry = tool.get("poetry", {})
    tables = [poetry.get("dependencies", {}), poetry.get("dev-dependencies", {})]
    tables += [group.get("dependencies", {}) for group in poetry.get("group", {}).values()]
    tables += [tool.get("uv", {}).get("sources", {})]
    dependencies += [d for table in tables for d in _table(table)]
    places = [
        *poetry.get("source", []),
        *tool.get("uv", {}).get("index", []),
        *tool.get("pdm", {}).get("source", []),
    ]
    origins = [Origin(kind="index", where=str(p["url"])) for p in places if "url" in p]
    origins += [Origin(kind=kind, where=where) for kind, where in settings_files.uv(tool.get("uv", {}))]
    hooks = {}
    backend = data.get("build-system", {})
    if "backend-path" in backend:
        hooks["build-backend"] = f"{backend.get('build-backend', '')} from {backend['backend-path']}"
    for needed in filter(None, map(_requirement, _strings(backend.get("requires")))):
        if needed.name:
            hooks[f"{BUILD_REQUIRES} {needed.name}"] = needed.name
    return Manifest(
        kind="manifest",
        dependencies=tuple(dependencies),
        origins=tuple(origins),
        hooks=hooks,
        commands=installed_commands.of_pyproject(data),
    )


def _table(table: Mapping[str, Any]) -> Iterator[Dependency]:
    for name, asked in table.items():
        if name == "python":
            continue
        text = asked if isinstance(asked, str) else ""
        if isinstance(asked, dict):
            where = asked.get("git") or asked.get("url")
            pin = asked.get("rev") or asked.get("tag") or asked.get("branch") or ""
            text = f"git+{where}@{pin}" if asked.get("git") else str(where or asked.get("version", ""))
        yield Dependency(ecosystem="pypi", name=canonicalize_name(name), asked=text)


def _pipfile(text: str) -> Manifest:
    data = tomllib.loads(text)
    found = [d for key in ("packages", "dev-packages") for d in _table(data.get(key, {}))]
    origins = [Origin(kind="index", where=str(s["url"])) for s in data.get("source", []) if "url" in s]
    return Manifest(kind="manifest", dependencies=tuple(found), origins=tuple(origins))


def _toml_lock(text: str) -> Manifest:
    packages = tomllib.loads(text).get("package", [])
    found = [
        Dependency(ecosystem="pypi", name=canonicalize_name(p["name"]), asked=str(p.get("version", "")))
        for p in packages
    ]
    origins = []
    for package in packages:
        source = package.get("source", {})
        where = source.get("url") or source.get("registry") or source.get("git")
        if where:
            origins.append(Origin(kind="resolved", where=str(where)))
    return Manifest(
        kind="lock",
        dependencies=tuple(found),
        origins=tuple(dict.fromkeys(origins)),
        hashes=sum(map(_is_fixed, packages)),
    )


def _is_fixed(package: Mapping[str, Any]) -> bool:
    """True for a locked package with a hash, or one that comes from the project's own machine or a commit."""
    local = set(package.get("source", {})) & {"directory", "editable", "virtual", "path", "git"}
    files = [*package.get("wheels", []), *package.get("files", []), package.get("sdist", {})]
    return bool(local) or any("hash" in file for file in files)


def _setup_cfg(text: str) -> Manifest:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    lines = parser.get("options", "install_requires", fallback="").splitlines()
    if parser.has_section("options.extras_require"):
        lines += [line for _, value in parser.items("options.extras_require") for line in value.splitlines()]
    return Manifest(
        kind="manifest",
        dependencies=tuple(d for d in map(_requirement, lines) if d),
        commands=installed_commands.of_setup_cfg(parser),
    )


def _package_json(text: str) -> Manifest:
    data = json.loads(text)
    found = [
        Dependency(ecosystem="npm", name=name, asked=str(asked))
        for table in _NPM_TABLES
        for name, asked in (data.get(table) or {}).items()
    ]
    scripts = data.get("scripts") or {}
    hooks = {name: str(scripts[name]) for name in _NPM_HOOKS if name in scripts}
    commands = installed_commands.of_package_json(data)
    return Manifest(kind="manifest", dependencies=tuple(found), hooks=hooks, commands=commands)


def _package_lock(text: str) -> Manifest:
    data = json.loads(text)
    rows = {**data.get("packages", {}), **data.get("dependencies", {})}
    found, origins, hashes = [], [], 0
    for key, row in rows.items():
        name = key.rpartition("node_modules/")[2]
        if not name or not isinstance(row, dict):
            continue
        found.append(Dependency(ecosystem="npm", name=name, asked=str(row.get("version", ""))))
        hashes += "integrity" in row
        if isinstance(row.get("resolved"), str):
            origins.append(Origin(kind="resolved", where=_site(row["resolved"])))
    return Manifest(
        kind="lock", dependencies=tuple(found), origins=tuple(dict.fromkeys(origins)), hashes=hashes
    )


def _yarn_lock(text: str) -> Manifest:
    places = re.findall(r'^\s+resolved "([^"\n]+)"', text, re.MULTILINE)
    origins = [Origin(kind="resolved", where=_site(place)) for place in places]
    names = re.findall(r'^"?((?:@[^/\s]+/)?[^@\s"]+)@', text, re.MULTILINE)
    found = [Dependency(ecosystem="npm", name=name) for name in dict.fromkeys(names)]
    return Manifest(
        kind="lock",
        dependencies=tuple(found),
        origins=tuple(dict.fromkeys(origins)),
        hashes=len(re.findall(r"^\s+integrity ", text, re.MULTILINE)),
    )


def _site(address: str) -> str:
    """Scheme and host of an address; git and file addresses whole."""
    match = re.match(r"^(https?://[^/]+)/", address)
    return match[1] if match else address.partition("#")[0]


def _pip_conf(text: str) -> Manifest:
    """Pip reads ``index_url`` as ``index-url``, and the lines below a key as more of its values."""
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    names = {"index-url": "index", "extra-index-url": "extra-index"}
    names |= {key: key for key in ("find-links", "trusted-host", "proxy")}
    origins = [
        Origin(kind=names[key.replace("_", "-")], where=where)  # type: ignore[arg-type]
        for section in parser.sections()
        for key, value in parser.items(section)
        if key.replace("_", "-") in names
        for where in value.split()
    ]
    return Manifest(kind="settings", origins=tuple(origins))


_BY_NAME: Final = {
    "pyproject.toml": _pyproject,
    "pipfile": _pipfile,
    "poetry.lock": _toml_lock,
    "uv.lock": _toml_lock,
    "pdm.lock": _toml_lock,
    "setup.cfg": _setup_cfg,
    "package.json": _package_json,
    "package-lock.json": _package_lock,
    "npm-shrinkwrap.json": _package_lock,
    "yarn.lock": _yarn_lock,
    "pip.conf": _pip_conf,
    "pip.ini": _pip_conf,
}
