"""Names that Terraform puts together from variables and locals, as far as their values stand in the folder.

``bucket = "${var.org}-${var.stage}-dumps"`` names a bucket of somebody, and its text says nothing when a
default changes. One module is one text: all of its ``.tf`` files, and each file of variables as a block
``gate_values "path" { ... }`` (see ``last_read.py``). Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from gate.dataclass import dataclass
from gate.languages.hcl import attributes, blocks, parse, text_of
from gate.prescreen.identities.literals import Identifier
from gate.prescreen.identities.names import is_left_out, party_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

VALUES: Final = "gate_values"
_PLACES: Final = regex(
    r"bucket|queue|topic|registry|repository|storage|account|project|subscription|organi[sz]ation|vault|key_ring|share"
    r"|stream|namespace|recipient|role|principal"
)
"""Types of resources whose ``name`` says whose they are."""
_NAME: Final = frozenset(
    {"name", "bucket", "queue", "topic", "id", "account_id", "project", "repository", "url"}
)
_DEEPEST: Final = 20
_MOST: Final = 2_000


@dataclass
class _Module:
    variables: dict[str, Node] = field(default_factory=dict)
    local: dict[str, Node] = field(default_factory=dict)
    given: dict[str, Node] = field(default_factory=dict)


def read(path: str, data: bytes, options: Mapping[str, Any]) -> list[Identifier]:
    """The computed parties of one module: with its defaults, and once more with each file of values."""
    del path, options
    root = parse(data)
    module = _Module()
    files: dict[str, dict[str, Node]] = {"": {}}
    for words, block in blocks(root):
        if words[0] == "variable" and len(words) > 1:
            found_default = [value for name, value in attributes(block) if name == "default"]
            module.variables |= dict.fromkeys([words[1]], found_default[0]) if found_default else {}
        elif words[0] == "locals":
            module.local |= dict(attributes(block))
        elif words[0] == VALUES and len(words) > 1:
            files[words[1]] = dict(attributes(block))
    found: list[Identifier] = []
    for file, given in files.items():
        module.given = given
        found += _of(root, module, file)
    return found[:_MOST]


def _of(root: Node, module: _Module, file: str) -> Iterator[Identifier]:
    waiting: list[tuple[Node, tuple[str, ...]]] = [
        (block, tuple(words)) for words, block in blocks(root)
        if words[0] in ("resource", "data", "module", "provider", "terraform")
    ]  # fmt: skip
    while waiting:
        block, words = waiting.pop()
        for name, node in attributes(block):
            place = len(words) > 1 and name in _NAME and bool(_PLACES.search(words[1]))
            if not (place or party_of((name,))) or is_left_out((name,)):
                continue
            value = _value(node, module, _DEEPEST)
            if value and len(value) >= 3:
                path = "\x1f".join((*words, name))
                yield Identifier(path, name, value, "plain", node.start_point[0] + 1, file)
        waiting += [(below, (*words, *more)) for more, below in blocks(block)]


def _value(node: Node, module: _Module, depth: int) -> str | None:
    """The text of an expression; None where something is not known from the texts alone."""
    if depth == 0:
        return None
    children = node.named_children
    match node.type:
        case "string_lit" | "quoted_template" | "template_literal" | "numeric_lit" | "bool_lit":
            if node.type in ("template_literal", "numeric_lit", "bool_lit"):
                return text_of(node)
            return _joined([n for n in children if not n.type.startswith("quoted_template_")], module, depth)
        case "template_interpolation":
            return _joined([n for n in children if "interpolation" not in n.type], module, depth)
        case "function_call":
            return _called(node, module, depth)
        case "expression" | "literal_value" | "template_expr":
            if children and children[0].type == "variable_expr":
                return _named(children, module, depth)
            return _value(children[0], module, depth - 1) if len(children) == 1 else None
    return None


def _joined(nodes: list[Node], module: _Module, depth: int) -> str | None:
    parts = [_value(one, module, depth - 1) for one in nodes]
    return "".join(part or "" for part in parts) if None not in parts else None


def _named(children: list[Node], module: _Module, depth: int) -> str | None:
    """``var.x`` and ``local.x``; what lies deeper or in another module is not known."""
    if len(children) != 2:
        return None
    kind, name = text_of(children[0]), text_of(children[1]).lstrip(".")
    if kind == "var":
        found = module.given.get(name) or module.variables.get(name)
    else:
        found = module.local.get(name) if kind == "local" else None
    return _value(found, module, depth - 1) if found is not None else None


def _called(node: Node, module: _Module, depth: int) -> str | None:
    name = text_of(node.named_children[0])
    given = [n for one in node.named_children if one.type == "function_arguments" for n in one.named_children]
    if name in ("lower", "upper", "trimspace", "tostring") and len(given) == 1:
        value = _value(given[0], module, depth - 1)
        return (
            {"lower": str.lower, "upper": str.upper}.get(name, str.strip)(value)
            if value is not None
            else None
        )
    if name == "join" and len(given) == 2:
        items = _items(given[1])
        texts = [_value(one, module, depth - 1) for one in (given[0], *items)]
        return str(texts[0]).join(map(str, texts[1:])) if items and None not in texts else None
    if name == "format" and given:
        texts = [_value(one, module, depth - 1) for one in given]
        pattern = texts[0]
        if None in texts or pattern is None or pattern.count("%s") != len(texts) - 1:
            return None
        return pattern.replace("%s", "{}").format(*texts[1:]) if "{" not in pattern else None
    return None


def _items(node: Node) -> list[Node]:
    while node.type != "tuple" and node.named_child_count == 1:
        node = node.named_children[0]
    return [n for n in node.named_children if n.type == "expression"] if node.type == "tuple" else []
