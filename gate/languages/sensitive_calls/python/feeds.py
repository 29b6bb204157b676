"""What goes into a call: the texts, parameters and imported names that its arguments are made from,
followed back through assignments. A changed constant makes an unchanged call do something else.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from dataclasses import field
from typing import Final

from gate.dataclass import dataclass
from gate.languages.sensitive_calls.python.evaluate import Evaluator
from gate.languages.sensitive_calls.python.scopes import Scope, Scopes

_MOST_NODES: Final = 600
_MOST: Final = 60
_SHORTEST: Final = 2


@dataclass(slots=True)
class Feed:
    """``texts``: digests of texts; ``parameters``: of which functions; ``names``: dotted, from imports."""

    texts: set[str] = field(default_factory=set)
    parameters: set[ast.AST] = field(default_factory=set)
    names: set[str] = field(default_factory=set)

    @property
    def told(self) -> tuple[str, ...]:
        """Texts and names in a fixed order, at most some dozens."""
        return tuple(sorted(self.texts | self.names)[:_MOST])


class Feeds:
    """Follows the arguments of calls of one module."""

    def __init__(self, scopes: Scopes, evaluator: Evaluator) -> None:
        self._scopes = scopes
        self._evaluator = evaluator

    def of(self, roots: Iterable[ast.AST]) -> Feed:
        """What these expressions are made from."""
        feed = Feed()
        todo: list[ast.AST] = list(roots)
        seen: set[ast.AST] = set()
        while todo and len(seen) < _MOST_NODES:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            if isinstance(node, ast.Constant):
                self._text(node.value, feed)
            elif isinstance(node, ast.Name):
                todo += self._name(node, feed)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Constant):
                        self._text(inner.value, feed)
            else:
                if isinstance(node, ast.Attribute):
                    todo += self._attribute(node, feed)
                todo += ast.iter_child_nodes(node)
        return feed

    @staticmethod
    def _text(value: object, feed: Feed) -> None:
        if isinstance(value, str):
            value = value.encode("utf-8", "replace")
        if isinstance(value, bytes) and len(value) >= _SHORTEST:
            feed.texts.add(hashlib.blake2b(value, digest_size=6).hexdigest())

    def _name(self, node: ast.Name, feed: Feed) -> list[ast.AST]:
        scope: Scope = self._scopes.inside.get(node, self._scopes.top)
        found: list[ast.AST] = []
        for binding in scope.find(node.id) or ():
            if binding.how == "import":
                feed.names.add(dotted(binding.name))
            elif binding.how in ("parameter", "self"):
                owner = self._owner(scope, node.id)
                if owner is not None and binding.how == "parameter":
                    feed.parameters.add(owner)
            elif binding.node is not None and binding.how != "annotated":
                found.append(binding.node)
        return found

    def _attribute(self, node: ast.Attribute, feed: Feed) -> list[ast.AST]:
        for meaning in self._evaluator.of(node):
            if meaning[0] == "def" and len(meaning) == 2:
                self._given(meaning[1], feed)
            elif meaning[0] not in ("?", "'", "def", "class", "?module", "?scope"):
                feed.names.add(dotted(meaning))
        return [
            binding.node
            for owner in self._classes(node)
            for binding in self._scopes.members.get(node.attr, ())
            if binding.node is not None
            and binding.how != "annotated"
            and owner in (binding.scope.node, getattr(binding.scope.parent, "node", 0))
        ]

    def _given(self, name: str, feed: Feed) -> None:
        """The texts that a method gives back: ``self.post(self.address(site))``."""
        for value in self._evaluator.returned(name):
            for inner in ast.walk(value):
                if isinstance(inner, ast.Constant):
                    self._text(inner.value, feed)

    def _classes(self, node: ast.Attribute) -> list[ast.AST]:
        """The classes of this file that a member may be of."""
        names = {m[1] for m in self._evaluator.of(node.value) if m[0] == "class" and len(m) == 2}
        return [self._evaluator.classes[name] for name in sorted(names) if name in self._evaluator.classes]

    @staticmethod
    def _owner(scope: Scope, name: str) -> ast.AST | None:
        """The function whose parameter a name is."""
        here: Scope | None = scope
        while here is not None:
            if name in here.names and not here.is_class:
                return here.node
            here = here.parent
        return None


def dotted(meaning: tuple[str, ...]) -> str:
    """One text of a name. ``/`` begins one that is relative to the tree."""
    return ".".join(part.removesuffix("()") for part in meaning)


def roots_of(node: ast.expr, parent: ast.AST | None) -> list[ast.AST]:
    """What goes into a sensitive place: a call's arguments and what it is called on; of a function that is
    handed on, what else is given along with it.
    """
    if isinstance(node, ast.Call):
        roots: list[ast.AST] = [*node.args, *(keyword.value for keyword in node.keywords)]
        if isinstance(node.func, ast.Attribute):
            roots.append(node.func.value)
        return roots
    if isinstance(parent, ast.Call):
        return [argument for argument in (*parent.args, *parent.keywords) if argument is not node]
    return []
