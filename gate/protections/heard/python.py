"""What becomes of each check's answer in a Python file. Runs in the limited child."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.languages.naming import snake
from gate.protections.conditions import last_name
from gate.protections.facts import Heard
from gate.protections.heard.names import (
    APART,
    ENDED,
    LOST,
    TASKS,
    TOGETHER,
    is_heard_for,
    may_raise,
    plain_check,
)
from gate.protections.python.guards import source

_FUNCTION: Final = ast.FunctionDef | ast.AsyncFunctionDef
_LEAVING: Final = (ast.Raise, ast.Return, ast.Break, ast.Continue)
_EXITS: Final = frozenset({"exit", "_exit", "abort", "fail", "reraise", "cancel"})
_MOST: Final = 500
_DEPTH: Final = 60


def python_heard(tree: ast.Module) -> tuple[Heard, ...]:
    """Every call of a check, every check that is handed to what runs it apart, and every check itself."""
    return tuple(_Reader(tree).read())[:_MOST]


class _Reader:
    def __init__(self, tree: ast.Module) -> None:
        self.nodes = [*ast.walk(tree)]
        self.above: dict[ast.AST, ast.AST] = {
            child: node for node in self.nodes for child in ast.iter_child_nodes(node)
        }

    def read(self) -> Iterator[Heard]:
        for node in self.nodes:
            if isinstance(node, _FUNCTION) and is_heard_for("", node.name):
                kind = "async" if isinstance(node, ast.AsyncFunctionDef) else "sync"
                yield Heard(
                    name=plain_check(node.name), how=f"defined {kind}", text=node.name,
                    line=node.lineno, within=node.name, raises=_raises(node),
                )  # fmt: skip
            elif isinstance(node, ast.Call):
                yield from self._call(node)

    def _call(self, node: ast.Call) -> Iterator[Heard]:
        name = last_name(node)
        owner = source(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        if is_heard_for(owner, name):
            yield self._made(node, name, self._effect(node))
        plain = snake(name)
        if (
            plain in APART
            and isinstance(node.func, ast.Attribute)
            and is_heard_for("", last_name(node.func.value))
        ):
            yield self._made(node, last_name(node.func.value), "apart")  # check_owner.delay(x)
        if plain in TASKS | APART:
            given = [*node.args, *(k.value for k in node.keywords)]
            for one in given:
                if isinstance(one, ast.Name | ast.Attribute) and is_heard_for("", last_name(one)):
                    how = "apart" if plain in APART or plain in ("thread", "timer") else self._effect(node)
                    how = "awaited" if self._is_group(node) else how
                    yield self._made(node, last_name(one), "apart" if how == "bare" else how)

    def _made(self, node: ast.Call, name: str, how: str) -> Heard:
        within = self._function(node)
        return Heard(
            name=plain_check(name), how=how, text=source(node), line=node.lineno, awaits=True,
            within=within.name if within is not None else "",
        )  # fmt: skip

    def _function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        at = self.above.get(node)
        while at is not None and not isinstance(at, _FUNCTION):
            at = self.above.get(at)
        return at

    def _effect(self, node: ast.expr, depth: int = 0) -> str:
        """What becomes of a value."""
        if depth > _DEPTH:
            return "used"
        above = self.above.get(node)
        match above:
            case ast.Await():
                how = self._effect(above, depth + 1)
                return "awaited" if how == "bare" else how
            case ast.Expr():
                return "apart" if self._is_swallowed(above) else "bare"
            case ast.Attribute():
                call = self.above.get(above)
                if above.attr in LOST:
                    return "apart"
                return (
                    self._effect(call, depth + 1)
                    if above.attr in ENDED and isinstance(call, ast.Call)
                    else "used"
                )
            case (
                ast.List()
                | ast.Tuple()
                | ast.Set()
                | ast.Starred()
                | ast.ListComp()
                | ast.GeneratorExp()
                | ast.NamedExpr()
            ):
                return self._effect(above, depth + 1)
            case ast.comprehension() | ast.keyword():
                return (
                    "used"
                    if isinstance(above, ast.comprehension)
                    else self._given(self.above.get(above), depth)
                )
            case ast.Call() if node is not above.func:
                return self._given(above, depth)
            case ast.Assign(targets=[ast.Name(id="_")]):
                return "bare"
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                return self._kept(above, name, depth)
            case ast.Lambda():
                return self._effect(above, depth + 1)
        return "used"

    def _given(self, call: ast.AST | None, depth: int) -> str:
        """What becomes of what is given to a call."""
        if not isinstance(call, ast.Call):
            return "used"
        name = snake(last_name(call))
        if self._is_group(call):
            return "awaited"
        if name in APART:
            return "apart"
        if name == "wait" and "asyncio" in source(call.func):
            return "apart"  # it raises nothing, whoever awaits it
        if name in TOGETHER | TASKS:
            drops = any(k.arg == "return_exceptions" and source(k.value) == "True" for k in call.keywords)
            how = self._effect(call, depth + 1)
            return "apart" if how == "bare" or (drops and how != "used") else how
        return "used"

    def _is_group(self, call: ast.Call) -> bool:
        """``tg.create_task(...)`` in ``async with TaskGroup() as tg``: its end waits, and raises."""
        owner = last_name(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        at = self.above.get(call)
        while at is not None:
            if isinstance(at, ast.AsyncWith | ast.With):
                named = {source(one.optional_vars) for one in at.items if one.optional_vars is not None}
                if owner in named:
                    return True
            at = self.above.get(at)
        return False

    def _kept(self, node: ast.stmt, name: str, depth: int) -> str:
        """What becomes of a value that a name holds: the best that its uses do."""
        within = self._function(node)
        uses = [
            n for n in (ast.walk(within) if within is not None else ())
            if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
        ]  # fmt: skip
        if within is None:
            return "used"
        ways = {self._effect(use, depth + 1) for use in uses}
        return next((how for how in ("awaited", "used") if how in ways), "apart")

    def _is_swallowed(self, node: ast.AST) -> bool:
        """Does a handler, or ``suppress``, drop what it raises?"""
        below: ast.AST = node
        at = self.above.get(node)
        while at is not None and not isinstance(at, _FUNCTION):
            if isinstance(at, ast.Try) and below in at.body and any(map(_drops, at.handlers)):
                return True
            if isinstance(at, ast.With | ast.AsyncWith) and any(
                last_name(one.context_expr) == "suppress" for one in at.items
            ):
                return True
            below = at
            at = self.above.get(at)
        return False


def _drops(handler: ast.ExceptHandler) -> bool:
    inside = [n for one in handler.body for n in ast.walk(one)]
    return not any(
        isinstance(n, _LEAVING) or (isinstance(n, ast.Call) and last_name(n).lower() in _EXITS)
        for n in inside
    )


def _raises(function: ast.AST) -> bool:
    """May it end whoever calls it?"""
    inside = [*ast.walk(function)]
    return any(
        isinstance(n, ast.Raise | ast.Assert) or (isinstance(n, ast.Call) and may_raise(last_name(n)))
        for n in inside
    )
