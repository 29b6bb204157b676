"""Values that are handed out while they are a pool's again. Runs in the limited child; for every grammar.

``defer pool.Put(b)`` and ``return b.Bytes()``: the bytes belong to whoever takes the buffer next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from gate.languages.tree_sitter_parse import walk
from gate.protections.shared.facts import Shared
from gate.protections.tree_sitter.functions import AFTERWARDS, function_around, name_of
from gate.protections.tree_sitter.shapes import arguments, assigned, callee, inside, line_of, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_GIVES_BACK: Final = regex(
    r"(?i)(?:^|[.\w])\w*(?:pool\w*|buffers|\w*bufs|\w*cache\.buffers|shared)(?:\(\))?\."
    r"(?:put|put_?back|return\w*|release\w*|give_?back|recycle|free|check_?in)$"
    r"|^(?:\w+\.)?(?:put|release|return|recycle|free)_?\w*(?:buf|buffer|bytes|builder|writer|scratch)s?$"
)
_RETURNS: Final = frozenset({"return_statement", "return_expression", "return", "jump_expression"})
_NAME: Final = regex(r"[&*$]?[A-Za-z_]\w*")
_PARTS: Final = (
    r"(?:\.|->)(?:Bytes|bytes|AsSpan|AsMemory|Span|Memory|Buf|buf|B|Data|data|buffer|array|nioBuffer|slice|Slice|subarray"
    r"|view|getBuffer|GetBuffer|AvailableBuffer|getbuffer|asReadOnlyBuffer|duplicate)\b(?:\([^()]*\))?"
)
"""What is a part of a buffer and no copy of it."""
_VIEWS: Final = (
    r"(?:new\s+)?(?:ArraySegment|ReadOnlyMemory|Memory|ReadOnlySpan|Span|ReadOnlySequence)\s*(?:<[\w?]+>)?\s*\("
    r"|unsafe\.String\(|unsafe\.Slice\(|memoryview\(|ByteBuffer\.wrap\(|new\s+Uint8Array\("
)
_MOST_NODES: Final = 4_000
_DEEPEST: Final = 12


def pooled(node: Node) -> Iterator[Shared]:
    """Of a call that gives something back: the returns of its function that hand it out all the same."""
    said = callee(node).replace("::", ".").replace("->", ".").replace("?.", ".")
    given = arguments(node)
    if not given or not _GIVES_BACK.search(said) or not _NAME.fullmatch(text_of(given[0])):
        return
    name = text_of(given[0]).lstrip("&*")
    function, later, block = _scope(node)
    names = {name}
    for one in islice(walk(function, frozenset()), _MOST_NODES):
        pair = assigned(one) or _short(one)
        if pair is not None and _is_part(text_of(pair[1]), names) and _NAME.fullmatch(text_of(pair[0])):
            names.add(text_of(pair[0]))
        if one.type not in _RETURNS or function_around(one).id != function.id:
            continue
        after = later or (one.start_byte > node.end_byte and block is not None and _within(one, block))
        values = [inside(v) for v in one.named_children]
        values = [w for v in values for w in (v.named_children if v.type == "expression_list" else [v])]
        if after and any(_is_part(text_of(v), names) for v in values):
            yield Shared(
                "pooled", name_of(function), said[:80], False, line_of(one), text_of(one)[:160], name
            )


def _scope(node: Node) -> tuple[Node, bool, Node | None]:
    """The function whose end the call waits for or stands in, whether it waits, and the block around it."""
    at, later, block, depth = node, False, None, 0
    while at.parent is not None and depth < _DEEPEST:
        at, depth = at.parent, depth + 1
        if at.type in AFTERWARDS:
            later = True
            break
        if block is None and ("block" in at.type or "body" in at.type or at.type == "statement_list"):
            block = at
    return function_around(at if later else node), later, block


def _within(node: Node, block: Node) -> bool:
    return block.start_byte <= node.start_byte and node.end_byte <= block.end_byte


def _short(node: Node) -> tuple[Node, Node] | None:
    """``data := out.Bytes()``."""
    if node.type == "short_var_declaration" and node.named_child_count > 1:
        return inside(node.named_children[0]), inside(node.named_children[-1])
    return None


def _is_part(text: str, names: set[str]) -> bool:
    for name in names:
        word = re.escape(name)
        if re.fullmatch(rf"[&*(]*{word}\)*(?:{_PARTS}|\[[^\]]*\])*", text):
            return True
        if re.match(rf"(?:{_VIEWS})[&*(]*{word}\b", text):
            return True
    return False
