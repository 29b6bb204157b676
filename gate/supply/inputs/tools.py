"""Programs that tool managers put on the path, as inputs: mise, asdf, proto, aqua; nix flakes and sources.

A tool's name says what is called, its backend says whose build of it that is. ``terraform`` of the manager's
own list and ``ubi:somebody/terraform`` are the same command and two programs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.supply.inputs.images import image
from gate.supply.inputs.model import Archive, Input, Inputs
from gate.supply.inputs.text import json_table, table_of, tables_of, text_of, texts_of, toml_table, yaml_table

_FORGES: Final = {
    "ubi": "https://github.com/", "github": "https://github.com/", "aqua": "https://github.com/",
    "gitlab": "https://gitlab.com/", "spm": "https://github.com/", "asdf": "https://github.com/",
    "vfox": "https://github.com/", "forgejo": "https://codeberg.org/",
}  # fmt: skip
_PACKAGES: Final = frozenset({"npm", "cargo", "pipx", "gem", "go", "dotnet", "conda"})
_HOSTS: Final = {
    "github": "https://github.com/",
    "gitlab": "https://gitlab.com/",
    "sourcehut": "https://git.sr.ht/",
}
_Table = Mapping[str, object]


def mise(text: str) -> Inputs:
    """mise.toml: its tools, what their names stand for, and the plugins that install them."""
    data = toml_table(text)
    found = [
        tool(name, _version(value), table_of(value)) for name, value in table_of(data.get("tools")).items()
    ]
    for key in ("alias", "tool_alias"):
        for name, value in table_of(data.get(key)).items():
            backend = text_of(value) or text_of(table_of(value).get("backend"))
            found += [tool(backend, "", {"exe": name})] if ":" in backend else []
    for name, value in table_of(data.get("plugins")).items():
        found.append(Input(name=name, kind="vcs", where=text_of(value)))
    return _made(found)


def versions(text: str) -> Inputs:
    """.tool-versions of asdf and mise: a name and its versions on each line."""
    rows = [line.partition("#")[0].split() for line in text.splitlines()]
    return _made(tool(row[0], row[1], {}) for row in rows if len(row) > 1)


def proto(text: str) -> Inputs:
    """.prototools: tools, and the plugins that know where they come from."""
    data = toml_table(text)
    found = [tool(name, value, {}) for name, value in data.items() if isinstance(value, str)]
    for name, value in table_of(data.get("plugins")).items():
        for key, plugin in [(name, value)] if isinstance(value, str) else table_of(value).items():
            where = text_of(plugin).replace("github://", "https://github.com/").removeprefix("source:")
            kind = "path" if where.startswith(("file:", ".")) else "vcs"
            found.append(Input(name=key, kind=kind, where=where))  # type: ignore[arg-type]
    return _made(found)


def aqua(text: str) -> Inputs:
    """aqua.yaml: packages named by owner and repository, and registries of them."""
    data = yaml_table(text)
    found = []
    for one in tables_of(data.get("packages")):
        name, _, version = text_of(one.get("name")).partition("@")
        found += [tool(f"aqua:{name}", version or text_of(one.get("version")), {})] if name else []
    for one in tables_of(data.get("registries")):
        owner, repository = text_of(one.get("repo_owner")), text_of(one.get("repo_name"))
        if owner:
            found.append(
                Input(
                    name=f"registry {text_of(one.get('name'))}",
                    kind="vcs",
                    where=f"https://github.com/{owner}/{repository}",
                )
            )
    return _made(found)


def tool(key: str, version: str, options: _Table) -> Input:
    """One tool: ``node``, ``ubi:owner/name``, ``npm:name``, ``asdf:address``, each with ``[exe=…]`` or not.

    Its name is the command that it puts on the path, so that the same command of another owner is a change.
    """
    bare, bracket, given = key.partition("[")
    stated = (
        dict(pair.strip().partition("=")[::2] for pair in given.rstrip("]").split(",")) if bracket else {}
    )
    backend, colon, rest = bare.partition(":")
    command = text_of(options.get("exe")) or text_of(options.get("rename_exe")) or stated.get("exe", "")
    if not colon or backend == "core":
        return Input(name=command or rest or bare, version=version)
    last = rest.rstrip("/").rpartition("/")[2].removesuffix(".git")
    if backend in _PACKAGES:
        return Input(name=command or last, version=version, actual=f"{backend}:{rest}")
    last = last.removeprefix("asdf-").removeprefix("vfox-").removeprefix("mise-")
    if "://" in rest or backend in ("https", "http"):
        where = rest if "://" in rest else bare
    else:
        where = f"{_FORGES.get(backend, f'{backend}://')}{rest}"
    return Input(name=command or last, kind="vcs", where=where, version=version)


def _version(value: object) -> str:
    first = value[0] if isinstance(value, list) and value else value
    return text_of(first) or text_of(table_of(first).get("version"))


def flake_lock(text: str) -> Inputs:
    """flake.lock: every node with the repository and the revision that it is locked to."""
    found = []
    for name, node in table_of(json_table(text).get("nodes")).items():
        locked = table_of(table_of(node).get("locked"))
        if locked:
            found.append(_nix(name, locked, text_of(locked.get("narHash"))))
    return Inputs(kind="repositories", inputs=tuple(dict.fromkeys(found)))


def nix_sources(text: str) -> Inputs:
    """nix/sources.json of niv and npins."""
    data = json_table(text)
    pins = table_of(data.get("pins")) or data
    found = [_nix(name, table_of(value), "") for name, value in pins.items() if isinstance(value, dict)]
    return Inputs(kind="repositories", inputs=tuple(one for one in found if one.where))


def _nix(name: str, at: _Table, digest: str) -> Input:
    digest = digest or text_of(at.get("sha256")) or text_of(at.get("hash"))
    source = {**at, **table_of(at.get("repository"))}
    kind, owner, repo = (text_of(source.get(key)) for key in ("type", "owner", "repo"))
    where = text_of(source.get("url"))
    if owner and repo:
        host = text_of(source.get("host"))
        where = (
            f"https://{host}/" if host else _HOSTS.get(kind.lower(), _HOSTS["github"])
        ) + f"{owner}/{repo}"
    revision = text_of(source.get("rev")) or text_of(source.get("revision"))
    archives = (Archive(digest=f"sha256:{digest.removeprefix('sha256-')}"),) if digest else ()
    if kind == "path" and not where:
        return Input(name=name, kind="path", where=text_of(source.get("path")))
    return Input(name=name, kind="vcs", where=where, revision=revision, archives=archives)


def _made(found: Iterator[Input] | list[Input]) -> Inputs:
    return Inputs(kind="tools", inputs=tuple(dict.fromkeys(one for one in found if one.name)))


def devcontainer_lock(text: str) -> Inputs:
    """devcontainer-lock.json: what each feature of the settings is resolved to. Its key is what they name."""
    found = []
    for name, value in table_of(json_table(text).get("features")).items():
        resolved = text_of(table_of(value).get("resolved"))
        if not resolved or name.startswith((".", "/")):
            continue
        wanted = image(name)
        if "://" in resolved:
            found.append(
                Input(name=name, kind="url", where=resolved, actual="" if resolved == name else resolved)
            )
            continue
        got = image(resolved)
        other = "" if got.where == wanted.where else got.where.removeprefix("oci://")
        needs = tuple(texts_of(table_of(value).get("dependsOn")))
        found.append(
            Input(
                name=name, kind="vcs", where=got.where, version=text_of(table_of(value).get("version")),
                archives=got.archives, actual=other, needs=needs,
            )
        )  # fmt: skip
    return Inputs(kind="lock", inputs=tuple(dict.fromkeys(found)))
