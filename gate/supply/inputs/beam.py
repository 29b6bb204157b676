"""Elixir's and Lua's files as inputs: ``mix.exs``, ``mix.lock``, rockspecs. Read as syntax trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gate.languages.tree_sitter_parse import parse, walk
from gate.supply.inputs.model import Archive, Input, Inputs

if TYPE_CHECKING:
    from tree_sitter import Node

_HEX: Final = "https://repo.hex.pm"
_FORGES: Final = {"github": "https://github.com/", "gitlab": "https://gitlab.com/"}


def mix(text: str) -> Inputs:
    """``mix.exs``: tuples of a name, what is asked for, and where it comes from."""
    root = parse(text.encode(), "tree_sitter_elixir")
    found = [one for node in walk(root, frozenset()) if node.type == "tuple" and (one := _asked(node))]
    return Inputs(kind="manifest", inputs=tuple(found), asked=tuple(one.name for one in found))


def _asked(node: Node) -> Input | None:
    parts = node.named_children
    if len(parts) < 2 or parts[0].type != "atom" or parts[1].type not in ("string", "keywords"):
        return None
    name = _text(parts[0]).lstrip(":")
    options = dict(_pairs(parts[-1])) if parts[-1].type == "keywords" else {}
    version = _text(parts[1]) if parts[1].type == "string" else ""
    revision = options.get("ref") or options.get("tag") or options.get("branch") or ""
    for forge, host in _FORGES.items():
        if forge in options:
            return Input(
                name=name, kind="vcs", where=host + options[forge], revision=revision, version=version
            )
    if "git" in options:
        return Input(name=name, kind="vcs", where=options["git"], revision=revision, version=version)
    if "path" in options:
        return Input(name=name, kind="path", where=options["path"], version=version)
    if not version and not {"organization", "repo", "hex"} & options.keys():
        return None
    owner = options.get("organization") or options.get("repo") or ""
    actual = options.get("hex", "").lstrip(":")
    where = f"{_HEX}/repos/{owner}" if owner else _HEX
    return Input(name=name, where=where, version=version, actual=actual if actual != name else "")


def mix_lock(text: str) -> Inputs:
    """``mix.lock``: a table of tuples that begin with ``:hex`` or ``:git``."""
    root = parse(text.encode(), "tree_sitter_elixir")
    found: list[Input] = []
    for node in walk(root, frozenset({"tuple"})):
        if node.type != "pair" or node.named_child_count != 2 or node.named_children[1].type != "tuple":
            continue
        name = _text(node.named_children[0]).rstrip(": ").strip("\"'")
        parts = node.named_children[1].named_children
        texts = [_text(part) for part in parts if part.type == "string"]
        kind = _text(parts[0]) if parts else ""
        if kind == ":git" and len(texts) > 1:
            found.append(Input(name=name, kind="vcs", where=texts[0], revision=texts[1]))
        elif kind == ":hex" and len(texts) > 1:
            package = _text(parts[1]).lstrip(":")
            repo = texts[2] if len(texts) > 2 else "hexpm"
            where = _HEX if repo == "hexpm" else f"{_HEX}/repos/{repo.partition(':')[2] or repo}"
            sums = [one for one in (texts[1], *texts[3:4]) if one]
            archives = tuple(Archive(digest=f"sha256:{one}") for one in sums)
            actual = package if package != name else ""
            found.append(Input(name=name, where=where, version=texts[0], actual=actual, archives=archives))
    return Inputs(inputs=tuple(found))


def rockspec(text: str) -> Inputs:
    """A rockspec's ``source``: the address and the tag that a rock is made from."""
    root = parse(text.encode(), "tree_sitter_lua")
    said: dict[str, str] = {}
    for node in walk(root, frozenset()):
        if node.type == "field" and node.named_child_count == 2:
            key = _text(node.named_children[0])
            if node.named_children[1].type == "string":
                said.setdefault(key, _text(node.named_children[1]))
    if not said.get("url"):
        return Inputs(kind="manifest")
    revision = said.get("tag") or said.get("branch") or ""
    source = Input(
        name="source", kind="vcs" if "git" in said["url"] else "url", where=said["url"], revision=revision
    )
    return Inputs(kind="manifest", inputs=(source,))


def _pairs(node: Node) -> Iterator[tuple[str, str]]:
    for pair in node.named_children:
        if pair.type == "pair" and pair.named_child_count == 2:
            yield _text(pair.named_children[0]).strip(": "), _text(pair.named_children[1])


def _text(node: Node) -> str:
    """A constant's text; of an interpolated one what is written."""
    return (node.text or b"").decode("utf-8", "replace").strip().strip("\"'")
