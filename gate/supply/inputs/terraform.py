"""Terraform's modules, providers and lock as inputs: ``*.tf`` and ``.terraform.lock.hcl``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.languages import hcl
from gate.supply.inputs.model import Archive, Input, Inputs

if TYPE_CHECKING:  # a grammar is needed where files are read, not where results are published
    from tree_sitter import Node

_HOME = "registry.terraform.io"


def read(text: str) -> Inputs:
    """What the grammar can read of a text; a source that is no plain text is left out, as Terraform wants."""
    root = hcl.parse(text.encode("utf-8", "replace"))
    found: list[Input] = []
    for words, body in hcl.blocks(root):
        values = dict(_texts(body))
        if words[0] == "module" and len(words) > 1 and (source := values.get("source")):
            found.append(_module(words[1], source[0], values.get("version", [""])[0]))
        elif words[0] == "provider" and len(words) > 1 and "/" in words[1] and values:
            archives = tuple(Archive(digest=h) for h in values.get("hashes", ()) if h.startswith("zh:"))
            where, version = _provider(words[1]), values.get("version", [""])[0]
            found.append(_input(words[1].rpartition("/")[2], where, version, archives=archives))
        elif words[0] == "terraform":
            found += [*_required(body), *_state(body)]
    return Inputs(kind="repositories", inputs=tuple(dict.fromkeys(found)))


def _input(name: str, where: str, version: str, archives: tuple[Archive, ...] = ()) -> Input:
    return Input(name=name, kind="vcs", where=where, version=version, archives=archives)


def _module(name: str, source: str, version: str) -> Input:
    """A folder, ``owner/name/provider`` of the registry, ``git::…?ref=…``, ``host/…`` or an address."""
    plain = source.partition("::")[2] or source
    address, _, query = plain.partition("?")
    revision = next((p.removeprefix("ref=") for p in query.split("&") if p.startswith("ref=")), "")
    if address.startswith((".", "/")):
        return Input(name=name, kind="path", where=address)
    if "://" not in address and not address.startswith("git@"):
        host = "." in address.partition("/")[0]
        address = f"https://{address}" if host else f"https://{_HOME}/{address}"
    return Input(name=name, kind="vcs", where=address, version=version, revision=revision)


def _provider(source: str) -> str:
    parts = source.split("/")
    host = parts[0] if len(parts) > 2 else _HOME
    return f"https://{_HOME if host == 'registry.opentofu.org' else host}/{'/'.join(parts[-2:])}"


def _required(block: Node) -> Iterator[Input]:
    for words, inner in hcl.blocks(block):
        if words[0] != "required_providers":
            continue
        for name, expression in hcl.attributes(inner):
            values = {
                _first(elem.named_children[0]): _first(elem.named_children[-1])
                for elem in _all(expression, "object_elem")
                if len(elem.named_children) > 1
            }
            if source := values.get("source"):
                yield _input(name, _provider(source), values.get("version", ""))


def _state(block: Node) -> Iterator[Input]:
    """Where the state is kept: whoever holds it knows every secret in it, and decides what is there."""
    for words, inner in hcl.blocks(block):
        if words[0] not in ("backend", "cloud"):
            continue
        values = {name: texts[0] for name, texts in _texts(inner)}
        kind = words[1] if words[0] == "backend" and len(words) > 1 else words[0]
        named = values.get("bucket") or values.get("storage_account_name") or values.get("organization")
        where = values.get("address") or (f"{kind}://{named}" if named else "")
        if where:
            yield _input(f"state in {kind}", where, "")


def _texts(block: Node) -> Iterator[tuple[str, list[str]]]:
    """The plain texts in each attribute that has any."""
    for name, expression in hcl.attributes(block):
        texts = [hcl.text_of(node) for node in _all(expression, "string_lit")]
        if texts:
            yield name, texts


def _first(node: Node) -> str:
    found = [hcl.text_of(each) for kind in ("string_lit", "identifier") for each in _all(node, kind)]
    return found[0] if found else ""


def _all(node: Node, kind: str) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type == kind:
            yield one
        else:
            waiting.extend(reversed(one.children))
