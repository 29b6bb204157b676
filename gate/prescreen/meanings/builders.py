"""Joins that query builders and ORMs make, with the owners' columns that their conditions compare.

SQLAlchemy, Knex, TypeORM, Kysely, Objection, Laravel, GORM's and Rails' by name. Runs in the limited child.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gate.languages.tree_sitter_parse import walk
from gate.protections.tree_sitter.shapes import arguments, callee, line_of, text_of
from gate.protections.vocabulary import is_owner
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_INNER: Final = frozenset({"join", "innerJoin", "inner_join", "innerJoinAndSelect", "joinWhere"})
_OUTER: Final = frozenset({
    "outerjoin", "outer_join", "leftJoin", "left_join", "leftOuterJoin", "left_outer_join", "leftJoinWhere",
    "leftJoinAndSelect", "fullOuterJoin",
})  # fmt: skip
_ISOUTER: Final = regex(r"\b(?:isouter|full)\s*=\s*True\b")
_COMPARED: Final = regex(r"==|===|=\s*[:?@$%]|[\"']=[\"']|\.eq\(|,\s*\{|=>")
_GIVEN: Final = regex(
    r"(?i)(?:==|=)\s*[:?@$%]\w*|\b(?:current_?user|user|member|viewer|actor|me|request|session|ctx|context|self|this)\b"
    r"\s*[.\[)]"
    r"|\b(?:user|member|viewer|actor|owner|tenant|org|account)_?[iI]d\b\s*[,)}]"
)
_ASKED: Final = regex(
    r"(?i)is_?not\(|!=\s*None|whereNotNull|where_not_null|is not null|whereNot\(|\.exists\(|!=\s*null"
)
_NAMES: Final = regex(r"[A-Za-z_]\w*")


def join_of(node: Node) -> tuple[str, list[str], bool] | None:
    """What a call joins, owners' columns of its condition, and is it an outer join; None: no join."""
    name = callee(node).rpartition(".")[2].rpartition("->")[2]
    given = arguments(node)
    if name not in _INNER | _OUTER or len(given) < 2:
        return None
    condition = " ".join(text_of(one) for one in given[1:])
    if not _COMPARED.search(condition) or not _GIVEN.search(f"{condition} )"):
        return None
    columns = sorted({one for one in _NAMES.findall(condition) if is_owner(one)})
    if not columns:
        return None
    is_outer = name in _OUTER or bool(_ISOUTER.search(condition))
    return re.sub(r"\W+", " ", text_of(given[0])).strip().lower(), columns, is_outer


def asks_for_presence(function: Node) -> bool:
    """Does the function ask that a joined row is there?"""
    return bool(_ASKED.search(text_of(function)))


def lines_of(root: Node) -> list[tuple[Node, int]]:
    """Calls that may be joins, with their lines."""
    kinds = frozenset({"call", "call_expression", "method_invocation", "member_call_expression"})
    return [(node, line_of(node)) for node in walk(root, frozenset()) if node.type in kinds]
