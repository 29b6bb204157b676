"""Trees of JavaScript, TypeScript and Go as steps: their grammars name alike what matters here.

Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tree_sitter import Node

from gate.languages.tree_sitter_parse import parse, walk
from gate.secret_uses.steps import ERROR, RECEIVER, SPREAD, TARGET, Kind, Step, several
from gate.secret_uses.user_words import user_secret

_NAMES: Final = frozenset({
    "identifier", "property_identifier", "shorthand_property_identifier",
    "private_property_identifier", "this",
    "shorthand_property_identifier_pattern", "field_identifier", "package_identifier",
    "super", "type_identifier",
})  # fmt: skip
_FUNCTIONS: Final = frozenset({
    "function_declaration", "function_expression", "arrow_function",
    "method_definition", "generator_function",
    "generator_function_declaration", "method_declaration", "func_literal",
})  # fmt: skip
_TESTS: Final = frozenset({
    "==", "===", "!=", "!==", "<", ">", "<=", ">=", "instanceof", "in", "!", "typeof", "void", "delete",
})  # fmt: skip
_TEXTS: Final = frozenset({"string", "template_string", "interpreted_string_literal", "raw_string_literal"})
_NOTHING: Final = frozenset({
    "comment", "type_annotation", "type_arguments", "type_parameters",
    "interface_declaration", "type_identifier",
    "type_alias_declaration", "number", "true", "false", "null", "undefined", "regex", "int_literal", "nil",
    "predefined_type", "type_declaration", "package_clause", "float_literal",
})  # fmt: skip
_SUMS: Final = frozenset({"*", "-", "%", "&", "<<", ">>", ">>>"})


def program_steps(data: bytes, grammar: str) -> Step:
    """All of a file; ``grammar``: of tree_sitter_parse.py."""
    return _block(parse(data, grammar))


def _said(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def _line(node: Node) -> int:
    return node.start_point.row + 1


def _block(node: Node) -> Step:
    return several("any", _line(node), [_step(child) for child in node.named_children])


def _field(node: Node, *names: str) -> Step:
    found = next((child for name in names if (child := node.child_by_field_name(name))), None)
    return _step(found) if found is not None else Step("const", _line(node))


def _step(node: Node) -> Step:
    line, kind = _line(node), node.type
    if kind in _NOTHING:
        return Step("const", line)
    if kind in _NAMES:
        return Step("name", line, (_said(node).removeprefix("#"),))
    if kind in _TEXTS:
        return _text(node)
    if kind in _FUNCTIONS:
        return _function(node)
    return _MADE.get(kind, _block)(node)


def _list(node: Node) -> Step:
    if node.type == "expression_list" and node.named_child_count == 1:
        return _step(node.named_children[0])
    return several("list", _line(node), [_step(child) for child in node.named_children])


def _inner(node: Node) -> Step:
    """What a type is asserted of, or made of: bytes of a text say so."""
    if _said(node.child_by_field_name("type")) == "[]byte":
        return Step("call", _line(node), ("bytes",), [("", _field(node, "operand"))])
    inner = node.child_by_field_name("operand") or next(iter(node.named_children), None)
    return _step(inner) if inner is not None else Step("const", _line(node))


def _declared(node: Node) -> Step:
    target = _field(node, "name", "property")
    if target.kind == "name" and node.type.endswith("field_definition"):
        target = Step("name", _line(node), ("this", *target.name))
    return Step("assign", _line(node), ("=",), [(TARGET, target), ("", _field(node, "value"))])


def _loop(node: Node) -> Step:
    over = several("item", _line(node), [_field(node, "right")])
    loop = Step("assign", _line(node), ("=",), [(TARGET, _field(node, "left")), ("", over)])
    return several("any", _line(node), [loop, _field(node, "body")])


def _ended(node: Node) -> Step:
    way: Kind = "raise" if node.type.startswith("throw") else "return"
    return several(way, _line(node), [_step(child) for child in node.named_children])


def _class(node: Node) -> Step:
    inner = [("", _step(child)) for child in node.named_children if child.type == "class_body"]
    heritage = next((child for child in node.named_children if child.type == "class_heritage"), None)
    if _said(heritage).rstrip().endswith(("Error", "Exception")):
        inner.insert(0, (ERROR, Step("const", _line(node))))
    return Step("class", _line(node), (_said(node.child_by_field_name("name")),), inner)


def _import_spec(node: Node) -> Step:
    module = _said(node.child_by_field_name("path")).strip('"`')
    name = _said(node.child_by_field_name("name")) or module.rpartition("/")[2]
    return Step("import", _line(node), (name, module, ""))


def _text(node: Node) -> Step:
    inserted = [_block(child) for child in node.named_children if child.type == "template_substitution"]
    if not inserted:
        return Step("const", _line(node), (_said(node)[1:-1],))
    said = tuple(_said(child) for child in node.named_children if child.type == "string_fragment")
    return several("text", _line(node), inserted, said)


def _literal(node: Node | None) -> str:
    if node is None or node.type not in _TEXTS:
        return ""
    return "" if "${" in (said := _said(node)) else said[1:-1]


def _member(node: Node) -> Step:
    base = _field(node, "object", "operand")
    at = node.child_by_field_name("property") or node.child_by_field_name("field")
    index = node.child_by_field_name("index")
    key = _said(at).removeprefix("#") if at is not None else _literal(index)
    if not key:
        inner = [_step(index)] if index is not None else []
        return several("index", _line(node), [base, *inner])
    if base.kind == "name":
        return Step("name", _line(node), (*base.name, key), base.parts)
    return Step("name", _line(node), (key,), [(RECEIVER, base)])


def _call(node: Node) -> Step:
    called = _field(node, "function", "constructor")
    parts = [*called.parts] if called.kind == "name" else [(RECEIVER, called)]
    given = node.child_by_field_name("arguments")
    for child in given.named_children if given is not None else ():
        if child.type == "template_substitution":
            parts.append(("", _block(child)))
        elif child.type == "spread_element":
            parts.append((SPREAD, _block(child)))
        else:
            parts.append(("", _step(child)))
    return Step("call", _line(node), called.name if called.kind == "name" else (), parts)


def _operation(node: Node) -> Step:
    said = _said(node.child_by_field_name("operator"))
    sides = [
        child
        for name in ("left", "right", "argument", "operand")
        if (child := node.child_by_field_name(name))
    ]
    steps = [_step(side) for side in sides]
    if said in _TESTS:
        return several("test", _line(node), steps)
    if said == "^":
        return several("xor", _line(node), steps)
    if said in _SUMS and len(steps) == 2:
        return several("sum", _line(node), steps, (said,))
    if said == "+" and len(steps) == 2:
        texts = tuple(text for side in sides if (text := _literal(side)))
        return several("plus", _line(node), steps, texts)
    if said == "&&" and len(steps) == 2:
        return several("any", _line(node), [several("test", _line(node), steps[:1]), steps[1]])
    return several("any", _line(node), steps)


def _choice(node: Node) -> Step:
    condition = several("test", _line(node), [_field(node, "condition")])
    rest = [_field(node, name) for name in ("initializer", "consequence", "alternative", "body")]
    return several("any", _line(node), [condition, *rest])


def _map(node: Node) -> Step:
    parts: list[tuple[str, Step]] = []
    for child in node.named_children:
        if child.type in ("pair", "pair_pattern", "keyed_element"):
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            parts.append((_key(key), _step(value) if value is not None else Step("const", _line(child))))
        elif child.type in ("spread_element", "rest_pattern"):
            parts.append((SPREAD, _block(child)))
        elif child.type == "object_assignment_pattern":
            left = _field(child, "left")
            parts.append((left.name[-1] if left.name else "", left))
        else:
            step = _step(child)
            parts.append((step.name[0] if step.kind in ("name", "function") and step.name else "", step))
    return Step("map", _line(node), (), parts)


def _key(node: Node | None) -> str:
    while node is not None and node.type == "literal_element" and node.named_children:
        node = node.named_children[0]
    if node is None or node.type == "computed_property_name":
        return ""
    return _literal(node) or _said(node)[:80]


def _assignment(node: Node) -> Step:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = _said(node.child_by_field_name("operator")) or "="
    lists = left is not None and right is not None and left.type == right.type == "expression_list"
    if lists and left and right and left.named_child_count == right.named_child_count:
        pairs = zip(left.named_children, right.named_children, strict=True)
        parts = [[(TARGET, _step(one)), ("", _step(given))] for one, given in pairs]
        return several("any", _line(node), [Step("assign", _line(node), (operator,), p) for p in parts])
    return Step(
        "assign", _line(node), (operator,), [(TARGET, _field(node, "left")), ("", _field(node, "right"))]
    )


def _composite(node: Node) -> Step:
    """Go's ``T{field: value}``: a table, and what the fields of a ``T`` hold since."""
    body = _field(node, "body")
    kind = node.child_by_field_name("type")
    if body.kind != "map" or kind is None or kind.type not in ("type_identifier", "qualified_type"):
        return body
    fields = [
        Step("assign", part.line, ("=",), [(TARGET, Step("name", part.line, ("this", key))), ("", part)])
        for key, part in body.parts
        if key.isidentifier() and part.kind != "const"
    ]
    return several("any", _line(node), [body, *fields])


