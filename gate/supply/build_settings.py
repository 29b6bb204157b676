"""Which repositories Maven, Gradle, NuGet and conda are told to use. Limited child only.

Every reader takes a text and gives ``(kind, address)`` pairs, as those of settings_files.py do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from gate.regex import regex
from gate.supply.inputs.text import table_of, texts_of, yaml_table
from gate.supply.inputs.xml_text import below, child_text, xml_root
from gate.supply.settings_files import Place

_GRADLE: Final = regex(
    r"//[^\n]*|/\*.*?\*/|\"\"\".*?\"\"\"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_]\w*|[^\s\w]",
    re.DOTALL,
)
_NAMES: Final = frozenset(
    {"url", "uri", "maven", "setUrl", "artifactUrls", "ivy", "flatDir", "URI", "create"}
)
_PUBLISHING: Final = frozenset(
    {"publishing", "uploadArchives", "mavenPublishing", "nexusPublishing", "distributionManagement"}
)
_PROPERTY: Final = regex(r"\$\{([^}]+)\}")
_FOLDERS: Final = frozenset(
    {"file", "layout", "rootDir", "projectDir", "buildDir", "buildDirectory", "flatDir", "rootProject"}
)
_FOLDER: Final = regex(r"^[\"'](?:\$\{?(?:rootDir|projectDir|buildDir|rootProject|project)|[./~]|file:)")
_HOST_COMPUTED: Final = regex(r"://[^/\"']*\$")
_RESOLVERS: Final = frozenset(
    {"MavenRepository", "Resolver", "MavenRepo", "MavenCache", "IvyRepository", "URLRepository"}
)
_NEAR: Final = 5
"""Words before an address among which one must say that it is a repository's."""
_SHORT: Final = {"defaults": "https://repo.anaconda.com/pkgs", "anaconda": "https://repo.anaconda.com/pkgs"}


def maven(text: str) -> Iterator[Place]:
    """``pom.xml`` and ``settings.xml``: repositories of packages and plugins, mirrors."""
    root = xml_root(text)
    given = {
        one.tag.rpartition("}")[2]: (one.text or "").strip()
        for part in below(root, "properties")
        for one in part
    }
    for name in ("repository", "pluginrepository", "mirror", "snapshotrepository"):
        for one in below(root, name):
            if address := child_text(one, "url"):
                filled = _PROPERTY.sub(lambda match: given.get(match[1], match[0]), address)
                yield "registry", f"computed: {filled}" if _PROPERTY.match(filled) else filled
    for one in below(root, "proxy"):
        if host := child_text(one, "host"):
            yield "proxy", host


def gradle(text: str) -> Iterator[Place]:
    """Scripts of Gradle in Groovy and Kotlin: addresses of repositories, and those that are computed."""
    before: list[str] = []
    rest: list[str] | None = None
    depth, published = 0, 0
    for match in _GRADLE.finditer(text):
        word = match[0]
        if word.startswith(("//", "/*")):
            continue
        depth += {"{": 1, "}": -1}.get(word, 0)
        if word == "{" and before[-1:] and before[-1] in _PUBLISHING:
            published = depth
        elif word == "}" and depth < published:
            published = 0
        if word[0] in "\"'":
            address = word.strip("\"'")
            if "://" in address and not _NAMES.isdisjoint(before[-_NEAR:]):
                yield "registry", address
        if rest is not None and (word in ("}", "{", ";") or "\n" in text[match.start() - 1 : match.start()]):
            if (computed := _computed(rest)) and not published:
                yield "registry", computed
            rest = None
        if rest is not None:
            rest.append(word)
        elif word in ("url", "setUrl") and "=" not in before[-1:]:
            rest = []
        before.append(word)


def _computed(words: list[str]) -> str:
    """What stands where a repository's address is asked for; empty where it can be read, or is a folder."""
    texts = [word for word in words if word[0] in "\"'"]
    folder = not _FOLDERS.isdisjoint(words) or any(_FOLDER.search(one) for one in texts[:1])
    if folder or not words or (any("://" in one and not _HOST_COMPUTED.search(one) for one in texts)):
        return ""
    named = [word for word in words if re.match(r"\w", word) and word not in _NAMES]
    return f"computed: {' '.join(words)}"[:200] if named or any("$" in one for one in texts) else ""


def sbt(text: str) -> Iterator[Place]:
    """Scripts of sbt and Mill: ``resolvers += "name" at "address"``, ``MavenRepository(...)``."""
    before: list[str] = []
    for match in _GRADLE.finditer(text):
        word = match[0]
        if word.startswith(("//", "/*")):
            continue
        near = before[-_NEAR:]
        asked = "at" in before[-2:] or not _RESOLVERS.isdisjoint(near)
        if word[0] in "\"'" and "://" in word and asked:
            address = word.strip("\"'")
            yield "registry", f"computed: {address}" if _HOST_COMPUTED.search(word) else address
        elif before[-1:] == ["at"] and before[-2:-1] and before[-2][0] in "\"'" and word[0] not in "\"'s(":
            yield "registry", f"computed: {word}"
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
    "build.sbt": sbt,
    "plugins.sbt": sbt,
    "build.sc": sbt,
    "build.mill": sbt,
    "nuget.config": nuget,
    "environment.yml": conda,
    "environment.yaml": conda,
    ".condarc": conda,
    "condarc": conda,
}
"""By file name, in lower case."""
