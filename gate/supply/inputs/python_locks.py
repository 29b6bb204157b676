"""Lock files of Python projects as inputs: uv.lock, poetry.lock, pdm.lock, Pipfile.lock, pylock.toml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from packaging.utils import canonicalize_name

from gate.supply.inputs.model import Archive, Input, Inputs, SourceKind
from gate.supply.inputs.text import json_table, table_of, tables_of, text_of, texts_of, toml_table

_OWN: Final = ("editable", "virtual")
_Table = Mapping[str, object]


def uv(text: str) -> Inputs:
    """uv.lock. The project's own packages are what is asked from, never inputs."""
    found: list[Input] = []
    asked: list[str] = []
    for package in tables_of(toml_table(text).get("package")):
        source = table_of(package.get("source"))
        needs = tuple(dict.fromkeys(_edges(package)))
        if any(kind in source for kind in _OWN):
            asked += needs
            continue
        kind, where = _uv_source(source)
        address, _, revision = where.partition("#")
        found.append(
            Input(
                name=_name(package),
                kind=kind,
                where=address.partition("?")[0] if kind == "vcs" else address,
                version=text_of(package.get("version")),
                revision=revision,
                archives=_archives([*tables_of(package.get("wheels")), table_of(package.get("sdist"))]),
                needs=needs,
            )
        )
    return Inputs(inputs=tuple(found), asked=tuple(dict.fromkeys(asked)))


def _uv_source(source: _Table) -> tuple[SourceKind, str]:
    for key, kind in _UV_KINDS.items():
        if key in source:
            return kind, text_of(source[key])
    return "registry", ""


_UV_KINDS: Final[dict[str, SourceKind]] = {
    "registry": "registry", "url": "url", "git": "vcs", "path": "path", "directory": "path",
}  # fmt: skip


def _edges(package: _Table) -> Iterable[str]:
    for key in ("dependencies", "optional-dependencies", "dev-dependencies"):
        value = package.get(key)
        groups = list(value.values()) if isinstance(value, dict) else [value]
        for group in groups:
            for edge in tables_of(group):
                yield canonicalize_name(text_of(edge.get("name")))


def poetry(text: str) -> Inputs:
    """poetry.lock, all versions."""
    data = toml_table(text)
    files = table_of(table_of(data.get("metadata")).get("files"))
    found = []
    for package in tables_of(data.get("package")):
        source = table_of(package.get("source"))
        kind = _POETRY_KINDS.get(text_of(source.get("type")), "registry")
        listed = tables_of(package.get("files")) or tables_of(files.get(text_of(package.get("name"))))
        found.append(
            Input(
                name=_name(package),
                kind=kind,
                where=text_of(source.get("url")),
                version=text_of(package.get("version")),
                revision=text_of(source.get("resolved_reference")),
                archives=_archives(listed),
                needs=tuple(canonicalize_name(name) for name in table_of(package.get("dependencies"))),
            )
        )
    return Inputs(inputs=tuple(found))


_POETRY_KINDS: Final[dict[str, SourceKind]] = {
    "git": "vcs", "url": "url", "directory": "path", "file": "path",
}  # fmt: skip


def pdm(text: str) -> Inputs:
    """pdm.lock. Its packages' needs are requirement lines."""
    data = toml_table(text)
    files = table_of(table_of(data.get("metadata")).get("files"))
    found = []
    for package in tables_of(data.get("package")):
        kind, where = _direct(package)
        version = text_of(package.get("version"))
        listed = tables_of(package.get("files")) or tables_of(files.get(f"{package.get('name')} {version}"))
        needs = (requirement_name(line) for line in texts_of(package.get("dependencies")))
        found.append(
            Input(
                name=_name(package), kind=kind, where=where, version=version,
                revision=text_of(package.get("revision")), archives=_archives(listed),
                needs=tuple(dict.fromkeys(name for name in needs if name)),
            )
        )  # fmt: skip
    return Inputs(inputs=tuple(found))


def _direct(package: _Table) -> tuple[SourceKind, str]:
    """What pdm's and Pipenv's tables say of a source besides the index."""
    for key, kind in (
        ("git", "vcs"),
        ("hg", "vcs"),
        ("svn", "vcs"),
        ("url", "url"),
        ("file", "url"),
        ("path", "path"),
    ):
        if key in package:
            return kind, text_of(package[key])  # type: ignore[return-value]
    return "registry", ""


def pipfile(text: str) -> Inputs:
    """Pipfile.lock. Hashes have no file names; ``index`` names one of the sources in ``_meta``."""
    data = json_table(text)
    sources = {
        text_of(source.get("name")): text_of(source.get("url"))
        for source in tables_of(table_of(data.get("_meta")).get("sources"))
    }
    found = []
    for section, packages in data.items():
        if section == "_meta":
            continue
        for name, value in table_of(packages).items():
            package = table_of(value)
            kind, where = _direct(package)
            found.append(
                Input(
                    name=canonicalize_name(name),
                    kind=kind,
                    where=where or sources.get(text_of(package.get("index")), ""),
                    version=text_of(package.get("version")).removeprefix("=="),
                    revision=text_of(package.get("ref")),
                    archives=tuple(Archive(digest=digest) for digest in texts_of(package.get("hashes"))),
                )
            )
    return Inputs(inputs=tuple(dict.fromkeys(found)))


def pylock(text: str) -> Inputs:
    """pylock.toml (PEP 751)."""
    found = []
    for package in tables_of(toml_table(text).get("packages")):
        files = [*tables_of(package.get("wheels")), table_of(package.get("sdist"))]
        kind, where, revision = "registry", text_of(package.get("index")), ""
        for key, other in (("vcs", "vcs"), ("directory", "path"), ("archive", "url")):
            if direct := table_of(package.get(key)):
                kind, where = other, text_of(direct.get("url")) or text_of(direct.get("path"))
                revision = text_of(direct.get("commit-id"))
                files.append({"hashes": direct.get("hashes")})
        found.append(
            Input(
                name=_name(package), kind=kind, where=where,  # type: ignore[arg-type]
                version=text_of(package.get("version")), revision=revision, archives=_archives(files),
                needs=tuple(_edges(package)),
            )
        )  # fmt: skip
    return Inputs(inputs=tuple(found))


def _archives(files: Iterable[_Table]) -> tuple[Archive, ...]:
    found: list[Archive] = []
    for file in files:
        where = text_of(file.get("url")) or text_of(file.get("path"))
        name = text_of(file.get("file")) or where.partition("#")[0].rpartition("/")[2]
        digests = [text_of(file.get("hash"))] if "hash" in file else []
        digests += [f"{kind}:{value}" for kind, value in table_of(file.get("hashes")).items()]
        found += [Archive(name=name, where=where, digest=digest) for digest in digests or [""]]
    return tuple(one for one in found if one != Archive())


def _name(package: _Table) -> str:
    return canonicalize_name(text_of(package.get("name")))


def requirement_name(line: str) -> str:
    """The canonical name that a requirement line begins with; empty where it begins with none."""
    name = line.strip()
    for at, letter in enumerate(name):
        if not (letter.isalnum() or letter in "-_."):
            name = name[:at]
            break
    return canonicalize_name(name) if name and name.isascii() else ""
