"""Imports that survive a module which is missing or fails, and exports that nobody asks for."""

from __future__ import annotations

from tree_sitter import Node

from gate.languages.forcing.places import text_of


def import_text(node: Node) -> str:
    """``import`` as a call that gives stand-ins where it fails. Imports of types are left out."""
    source = node.child_by_field_name("source")
    words = text_of(node).split(None, 2)
    if source is None:
        return text_of(node)  # import x = require("y")
    if len(words) > 1 and words[1] == "type" and not text_of(node).startswith("import type from"):
        return ""
    load = f"await __gate__.load(()=>import({text_of(source)}))"
    clause = next((n for n in node.named_children if n.type == "import_clause"), None)
    if clause is None:
        return f"{load};"
    named: list[str] = []
    out = []
    for part in clause.named_children:
        if part.type == "identifier":
            named.append(f"default:{text_of(part)}")
        elif part.type == "namespace_import":
            out.append(f"let {text_of(part.named_children[0])}={load};")
        elif part.type == "named_imports":
            for one in part.named_children:
                name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
                if name is not None and not text_of(one).startswith("type "):
                    named.append(f"{text_of(name)}:{text_of(alias or name)}")
    if named:
        out.append(f"let {{{','.join(named)}}}={load};")
    return "".join(out) or f"{load};"


def export_text(node: Node) -> str:
    """Exports of other modules are left out: they could fail, and nobody asks for them."""
    return "" if node.child_by_field_name("source") is not None else text_of(node)
