"""Syntax trees of tree-sitter as program trees: expressions. Runs in the limited child.

The grammars name most things alike, so one table serves all; what differs has an entry of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, Final

from tree_sitter import Node as Tree

from gate.regex import regex
from gate.taint.program import SPREAD, Kind, Node, nothing

_COMPARED: Final = frozenset({
    "==", "===", "!=", "!==", "<", ">", "<=", ">=", "<=>", "instanceof", "in", "!in", "is", "!is", "=~", "!~",
    "<>", "eq?",
})  # fmt: skip
_BOTH: Final = frozenset({"&&", "and"})
_EITHER: Final = frozenset({"||", "or", "??", "?:"})
_TEXT_PARTS: Final = frozenset({
    "string_fragment", "string_content", "string_literal_content", "interpreted_string_literal_content",
    "raw_string_literal_content", "escape_sequence", "heredoc_content",
    "raw_string_content", "multiline_string_fragment",
    "string_value", "nowdoc_string",
})  # fmt: skip
_WORD: Final = regex(r"\w+")
_QUOTES: Final = "\"'`"


def said(node: Tree | None) -> str:
    """The text of a node."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def field_of(node: Tree | None, *names: str) -> Tree | None:
    """The first of these fields that the node has."""
    if node is None:
        return None
    return next((child for name in names if (child := node.child_by_field_name(name)) is not None), None)


def line_of(node: Tree) -> int:
    """Its first line, from 1."""
    return node.start_point.row + 1


def children(node: Tree) -> list[Tree]:
    """Its named children without comments."""
    return [one for one in node.named_children if "comment" not in one.type]


