"""Which settings of the environment a bundler's configuration writes into the bundle.

Vite, Rsbuild, SvelteKit and Astro by the beginning of a name; webpack, esbuild, Rollup, Next, Nuxt, Expo and
Babel by the name itself, or all of them at once. Runs in the limited child:
``gate.builds.exposed:read``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gate.languages.grammars import grammar_of
from gate.languages.tree_sitter_parse import parse, walk
from gate.protections.tree_sitter.shapes import arguments, callee, is_call, line_of, short_name, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_PREFIXES: Final = frozenset({"envPrefix", "publicPrefix", "prefixes"})
_DEFINES: Final = frozenset({"define", "replace", "publicRuntimeConfig"})
_PLUGINS: Final = frozenset({
    "DefinePlugin", "EnvironmentPlugin", "replace", "injectProcessEnv", "replacePlugin",
})  # fmt: skip
"""Plugins whose argument is written into the code: webpack's and Rspack's, Rollup's."""
_STRINGS: Final = frozenset({"string", "template_string"})
_ENVIRONMENTS: Final = frozenset({"process.env", "Bun.env", "Deno.env.toObject()", "import.meta.env"})
_LONGEST_NAME: Final = 100
_MOST: Final = 400


class Exposed(msgspec.Struct, frozen=True):
    """One thing that the bundle gets. ``kind``: *prefix* (the beginning of names), *name*, or *whole* (all
    settings of the environment).
    """

    kind: str
    name: str
    line: int
    text: str


def read(path: str, data: bytes, options: Mapping[str, Any]) -> list[Exposed]:
    """What one program of settings exposes."""
    del options
    root = parse(data, grammar_of(path))
    return [*_Reader(root, PurePosixPath(path).name.lower()).read()][:_MOST]


class _Reader:
    def __init__(self, root: Node, name: str) -> None:
        self.root = root
        self.name = name
        self.everything = {*_ENVIRONMENTS, *_loaded(root)} - {"import.meta.env"}

    def read(self) -> Iterator[Exposed]:
        for node in walk(self.root, frozenset()):
            if node.type == "pair":
                key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
                if key is not None and value is not None:
                    yield from self._entry(short_name(key), value)
            elif is_call(node) and callee(node).rpartition(".")[2] in _PLUGINS:
                for given in arguments(node):
                    yield from self._given(given)

    def _entry(self, key: str, value: Node) -> Iterator[Exposed]:
        if key in _PREFIXES:
            yield from [Exposed("prefix", name, line_of(value), text_of(value)) for name in _texts(value)]
        elif key in _DEFINES or (key in ("public", "extra", "env") and self._is_public(key, value)):
            yield from self._given(value)
        elif is_call(value) and callee(value).startswith("envField"):
            said = {short_name(a): short_name(b) for a, b in _pairs(value)}
            if said.get("access") == "public" or said.get("context") == "client":
                yield Exposed("name", key, line_of(value), text_of(value)[:_LONGEST_NAME])

    def _is_public(self, key: str, value: Node) -> bool:
        """Is it ``env`` of Next, ``runtimeConfig.public`` of Nuxt, or ``extra`` of Expo?"""
        if key == "env":
            return self.name.startswith("next.config") and _outer(value) not in ("headers", "experimental")
        if key == "public":
            return _outer(value) == "runtimeConfig"
        return self.name.startswith("app.config")

    def _given(self, value: Node) -> Iterator[Exposed]:
        """Names and values of a table that is written into the bundle, or texts of a list of names."""
        if value.type == "array":
            yield from [Exposed("name", name, line_of(value), text_of(value)[:200]) for name in _texts(value)]
        for node in walk(value, frozenset()):
            if node.type == "pair":
                name = short_name(node.child_by_field_name("key")).rpartition(".")[2]
                if name.isupper():
                    yield Exposed("name", name, line_of(node), text_of(node)[:200])
            plain = text_of(node)
            if node.type in ("member_expression", "identifier", "call_expression"):
                if plain in self.everything and not _is_part(node):
                    yield Exposed("whole", plain, line_of(node), _statement(node))
                base = text_of(node.child_by_field_name("object"))
                if node.type == "member_expression" and base in self.everything:
                    yield Exposed("name", short_name(node), line_of(node), _statement(node))


def _loaded(root: Node) -> Iterator[str]:
    """Variables that hold all settings: ``const env = loadEnv(mode, process.cwd(), "")``, and copies."""
    for node in walk(root, frozenset()):
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if node.type != "variable_declarator" or name is None or value is None:
            continue
        text = text_of(value)
        if is_call(value) and callee(value).rpartition(".")[2] == "loadEnv":
            given = arguments(value)
            if len(given) > 2 and text_of(given[2]) in ("''", '""', "``"):
                yield text_of(name)
        elif text in _ENVIRONMENTS or (value.type == "object" and "...process.env" in text):
            yield text_of(name)


def _is_part(node: Node) -> bool:
    """Is only something of it taken: a member, or what a method of the whole picks?"""
    above = node.parent
    if above is None or above.type in ("member_expression", "subscript_expression"):
        return True
    if above.type == "pair" and above.child_by_field_name("key") == node:
        return True
    if above.type == "arguments" and above.parent is not None:
        name = callee(above.parent)
        return name not in ("JSON.stringify", "Object.keys", "Object.entries", "Object.assign")
    return above.type not in ("pair", "spread_element", "arguments", "parenthesized_expression", "object")


def _statement(node: Node) -> str:
    at = node
    while at.parent is not None and at.type not in ("pair", "spread_element", "arguments"):
        at = at.parent
    return text_of(at)[:200]


def _outer(value: Node) -> str:
    """The key under which the table lies that the entry of ``value`` stands in."""
    pair = value.parent
    table = pair.parent if pair is not None else None
    above = table.parent if table is not None else None
    return short_name(above.child_by_field_name("key")) if above is not None and above.type == "pair" else ""


def _pairs(node: Node) -> Iterator[tuple[Node, Node]]:
    for one in walk(node, frozenset()):
        key, value = one.child_by_field_name("key"), one.child_by_field_name("value")
        if one.type == "pair" and key is not None and value is not None:
            yield key, value


def _texts(node: Node) -> Iterator[str]:
    for one in walk(node, _STRINGS):
        if one.type in _STRINGS:
            yield text_of(one)[1:-1]
