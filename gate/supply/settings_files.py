"""Settings files of package managers: which indexes, registries and proxies they name. Limited child only.

Every reader takes a text and gives ``(kind, address)`` pairs; a text that is no such file raises ValueError.
"""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal

from gate.regex import regex
from gate.supply.inputs.text import json_table, plain_json, table_of, tables_of, text_of, texts_of, yaml_table

Kind = Literal["index", "extra-index", "find-links", "trusted-host", "registry", "proxy"]
Place = tuple[Kind, str]


def npmrc(text: str) -> Iterator[Place]:
    """``.npmrc``: the registry, those of scopes, proxies."""
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        key = key.strip().lower()
        if not equals or key.startswith(("#", ";")):
            continue
        if key == "registry" or (key.startswith("@") and key.endswith(":registry")):
            yield "registry", value.strip().strip("\"'")
        elif key in ("proxy", "https-proxy", "http-proxy"):
            yield "proxy", value.strip().strip("\"'")


def yarnrc(text: str) -> Iterator[Place]:
    """``.yarnrc`` of yarn 1: ``key value``, either may be quoted."""
    for line in text.splitlines():
        words = [word.strip("\"'") for word in line.split()]
        if len(words) == 2 and (words[0] == "registry" or words[0].endswith(":registry")):
            yield "registry", words[1]
        elif len(words) == 2 and words[0] in ("proxy", "https-proxy"):
            yield "proxy", words[1]


def yarnrc_yml(text: str) -> Iterator[Place]:
    """``.yarnrc.yml`` of later yarns."""
    data = yaml_table(text)
    for table in (data, *map(table_of, table_of(data.get("npmScopes")).values())):
        for key in ("npmRegistryServer", "npmPublishRegistry"):
            if key in table:
                yield "registry", text_of(table[key])
    for key in ("httpProxy", "httpsProxy"):
        if key in data:
            yield "proxy", text_of(data[key])


def uv(table: Mapping[str, object]) -> Iterator[Place]:
    """``uv.toml``, or ``[tool.uv]`` and ``[tool.uv.pip]`` of pyproject.toml, but for tables of indexes."""
    for part in (table, table_of(table.get("pip"))):
        if text_of(part.get("index-url")):
            yield "index", text_of(part["index-url"])
        for url in texts_of(part.get("extra-index-url")):
            yield "extra-index", url
        for url in texts_of(part.get("find-links")):
            yield "find-links", url
    for host in texts_of(table.get("allow-insecure-host")):
        yield "trusted-host", host


def uv_toml(text: str) -> Iterator[Place]:
    """``uv.toml``."""
    table = tomllib.loads(text)
    yield from uv(table)
    for index in tables_of(table.get("index")):
        yield "index", text_of(index.get("url"))


def pypirc(text: str) -> Iterator[Place]:
    """``.pypirc``: where packages are published to."""
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    for section in parser.sections():
        if address := parser.get(section, "repository", fallback=""):
            yield "index", address


def bunfig(text: str) -> Iterator[Place]:
    """``bunfig.toml``."""
    install = table_of(tomllib.loads(text).get("install"))
    for value in (install.get("registry"), *table_of(install.get("scopes")).values()):
        if address := text_of(value) or text_of(table_of(value).get("url")):
            yield "registry", address


def cargo(text: str) -> Iterator[Place]:
    """``.cargo/config.toml``: sources that stand for others, registries, a proxy."""
    data = tomllib.loads(text)
    for source in map(table_of, table_of(data.get("source")).values()):
        for key in ("registry", "local-registry", "directory", "git"):
            if text_of(source.get(key)):
                yield "registry", text_of(source[key]).removeprefix("sparse+")
    for registry in map(table_of, table_of(data.get("registries")).values()):
        if text_of(registry.get("index")):
            yield "registry", text_of(registry["index"]).removeprefix("sparse+")
    if proxy := text_of(table_of(data.get("http")).get("proxy")):
        yield "proxy", proxy


def poetry_toml(text: str) -> Iterator[Place]:
    """``poetry.toml``: repositories that packages are published to."""
    for repository in map(table_of, table_of(tomllib.loads(text).get("repositories")).values()):
        if text_of(repository.get("url")):
            yield "index", text_of(repository["url"])


def gemfile(text: str) -> Iterator[Place]:
    """``Gemfile``: lines that begin with ``source``; the language itself is not run."""
    for line in text.splitlines():
        word, _, rest = line.strip().replace("(", " ", 1).partition(" ")
        rest = rest.strip()
        if word == "source" and rest[:1] in ("'", '"') and rest.count(rest[0]) > 1:
            yield "registry", rest[1:].partition(rest[0])[0]


def vcpkg(text: str) -> Iterator[Place]:
    """``vcpkg-configuration.json``, and the same within ``vcpkg.json``: registries of packages."""
    data = json_table(text)
    data = table_of(data.get("vcpkg-configuration")) or data
    registries = [table_of(data.get("default-registry")), *tables_of(data.get("registries"))]
    for one in registries:
        if (
            address := text_of(one.get("repository"))
            or text_of(one.get("location"))
            or text_of(one.get("path"))
        ):
            yield "registry", address