class Expressions:
    """What stands for values. ``node`` lowers anything; statements are in statements.py."""

    table: ClassVar[dict[str, Callable[..., Node]]]

    def __init__(self, grammar: str) -> None:
        self.grammar = grammar
        self.is_ruby = grammar == "tree_sitter_ruby"
        self.is_kotlin = grammar == "tree_sitter_kotlin"
        self.is_php = grammar.startswith("tree_sitter_php")
        self.is_go = grammar == "tree_sitter_go"

    def node(self, tree: Tree | None) -> Node:
        """The program tree of a syntax tree; what has no entry is any of its children."""
        if tree is None:
            return nothing(0)
        made = self.table.get(tree.type)
        if made is not None:
            return made(self, tree)
        if "comment" in tree.type or not tree.is_named:
            return nothing(line_of(tree))
        inner = children(tree)
        if not inner:
            return nothing(line_of(tree))
        if len(inner) == 1:
            return self.node(inner[0])
        return Node("any", line_of(tree), "", [self.node(one) for one in inner])

    def const(self, tree: Tree) -> Node:
        """A literal; its text is kept."""
        return Node("const", line_of(tree), said(tree))

    def empty(self, tree: Tree) -> Node:
        """What holds no value: a type, a declaration."""
        return nothing(line_of(tree))

    def shown(self, tree: Tree) -> Node:
        """A statement; behind PHP's ``<?=`` it is shown."""
        before = tree.prev_named_sibling
        if before is not None and said(before) == "<?=":
            return self.named_call("echo")(self, tree)
        return self.inner(tree)

    def inner(self, tree: Tree) -> Node:
        """Brackets, ``await`` and the like: their last child."""
        named = children(tree)
        return self.node(named[-1]) if named else nothing(line_of(tree))

    def first(self, tree: Tree) -> Node:
        """Assertions that add nothing: their first child."""
        named = children(tree)
        return self.node(field_of(tree, "operand", "argument", "value") or (named[0] if named else None))

    def name(self, tree: Tree) -> Node:
        """A name as it is written, without the signs that languages put before it."""
        text = said(tree)
        if tree.type == "instance_variable":
            return Node("member", line_of(tree), text.lstrip("@"), [Node("name", line_of(tree), "this")])
        text = {"self": "this", "$this": "this", "base": "super"}.get(text, text)
        return Node("name", line_of(tree), text.lstrip("$#@"))

    def string(self, tree: Tree) -> Node:
        """A text; with values in it, a concatenation in the order of the text."""
        line = line_of(tree)
        parts: list[Node] = []
        for child in tree.children:
            if child.type in _TEXT_PARTS:
                content = said(child)
                dollar = parts and parts[-1].kind == "const" and parts[-1].text.endswith("$")
                if self.is_kotlin and dollar and content[:1].isalpha():  # `$name` has no node of its own
                    word = _WORD.match(content)
                    ident = word[0] if word else ""
                    parts[-1].text = parts[-1].text[:-1]
                    parts += [Node("name", line, ident), Node("const", line, content[len(ident) :])]
                else:
                    parts.append(Node("const", line, content))
            elif child.type == "heredoc_body" or (child.type == "interpolated_string_text"):
                inner = self.string(child)
                parts += inner.parts if inner.kind == "concat" else [inner]
            elif child.is_named and child.type not in (
                "interpolation_start", "heredoc_start", "heredoc_end", "simple_symbol",
            ):  # fmt: skip
                parts.append(self.interpolated(child))
        if all(part.kind == "const" for part in parts):
            text = "".join(part.text for part in parts)
            if not parts:
                text = said(tree).strip(_QUOTES)
            return Node("const", line, text)
        return Node("concat", line, "", parts)

    def interpolated(self, tree: Tree) -> Node:
        """What stands between the signs of an insertion."""
        inner = [one for one in children(tree) if one.type != "interpolation_brace"]
        wraps = tree.type in ("interpolation", "template_substitution")
        return self.node(inner[0]) if inner and wraps else self.node(tree)

    def member(self, tree: Tree) -> Node:
        """``a.b`` in every spelling."""
        base = field_of(
            tree, "object", "operand", "expression", "scope", "qualifier", "receiver", "condition"
        )
        last = field_of(tree, "property", "field", "name", "method")
        named = children(tree)
        if base is None and named:
            base = named[0]
        if last is None and len(named) > 1:
            last = named[-1]
        if tree.type == "conditional_access_expression" and last is not None:  # C#: a?.b
            inner = self.node(last)
            return _rebased(inner, self.node(base))
        if base is None:
            return Node("name", line_of(tree), said(last).lstrip("$#"))
        name = said(last).lstrip("$#@:").partition("<")[0]
        return Node("member", line_of(tree), name, [self.node(base)])

    def binding(self, tree: Tree) -> Node:
        """C#'s ``.b`` behind ``a?``: its base comes from outside of it."""
        return Node("member", line_of(tree), said(field_of(tree, "name")), [nothing(line_of(tree))])

    def index(self, tree: Tree) -> Node:
        """``a[b]``."""
        named = children(tree)
        base = field_of(tree, "object", "operand", "expression", "array") or (named[0] if named else None)
        at = field_of(tree, "index", "subscript") or (named[-1] if len(named) > 1 else None)
        while at is not None and at.type in ("bracketed_argument_list", "argument") and at.named_child_count:
            at = at.named_children[0]
        return Node("index", line_of(tree), "", [self.node(base), self.node(at)])

    def part_of(self, tree: Tree) -> Node:
        """A slice of a text."""
        named = children(tree)
        return self.node(named[0] if named else None)

    # Calls.

    def call(self, tree: Tree) -> Node:
        """A call; a method's owner is the base of the member that is called."""
        line = line_of(tree)
        named = children(tree)
        function = field_of(tree, "function", "constructor")
        if function is None and tree.type == "call_expression" and named:
            function = named[0]
        if function is not None:
            callee = self.node(function)
        else:
            owner = field_of(tree, "object", "receiver", "scope")
            name = said(field_of(tree, "name", "method")).lstrip("$") or ("call" if owner is not None else "")
            callee = (
                Node("member", line, name, [self.node(owner)])
                if owner is not None
                else Node("name", line, {"super": "super", "self": "this"}.get(name, name))
            )
        given = field_of(tree, "arguments") or next(
            (n for n in named if n.type in ("value_arguments", "arguments", "argument_list")), None
        )
        parts, keys = [callee], [""]
        if given is not None and given.type == "template_string":  # a tagged text binds its values
            text = self.node(given)
            inner = text.parts if text.kind == "concat" else [text]
            return Node("call", line, "tagged", [callee, *inner], ["", *("" for _ in inner)])
        if function is not None and function.type == "call_expression" and given is None and self.is_kotlin:
            parts, keys = [*callee.parts], [*callee.keys]  # f(x) { ... } is one call
            if callee.kind != "call":
                parts, keys = [callee], [""]
        for child in children(given) if given is not None else ():
            key, part = self.argument(child)
            parts.append(part)
            keys.append(key)
        blocks = [n for n in named if n.type in ("annotated_lambda", "lambda_literal", "block", "do_block")]
        for one in blocks:
            parts.append(self.node(one))
            keys.append("&")
        if self.is_ruby and callee.text == "new" and callee.kind == "member":
            return Node("new", line, _last_name(callee.parts[0]), parts, keys)
        if self.is_ruby and callee.kind == "name" and callee.text in ("raise", "fail", "abort", "exit"):
            return Node("throw", line, "", parts[1:])
        return Node("call", line, "", parts, keys)

    def argument(self, tree: Tree) -> tuple[str, Node]:
        """One argument with its keyword."""
        if tree.type == "pair":
            return self.key(field_of(tree, "key")), self.node(field_of(tree, "value"))
        if tree.type in ("argument", "value_argument"):
            inner = children(tree)
            name = field_of(tree, "name")
            if name is None and len(inner) > 1 and "=" in [c.type for c in tree.children]:
                name = inner[0]
            spread = any(c.type in ("...", "*") for c in tree.children)
            value = self.node(inner[-1]) if inner else nothing(line_of(tree))
            return (SPREAD if spread else said(name)), value
        spread = "spread" in tree.type or "splat" in tree.type or tree.type == "variadic_argument"
        return (SPREAD if spread else ""), self.node(tree)

    def made(self, tree: Tree) -> Node:
        """``new T(...)``, with the entries of an initialiser."""
        line, named = line_of(tree), children(tree)
        kind = field_of(tree, "type", "constructor") or (named[0] if named else None)
        text = said(kind).partition("<")[0].rpartition("\\")[2]
        given = field_of(tree, "arguments") or next(
            (n for n in named if n.type in ("arguments", "argument_list")), None
        )
        parts, keys = [Node("name", line, text)], [""]
        for child in children(given) if given is not None else ():
            key, part = self.argument(child)
            parts.append(part)
            keys.append(key)
        initial = field_of(tree, "initializer")
        for child in children(initial) if initial is not None else ():
            parts.append(self.node(field_of(child, "right") or child))
            keys.append(said(field_of(child, "left")) or "+")
        return Node("new", line, text.rpartition(".")[2], parts, keys)

    def named_call(self, name: str) -> Callable[[Expressions, Tree], Node]:
        """A statement that is a call in all but its form: ``echo``, ``include``, a command in backticks."""

        def make(own: Expressions, tree: Tree) -> Node:
            line = line_of(tree)
            if name == "`":
                text = own.string(tree)
                return Node("call", line, "", [Node("name", line, "`"), text], ["", ""])
            given = [own.node(one) for one in children(tree)]
            if len(given) == 1 and given[0].kind == "list" and given[0].text == ",":
                given = given[0].parts
            parts = [Node("name", line, name), *given]
            return Node("call", line, "", parts, [""] * len(parts))

        return make

    # Operators.

    def operation(self, tree: Tree) -> Node:
        """Two sides and an operator between them."""
        line, named = line_of(tree), children(tree)
        left, right = field_of(tree, "left"), field_of(tree, "right")
        if left is None and named:
            left, right = named[0], named[-1]
        sign = said(field_of(tree, "operator")) or next((c.type for c in tree.children if not c.is_named), "")
        parts = [self.node(left), self.node(right)]
        if sign in _COMPARED:
            return Node("test", line, sign, parts)
        if sign in _BOTH:
            return Node("and", line, "", parts)
        if sign in _EITHER:
            return Node("or", line, "", parts)
        if sign == "<<" and self.is_ruby:
            return Node("assign", line, "+=", parts)
        if sign in ("+", "."):
            flat: list[Node] = []
            for part in parts:
                flat += part.parts if part.kind == "concat" else [part]
            return Node("concat", line, "", flat)
        if sign == "%" and self.is_ruby:
            return Node("concat", line, "", parts)
        if sign in ("-", "*", "/", "%", "**", "&", "|", "^", ">>", "<<"):
            return nothing(line)
        return Node("any", line, "", parts)

    def unary(self, tree: Tree) -> Node:
        """``!a``, ``&a``, ``-a``."""
        sign = said(field_of(tree, "operator")) or next((c.type for c in tree.children if not c.is_named), "")
        named = children(tree)
        operand = field_of(tree, "operand", "argument", "operand") or (named[-1] if named else None)
        if sign in ("!", "not"):
            return Node("not", line_of(tree), "", [self.node(operand)])
        if sign in ("-", "+", "~", "typeof", "delete", "void", "++", "--", "defined?"):
            return Node("test", line_of(tree), sign, [self.node(operand)])
        return self.node(operand)

    def choice(self, tree: Tree) -> Node:
        """``a ? b : c``."""
        test = self.node(field_of(tree, "condition"))
        then, other = field_of(tree, "consequence", "body"), field_of(tree, "alternative")
        if then is None:
            return Node("or", line_of(tree), "", [test, self.node(other)])
        return Node("cond", line_of(tree), "", [test, self.node(then), self.node(other)])

    def contained(self, tree: Tree) -> Node:
        """Kotlin's ``a in b`` and ``a !in b``."""
        sign = next((c.type for c in tree.children if not c.is_named), "in")
        parts = [self.node(field_of(tree, "left")), self.node(field_of(tree, "right"))]
        return Node("test", line_of(tree), sign, parts)

    def is_kind(self, tree: Tree) -> Node:
        """Tests of a type tell nothing of a text."""
        return Node("test", line_of(tree), "instanceof", [self.node(one) for one in children(tree)[:1]])

    def cast(self, tree: Tree) -> Node:
        """A cast: of a number, what comes out is one."""
        kind = said(field_of(tree, "type")).lower()
        value = field_of(tree, "value", "operand", "expression") or _last(tree)
        numeric = kind.strip("()?* ") in (
            "int", "integer", "float", "double", "bool", "boolean", "long", "int64", "int32", "uint",
            "uint64",
        )  # fmt: skip
        if numeric:
            return Node("test", line_of(tree), "number", [self.node(value)])
        return self.node(value)

    # Things with entries.

    def key(self, tree: Tree | None) -> str:
        """The key of an entry, where it is constant."""
        if tree is None:
            return ""
        while tree.type == "literal_element" and tree.named_children:
            tree = tree.named_children[0]
        if "computed" in tree.type:
            return "?"
        if "string" in tree.type:
            made = self.string(tree)
            return made.text if made.kind == "const" else "?"
        return said(tree).strip(":").lstrip("$#") if tree.type != "call_expression" else "?"

    def entries(self, tree: Tree) -> Node:
        """An object, a map, a table."""
        parts: list[Node] = []
        keys: list[str] = []
        for child in children(tree):
            key, part = self.entry(child)
            parts.append(part)
            keys.append(key)
        return Node("object", line_of(tree), "", parts, keys)

    def entry(self, child: Tree) -> tuple[str, Node]:
        """One entry of an object or of an array with keys."""
        if child.type in ("pair", "pair_pattern", "keyed_element"):
            return self.key(field_of(child, "key")), self.node(field_of(child, "value"))
        if child.type == "array_element_initializer":
            inner = children(child)
            if len(inner) == 2:
                return self.key(inner[0]), self.node(inner[1])
            return "+", self.node(inner[-1] if inner else None)
        if "spread" in child.type or "splat" in child.type or child.type == "rest_pattern":
            return SPREAD, self.inner(child)
        if child.type == "object_assignment_pattern":
            left = field_of(child, "left")
            return said(left), self.node(left)
        if child.type in ("method_definition", "method"):
            return said(field_of(child, "name")), self.node(child)
        node = self.node(child)
        return (node.text if node.kind == "name" else "+"), node

    def items(self, tree: Tree) -> Node:
        """A list; one that has keys (PHP) is an object."""
        named = children(tree)
        keyed = [
            one for one in named if one.type == "array_element_initializer" and one.named_child_count > 1
        ]
        if keyed:
            return self.entries(tree)
        return Node("list", line_of(tree), "", [self.node(one) for one in named])

    def sequence(self, tree: Tree) -> Node:
        """``echo a, b``."""
        return Node("list", line_of(tree), ",", self.nodes(children(tree)))

    def composite(self, tree: Tree) -> Node:
        """Go's ``T{...}``."""
        body = field_of(tree, "body")
        made = self.node(body)
        if "slice" in said(field_of(tree, "type"))[:0] or made.kind != "object":
            return made
        keyed = any(key not in ("+", "") for key in made.keys)
        kind = said(field_of(tree, "type"))
        if not keyed:
            return Node("list", line_of(tree), "", made.parts)
        return Node("object", line_of(tree), kind, made.parts, made.keys)

    def nodes(self, trees: Iterable[Tree]) -> list[Node]:
        """Several at once."""
        return [self.node(one) for one in trees]

    def expression_list(self, tree: Tree) -> Node:
        """Go's lists on both sides of an assignment."""
        named = children(tree)
        return self.node(named[0]) if len(named) == 1 else Node("list", line_of(tree), "", self.nodes(named))

    def attribute(self, tree: Tree) -> Node:
        """An attribute of JSX: markup that is put in as it is, is a call."""
        named = children(tree)
        if said(named[0] if named else None) == "dangerouslySetInnerHTML":
            value = self.node(named[-1])
            inner = value.parts[0] if value.kind == "object" and value.parts else value
            parts = [Node("name", line_of(tree), "dangerouslySetInnerHTML"), inner]
            return Node("call", line_of(tree), "", parts, ["", ""])
        return self.node(named[-1]) if len(named) > 1 else nothing(line_of(tree))


def _last(tree: Tree) -> Tree | None:
    named = children(tree)
    return named[-1] if named else None


def _last_name(node: Node) -> str:
    return node.text


def _rebased(node: Node, base: Node) -> Node:
    """``node`` with its innermost empty base replaced."""
    if node.kind == "member" and node.parts and node.parts[0].kind == "const":
        node.parts[0] = base
    elif node.parts:
        node.parts[0] = _rebased(node.parts[0], base)
    return node


def kinds_of(value: Kind, *types: str) -> dict[str, Kind]:
    """A table of one answer for several types."""
    return dict.fromkeys(types, value)
