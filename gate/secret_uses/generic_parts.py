"""The parts of trees that declare: names, types, parameters and fields.

For Java, Kotlin, C#, PHP, Ruby and Rust. Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tree_sitter import Node

from gate.languages.tree_sitter_parse import walk
from gate.secret_uses.names import is_settings_type
from gate.secret_uses.steps import HOLDER, TARGET, Step, several

PARAMETERS: Final = frozenset({
    "formal_parameter", "parameter", "class_parameter", "simple_parameter", "property_promotion_parameter",
    "keyword_parameter", "optional_parameter", "implicit_parameter", "variable_declaration",
    "splat_parameter",
    "spread_parameter", "variadic_parameter",
})  # fmt: skip
NAMES: Final = frozenset({
    "identifier", "name", "variable_name", "constant", "field_identifier", "type_identifier", "this", "self",
    "instance_variable", "class_variable", "global_variable", "simple_identifier",
})  # fmt: skip
CLASSES: Final = frozenset({
    "class_declaration", "class", "module", "object_declaration", "record_declaration", "struct_declaration",
    "trait_declaration", "impl_item", "companion_object", "record_struct_declaration", "enum_declaration",
})  # fmt: skip

NOTHING: Final = frozenset({
    "comment", "line_comment", "block_comment", "modifiers", "modifier", "annotation", "marker_annotation",
    "attribute_list",
    "attribute_item", "primitive_type", "predefined_type", "integral_type", "user_type", "generic_type",
    "type_arguments", "type_parameters", "array_type", "reference_type", "number_literal",
    "integer_literal",
    "decimal_integer_literal", "integer", "float", "real_literal", "boolean_literal", "null_literal", "nil",
    "true", "false", "null", "php_tag", "package_header", "package_declaration",
    "namespace_use_declaration",
    "use_declaration", "using_directive", "import_declaration", "import", "implicit_type", "named_type",
    "visibility_modifier", "mutable_specifier", "type_list", "base_list", "superclass", "super_interfaces",
})  # fmt: skip
TEXTS: Final = frozenset({
    "string", "string_literal", "encapsed_string", "interpolated_string_expression", "raw_string_literal",
    "multiline_string_literal", "verbatim_string_literal", "heredoc", "heredoc_body", "simple_symbol",
    "character_literal", "char_literal", "text_block", "line_string_literal", "hash_key_symbol",
})  # fmt: skip
RAISES: Final = frozenset({"raise", "fail", "panic"})
_INJECTS: Final = ("@Value(", "@ConfigProperty(", "@Property(")


def said_of(node: Node | None) -> str:
    """A node's text."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def line_of(node: Node) -> int:
    """The line of a node, from 1."""
    return node.start_point.row + 1


def under(node: Node, *names: str) -> Node | None:
    """The first child that stands under one of these fields."""
    return next((child for name in names if (child := node.child_by_field_name(name))), None)


def plain(node: Node | None) -> str:
    """A name without the marks of its language."""
    return said_of(node).strip().lstrip("$@&*").rstrip("?!")


def literal(node: Node | None) -> str:
    """A text without what stands around it."""
    return said_of(node).strip().lstrip(":$@bf").strip("\"'`") if node is not None else ""


def key_of(node: Node | None) -> str:
    """The key of an entry."""
    return literal(node)[:80].rstrip(":")


def parameters(given: Node) -> Iterable[tuple[str, str]]:
    """Names and types, as far as they are written."""
    for one in walk(given, PARAMETERS):
        if one.type in PARAMETERS and one is not given:
            name = under(one, "name", "pattern") or next(
                (n for n in one.named_children if n.type in NAMES), one
            )
            kind = type_of(one)
            if plain(name).isidentifier() and not (one.type == "parameter" and said_of(name) == "self"):
                yield plain(name), kind
        elif one.type in NAMES and one.parent == given:
            yield plain(one), ""
        elif one.type == "tuple_pattern" and one.parent == given:  # Rust: |(at, byte)|
            yield from ((plain(part), "") for part in one.named_children if part.type in NAMES)
    if given.type in NAMES or given.type == "implicit_parameter":
        yield plain(given), ""


def type_of(node: Node) -> str:
    """The type of a parameter or a field, as written."""
    at = node.child_by_field_name("type") or next(
        (n for n in node.named_children if n.type == "user_type"), None
    )
    return said_of(at)


def holders(names: Iterable[tuple[str, str]], line: int) -> list[tuple[str, Step]]:
    """Parts that say which of these names hold settings, as their types say."""
    return [(HOLDER, Step("const", line, (name,))) for name, kind in names if kind and is_settings_type(kind)]


def promoted(given: Node | None, line: int) -> list[tuple[str, Step]]:
    """PHP: parameters of a constructor that are fields at once."""
    found: list[tuple[str, Step]] = []
    for one in given.named_children if given is not None else ():
        if one.type == "property_promotion_parameter":
            name = plain(one.child_by_field_name("name"))
            parts = [(TARGET, Step("name", line, ("this", name))), ("", Step("name", line, (name,)))]
            found.append(("", Step("assign", line, ("=",), parts)))
    return found


