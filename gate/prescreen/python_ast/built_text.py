"""Texts that are put together: their parts that are not constant."""

from __future__ import annotations

import ast

from gate.prescreen.python_ast.call_sites import called_function
from gate.prescreen.python_ast.module import Module

_DEEP = 2
"""Functions of the file that a text is followed into."""


def built_from(module: Module, expr: ast.AST | None, depth: int = 6) -> list[ast.expr] | None:
    """The non-constant pieces of a text that is put together (f-string, ``+``, ``%``, ``format``, ``join``).

    Follows a name to what it was assigned. None when the text is constant or not put together.
    """
    if expr is None or depth == 0 or isinstance(module.const(expr), str | bytes):
        return None
    pieces: list[ast.expr] | None = None
    match expr:
        case ast.JoinedStr():
            pieces = [part.value for part in expr.values if isinstance(part, ast.FormattedValue)]
        case ast.BinOp(op=ast.Add()):
            pieces = _added(module, expr)
        case ast.BinOp(op=ast.Mod()) if _texty(module, expr.left):
            pieces = [*expr.right.elts] if isinstance(expr.right, ast.Tuple) else [expr.right]
        case ast.Call(func=ast.Attribute(attr="format", value=left)) if _texty(module, left):
            pieces = [*expr.args, *(keyword.value for keyword in expr.keywords)]
        case ast.Call(func=ast.Attribute(attr="join", value=left)) if module.text_of(left) is not None:
            pieces = [*expr.args]
        case ast.Call(func=ast.Attribute(attr="substitute" | "safe_substitute")) if _fills(module, expr):
            pieces = [*expr.args, *(keyword.value for keyword in expr.keywords)]
        case ast.Call() if (inner := _same_text(module, expr)) is not None:
            return built_from(module, inner, depth - 1)
        case ast.Call():
            pieces = _returned(module, expr, depth)
        case ast.Name():
            pieces = _assigned(module, expr, depth)
    if pieces is None:
        return None
    moving = [piece for piece in pieces if module.text_of(piece) is None]
    return moving or None


def _fills(module: Module, call: ast.Call) -> bool:
    """``string.Template``, which escapes nothing."""
    names = module.names_of(call.func)
    return any(name.startswith("string.Template()") for name in names)


def _returned(module: Module, call: ast.Call, depth: int) -> list[ast.expr] | None:
    """The pieces of the texts that a function of this file gives back."""
    function = called_function(module, call)
    if function is None or isinstance(function, ast.Lambda):
        return None
    found = [built_from(module, end, min(depth - 1, _DEEP)) for end in module.returns_of(function)]
    return [piece for pieces in found for piece in pieces or []] or None


def _same_text(module: Module, call: ast.Call) -> ast.expr | None:
    """What a call gives back in another form: ``str(x)``, ``x.encode()``, ``sqlalchemy.text(x)``."""
    match call:
        case ast.Call(func=ast.Name(id="str"), args=[only]):
            return only
        case ast.Call(func=ast.Attribute(attr="encode" | "strip" | "lower", value=left)):
            return left
        case ast.Call(func=ast.Name() | ast.Attribute(attr="text"), args=[only]):
            named = any(name.endswith(".text") for name in module.names_of(call.func))
            return only if named else None
    return None


def _assigned(module: Module, name: ast.Name, depth: int) -> list[ast.expr] | None:
    pieces: list[ast.expr] = []
    for binding in module.bindings_of(name):
        if binding.kind in ("assign", "augment") and binding.value is not None:
            found = built_from(module, binding.value, depth - 1)
            if binding.kind == "augment" and found is None and module.text_of(binding.value) is None:
                found = [binding.value]
            pieces += found or []
    return pieces or None


def _added(module: Module, expr: ast.BinOp) -> list[ast.expr] | None:
    parts: list[ast.expr] = []
    left: ast.expr = expr
    while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
        parts.append(left.right)
        left = left.left
    parts.append(left)
    if not any(_texty(module, part) for part in parts):
        return None
    out: list[ast.expr] = []
    for part in parts:
        inner = built_from(module, part, 3) if isinstance(part, ast.BinOp | ast.JoinedStr) else None
        out.extend(inner or [part])
    return out


def _texty(module: Module, expr: ast.AST) -> bool:
    """True when the expression surely is text: a literal, an f-string, or a name of one."""
    return isinstance(expr, ast.JoinedStr) or isinstance(module.const(expr), str | bytes)
