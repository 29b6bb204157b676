"""Which library classes a class is made from: through classes of its file and of the tree's others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.values.tree import Sources

_DEEPEST: Final = 8
_MOST: Final = 60
"""Classes that are looked at for one question."""


def sources_of(module: Module) -> Sources:
    """The tree's other files that this one imports, parsed once."""
    return module.kept("sources", lambda index: Sources(index.others))


def bases_of(module: Module, expr: ast.expr | None) -> Iterator[tuple[str, bool]]:
    """Names of the library classes that ``expr`` stands for or is made from; True: by a class of the tree."""
    todo: list[tuple[Module, ast.expr, bool, int]] = [(module, expr, False, 0)] if expr is not None else []
    looked = 0
    while todo and looked < _MOST:
        looked += 1
        owner, one, own, depth = todo.pop()
        for definition in _classes(owner, one):
            if depth < _DEEPEST:
                todo += [(owner, base, True, depth + 1) for base in definition.bases]
        for name in owner.names_of(one):
            found = sources_of(module).find(name, owner)
            if found is None:
                yield name, own
            elif isinstance(found[1], ast.ClassDef) and depth < _DEEPEST:
                todo += [(found[0], base, True, depth + 1) for base in found[1].bases]
            elif isinstance(found[1], str) and depth < _DEEPEST:
                bound = found[0].scope.bindings.get(found[1], ())
                values = [b.value for b in bound if b.kind == "assign" and b.value is not None]
                todo += [(found[0], value, True, depth + 1) for value in values]


def _classes(module: Module, expr: ast.expr) -> Iterator[ast.ClassDef]:
    """The classes of this file that a name means, also one that is kept under another name."""
    todo, seen = [expr], 0
    while todo and seen < _DEEPEST:
        seen += 1
        one = todo.pop()
        for binding in module.bindings_of(one) if isinstance(one, ast.Name) else ():
            if isinstance(binding.node, ast.ClassDef):
                yield binding.node
            elif binding.kind == "assign" and isinstance(binding.value, ast.Name):
                todo.append(binding.value)
