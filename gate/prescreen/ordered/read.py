"""The orders of one file. Runs in the limited child."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gate.languages.grammars import grammar_of
from gate.languages.tree_sitter_parse import parse, without_long_lines
from gate.prescreen.ordered.enums import Numbered, enums_in
from gate.prescreen.ordered.lists import LINES, TABLES, TREES, Listed, data_lists, lists_in, returned_in

DATA: Final = (*LINES, *TABLES, *TREES)
_LONGEST: Final = 20_000


class Orders(msgspec.Struct, frozen=True):
    """What one file says."""

    enums: list[Numbered]
    lists: list[Listed]


def read(path: str, data: bytes, options: Mapping[str, Any]) -> Orders:
    """The enums and the lists of a program, or the lists of a data file."""
    del options
    if path.lower().endswith(DATA):
        return Orders([], [*data_lists(path, data)][:500])
    grammar = "tree_sitter_python" if path.endswith((".py", ".pyw")) else grammar_of(path)
    if not grammar:
        return Orders([], [])
    root = parse(without_long_lines(data, _LONGEST), grammar)
    return Orders([*enums_in(root)][:200], [*lists_in(root), *returned_in(root)][:500])
