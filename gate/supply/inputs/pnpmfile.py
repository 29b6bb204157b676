"""Code that rewrites what packages ask for, as inputs: ``.pnpmfile.cjs``, ``yarn.config.cjs``.

The hook runs at every installation, and no manifest or lock has a word of what it puts in whose place. Only
plain texts are read: a key or a property that is given another package, an address or a repository.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gate.languages import tree_sitter_parse
from gate.supply.inputs.model import Input, Inputs
from gate.supply.inputs.npm import wanted

if TYPE_CHECKING:
    from tree_sitter import Node

_ELSEWHERE: Final = (
    "npm:",
    "git+",
    "git:",
    "git@",
    "github:",
    "gitlab:",
    "bitbucket:",
    "http://",
    "https://",
    "file:",
    "link:",
    "portal:",
)
_TEXTS: Final = frozenset({"string", "template_string"})
_GIVEN: Final = {
    "pair": ("key", "value"),
    "assignment_expression": ("left", "right"),
    "augmented_assignment_expression": ("left", "right"),
    "variable_declarator": ("name", "value"),
}


def read(text: str) -> Inputs:
    """Every plain text that names another source, under the name that it is given to."""
    root = tree_sitter_parse.parse(text.encode("utf-8", "replace"), "javascript")
    found = list(dict.fromkeys(_given(root)))
    return Inputs(kind="manifest", inputs=tuple(found))


def _given(root: Node) -> Iterator[Input]:
    for node in tree_sitter_parse.walk(root, frozenset()):
        if node.type not in _TEXTS or not (said := _text(node)).startswith(_ELSEWHERE):
            continue
        if said.startswith(("http://", "https://")) and not said.partition("#")[0].endswith(
            (".git", ".tgz", ".tar.gz")
        ):
            continue  # a link in a message
        name = _name(node)
        yield wanted(name, said) if name else wanted("a package that a hook chooses", said)


def _name(node: Node) -> str:
    """The key or property that the text is given to, or the text that it is passed with."""
    one, parent = node, node.parent
    while parent is not None:
        if parent.type in _GIVEN:
            left, right = (parent.child_by_field_name(field) for field in _GIVEN[parent.type])
            return _last(left) if left is not None and right is not None and right.id == one.id else ""
        if parent.type == "arguments":  # set("name", "npm:other"), or one pair of a list of them
            before = [
                _text(each) for each in parent.named_children if each.type in _TEXTS and each.id != one.id
            ]
            return before[0] if before else ""
        if parent.type == "array":
            before = [
                _text(each) for each in parent.named_children if each.type in _TEXTS and each.id != one.id
            ]
            return before[0] if len(before) == 1 else ""
        if parent.type not in ("ternary_expression", "binary_expression", "parenthesized_expression"):
            return ""
        one, parent = parent, parent.parent
    return ""


def _last(node: Node) -> str:
    if node.type == "member_expression":
        name = node.child_by_field_name("property")
        return _text(name) if name is not None else ""
    if node.type == "subscript_expression":
        index = node.child_by_field_name("index")
        return _text(index) if index is not None and index.type in _TEXTS else ""
    return _text(node)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace").strip("\"'`")
