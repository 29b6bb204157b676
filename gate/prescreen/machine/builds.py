"""Checks that some builds leave out: attributes, assertions of debug builds, constraints of a whole file.

Runs in the limited child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gate.languages.tree_sitter_parse import walk
from gate.prescreen.machine.vocabulary import CHECKS, SECURE
from gate.protections.tree_sitter.shapes import callee, is_call, line_of, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

FACT: Final = "how it is built"
_CFG: Final = regex(r"#\[cfg(?:_attr)?\(\s*(?!test\b|all\(test\b|target_|unix\b|windows\b|doc\b|doctest\b)")
_CONDITIONAL: Final = regex(r"\bConditional\(")
_ASSERTS: Final = regex(
    r"(?:^|[.:])(?:debug_assert(?:_eq|_ne)?!?|Debug\.Assert|Trace\.Assert|assertionFailure)$"
)
_TAG: Final = regex(rb"^//go:build\s+(.+)$|^// \+build\s+(.+)$", re.MULTILINE)
_ORDINARY: Final = regex(
    r"!?(?:linux|darwin|windows|freebsd|netbsd|openbsd|unix|android|ios|js|wasm\w*|wasip1|plan9|solaris|illumos|aix"
    r"|dragonfly|amd64|386|arm|arm64|riscv64|s390x|ppc64(?:le)?|mips\w*|loong64|cgo|ignore|tools?|race|go1\.\d+"
    r"|integration|e2e|test|tests|tinygo|appengine|purego|gofuzz|msan|asan|generate)"
)


def left_out(root: Node, data: bytes) -> Iterator[tuple[str, str, int]]:
    """Function or nothing, the check, and the line."""
    for node in walk(root, frozenset()):
        if node.type == "attribute_item" and _CFG.match(text_of(node)):
            after = node.next_named_sibling
            if after is not None and (what := check_in(after)):
                yield "", what, line_of(node)
        elif node.type == "attribute_list" and _CONDITIONAL.search(text_of(node)):
            named = node.parent.child_by_field_name("name") if node.parent is not None else None
            if named is not None and CHECKS.search(text_of(named)):
                yield text_of(named), text_of(named), line_of(node)
        elif is_call(node) or node.type == "macro_invocation":
            what = check_in(node) if _ASSERTS.search(_called(node)) else ""
            if what:
                yield "", what, line_of(node)
    yield from _tagged(root, data)


def _called(node: Node) -> str:
    macro = node.child_by_field_name("macro")
    return text_of(macro) if macro is not None else callee(node)


def check_in(node: Node) -> str:
    """The first call below that checks something or draws from the system's source; of a macro, its words."""
    for one in walk(node, frozenset()):
        said = (
            callee(one)
            if is_call(one)
            else text_of(one)
            if one.type in ("identifier", "scoped_identifier")
            else ""
        )
        if said and (CHECKS.search(said) or SECURE.search(said)):
            return said[:80]
    return ""


def _tagged(root: Node, data: bytes) -> Iterator[tuple[str, str, int]]:
    match = _TAG.search(data[:4_000])
    words = re.findall(r"!?[\w.]+", (match[1] or match[2]).decode("utf-8", "replace")) if match else []
    if all(_ORDINARY.fullmatch(word) for word in words):
        return
    for node in walk(root, frozenset({"block"})):
        if node.type in ("function_declaration", "method_declaration"):
            name = text_of(node.child_by_field_name("name"))
            if CHECKS.search(name):
                yield name, name, 1
                return