def _received(step: Step, name: str) -> None:
    """Go's receiver under the name that others have for it."""
    waiting = [step]
    while waiting:
        one = waiting.pop()
        if one.kind in ("name", "call") and len(one.name) > 1 and one.name[0] == name:
            one.name = ("this", *one.name[1:])
        waiting += (part for _, part in one.parts)


def _function(node: Node) -> Step:
    name = _said(node.child_by_field_name("name")).removeprefix("#")
    if not name and node.parent is not None and node.parent.type in ("variable_declarator", "pair"):
        name = _said(node.parent.child_by_field_name("name") or node.parent.child_by_field_name("key"))
    given = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    names: list[str] = []
    inner: list[tuple[str, Step]] = []
    if given is not None:
        for one in given.named_children if given.type != "identifier" else [given]:
            names += _parameters(one)
            inner += (("", step) for step in _taken(one))
    body = node.child_by_field_name("body")
    if body is not None:
        made = _step(body)
        is_block = body.type in ("statement_block", "block")
        receiver = node.child_by_field_name("receiver")
        for one in receiver.named_children if receiver is not None else ():
            if own := _said(one.child_by_field_name("name")):
                _received(made, own)
        inner.append(("", made if is_block else several("return", _line(body), [made])))
    return Step("function", _line(node), (name, *names), inner)


