"""Trees of Java, Kotlin, C#, PHP, Ruby and Rust as steps: their grammars call alike what matters here.

A name that is a field of its class is read as ``this.name``, as it is written in the others. Runs in the
limited child.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from tree_sitter import Node

from gate.languages.tree_sitter_parse import parse, walk
from gate.secret_uses.calls import handed_on
from gate.secret_uses.generic_parts import (
    CLASSES,
    NAMES,
    NOTHING,
    RAISES,
    TEXTS,
    bare_methods,
    fields_of,
    holders,
    injected_fields,
    key_of,
    lambda_of,
    line_of,
    literal,
    locals_of,
    macro,
    operator_of,
    parameters,
    plain,
    promoted,
    said_of,
    typed_fields,
    under,
)
from gate.secret_uses.steps import ERROR, RECEIVER, SETTING, SPREAD, TARGET, Step, several
from gate.secret_uses.user_words import user_secret

GRAMMARS: Final = {
    ".java": "tree_sitter_java", ".kt": "tree_sitter_kotlin", ".kts": "tree_sitter_kotlin",
    ".cs": "tree_sitter_c_sharp", ".php": "tree_sitter_php:language_php", ".rb": "tree_sitter_ruby",
    ".rake": "tree_sitter_ruby", ".rs": "tree_sitter_rust",
}  # fmt: skip
"""Endings that this reads, with the grammar of each."""
_FUNCTIONS: Final = frozenset({
    "method_declaration", "constructor_declaration", "function_declaration", "function_definition",
    "method",
    "singleton_method", "function_item", "local_function_statement", "lambda_expression", "lambda_literal",
    "anonymous_function", "arrow_function", "closure_expression", "block", "do_block", "lambda",
    "anonymous_method_expression", "secondary_constructor", "anonymous_function_creation_expression",
})  # fmt: skip
_TESTS: Final = frozenset({
    "==", "===", "!=", "!==", "<", ">", "<=", ">=", "<=>", "=~", "instanceof", "is", "in", "!", "not", "!~",
})  # fmt: skip
_SUMS: Final = frozenset({"*", "-", "%", "&", "<<", ">>", ">>>", "shl", "shr", "ushr", "and", "rem"})
_INTEGERS: Final = frozenset({
    "int", "long", "short", "byte", "uint", "ulong", "u8", "u16", "u32", "u64", "u128", "usize", "i32",
    "i64", "Int", "Long", "integer", "ushort", "sbyte",
})  # fmt: skip
_CONSTRUCTORS: Final = frozenset({"initialize", "__construct", "new"})
_LAST_IS_GIVEN: Final = frozenset({"tree_sitter_ruby", "tree_sitter_rust"})
"""Languages of which a function gives back what its last line is worth."""


def program_steps(data: bytes, grammar: str) -> Step:
    """All of a file."""
    root = parse(data, grammar)
    bare = bare_methods(root) if grammar == "tree_sitter_ruby" else frozenset[str]()
    return _Reader(grammar, bare).block(root.named_children, 1)


class _Reader:
    """``fields``: names of the class that is being read; ``own``: names of the function, which hide them."""

    def __init__(self, grammar: str, bare: frozenset[str] = frozenset()) -> None:
        self.grammar = grammar
        self.bare = bare
        self.fields: frozenset[str] = frozenset()
        self.own: frozenset[str] = frozenset()
        self.classes: list[str] = []
        self._made = _by({
            self._member: "field_access member_access_expression field_expression scoped_identifier"
            " nullsafe_member_access_expression scoped_property_access_expression qualified_name"
            " class_constant_access_expression navigation_expression scope_resolution"
            " conditional_access_expression",
            self._call: "method_invocation call_expression invocation_expression function_call_expression"
            " member_call_expression scoped_call_expression nullsafe_member_call_expression call"
            " object_creation_expression implicit_object_creation_expression",
            macro: "macro_invocation",
            self._index: "array_access element_access_expression subscript_expression element_reference"
            " index_expression",
            self._operation: "binary_expression binary infix_expression unary_expression unary"
            " additive_expression multiplicative_expression",
            self._assigned: "assignment_expression augmented_assignment_expression assignment"
            " operator_assignment compound_assignment_expr let_declaration",
            self._declared: "variable_declarator property_declaration property_element field_initializer",
            self._loop: "enhanced_for_statement foreach_statement for for_expression for_statement",
            self._choice: "ternary_expression conditional_expression if_expression if_statement if_modifier"
            " unless unless_modifier while while_statement while_expression conditional if elsif",
            self._ended: "return_statement return return_expression throw_statement throw_expression",
            self._map: "hash initializer_expression anonymous_object_creation_expression"
            " field_initializer_list array_creation_expression",
            self._pair: "pair named_argument",
            self._list: "array array_initializer collection_expression list_literal",
            self._told: "echo_statement print_intrinsic",
            self._cast: "cast_expression type_cast_expression as_expression",
        })  # fmt: skip

    @property
    def _is_php(self) -> bool:
        return self.grammar.startswith("tree_sitter_php")

    def block(self, nodes: Iterable[Node], line: int) -> Step:
        return several("any", line, [self.step(node) for node in nodes])

    def step(self, node: Node | None) -> Step:
        if node is None:
            return Step("const", 0)
        line, kind = line_of(node), node.type
        if kind in NOTHING:
            return Step("const", line)
        if kind in NAMES:
            return self._name(node)
        if kind in TEXTS:
            return self._text(node)
        if kind in CLASSES and node.named_child_count:
            return self._class(node)
        if kind in _FUNCTIONS and not (kind == "block" and self.grammar != "tree_sitter_ruby"):
            return self._function(node)
        made = self._made.get(kind)
        return made(node) if made is not None else self.block(node.named_children, line)

    def _name(self, node: Node) -> Step:
        name = plain(node)
        if name in self.bare and name not in self.own and node.type == "identifier":
            return Step("call", line_of(node), (name,))
        if node.type == "instance_variable" or (name in self.fields and name not in self.own):
            return Step("name", line_of(node), ("this", name))
        return Step("name", line_of(node), ("this" if name == "self" else name,))

    def _text(self, node: Node) -> Step:
        parts = [
            child
            for child in node.named_children
            if "content" not in child.type and "fragment" not in child.type and "start" not in child.type
            and "escape" not in child.type and "end" not in child.type and "quote" not in child.type
        ]  # fmt: skip
        if not parts:
            return Step("const", line_of(node), (literal(node),))
        said = tuple(said_of(c) for c in node.named_children if "content" in c.type or "fragment" in c.type)
        return several("text", line_of(node), [self.step(part) for part in parts], said)

    # What is called and read.

    def _joined(self, base: Step, name: str, line: int) -> Step:
        if base.kind == "name" and not base.parts:
            return Step("name", line, (*base.name, name))
        return Step("name", line, (name,), [(RECEIVER, base)])

    def _halves(self, node: Node) -> tuple[Step | None, str]:
        """What stands before the last name of a path, and that name."""
        if node.type == "conditional_access_expression":
            return self.step(node.child_by_field_name("condition")), plain(
                next((n for n in walk(node.named_children[-1], frozenset()) if n.type in NAMES), None)
            )
        base = under(node, "object", "expression", "value", "scope", "receiver", "path", "qualifier")
        last = under(node, "name", "field", "method")
        if base is None and last is None and node.named_child_count > 1:  # Kotlin names no fields
            base, last = node.named_children[0], node.named_children[-1]
        if base is None:
            return None, plain(last)
        own = said_of(base) == "this"
        return (Step("name", line_of(node), ("this",)) if own else self.step(base)), plain(last)

    def _member(self, node: Node) -> Step:
        base, name = self._halves(node)
        if base is None:
            return Step("name", line_of(node), (name,))
        if name in ("code", "bytes", "chars") and self.grammar == "tree_sitter_kotlin":
            return Step("call", line_of(node), (name,), [(RECEIVER, base)])
        return self._joined(base, name, line_of(node))

    def _called(self, node: Node) -> Step:
        function = node.child_by_field_name("function")
        if "creation" in node.type:
            kind = node.child_by_field_name("type") or next(iter(node.named_children), None)
            said = said_of(kind).partition("<")[0].rpartition(".")[2].rpartition("\\")[2]
            return Step("name", line_of(node), (said,))
        if function is None and node.type == "call_expression":
            function = next(iter(node.named_children), None)
        if function is not None:
            made = self.step(function)
            return made if made.kind == "name" else Step("name", line_of(node), (), [(RECEIVER, made)])
        base, name = self._halves(node)
        return self._joined(base, name, line_of(node)) if base else Step("name", line_of(node), (name,))

    def _call(self, node: Node) -> Step:
        line, called = line_of(node), self._called(node)
        given = node.child_by_field_name("arguments") or next(
            (n for n in node.named_children if n.type in ("value_arguments", "arguments", "argument_list")),
            None,
        )
        parts = [*called.parts]
        for child in given.named_children if given is not None else ():
            if child.type == "variadic_placeholder":  # PHP: the function itself is handed on
                return called
            parts.append(self._argument(child))
        blocks = [
            n
            for n in node.named_children
            if n.type in ("annotated_lambda", "lambda_literal", "block", "do_block")
        ]
        parts += [("", self.step(lambda_of(one))) for one in blocks]
        initial = node.child_by_field_name("initializer")
        parts += [("", self._map(initial))] if initial is not None else []
        name = called.name
        if len(name) > 1 and name[-1] == "new":
            name = name[-2:-1]
        bare = self.grammar == "tree_sitter_ruby" and len(parts) == len(called.parts) and given is None
        if bare and len(name) == 1 and not called.parts and name[0] in RAISES:
            return Step("raise", line)
        if bare and (handed_on(name) is None or user_secret(name)):
            return called
        if name[-1:] and name[-1] in RAISES and len(name) == 1:
            return several("raise", line, [part for _, part in parts])
        if self.grammar == "tree_sitter_ruby" and name == ("render",):
            return Step("call", line, ("response", "render"), parts)
        return Step("call", line, name, parts)

    def _argument(self, node: Node) -> tuple[str, Step]:
        if node.type == "pair":
            return key_of(node.child_by_field_name("key")), self.step(node.child_by_field_name("value"))
        if node.type in ("argument", "value_argument"):
            spread = any(said_of(child) in ("...", "*") for child in node.children)
            inner = [child for child in node.named_children if "modifier" not in child.type]
            name = node.child_by_field_name("name")
            if name is None and len(inner) > 1 and "=" in [c.type for c in node.children]:
                name = inner[0]
            step = self.step(inner[-1]) if inner else Step("const", line_of(node))
            return (SPREAD if spread else plain(name) if name is not None else ""), step
        return (SPREAD if "splat" in node.type else ""), self.step(node)

    def _index(self, node: Node) -> Step:
        named = [child for child in node.named_children if child.type not in NOTHING]
        base = self.step(under(node, "array", "expression", "object") or next(iter(named), None))
        at = under(node, "index", "subscript") or (
            node.named_children[-1] if node.named_child_count > 1 else None
        )
        while (
            at is not None
            and at.type in ("bracketed_argument_list", "argument")
            and at.named_child_count == 1
        ):
            at = at.named_children[0]
        key = literal(at) if at is not None and at.type in TEXTS else ""
        if key:
            return self._joined(base, key, line_of(node))
        inner = node.named_children[1:]
        part = (at is not None and "range" in at.type) or (
            self.grammar == "tree_sitter_ruby" and len(inner) > 1
        )
        return several("slice" if part else "index", line_of(node), [base, *map(self.step, inner)])

    # What is made of values.

    def _operation(self, node: Node) -> Step:
        line, named = line_of(node), [c for c in node.named_children if c.type != "comment"]
        said = operator_of(node)
        if node.type == "infix_expression" and len(named) == 3:
            said, named = said_of(named[1]), [named[0], named[2]]
        steps = [self.step(one) for one in named]
        if said in _TESTS:
            return several("test", line, steps)
        if said in ("^", "xor") and len(steps) == 2:
            return several("xor", line, steps)
        if said == "<<" and self.grammar == "tree_sitter_ruby" and named[-1:] and named[-1].type != "integer":
            return Step("assign", line, ("+=",), [(TARGET, steps[0]), ("", steps[1])])
        if said in _SUMS and len(steps) == 2:
            return several("sum", line, steps, (said,))
        if said in ("+", ".") and len(steps) == 2:
            texts = tuple(literal(n) for n in named if n.type in TEXTS and not self.step(n).parts)
            return several("plus", line, steps, texts)
        return several("any", line, steps)

    def _assigned(self, node: Node) -> Step:
        target, value = under(node, "left", "pattern"), under(node, "right", "value")
        if target is None:
            return self.block(node.named_children, line_of(node))
        operator = operator_of(node) or "="
        parts = [(TARGET, self.step(target)), ("", self.step(value))]
        return Step("assign", line_of(node), (operator,), parts)

    def _declared(self, node: Node) -> Step:
        name = node.child_by_field_name("name") or node.child_by_field_name("field")
        value = under(node, "value", "default_value")
        if name is None:
            name = next(
                (n for n in node.named_children if n.type in ("variable_declaration", "variable_name")), None
            )
        if value is None and node.named_child_count > 1 and node.named_children[-1] != name:
            value = node.named_children[-1]
        if name is not None and name.type == "variable_declaration":
            name = next(iter(name.named_children), name)
        if name is None or value is None:
            return Step("const", line_of(node))
        return Step("assign", line_of(node), ("=",), [(TARGET, self.step(name)), ("", self.step(value))])

    def _loop(self, node: Node) -> Step:
        line, body = line_of(node), node.child_by_field_name("body")
        over = under(node, "right", "value")
        target = under(node, "left", "name", "pattern")
        rest = [n for n in node.named_children if n != body and n.type not in NOTHING]
        if node.type == "for_statement" and node.child_by_field_name("condition") is not None:
            return self.block(node.named_children, line)
        if node.type == "for_statement" and over is None and len(rest) > 2:  # Kotlin
            target, over, body = rest[0], rest[1], body or rest[-1]
        if over is None and len(rest) > 1:  # PHP
            over, target = (rest[0], rest[-1]) if node.type == "foreach_statement" else (rest[-1], rest[0])
        if target is not None and target.type == "variable_declaration":
            target = target.named_children[0]
        elif target is not None and target.type in ("pair", "tuple_pattern"):
            target = target.named_children[-1]
        if over is None or target is None:
            return self.block(node.named_children, line)
        item = several("item", line, [self.step(over)])
        loop = Step("assign", line, ("=",), [(TARGET, self.step(target)), ("", item)])
        body = body or (node.named_children[-1] if node.named_children[-1] not in (over, target) else None)
        return several(
            "any", line, [loop, self.block(body.named_children, line) if body else Step("const", line)]
        )

    def _choice(self, node: Node) -> Step:
        condition = node.child_by_field_name("condition") or next(iter(node.named_children), None)
        test = several("test", line_of(node), [self.step(condition)])
        short = node.type == "conditional_expression" and node.child_by_field_name("body") is None
        rest = [self.step(n) for n in node.named_children if n != condition or (short and self._is_php)]
        return several("any", line_of(node), [test, *rest])

    def _ended(self, node: Node) -> Step:
        kind = "raise" if node.type.startswith("throw") else "return"
        return several(kind, line_of(node), [self.step(n) for n in node.named_children])  # type: ignore[arg-type]

    def _cast(self, node: Node) -> Step:
        """A character that becomes a number; other types change nothing."""
        value = under(node, "value") or next(iter(node.named_children), None)
        kind = said_of(under(node, "type")) or said_of(node.named_children[-1])
        if kind in _INTEGERS:
            return Step("call", line_of(node), ("int",), [("", self.step(value))])
        return self.step(value)

    def _told(self, node: Node) -> Step:
        parts = [("", self.step(n)) for n in node.named_children]
        return Step("call", line_of(node), ("response", "write"), parts)

    def _pair(self, node: Node) -> Step:
        return Step("map", line_of(node), (), [self._argument(node)])

    def _map(self, node: Node) -> Step:
        parts: list[tuple[str, Step]] = []
        for child in node.named_children:
            inner = child.named_children
            if child.type in ("pair", "assignment_expression", "field_initializer"):
                key = under(child, "key", "left", "field") or next(iter(inner), None)
                value = under(child, "value", "right") or (inner[-1] if inner else None)
                parts.append((key_of(key), self.step(value)))
            elif child.type == "array_element_initializer" and len(inner) == 2:
                parts.append((key_of(inner[0]), self.step(inner[1])))
            else:
                spread = "splat" in child.type or "base_field" in child.type or any(
                    "unpacking" in one.type for one in inner
                )  # fmt: skip
                step = self.step(child)
                parts.append(
                    (SPREAD if spread else step.name[-1] if step.kind == "name" and step.name else "", step)
                )
        if node.type in ("array_creation_expression", "initializer_expression") and not any(
            k for k, _ in parts
        ):
            return several("list", line_of(node), [part for _, part in parts])
        return Step("map", line_of(node), (), parts)

    def _list(self, node: Node) -> Step:
        return several("list", line_of(node), [self.step(n) for n in node.named_children])

    # What has a body.

    def _class(self, node: Node) -> Step:
        line, name = line_of(node), plain(under(node, "name", "type")) or "object"
        before, self.fields = self.fields, self.fields | frozenset(fields_of(node))
        self.classes.append(name)
        body = under(node, "body") or next((n for n in node.named_children if n.type.endswith("_body")), None)
        parts = [("", self.step(one)) for one in (body.named_children if body is not None else ())]
        given = next(
            (n for n in node.named_children if "parameter" in n.type or "constructor" in n.type), None
        )
        names = [*parameters(given)] if given is not None else []
        if names:
            kept = [
                Step(
                    "assign",
                    line,
                    ("=",),
                    [(TARGET, Step("name", line, ("this", one))), ("", Step("name", line, (one,)))],
                )
                for one, _ in names
            ]
            inner = [*holders(names, line), *(("", one) for one in kept)]
            parts.insert(0, ("", Step("function", line, (name, *(one for one, _ in names)), inner)))
        held = typed_fields(node) if body is not None else []
        injected = [(SETTING, Step("const", line, (one,))) for one in injected_fields(node)]
        parts = [*holders(held, line), *injected, *parts]
        if name.endswith(("Error", "Exception")):
            parts.insert(0, (ERROR, Step("const", line)))
        self.classes.pop()
        self.fields = before
        return Step("class", line, (name,), parts)

    def _function(self, node: Node) -> Step:
        line, name = line_of(node), plain(node.child_by_field_name("name"))
        if (name in _CONSTRUCTORS or "constructor" in node.type) and self.classes:
            name = self.classes[-1]
        given = node.child_by_field_name("parameters") or next(
            (n for n in node.named_children if "parameters" in n.type and "type" not in n.type), None
        )
        names = [*parameters(given)] if given is not None else []
        if not names and node.type in ("lambda_literal", "block", "do_block"):
            names = [("it", "")]
        body = node.child_by_field_name("body") or next(
            (n for n in node.named_children if n.type in ("function_body", "constructor_body")), None
        )
        if node.type == "lambda_literal":
            statements = [n for n in node.named_children if n.type != "lambda_parameters"]
        else:
            statements = [body] if body is not None else []
        while len(statements) == 1 and statements[0].type in _BLOCKS and statements[0].named_child_count:
            one = statements[0]
            if one.type == "block" and self.grammar == "tree_sitter_ruby" and one != body:
                break
            statements = one.named_children
        before = self.own
        self.own = self.own | {one for one, _ in names} | frozenset(locals_of(body or node))
        parts = [*holders(names, line), *promoted(given, line)]
        steps = [self.step(one) for one in statements]
        if steps and self._gives_last(node, body):
            steps[-1] = several("return", steps[-1].line, [steps[-1]])
        self.own = before
        parts += [("", one) for one in steps]
        return Step("function", line, (name, *(one for one, _ in names)), parts)

    def _gives_last(self, node: Node, body: Node | None) -> bool:
        if self.grammar in _LAST_IS_GIVEN or node.type == "lambda_literal":
            return True
        if body is None or body.type == "arrow_expression_clause":
            return True
        if body.type == "function_body":  # Kotlin: an expression, or a block
            return not any(child.type == "block" for child in body.named_children)
        return body.type not in ("block", "compound_statement", "constructor_body")


_BLOCKS: Final = frozenset({
    "block", "compound_statement", "body_statement", "block_body", "function_body", "constructor_body",
    "arrow_expression_clause", "statements",
})  # fmt: skip


def _by(makes: dict[Callable[[Node], Step], str]) -> dict[str, Callable[[Node], Step]]:
    return {kind: make for make, kinds in makes.items() for kind in kinds.split()}
