"""What each expression of a JavaScript or TypeScript text may stand for.

A value is a set of paths: ``("fs", "rmSync")`` is a member of a module or of the global object, however it
was come by (an alias, a pattern, a parameter, a field, a computed name that can be put together). ``?`` is
what is not known, ``*`` a member by a name that is made while running.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from tree_sitter import Node

from gate.languages.sensitive_calls.javascript_scopes import FUNCTIONS, MADE, NOT_KNOWN, Binding, Path, Scopes
from gate.languages.sensitive_calls.names import module_parts

Values = frozenset[Path]
UNKNOWN: Final[Path] = (NOT_KNOWN,)
FUNCTION: Final[Path] = ("#function",)
OWN: Final[Path] = ("#own",)
SYMBOL: Final = "@@"
CALLS: Final = ("call_expression", "new_expression")
THROUGH: Final = frozenset(
    {
        "parenthesized_expression",
        "await_expression",
        "non_null_expression",
        "as_expression",
        "satisfies_expression",
        "spread_element",
        "yield_expression",
    }
)
"""Nodes that stand for what is in them."""
GLOBALS: Final = frozenset({"globalThis", "global", "window", "self", "top", "parent", "frames"})
LOADERS: Final = frozenset(
    {
        ("require",),
        ("module", "require"),
        ("process", "mainModule", "require"),
        ("process", "getBuiltinModule"),
        ("import",),
    }
)
_SAME: Final = frozenset({"promisify", "getPrototypeOf", "freeze", "create", "Proxy", "resolve"})
"""Functions whose result can do what their first argument can."""
_OWN: Final = frozenset(
    {"object", "array", "string", "number", "template_string", "regex", "true", "false", "null", "undefined"}
)
_ONE_OF: Final = {
    "ternary_expression": ("consequence", "alternative"),
    "binary_expression": ("left", "right"),
    "assignment_expression": ("right",),
}
_CHOOSES: Final = ("||", "&&", "??")
_MOST: Final = 24
_DEEPEST: Final = 80
_LONGEST: Final = 8
_ROUNDS: Final = 3


class JavaScriptValues:
    """What each expression of a tree may stand for."""

    def __init__(self, root: Node, text: bytes) -> None:
        self.scopes = Scopes(root, text)
        self._known: dict[int, Values] = {}
        self._before: dict[int, Values] = {}
        self._active: set[int] = set()
        self._open = False
        """Something was found that what was told before does not know of."""
        calls = [node for node in reversed(self.scopes.nodes) if node.type in CALLS]
        for _ in range(_ROUNDS):  # what a parameter is given may come of another parameter
            self._open = False
            for node in calls:
                self._link(node)
            self._before, self._known = self._known, {}
            if not self._open:
                break

    def of(self, node: Node) -> Values:
        """The paths that an expression may stand for; empty where nothing is known."""
        if node.id in self._known:
            return self._known[node.id]
        if node.id in self._active or len(self._active) > _DEEPEST:  # it goes round: as far as it was known
            self._open = True
            return self._before.get(node.id, frozenset())
        self._active.add(node.id)
        found = frozenset(islice(dict.fromkeys(_plain(path) for path in self._of(node)), _MOST))
        self._active.discard(node.id)
        self._known[node.id] = found
        return found

    def bound(self, binding: Binding) -> Values:
        """The paths of a name."""
        key = -id(binding)
        if key in self._known:
            return self._known[key]
        if key in self._active:
            self._open = True
            return self._before.get(key, frozenset())
        self._active.add(key)
        found = set(binding.paths)
        for source, taken in binding.sources[:_MOST]:
            values = self.bound(source) if isinstance(source, Binding) else self.of(source)
            found |= {_plain((*path, *taken)) for path in values or (UNKNOWN,)}
            if taken and not isinstance(source, Binding):
                found |= self._stored(source, taken[-1])
        self._active.discard(key)
        self._known[key] = frozenset(islice(sorted(found), _MOST))
        return self._known[key]

    def constant(self, node: Node, depth: int = 0) -> str | None:
        """The text that an expression is sure to be, put together of constants; None for any other."""
        kind = node.type
        if depth > _LONGEST:
            return None
        if kind in ("string", "number"):
            return self.scopes.said(node).strip("\"'") if kind == "string" else self.scopes.said(node)
        if kind in THROUGH and node.named_children:
            return self.constant(node.named_children[0], depth + 1)
        if kind == "template_string":
            parts = [
                self.constant(c.named_children[0], depth + 1) if c.named_children else self.scopes.said(c)
                for c in node.named_children
            ]
            return None if None in parts else "".join(part for part in parts if part)
        if kind == "binary_expression":
            sides = [node.child_by_field_name(name) for name in ("left", "right")]
            sign = node.child_by_field_name("operator")
            told = [self.constant(side, depth + 1) if side is not None else None for side in sides]
            if sign is None or self.scopes.said(sign) != "+" or told[0] is None or told[1] is None:
                return None
            return told[0] + told[1]
        if kind == "identifier":
            binding = self.scopes.binding(node)
            if binding is not None and binding.kind == "variable" and len(binding.sources) == 1:
                source, taken = binding.sources[0]
                if isinstance(source, Node) and not taken:
                    return self.constant(source, depth + 1)
        return None

    def index(self, node: Node) -> str:
        """The member that a subscript names: ``*`` where it is made while running, ``@@`` for a symbol."""
        index = _field(node, "index")
        said = self.constant(index)
        if said is None and any(path[0].startswith("Symbol") for path in self.of(index)):
            return SYMBOL
        return said or MADE

    def _of(self, node: Node) -> Iterator[Path]:
        kind = node.type
        if kind in ("identifier", "shorthand_property_identifier"):
            binding = self.scopes.binding(node)
            yield from self.bound(binding) if binding is not None else [(self.scopes.said(node),)]
        elif kind == "member_expression":
            yield from self._member(node, self.scopes.said(_field(node, "property")))
        elif kind == "subscript_expression":
            yield from self._member(node, self.index(node))
        elif kind in CALLS:
            yield from self._called(node)
        elif kind in FUNCTIONS or kind in ("class", "class_declaration"):
            yield FUNCTION
        elif kind in THROUGH and node.named_children:
            yield from self.of(node.named_children[0])
        elif kind == "sequence_expression" and node.named_children:
            yield from self.of(node.named_children[-1])
        elif kind in _ONE_OF:
            sign = node.child_by_field_name("operator")
            if kind != "binary_expression" or (sign is not None and self.scopes.said(sign) in _CHOOSES):
                for name in _ONE_OF[kind]:
                    yield from self.of(_field(node, name))
        elif kind in _OWN:
            yield OWN

    def _member(self, node: Node, name: str) -> Iterator[Path]:
        whole = _field(node, "object")
        values = self.of(whole)
        for path in values or (UNKNOWN,):
            yield (*path, name)
        yield from self._stored(whole, name)

    def _stored(self, whole: Node, name: str) -> Values:
        """What objects of the text have under a name, where the object is one of them or is not known."""
        if any(path[0] not in ("?", OWN[0], "this") for path in self.of(whole)):
            return frozenset()
        if name == MADE and whole.type == "array":
            return frozenset(path for child in whole.named_children for path in self.of(child))
        stored = self.scopes.fields.get(name, ())[:_MOST]
        return frozenset(
            path for value in stored for path in self.of(value) if path[0] not in ("?", OWN[0], FUNCTION[0])
        )

    def _called(self, node: Node) -> Iterator[Path]:
        function = _field(node, "constructor" if node.type == "new_expression" else "function")
        given = arguments(node)
        if function.type == "import":
            paths: Values = frozenset({("import",)})
        else:
            paths = self.of(function)
        for path in paths:
            if path in LOADERS or path[-1] == "createRequire()":
                said = self.constant(given[0]) if given else None
                yield module_parts(said) if said and module_parts(said) else UNKNOWN
            elif path[-1] == "bind" and len(path) > 1:
                yield path[:-1]
            elif path[-1] in _SAME and given:
                yield from self.of(given[0])
            elif path[-1] in ("then", "catch", "finally") and len(path) > 1:
                yield path[:-1]
            elif path[-1] == "createElement" and given:
                yield (*path[:-1], f"createElement({self.constant(given[0]) or MADE})")
            elif path != FUNCTION and path != UNKNOWN:
                yield (*path[:-1], f"{path[-1]}()")
        for target in self._functions(function):
            for returned in self.scopes.returns.get(target.id, ())[:_MOST]:
                yield from self.of(returned)

    def _functions(self, node: Node) -> Iterator[Node]:
        """The functions of this text that an expression calls."""
        while node.type in THROUGH and node.named_children:
            node = node.named_children[0]
        if node.type in FUNCTIONS:
            yield node
        elif node.type == "identifier":
            binding = self.scopes.binding(node)
            for source, taken in binding.sources[:_MOST] if binding is not None else ():
                if isinstance(source, Node) and not taken and source.type in FUNCTIONS:
                    yield source
        elif node.type == "member_expression":
            name = self.scopes.said(_field(node, "property"))
            yield from (
                value for value in self.scopes.fields.get(name, ())[:_MOST] if value.type in FUNCTIONS
            )

    def _link(self, node: Node) -> None:
        """Give the parameters of the functions that a call starts what it hands on."""
        function = _field(node, "constructor" if node.type == "new_expression" else "function")
        given = arguments(node)
        for target in self._functions(function):
            for parameter, argument in zip(self.scopes.parameters.get(target.id, ()), given, strict=False):
                if (argument, ()) not in parameter.sources:
                    self._open = True
                    parameter.sources.append((argument, ()))
        if function.type == "member_expression" and given and given[0].type in FUNCTIONS:
            whole = _field(function, "object")
            parameters = self.scopes.parameters.get(given[0].id, ())
            asked = self.scopes.said(_field(function, "property")) == "then"
            if asked and parameters and (whole, ()) not in parameters[0].sources:
                self._open = True
                parameters[0].sources.append((whole, ()))

    def is_linked(self, node: Node) -> bool:
        """True where the call goes to functions of this text."""
        function = _field(node, "constructor" if node.type == "new_expression" else "function")
        return any(True for _ in self._functions(function))


def arguments(node: Node) -> list[Node]:
    """The arguments of a call, comments left out."""
    listed = node.child_by_field_name("arguments")
    if listed is None or listed.type != "arguments":
        return []
    return [child for child in listed.named_children if child.type != "comment"]


def _field(node: Node, name: str) -> Node:
    return node.child_by_field_name(name) or node


def _plain(path: Path) -> Path:
    """One spelling of a path, without the global object, ``default`` and constructors of functions."""
    while len(path) > 1 and path[0] in GLOBALS:
        path = path[1:]
    if len(path) > 1 and "default" in path[1:]:
        path = (path[0], *(part for part in path[1:] if part != "default"))
    for at in range(len(path) - 1):
        if path[at + 1] == "constructor" and path[at] in ("constructor", FUNCTION[0], "Function"):
            path = ("Function", *path[at + 2 :])
            break
        if path[at] == "Function" and path[at + 1] == "prototype":
            path = (FUNCTION[0], *path[at + 2 :])
            return _plain(path)
    return path if len(path) <= _LONGEST else (*path[: _LONGEST - 1], path[-1])
