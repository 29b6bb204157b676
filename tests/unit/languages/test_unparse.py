"""Trees that only a newer Python can write are text all the same."""

from __future__ import annotations

import ast

from gate.languages.unparse import unparsed


def test_an_f_string_of_a_newer_python_is_told() -> None:
    """3.12 may hold a backslash inside an f-string; the tree of such a text comes from a newer grammar."""
    inner = ast.Constant("\n")
    tree = ast.JoinedStr([ast.FormattedValue(ast.Call(ast.Name("f"), [inner], []), -1)])
    assert "f" in unparsed(tree)
    assert unparsed(ast.parse("a + 1")) == "a + 1"