def locals_of(body: Node) -> Iterable[str]:
    """Names that a function declares."""
    for one in walk(body, CLASSES):
        if one.type in (
            "variable_declarator",
            "property_declaration",
            "let_declaration",
            "enhanced_for_statement",
        ):
            name = under(one, "name", "pattern") or next(iter(one.named_children), None)
            yield plain(name)


def bare_methods(root: Node) -> frozenset[str]:
    """Ruby: methods of the file that may be called without brackets, as no variable has their name."""
    methods: set[str] = set()
    variables: set[str] = set()
    for node in walk(root, frozenset()):
        if node.type in ("method", "singleton_method"):
            methods.add(plain(under(node, "name")))
        elif node.type in ("assignment", "operator_assignment"):
            variables.add(plain(under(node, "left")))
    return frozenset(methods - variables)


def fields_of(node: Node) -> Iterable[str]:
    """Names of a class's fields in languages where they need no ``this``."""
    body = under(node, "body") or next((n for n in node.named_children if n.type == "class_body"), None)
    for one in body.named_children if body is not None else ():
        if one.type in ("field_declaration", "property_declaration"):
            for inner in walk(one, frozenset({"variable_declarator"})):
                if inner.type in ("variable_declarator", "variable_declaration"):
                    yield plain(under(inner, "name") or next(iter(inner.named_children), None))
            if one.type == "property_declaration" and (name := under(one, "name")) is not None:
                yield plain(name)
    for one in node.named_children:
        if one.type in ("parameter_list", "primary_constructor", "formal_parameters"):
            yield from (name for name, _ in parameters(one))


def typed_fields(node: Node) -> list[tuple[str, str]]:
    """Names and types of a class's fields."""
    found: list[tuple[str, str]] = []
    body = under(node, "body")
    for one in body.named_children if body is not None else ():
        if one.type in ("field_declaration", "property_declaration"):
            kinds = [type_of(n) for n in walk(one, frozenset()) if type_of(n)]
            named = [
                plain(under(n, "name")) for n in walk(one, frozenset()) if n.type == "variable_declarator"
            ]
            named += [plain(under(one, "name"))] if one.type == "property_declaration" else []
            found += [(name, kinds[0]) for name in named if kinds and name]
    return found


def injected_fields(node: Node) -> list[str]:
    """Names of fields that a framework fills from the configuration: ``@Value("${relay.ring}")``."""
    body = under(node, "body") or next((n for n in node.named_children if n.type == "class_body"), None)
    found: list[str] = []
    for one in body.named_children if body is not None else ():
        marks = next((said_of(n) for n in one.named_children if n.type == "modifiers"), "")
        if one.type in ("field_declaration", "property_declaration") and any(m in marks for m in _INJECTS):
            named = (
                n for n in walk(one, frozenset()) if n.type in ("variable_declarator", "variable_declaration")
            )
            found += [plain(under(n, "name") or next(iter(n.named_children), None)) for n in named]
    return found


def operator_of(node: Node) -> str:
    """The operator of an expression."""
    at = node.child_by_field_name("operator")
    return said_of(at) if at is not None else next((said_of(c) for c in node.children if not c.is_named), "")


def printed(name: str) -> tuple[str, ...]:
    """Rust's macros as the calls that others have."""
    if name in ("println", "print", "eprintln", "eprint", "dbg"):
        return ("print",)
    if name in ("write", "writeln"):
        return ("text", "add")
    return ("log", name) if name in ("trace", "debug", "info", "warn", "error") else (name,)


def lambda_of(node: Node) -> Node:
    """The function behind a call in Kotlin."""
    return node.named_children[-1] if node.type == "annotated_lambda" and node.named_children else node


def _words(tree: Node) -> tuple[list[Step], tuple[str, ...]]:
    """Paths, calls and texts among the words of a macro."""
    line, parts, said = line_of(tree), list[Step](), tuple[str, ...]()
    path: list[str] = []
    for one in tree.children:
        if one.type in NAMES:
            path.append("this" if said_of(one) == "self" else said_of(one))
            continue
        if said_of(one) in (".", "::") and path:
            continue
        if one.type == "token_tree":
            inner, _ = _words(one)
            called = bool(path) and said_of(one).startswith("(")
            parts += [Step("call", line, tuple(path), [("", part) for part in inner])] if called else inner
            path = [] if called else path
        parts += [Step("name", line, tuple(path))] if path else []
        path = []
        if one.type in TEXTS:
            said += (literal(one),)
            names = [w.partition(":")[0] for w in literal(one).replace("{", "\0").split("\0")[1:]]
            parts += [Step("name", line, (w,)) for n in names if (w := n.partition("}")[0]).isidentifier()]
    return [*parts, *([Step("name", line, tuple(path))] if path else [])], said


def macro(node: Node) -> Step:
    """Rust's: what stands in it is read by its words, which the grammar leaves as they are."""
    line, name = line_of(node), plain(node.child_by_field_name("macro")).rpartition("::")[2]
    tree = next((n for n in node.named_children if n.type == "token_tree"), None)
    parts, said = _words(tree) if tree is not None else ([], ())
    text = several("text", line, parts, said)
    if name in ("format", "format_args", "concat"):
        return text
    return (
        several("raise", line, [text]) if name in RAISES else Step("call", line, printed(name), [("", text)])
    )
