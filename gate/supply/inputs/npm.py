"""package-lock.json, npm-shrinkwrap.json and package.json as inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.supply.inputs.model import Archive, Input, Inputs, SourceKind, UnreadableInputError
from gate.supply.inputs.text import json_table, table_of, text_of

_MODULES: Final = "node_modules/"
_DEEPEST: Final = 40
_NEEDS: Final = ("dependencies", "optionalDependencies", "peerDependencies", "devDependencies")
_VCS: Final = ("git+", "git:", "git@", "ssh:", "github:", "gitlab:", "bitbucket:", "gist:")


def lock(text: str) -> Inputs:
    """Versions 1 to 3."""
    data = json_table(text)
    packages = data.get("packages")
    if not isinstance(packages, dict):
        return Inputs(inputs=tuple(dict.fromkeys(_first(table_of(data.get("dependencies")), 0))))
    found: list[Input] = []
    asked: list[str] = []
    for place, value in packages.items():
        entry = table_of(value)
        name = place.rpartition(_MODULES)[2] if _MODULES in place else ""
        needs = tuple(name for key in _NEEDS for name in table_of(entry.get(key)))
        if not name:  # the project, or a folder of its workspace
            asked += needs
        elif entry.get("link") is not True and entry.get("inBundle") is not True:
            real = text_of(entry.get("name")) or name
            found.append(
                locked(
                    name, real, text_of(entry.get("version")), text_of(entry.get("resolved")),
                    text_of(entry.get("integrity")), needs, runs=entry.get("hasInstallScript") is True,
                )
            )  # fmt: skip
    return Inputs(inputs=tuple(dict.fromkeys(found)), asked=tuple(dict.fromkeys(asked)), tells_runs=True)


def _first(table: Mapping[str, object], depth: int) -> Iterator[Input]:
    if depth > _DEEPEST:
        raise UnreadableInputError("it is nested too deeply")
    for name, value in table.items():
        entry = table_of(value)
        version = text_of(entry.get("version"))
        real, resolved = name, text_of(entry.get("resolved"))
        if version.startswith("npm:"):
            real, _, version = version.removeprefix("npm:").rpartition("@")
        if ":" in version and not resolved:
            resolved, version = version, ""
        if entry.get("bundled") is not True and not version.startswith("file:"):
            needs = tuple(table_of(entry.get("requires")))
            yield locked(name, real, version, resolved, text_of(entry.get("integrity")), needs)
        yield from _first(table_of(entry.get("dependencies")), depth + 1)


def locked(
    name: str, real: str, version: str, resolved: str, integrity: str, needs: tuple[str, ...] = (),
    *, runs: bool = False,
) -> Input:  # fmt: skip
    """An entry of any lock of npm's registry: where it comes from is told by the archive's address."""
    kind, where, revision = source_of(resolved, real)
    address = resolved.partition("#")[0]
    file = address.rpartition("/")[2] if kind in ("registry", "url") else ""
    digests = [digest_of(word) for word in integrity.split()]
    if not digests and kind == "registry" and len(fragment := resolved.partition("#")[2]) == 40:
        digests = [f"sha1:{fragment}"]
    archives = tuple(
        Archive(name=file, where=address if kind in ("registry", "url") else "", digest=digest)
        for digest in (digests or ([""] if address and kind in ("registry", "url") else []))
    )
    return Input(
        name=name, kind=kind, where=where, version=version, revision=revision,
        actual=real if real != name else "", archives=archives, needs=needs, runs=runs,
    )  # fmt: skip


def digest_of(word: str) -> str:
    """``sha512-…`` (Subresource Integrity) as ``sha512:…``."""
    return word.partition("?")[0].replace("-", ":", 1)


def source_of(resolved: str, real: str) -> tuple[SourceKind, str, str]:
    """Kind, place and revision of what a lock says was fetched; nothing said is the settings' registry."""
    address, _, fragment = resolved.partition("#")
    if resolved.startswith(_VCS) or address.endswith(".git"):
        return "vcs", address, fragment
    if address.startswith(("http://", "https://")):
        front, dash, _ = address.replace("%2f", "/").replace("%2F", "/").partition("/-/")
        if dash and front.lower().endswith(f"/{real.lower()}"):
            return "registry", front[: -len(real)], ""
        return "url", address, ""
    if address.startswith(("file:", ".", "/", "link:", "portal:")):
        return "path", address.removeprefix("file:").removeprefix("link:").removeprefix("portal:"), ""
    return "registry", "", ""


def manifest(text: str) -> Inputs:
    """package.json: every table of needs, and what is put in the place of others."""
    data = json_table(text)
    found: list[Input] = []
    for key in _NEEDS:
        found += (wanted(name, range_) for name, range_ in _pairs(table_of(data.get(key)), 0))
    found += [*overrides(data), *overrides(table_of(data.get("pnpm")))]
    return Inputs(kind="manifest", inputs=tuple(dict.fromkeys(found)))


def overrides(data: Mapping[str, object]) -> Iterator[Input]:
    """What stands under ``overrides`` and ``resolutions``, under the name that it is put in the place of."""
    for key in ("overrides", "resolutions"):
        yield from (wanted(name, range_) for name, range_ in _pairs(table_of(data.get(key)), 0))


def _pairs(table: Mapping[str, object], depth: int) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, dict) and depth < _DEEPEST:
            yield from _pairs(value, depth + 1)


def wanted(name: str, text: str) -> Input:
    """What a manifest asks for under a name: a range, another package, or an address."""
    if text.startswith("npm:"):
        real, _, version = text.removeprefix("npm:").rpartition("@")
        real, version = (real, version) if real else (version, "")
        return Input(name=name, version=version, actual=real if real != name else "")
    if text.startswith(("workspace:", "catalog:", "file:", "link:", "portal:")):
        return Input(name=name, kind="path", where=text.partition(":")[2] or ".")
    address, _, revision = text.partition("#")
    if text.startswith(_VCS) or address.endswith(".git"):
        return Input(name=name, kind="vcs", where=address, revision=revision)
    if text.startswith(("http://", "https://")):
        return Input(name=name, kind="url", where=text)
    if (
        "/" in address
        and not text.startswith(("@", ".", "/", ">", "<", "^", "~", "patch:"))
        and address.count("/") == 1
    ):
        return Input(name=name, kind="vcs", where=f"github:{address}", revision=revision)
    return Input(name=name, version=text)
