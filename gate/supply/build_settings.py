"""Which repositories Maven, Gradle, NuGet and conda are told to use. Limited child only.

Every reader takes a text and gives ``(kind, address)`` pairs, as those of settings_files.py do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from gate.supply.inputs.text import table_of, texts_of, yaml_table
from gate.supply.inputs.xml_text import below, child_text, xml_root
from gate.supply.settings_files import Place

_GRADLE: Final = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"\"\".*?\"\"\"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_]\w*|[^\s\w]",
    re.DOTALL,
)
_NAMES: Final = frozenset(
    {"url", "uri", "maven", "setUrl", "artifactUrls", "ivy", "flatDir", "URI", "create"}
)
_NEAR: Final = 5
"""Words before an address among which one must say that it is a repository's."""
_SHORT: Final = {"defaults": "https://repo.anaconda.com/pkgs", "anaconda": "https://repo.anaconda.com/pkgs"}


def maven(text: str) -> Iterator[Place]:
    """``pom.xml`` and ``settings.xml``: repositories of packages and plugins, mirrors."""
    root = xml_root(text)
    for name in ("repository", "pluginrepository", "mirror", "snapshotrepository"):
        for one in below(root, name):
            if address := child_text(one, "url"):
                yield "registry", address
    for one in below(root, "proxy"):
        if host := child_text(one, "host"):
            yield "proxy", host


def gradle(text: str) -> Iterator[Place]:
    """Scripts of Gradle in Groovy and Kotlin: constant addresses of repositories."""
    before: list[str] = []
    for match in _GRADLE.finditer(text):
        word = match[0]
        if word.startswith(("//", "/*")):
            continue
        if word[0] in "\"'":
            address = word.strip("\"'")
            if "://" in address and not _NAMES.isdisjoint(before[-_NEAR:]):
                yield "registry", address
        before.append(word)


def nuget(text: str) -> Iterator[Place]:
    """``nuget.config``: sources of packages, and a proxy."""
    root = xml_root(text)
    for one in below(root, "packagesources", "add"):
        yield "registry", one.get("value", "")
    for one in below(root, "config", "add"):
        if one.get("key", "").lower() == "http_proxy":
            yield "proxy", one.get("value", "")


def conda(text: str) -> Iterator[Place]:
    """``environment.yml``, ``.condarc``, ``pixi.toml``'s like: channels."""
    data = yaml_table(text)
    for key in ("channels", "default_channels", "allowlist_channels", "whitelist_channels"):
        for channel in texts_of(data.get(key)):
            yield "registry", _channel(channel)
    if isinstance(alias := data.get("channel_alias"), str):
        yield "registry", alias
    for value in table_of(data.get("proxy_servers")).values():
        if isinstance(value, str):
            yield "proxy", value


def _channel(name: str) -> str:
    if "://" in name:
        return name
    return _SHORT.get(name, f"https://conda.anaconda.org/{name.partition('::')[0]}")


READERS: Final[dict[str, Callable[[str], Iterator[Place]]]] = {
    "pom.xml": maven,
    "settings.xml": maven,
    "build.gradle": gradle,
    "build.gradle.kts": gradle,
    "settings.gradle": gradle,
    "settings.gradle.kts": gradle,
    "init.gradle": gradle,
    "nuget.config": nuget,
    "environment.yml": conda,
    "environment.yaml": conda,
    ".condarc": conda,
    "condarc": conda,
}
"""By file name, in lower case."""