def _parameters(node: Node) -> list[str]:
    if node.type in (
        "parameter_declaration",
        "variadic_parameter_declaration",
    ):  # Go: several names may share a type
        stars = "*" if node.type.startswith("variadic") else ""
        return [stars + _said(child) for child in node.named_children if child.type == "identifier"]
    at = node.child_by_field_name("pattern") or node.child_by_field_name("left") or node
    if at.type == "rest_pattern" and at.named_children:
        return [f"*{_said(at.named_children[0])}"]
    return [_said(at) if at.type == "identifier" else ""]


def _taken(node: Node) -> list[Step]:
    """What a parameter that is taken apart holds of a user: ``({ locale, sid }: Visitor)``."""
    at = node.child_by_field_name("pattern") or node
    if at.type != "object_pattern":
        return []
    return [
        Step("assign", part.line, ("=",), [(TARGET, part), ("", Step("name", part.line, ("it", key)))])
        for key, part in _map(at).parts
        if part.kind == "name" and user_secret((key,))
    ]


def _imports(node: Node) -> Step:
    module = _literal(node.child_by_field_name("source"))
    found: list[Step] = []
    for child in walk(node, frozenset({"string", "import_specifier"})):
        if child.type == "import_specifier":
            name = _said(child.child_by_field_name("name"))
            local = _said(child.child_by_field_name("alias")) or name
            found.append(Step("import", _line(child), (local, module, name)))
        elif child.type == "identifier":
            found.append(Step("import", _line(child), (_said(child), module, "")))
    return several("any", _line(node), found)


def _by(makes: dict[Callable[[Node], Step], str]) -> dict[str, Callable[[Node], Step]]:
    return {kind: make for make, kinds in makes.items() for kind in kinds.split()}


_MADE: Final = _by({
    _member: "member_expression selector_expression subscript_expression index_expression",
    _call: "call_expression new_expression",
    _operation: "binary_expression unary_expression",
    _choice: "ternary_expression if_statement while_statement",
    _map: "object object_pattern literal_value",
    _list: "array array_pattern expression_list",
    _inner: "type_conversion_expression as_expression satisfies_expression type_assertion_expression",
    _declared: "variable_declarator var_spec const_spec public_field_definition field_definition",
    _assignment: "assignment_expression augmented_assignment_expression short_var_declaration"
    " assignment_statement",
    _loop: "for_in_statement range_clause",
    _ended: "return_statement throw_statement yield_expression",
    _class: "class_declaration class",
    _imports: "import_statement",
    _import_spec: "import_spec",
    _composite: "composite_literal",
    lambda node: several("slice", _line(node), [_field(node, "operand")]): "slice_expression",
})  # fmt: skip
