"""The names of a JavaScript or TypeScript text: who declares them, and what they get their values from.

Which branch is taken, and in which order, is not asked: a name has every value that some assignment gives it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Final

from tree_sitter import Node

from gate.dataclass import dataclass
from gate.languages.sensitive_calls.names import module_parts

Path = tuple[str, ...]
NOT_KNOWN: Final = "?"
MADE: Final = "*"
"""A member by a name that is made while running."""
FUNCTIONS: Final = frozenset(
    {
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "arrow_function",
        "method_definition",
    }
)
TYPES: Final = frozenset(
    {
        "type_annotation",
        "type_arguments",
        "type_parameters",
        "type_query",
        "interface_declaration",
        "type_alias_declaration",
        "ambient_declaration",
        "implements_clause",
        "comment",
    }
)
"""Nodes in which nothing is run."""
_SCOPES: Final = FUNCTIONS | {
    "statement_block",
    "for_statement",
    "for_in_statement",
    "catch_clause",
    "switch_body",
}
_NAMED: Final = frozenset({"function_declaration", "generator_function_declaration", "class_declaration"})


@dataclass(slots=True, eq=False)
class Binding:
    """A name of a scope. ``sources`` are what it gets its value from (an expression, or a parameter as a
    whole) and the members taken of that; ``kind`` is ``parameter``, ``function``, ``import`` or ``variable``.
    """

    kind: str
    sources: list[tuple[Node | Binding, Path]] = field(default_factory=list)
    paths: set[Path] = field(default_factory=set)


class Scope:
    """The names of one block, and the block around it."""

    __slots__ = ("names", "of_function", "parent")

    def __init__(self, parent: Scope | None, *, of_function: bool) -> None:
        self.parent = parent
        self.of_function = of_function
        self.names: dict[str, Binding] = {}

    def find(self, name: str) -> Binding | None:
        """The binding that a name means here."""
        here: Scope | None = self
        while here is not None:
            if name in here.names:
                return here.names[name]
            here = here.parent
        return None

    def around(self, *, top: bool) -> Scope:
        """The scope of ``var``, or of names that nobody declares."""
        here = self
        while (top or not here.of_function) and here.parent is not None:
            here = here.parent
        return here


class Scopes:
    """Every name of one tree, what it gets its values from, and all ``nodes`` in which something is run."""

    def __init__(self, root: Node, text: bytes) -> None:
        self._text = text
        self._of: dict[int, Scope] = {}
        self.nodes: list[Node] = []
        self.fields: dict[str, list[Node]] = {}
        """What is stored under a name in any object of the text."""
        self.returns: dict[int, list[Node]] = {}
        """What a function, by its node, gives back."""
        self.parameters: dict[int, list[Binding]] = {}
        later: list[tuple[Node, Scope]] = []
        for node, scope in self._walk(root):
            self.nodes.append(node)
            self._of[node.id] = scope
            self._declare(node, scope)
            if node.type in ("assignment_expression", "augmented_assignment_expression"):
                later.append((node, scope))
        for node, scope in later:
            self._assign(node, scope)

    def said(self, node: Node) -> str:
        """The text of a node."""
        return self._text[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def binding(self, node: Node) -> Binding | None:
        """What declares the identifier; None for a global name."""
        scope = self._of.get(node.id)
        return scope.find(self.said(node)) if scope is not None else None

    def _walk(self, root: Node) -> Iterator[tuple[Node, Scope]]:
        stack: list[tuple[Node, Scope, int]] = [(root, Scope(None, of_function=True), 0)]
        while stack:
            node, scope, function = stack.pop()
            if node.type in TYPES:
                continue
            yield node, scope
            if node.type == "return_statement" and node.named_children:
                self.returns.setdefault(function, []).append(node.named_children[0])
            if node.type in _SCOPES:
                scope = Scope(scope, of_function=node.type in FUNCTIONS)
            if node.type in FUNCTIONS:
                function = node.id
                self.parameters[function] = list(self._take_parameters(node, scope))
                body = node.child_by_field_name("body")
                if body is not None and body.type != "statement_block":
                    self.returns.setdefault(function, []).append(body)
            elif node.type == "catch_clause" and (name := node.child_by_field_name("parameter")):
                self._bind(name, Binding("parameter"), (), scope, "parameter")
            elif node.type == "for_in_statement" and node.child_by_field_name("kind") is not None:
                left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
                if left is not None and right is not None:
                    self._bind(left, right, (MADE,), scope, "variable")
            stack.extend((child, scope, function) for child in reversed(node.named_children))

    def _take_parameters(self, node: Node, scope: Scope) -> Iterator[Binding]:
        alone = node.child_by_field_name("parameter")
        listed = node.child_by_field_name("parameters")
        for one in [alone] if alone is not None else listed.named_children if listed is not None else ():
            if one.type in TYPES or one.type == "decorator":
                continue
            whole = Binding("parameter")
            default = one.child_by_field_name("value") or one.child_by_field_name("right")
            if default is not None:
                whole.sources.append((default, ()))
            pattern = one.child_by_field_name("pattern") or one.child_by_field_name("left") or one
            self._bind(pattern, whole, (), scope, "parameter")
            yield whole

    def _declare(self, node: Node, scope: Scope) -> None:
        kind = node.type
        if kind == "variable_declarator":
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            of_var = node.parent is not None and node.parent.type == "variable_declaration"
            if name is not None:
                where = scope.around(top=False) if of_var else scope
                self._bind(name, value or Binding("variable"), (), where, "variable")
        elif kind in _NAMED:
            name = node.child_by_field_name("name")
            if name is not None:
                scope.names.setdefault(self.said(name), Binding("function")).sources.append((node, ()))
        elif kind == "import_statement":
            self._import(node, scope)
        elif kind == "pair":
            self._store(node.child_by_field_name("key"), node.child_by_field_name("value"))
        elif kind in ("public_field_definition", "field_definition"):
            key = node.child_by_field_name("name") or node.child_by_field_name("property")
            self._store(key, node.child_by_field_name("value"))
        elif kind == "shorthand_property_identifier":
            self._store(node, node)

    def _import(self, node: Node, scope: Scope) -> None:
        source = node.child_by_field_name("source")
        required = next((c for c in node.named_children if c.type == "import_require_clause"), None)
        if required is not None:
            source = required.child_by_field_name("source")
        if source is None or any(child.type == "type" for child in node.children):
            return
        module = module_parts(self.said(source)) or (NOT_KNOWN,)
        clauses = [required] if required is not None else node.named_children
        for part in (inner for clause in clauses for inner in clause.named_children):
            if part.type in ("identifier", "namespace_import"):
                name = part if part.type == "identifier" else part.named_children[0]
                self._import_name(name, scope, module)
            for one in part.named_children if part.type == "named_imports" else ():
                taken = one.child_by_field_name("name")
                if taken is not None:
                    alias = one.child_by_field_name("alias") or taken
                    self._import_name(alias, scope, (*module, self.said(taken).strip("\"'")))

    def _import_name(self, name: Node, scope: Scope, path: Path) -> None:
        scope.names.setdefault(self.said(name), Binding("import")).paths.add(path)

    def _assign(self, node: Node, scope: Scope) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and left.type == "parenthesized_expression" and left.named_children:
            left = left.named_children[0]
        if left is None or right is None:
            return
        if left.type == "member_expression":
            self._store(left.child_by_field_name("property"), right)
        elif left.type != "subscript_expression":
            self._bind(left, right, (), scope, "")

    def _store(self, key: Node | None, value: Node | None) -> None:
        if key is not None and value is not None:
            self.fields.setdefault(self.said(key).strip("\"'`"), []).append(value)

    def _bind(self, pattern: Node, value: Node | Binding, path: Path, scope: Scope, kind: str) -> None:
        """Give the names of a pattern their parts of ``value``. Without a ``kind`` nothing is declared: names
        that are known get one more value.
        """
        todo: list[tuple[Node, Node | Binding, Path]] = [(pattern, value, path)]
        while todo:
            node, value, taken = todo.pop()
            inner, default = node.child_by_field_name("left"), node.child_by_field_name("right")
            if node.type in ("identifier", "shorthand_property_identifier_pattern"):
                name = self.said(node)
                found = scope.names.get(name) if kind else scope.find(name)
                if found is None:
                    where = scope if kind else scope.around(top=True)
                    found = where.names[name] = Binding(kind or "variable")
                end = taken if node.type == "identifier" else (*taken, name)
                found.sources.append((value, end))
            elif node.type in ("object_pattern", "array_pattern"):
                more = (MADE,) if node.type == "array_pattern" else ()
                todo += [(child, value, (*taken, *more)) for child in node.named_children]
            elif node.type == "pair_pattern":
                key, inner = node.child_by_field_name("key"), node.child_by_field_name("value")
                if key is not None and inner is not None:
                    todo.append((inner, value, (*taken, self._key(key))))
            elif node.type in ("object_assignment_pattern", "assignment_pattern") and inner is not None:
                todo.append((inner, value, taken))
                todo += [(inner, default, ())] if default is not None and inner.type == "identifier" else []
            elif node.type == "rest_pattern" and node.named_children:
                todo.append((node.named_children[0], value, taken))

    def _key(self, key: Node) -> str:
        if key.type != "computed_property_name":
            return self.said(key).strip("\"'`")
        inner = key.named_children[0] if key.named_children else key
        return self.said(inner).strip("\"'`") if inner.type == "string" else MADE
