"""Expressions rewritten so that a part that fails gives a mark, and what may be skipped is not."""

from __future__ import annotations

import ast
from typing import Any

from .places import holds_call
from .runtime import NAME

OWNER = "_gate_owner"
"""Global name of the class whose method is forced."""
_RAW = frozenset({"locals", "globals", "vars", "dir", "super", "exec", "eval"})
_OPERATORS = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv", "Mod": "mod",
    "Pow": "pow", "LShift": "lshift", "RShift": "rshift", "BitOr": "or_", "BitXor": "xor",
    "BitAnd": "and_", "MatMult": "matmul",
}  # fmt: skip


def helper(name: str, *args: ast.expr, keywords: Any = ()) -> ast.Call:
    """A call of one of runtime.py's methods."""
    function = ast.Attribute(value=ast.Name(id=NAME, ctx=ast.Load()), attr=name, ctx=ast.Load())
    return ast.Call(func=function, args=list(args), keywords=list(keywords))


class Softener(ast.NodeTransformer):
    """One statement's expressions. ``line``, ``column``: where the target begins (None: it holds none).
    ``both``: ternaries take the other way. ``prelude`` collects what was cut out and is evaluated ahead.
    """

    def __init__(self, line: int | None, column: int | None, *, both: bool = False) -> None:
        self.line = line
        self.column = column
        self.both = both
        self.prelude: list[ast.expr] = []

    def _has(self, node: ast.AST) -> bool:
        return self.line is not None and holds_call(node, self.line, self.column)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            return ast.copy_location(helper("attr", node.value, ast.Constant(value=node.attr)), node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        key: Any = node.slice
        if type(key).__name__ == "Index":  # Python 3.8
            key = key.value
        if isinstance(key, ast.Slice):
            parts = [part or ast.Constant(value=None) for part in (key.lower, key.upper, key.step)]
            key = ast.Call(func=ast.Name(id="slice", ctx=ast.Load()), args=parts, keywords=[])
        elif any(isinstance(n, (ast.Slice, ast.Starred)) for n in ast.walk(key)):
            return node
        return ast.copy_location(helper("item", node.value, key), node)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        name = _OPERATORS[type(node.op).__name__]
        return ast.copy_location(helper("op", ast.Constant(value=name), node.left, node.right), node)

    def visit_Call(self, node: ast.Call) -> Any:
        hit = self.line is not None and node.lineno == self.line and node.col_offset == self.column
        hit = hit or (self.column is None and node.lineno == self.line)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        attribute = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        self.generic_visit(node)
        if hit and attribute:
            node.func = helper("own", node.func, ast.Constant(value=attribute))
        if name in ("exec", "eval"):
            keywords = node.keywords
            if len(node.args) == 1 and not keywords:
                spaces = [_call("globals"), _call("locals")]
                return ast.copy_location(
                    helper("execute", node.func, node.args[0], *spaces, ast.Constant(value=hit)), node
                )
        elif name in _RAW:
            return node
        return ast.copy_location(
            helper("target" if hit else "call", node.func, *node.args, keywords=node.keywords), node
        )

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        for at, value in enumerate(node.values):
            if at and self._has(value):
                self.prelude += [self.visit(v) for v in node.values[:at]]
                return self.visit(value)
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        for branch in (node.body, node.orelse):
            if self._has(branch):
                self.prelude.append(self.visit(node.test))
                return self.visit(branch)
        if self.both:
            node.test = ast.UnaryOp(op=ast.Not(), operand=node.test)
        return self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        if not self._has(node.body):
            return node
        node.body = self.visit(node.body)
        return ast.copy_location(helper("now", node), node)

    def visit_Await(self, node: ast.Await) -> Any:
        self.generic_visit(node)
        node.value = helper("wait", node.value)
        return node

    def _comprehension(self, node: Any) -> Any:
        if not self._has(node):
            return node
        if any(part.is_async for part in node.generators):
            return self.generic_visit(node)
        for part in node.generators:
            part.iter = helper("some", self.visit(part.iter), width_of(part.target))
            always = []
            for test in part.ifs:  # evaluated, for what it binds; (test, True)[1] is true
                both: ast.expr = ast.Tuple(elts=[self.visit(test), ast.Constant(value=True)], ctx=ast.Load())
                always.append(ast.Subscript(value=both, slice=_index(1), ctx=ast.Load()))
            part.ifs = always
        for name in ("elt", "key", "value"):
            if hasattr(node, name):
                setattr(node, name, self.visit(getattr(node, name)))
        if isinstance(node, ast.GeneratorExp):
            return ast.copy_location(ast.ListComp(elt=node.elt, generators=node.generators), node)
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def width_of(target: ast.expr) -> ast.expr:
    """Into how many names a loop's value is taken apart: 0 for one that is not."""
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    return ast.Constant(value=0 if any(isinstance(p, ast.Starred) for p in parts) else len(parts))


class Privately(ast.NodeTransformer):
    """What a method's code means by a private name and by ``super()``, said without the class around it."""

    def __init__(self, owner: str, first: str) -> None:
        self.owner = owner
        self.first = first

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        node.attr = private(node.attr, self.owner)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        node.id = private(node.id, self.owner)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args and self.first:
            node.args = [ast.Name(id=OWNER, ctx=ast.Load()), ast.Name(id=self.first, ctx=ast.Load())]
        return self.generic_visit(node)


def private(name: str, owner: str) -> str:
    """A name as it is called inside a class: ``__key`` is ``_Cart__key``."""
    if owner and name.startswith("__") and not name.endswith("__") and "." not in name:
        return f"_{owner.lstrip('_')}{name}" if owner.strip("_") else name
    return name


def _call(name: str) -> ast.expr:
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=[], keywords=[])


def _index(number: int) -> Any:
    return ast.Constant(value=number)
