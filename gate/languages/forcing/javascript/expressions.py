"""Expressions rewritten so that a part of them which fails becomes a stand-in: for the limited child."""

from __future__ import annotations

from tree_sitter import Node

from gate.languages.forcing.javascript.assume import assumed
from gate.languages.forcing.javascript.nodes import (
    CLASSES,
    FUNCTIONS,
    JSX,
    PATTERNS,
    RAW,
    TYPED,
    G,
    between,
    has,
    has_markup,
    inside_jsx,
)
from gate.languages.forcing.places import Place, text_of


class Expressions:
    """Expressions of one copy. ``both``: conditions beside the way are taken both ways, one by one."""

    def __init__(self, root: Node, place: Place, *, both: bool) -> None:
        self._root = root
        self._at = place.byte
        self._both = both
        self._loops = 0
        self._markup = has_markup(root)
        self.module = any(n.type in ("import_statement", "export_statement") for n in root.named_children)

    def _function(self, node: Node) -> str:
        raise NotImplementedError

    def _class(self, node: Node) -> str:
        raise NotImplementedError

    def _noted(self, method: Node, *, static: bool) -> str:
        raise NotImplementedError

    def _on_way(self, node: Node | None) -> bool:
        return node is not None and node.start_byte <= self._at < node.end_byte

    def _function_on_way(self, node: Node) -> Node | None:
        """A function below the node that holds the place."""
        for child in node.named_children:
            if self._on_way(child):
                if child.type in FUNCTIONS or child.type in CLASSES or child.type == "method_definition":
                    return child
                return self._function_on_way(child)
        return None

    def _kept(self, value: Node) -> str:
        """A value that cannot fail."""
        made = self.soft(value)
        if has(value, "yield_expression"):
            return made
        if has(value, "await_expression"):
            return f"await {G}.keepAsync(async()=>({made}))"
        return f"{G}.keep(()=>({made}))"

    def _raw(self, node: Node) -> str:
        """The text as it is, markup and decorators apart: only compilers could read those."""
        if not self._markup:
            return text_of(node)
        if node.type == "decorator":
            return ""
        if node.type in JSX:
            return f"{G}.jsx([{','.join(self._raw(n) for n in inside_jsx(node))}])"
        if not node.named_children:
            return text_of(node)
        out, at = [], node.start_byte
        for child in node.named_children:
            out += [between(node, at, child.start_byte), self._raw(child)]
            at = child.end_byte
        return "".join([*out, between(node, at, node.end_byte)])

    def soft(self, node: Node) -> str:
        """The expression so that a part of it that fails becomes a stand-in."""
        kind = node.type
        if kind in RAW:
            return self._raw(node)
        make = getattr(self, f"_x_{kind}", None)
        if make is not None:
            return str(make(node))
        if kind in FUNCTIONS:
            return f"{G}.fn({self._function(node)})" if self._on_way(node) else self._raw(node)
        if kind in CLASSES:
            return self._class(node)
        if kind in TYPED:
            values = [n for n in node.named_children if not n.type.endswith(("type", "type_identifier"))]
            return self.soft(values[-1] if kind == "type_assertion" else values[0]) if values else "undefined"
        if kind in JSX:
            return f"{G}.jsx([{','.join(self.soft(n) for n in inside_jsx(node))}])"
        if kind in ("parenthesized_expression", "sequence_expression", "template_string", "array",
                    "template_substitution", "yield_expression"):  # fmt: skip
            return self._parts(node)
        return self._parts(node) if self._on_way(node) else self._raw(node)

    def _parts(self, node: Node) -> str:
        """The node's own text with its parts made soft."""
        out, at = [], node.start_byte
        for child in node.named_children:
            if child.type in ("string_fragment", "escape_sequence", "comment"):
                continue
            out += [between(node, at, child.start_byte), self.soft(child)]
            at = child.end_byte
        return "".join([*out, between(node, at, node.end_byte)])

    def _x_identifier(self, node: Node) -> str:
        return f"{G}.name(()=>{text_of(node)})"

    def _x_spread_element(self, node: Node) -> str:
        return f"...{G}.some({self.soft(node.named_children[0])},false)"

    def _x_call_expression(self, node: Node) -> str:
        function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or given is None:
            return self._raw(node)
        if given.type != "arguments":
            return self._parts(node) if self._on_way(given) else self._raw(node)
        args = f"[{self._args(given)}]"
        aim = ",1" if node.start_byte == self._at else ""
        kind, said = function.type, text_of(function)
        if kind in ("super", "import") or said in ("super", "import", "eval"):
            return f"{said}({args[1:-1]})"
        if kind in ("member_expression", "subscript_expression"):
            owner = function.child_by_field_name("object")
            name = function.child_by_field_name("property") or function.child_by_field_name("index")
            if owner is None or name is None or owner.type == "super" or name.type.startswith("private"):
                return f"{said}({args[1:-1]})"
            key = self.soft(name) if kind == "subscript_expression" else f'"{text_of(name)}"'
            return f"{G}.send({self.soft(owner)},{key},{args}{aim})"
        return f"{G}.call({self.soft(function)},{args}{aim})"

    def _args(self, given: Node) -> str:
        return ",".join(self.soft(n) for n in given.named_children if n.type != "comment")

    def _x_new_expression(self, node: Node) -> str:
        made, given = node.child_by_field_name("constructor"), node.child_by_field_name("arguments")
        if made is None:
            return self._raw(node)
        aim = ",1" if node.start_byte == self._at else ""
        return f"{G}.make({self.soft(made)},[{self._args(given) if given is not None else ''}]{aim})"

    def _x_member_expression(self, node: Node) -> str:
        owner, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        if owner is None or name is None or owner.type in ("super", "import", "meta_property"):
            return self._raw(node)
        if name.type.startswith("private"):
            return self._raw(node)
        return f'{G}.get({self.soft(owner)},"{text_of(name)}")'

    def _x_subscript_expression(self, node: Node) -> str:
        owner, name = node.child_by_field_name("object"), node.child_by_field_name("index")
        if owner is None or name is None or owner.type == "super":
            return self._raw(node)
        return f"{G}.get({self.soft(owner)},{self.soft(name)})"

    def _x_await_expression(self, node: Node) -> str:
        return f"(await {G}.wait({self.soft(node.named_children[0])}))"

    def _x_assignment_expression(self, node: Node) -> str:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return self._raw(node)
        if left.type in ("member_expression", "subscript_expression"):
            owner = left.child_by_field_name("object")
            name = left.child_by_field_name("property") or left.child_by_field_name("index")
            if owner is not None and name is not None and owner.type != "super":
                if name.type.startswith("private"):
                    return f"({text_of(left)}={self.soft(right)})"
                key = self.soft(name) if left.type == "subscript_expression" else f'"{text_of(name)}"'
                return f"{G}.put({self.soft(owner)},{key},{self.soft(right)})"
        value = self.soft(right)
        return f"({text_of(left)}={f'{G}.object({value})' if left.type in PATTERNS else value})"

    def _x_augmented_assignment_expression(self, node: Node) -> str:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return self._raw(node)
        return f"({between(node, node.start_byte, right.start_byte)}{self.soft(right)})"

    def _x_unary_expression(self, node: Node) -> str:
        inner, operator = node.child_by_field_name("argument"), node.child_by_field_name("operator")
        if inner is None or operator is None or text_of(operator) in ("delete", "typeof"):
            return self._raw(node)
        return f"({text_of(operator)} {self.soft(inner)})"

    def _x_binary_expression(self, node: Node) -> str:
        left, operator, right = (node.child_by_field_name(n) for n in ("left", "operator", "right"))
        if left is None or operator is None or right is None or left.type.startswith("private"):
            return self._raw(node)
        sign = text_of(operator)
        if sign in ("&&", "||", "??") and self._on_way(right):
            told = assumed(left, holds=sign == "&&") if sign != "??" else ""
            known = f"(()=>{{{told}}})()," if told else ""
            return f"({self.soft(left)},{known}{self.soft(right)})"
        if sign in ("in", "instanceof"):
            return f'{G}.test("{sign}",{self.soft(left)},{self.soft(right)})'
        return f"({self.soft(left)} {sign} {self.soft(right)})"

    def _x_ternary_expression(self, node: Node) -> str:
        test, then, other = (node.child_by_field_name(n) for n in ("condition", "consequence", "alternative"))
        if test is None or then is None or other is None:
            return self._raw(node)
        for branch, holds in ((then, True), (other, False)):
            if self._on_way(branch):
                known = f"(()=>{{{assumed(test, holds=holds)}}})()"
                return f"({self.soft(test)},{known},{self.soft(branch)})"
        return f"({self.soft(test)}?{self.soft(then)}:{self.soft(other)})"

    def _x_object(self, node: Node) -> str:
        out, noted = [], ""
        for child in node.named_children:
            if child.type == "pair":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and value is not None:
                    out.append(f"{text_of(key)}:{self.soft(value)}")
            elif child.type == "shorthand_property_identifier":
                out.append(f"{text_of(child)}:{G}.name(()=>{text_of(child)})")
            elif child.type == "spread_element":
                out.append(f"...{G}.object({self.soft(child.named_children[0])})")
            elif child.type == "method_definition" and self._on_way(child):
                out.append(self._function(child))
                noted = self._noted(child, static=False)
            elif child.type != "comment":
                out.append(self._raw(child))
        made = f"{{{','.join(out)}}}"
        return f"{G}.holder({made},{noted})" if noted else f"({made})"
