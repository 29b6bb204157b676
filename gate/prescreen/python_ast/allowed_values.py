"""Annotations that allow a few values of the program's own: what a framework checks by them is no free text.

FastAPI answers 422 before the function is called where a value is none of an enumeration or of ``Literal``.
"""

from __future__ import annotations

import ast

from gate.prescreen.python_ast.module import Module

_ENUMS = frozenset({"enum.Enum", "enum.StrEnum", "enum.IntEnum"})
_LITERALS = frozenset({"typing.Literal", "typing_extensions.Literal"})
_WRAPPERS = frozenset({"typing.Annotated", "typing.Optional", "typing_extensions.Annotated"})


def is_one_of(module: Module, annotation: ast.expr | None) -> bool:
    """True for ``Literal["a", "b"]`` and for an enumeration of this file, also where None is allowed."""
    match annotation:
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            sides = [side for side in (left, right) if not _is_none(side)]
            return bool(sides) and all(is_one_of(module, side) for side in sides)
        case ast.Subscript(value=value, slice=inner):
            names = set(module.names_of(value))
            if names & _LITERALS:
                listed = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                return all(isinstance(one, ast.Constant) for one in listed)
            first = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
            return bool(names & _WRAPPERS) and is_one_of(module, first)
        case ast.Name():
            bindings = module.bindings_of(annotation)
            return bool(bindings) and all(_is_enumeration(module, binding.node) for binding in bindings)
    return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_enumeration(module: Module, node: ast.AST) -> bool:
    """A class of constants. ``_missing_`` may take any text."""
    if not isinstance(node, ast.ClassDef):
        return False
    kinds = {name for base in node.bases for name in module.names_of(base)}
    fixed = all(isinstance(one.value, ast.Constant) for one in node.body if isinstance(one, ast.Assign))
    looks = any(getattr(one, "name", "") in ("_missing_", "__new__") for one in node.body)
    return bool(kinds & _ENUMS) and fixed and not looks
