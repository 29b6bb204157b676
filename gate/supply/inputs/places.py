"""Whose place an address is: two addresses of one registry, mirror or owner are the same place. Text only."""

from __future__ import annotations

import posixpath
import re
import tomllib
from functools import cache
from typing import Final

from gate.dataclass import dataclass
from gate.regex import regex
from gate.resources import rules_dir
from gate.supply.inputs.model import FileKind, Input, SourceKind

_SCHEME: Final = regex(r"^(?:[a-z]+\+)?[a-z][a-z0-9]*://", re.IGNORECASE)
_SSH: Final = regex(r"^(?:[\w.-]+@)?([\w.-]+):(?!//)(?!\d+/)([\w.~/-]+)$")
_SHORT: Final = {"github": "github.com", "gitlab": "gitlab.com", "bitbucket": "bitbucket.org"}


@dataclass(frozen=True, slots=True)
class _Data:
    registry: dict[str, str]
    shared: dict[str, int]
    owners: frozenset[str]


@cache
def _data() -> _Data:
    with (rules_dir() / "registries.toml").open("rb") as file:
        table = tomllib.load(file)
    return _Data(
        registry={host: name for name, hosts in table["registry"].items() for host in hosts},
        shared=dict(table["shared"]),
        owners=frozenset(f"owner:{name}" for name in table["owners"]),
    )


def split(address: str) -> tuple[str, str]:
    """Host (lower case, no user, no usual port) and path of an address; no host for a path of this machine.

    Understands URLs with or without ``git+``, ``git@host:path`` and ``github:owner/name``.
    """
    text = address.strip().partition("#")[0].partition("?")[0]
    short, _, rest = text.partition(":")
    if short.lower() in _SHORT and not rest.startswith("//"):
        return _SHORT[short.lower()], rest.strip("/")
    if match := _SCHEME.match(text):
        authority, _, path = text[match.end() :].partition("/")
        host = authority.rpartition("@")[2].lower().removesuffix(":443").removesuffix(":80").rstrip(".")
        return host, path.strip("/")
    if match := _SSH.match(text):
        return match[1].lower(), match[2].strip("/")
    return "", text


def shown(address: str) -> str:
    """The address without a password or a token, for people."""
    return re.sub(r"//(?!git@)[^/@]*@", "//[redacted]@", address)[:200]


def place(kind: SourceKind, address: str) -> str:
    """Whose place it is: ``registry:npm``, ``vcs:github.com/owner/name``, ``url:host``; ``path:inside``."""
    if kind == "path":
        outside = posixpath.normpath(address.removeprefix("file:")).startswith(("..", "/", "~"))
        return "path:outside" if outside else "path:inside"
    if not address:
        return "registry:default" if kind == "registry" else f"{kind}:?"
    clear = " in the clear" if address.lower().startswith(("http://", "git://", "git+http://")) else ""
    return _whose(kind, *split(address)) + clear


def _whose(kind: SourceKind, host: str, path: str) -> str:
    folder = path.strip("/").lower()
    whole = f"{host}/{folder.removesuffix('.git')}"
    for known, name in _data().registry.items():
        if known in (host, whole) or ("/" in known and whole.startswith(f"{known}/")):
            return f"registry:{name}"
    host = "github.com" if host == "codeload.github.com" else host
    if host in _data().shared:
        depth = _data().shared[host]
        parts = folder.partition("/-/")[0].split("/")[:depth]
        parts = [part[:1] + part[1:].partition("@")[0] for part in parts]
        folder = "/".join(parts).removesuffix(".git")
        return f"{'vcs' if kind == 'url' and depth == 2 else kind}:{host}/{folder}"
    if kind == "vcs":
        return f"vcs:{host}/{folder.removesuffix('.git')}"
    if kind == "registry":
        return f"registry:{host}/{folder.removesuffix('/simple').removesuffix('/+simple')}"
    return f"url:{host or folder}"


def places(one: Input) -> frozenset[str]:
    """Every place that it may be taken from: its own and its archives'."""
    found = {place(one.kind, one.where)} if one.where or not one.archives or one.kind != "registry" else set()
    for archive in one.archives:
        if archive.where:
            found.add(_of_archive(one, archive.where))
    return frozenset(found or {"registry:default"})


def _of_archive(one: Input, address: str) -> str:
    """The place of an archive; on the host of its own registry it is that registry's."""
    host = split(address)[0]
    if not host:
        return place("path", address)
    own = split(one.where)[0]
    if one.kind == "registry" and own and own == host and host not in _data().shared:
        return place("registry", one.where)
    return place("url", address)


def owners(one: Input) -> frozenset[str]:
    """Who it belongs to: host and first folder. For repositories and images, whose owner may rename them."""
    host, path = split(one.where)
    if one.kind == "path" or not host:
        return frozenset({place("path", one.where)})
    clear = " in the clear" if one.where.lower().startswith(("http://", "git://")) else ""
    return frozenset({f"owner:{host}/{path.split('/')[0].lower()}{clear}"})


def origins(one: Input, kind: FileKind) -> frozenset[str]:
    """What is compared of an input: its owner where it is a repository or an image, else its places."""
    if kind == "tools" and not one.where:
        return frozenset({"registry:default"})
    return owners(one) if kind in ("images", "repositories", "tools", "pipelines") else places(one)


def is_usual(name: str) -> bool:
    """Is this place one of the registries that everybody uses, or inside the project?"""
    known = set(_data().registry.values())
    return (
        name in _data().owners
        or name in ("registry:default", "path:inside")
        or (name.startswith("registry:") and name.removeprefix("registry:") in known)
    )