def composer(text: str) -> Iterator[Place]:
    """``composer.json``: its repositories."""
    value = json_table(text).get("repositories")
    for repository in tables_of(list(value.values()) if isinstance(value, dict) else value):
        if text_of(repository.get("type")) != "path" and text_of(repository.get("url")):
            yield "registry", text_of(repository["url"])


_VARIABLES: Final[dict[str, Kind]] = {
    "PIP_INDEX_URL": "index",
    "PIP_EXTRA_INDEX_URL": "extra-index",
    "PIP_FIND_LINKS": "find-links",
    "PIP_TRUSTED_HOST": "trusted-host",
    "UV_INDEX_URL": "index",
    "UV_DEFAULT_INDEX": "index",
    "UV_INDEX": "extra-index",
    "UV_EXTRA_INDEX_URL": "extra-index",
    "NPM_CONFIG_REGISTRY": "registry",
    "YARN_REGISTRY": "registry",
    "YARN_NPM_REGISTRY_SERVER": "registry",
    "GOPROXY": "registry",
}
_OF_REGISTRIES: Final = regex(r"registr(?:y|ies)", re.IGNORECASE)
_ADDRESS: Final = regex(r"https?://[^\s\"'<>,;)\]}]+")
_ASSIGNED: Final = regex(
    rf"(?<![\w-])({'|'.join(map(re.escape, _VARIABLES))})[\"']?\s*(?:=|:|\s)\s*[\"']?(https?://[^\s\"',;]+)",
    re.IGNORECASE,
)


def variables(text: str) -> Iterator[Place]:
    """Variables that package managers obey, in whatever sets them: tox, Docker, compose, make, ``.env``."""
    for line in text.splitlines():
        if not line.lstrip().startswith(("#", "//")):
            for name, address in _ASSIGNED.findall(line[:4000]):
                yield _VARIABLES[name.upper()], address


def renovate(text: str) -> Iterator[Place]:
    """Renovate's settings: from where it takes updates."""
    try:
        table = json_table(plain_json(text))
    except ValueError:  # JSON5, or a doubled key
        yield from _registries_named(text)
    else:
        yield from _named(table, ("registryUrls", "defaultRegistryUrls"))


def dependabot(text: str) -> Iterator[Place]:
    """Dependabot's settings: the registries it logs in to."""
    try:
        registries = table_of(yaml_table(text).get("registries"))
    except ValueError:  # a doubled key counts for GitHub
        yield from _registries_named(text)
    else:
        for registry in map(table_of, registries.values()):
            if text_of(registry.get("url")):
                yield "registry", text_of(registry["url"])


def _registries_named(text: str) -> Iterator[Place]:
    """Of a text that is no plain data: the addresses after a word that says that they are registries."""
    if _OF_REGISTRIES.search(text):
        for line in text.splitlines():
            for address in _ADDRESS.findall(line) if "$schema" not in line else ():
                yield "registry", address


def _named(value: object, keys: tuple[str, ...], deep: int = 20) -> Iterator[Place]:
    """Addresses below these keys, at any depth."""
    if deep and isinstance(value, list):
        for each in value:
            yield from _named(each, keys, deep - 1)
    elif deep and isinstance(value, dict):
        for key, inner in value.items():
            if key in keys:
                yield from (("registry", url) for url in texts_of(inner))
            else:
                yield from _named(inner, keys, deep - 1)


def lfs(text: str) -> Iterator[Place]:
    """``.lfsconfig``: from where git fetches large files."""
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and key.strip().lower() in ("url", "pushurl"):
            yield "registry", value.strip().strip("\"'")


READERS: Final[dict[str, Callable[[str], Iterator[Place]]]] = {
    ".npmrc": npmrc,
    ".yarnrc": yarnrc,
    ".yarnrc.yml": yarnrc_yml,
    "uv.toml": uv_toml,
    ".pypirc": pypirc,
    "bunfig.toml": bunfig,
    ".cargo/config.toml": cargo,
    ".cargo/config": cargo,
    "poetry.toml": poetry_toml,
    "gemfile": gemfile,
    "composer.json": composer,
    "vcpkg-configuration.json": vcpkg,
    "vcpkg.json": vcpkg,
    "renovate.json": renovate,
    ".renovaterc": renovate,
    ".renovaterc.json": renovate,
    ".github/dependabot.yml": dependabot,
    ".github/dependabot.yaml": dependabot,
    ".lfsconfig": lfs,
    "tox.ini": variables,
    "makefile": variables,
    "justfile": variables,
    "dockerfile": variables,
    "compose.yaml": variables,
    "compose.yml": variables,
    "docker-compose.yml": variables,
    "docker-compose.yaml": variables,
    ".env": variables,
    ".envrc": variables,
    ".gitlab-ci.yml": variables,
    "noxfile.py": variables,
}
"""By the file's name, or its folder's and its own."""
