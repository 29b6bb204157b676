"""Aliases of modules that a bundler, a runner or a manifest is told, in code and as data.

Runs in the limited child, as do the patterns that the text of a change holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gate.languages.tree_sitter_parse import parse, walk
from gate.protections.tree_sitter.shapes import assigned, line_of, short_name, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

CONFIG: Final = regex(
    r"(?:^|/)(?:[\w.-]*(?:vite|vitest|webpack|rollup|rolldown|rspack|rsbuild|esbuild|jest|babel|metro|next|nuxt|astro|svelte|tsup"
    r"|tsdown|craco|farm|parcel|electron|unbuild|build|bundle)[\w.-]*\.[cm]?[jt]s|package\.json|[\w.-]*tsconfig[\w.-]*\.json"
    r"|jsconfig\.json|jest\.config\.json|deno\.jsonc?|import_?map\.json|\.babelrc(?:\.json)?)$"
)
_TABLES: Final = frozenset({
    "alias", "moduleNameMapper", "paths", "imports", "extraNodeModules", "resolveAlias", "_moduleAliases",
    "browser",
})  # fmt: skip
_TESTS: Final = frozenset({"moduleNameMapper"})
_SIGNS: Final = regex(r"(?:/\*|\*|\$)+$")
_MOST: Final = 200
_LONGEST: Final = 200


class Alias(msgspec.Struct, frozen=True):
    """One entry. ``target``: the texts of where it leads. ``matches``: names of ``options`` that it takes."""

    table: str
    pattern: str
    target: str
    line: int
    tests: bool
    matches: list[str]


def read(path: str, data: bytes, options: Mapping[str, Any]) -> list[Alias]:
    """The aliases of a file in their order."""
    names: Sequence[str] = options.get("names", ())
    grammar = "typescript" if path.endswith(("ts", "tsx")) else "javascript"
    text = b"(" + data + b"\n)" if not path.endswith(("js", "ts")) else data
    found: list[Alias] = []
    for node in walk(parse(text, grammar), frozenset()):
        pair = assigned(node)
        table = short_name(pair[0]) if pair is not None else ""
        if pair is None or table not in _TABLES:
            continue
        if (table == "imports" or table == "browser") and path.endswith((".js", ".ts", "mjs", "cjs")):
            continue
        for pattern, target, line in _entries(pair[1]):
            tests = table in _TESTS or _in_test(node)
            matches = [one for one in names if _takes(pattern, one)][:20]
            found.append(Alias(table, pattern, target, line, tests, matches))
    return found[:_MOST]


def _in_test(node: Node) -> bool:
    """Does it stand below ``test: {...}`` (Vitest)?"""
    at = node.parent
    while at is not None:
        if at.type == "pair" and short_name(at.child_by_field_name("key")) in ("test", "jest"):
            return True
        at = at.parent
    return False


def _entries(value: Node) -> Iterator[tuple[str, str, int]]:
    if value.type == "object":
        for one in value.named_children:
            if (pair := assigned(one)) is not None:
                yield text_of(pair[0]).strip("'\"`"), _strings(pair[1]), line_of(one)
    elif value.type == "array":
        for row in value.named_children:
            pairs = dict(_pairs(row))
            if "find" in pairs and "replacement" in pairs:
                yield text_of(pairs["find"]).strip("'\"`"), _strings(pairs["replacement"]), line_of(row)


def _pairs(row: Node) -> Iterator[tuple[str, Node]]:
    for one in row.named_children:
        if (pair := assigned(one)) is not None:
            yield short_name(pair[0]), pair[1]


def _strings(node: Node) -> str:
    """The texts of an expression, joined as a path is."""
    kinds = ("string_fragment", "template_chars")
    parts = [text_of(one) for one in walk(node, frozenset()) if one.type in kinds]
    joined = "/".join(part.strip("/") for part in parts if part.strip("/"))
    return re.sub(r"^(?:\.{1,2}/)+|<rootDir>/|/\./", "", joined)[:_LONGEST]


def _takes(pattern: str, name: str) -> bool:
    source = pattern
    if pattern.startswith("/") and pattern.rpartition("/")[0]:
        source = pattern[1:].rpartition("/")[0]
    if source != pattern or re.search(r"[\^()|\\]", pattern):
        try:
            return len(source) < _LONGEST and re.search(source.replace("\\/", "/"), name) is not None
        except re.error:
            return False
    stem = _SIGNS.sub("", pattern).rstrip("/")
    exact = pattern.endswith("$")
    return bool(stem) and (name == stem or (not exact and name.startswith(f"{stem}/")))
