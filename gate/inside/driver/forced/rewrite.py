"""A function, or a module, rewritten so that one line of it runs.

Of each block on the way the statements before it are survived, early ends dropped, the block that holds the
line entered whatever its condition says, and the rest of it runs as it is (after X-Force, USENIX Security
2014). ``both``: branches beside the way are taken, too, one after the other.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from .assume import assume
from .places import FUNCTIONS, holds, stored_names
from .soften import OWNER, Privately, Softener, helper, width_of

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_COMPOUND = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.ClassDef, *FUNCTIONS,
)  # fmt: skip


class Rewriter:
    """One target. ``line`` and ``column``: where it begins; ``owner``: the class around the function."""

    def __init__(self, line: int, column: int | None, *, owner: str = "", both: bool = False) -> None:
        self.line = line
        self.column = column
        self.owner = owner
        self.both = both
        self.names: set[str] = set()
        self.in_function = False

    def function(self, node: Any) -> Any:
        """The function without decorators, its body forced."""
        inner = Rewriter(self.line, self.column, owner=self.owner, both=self.both)
        return inner._function(copy.deepcopy(node))

    def module(self, tree: ast.Module) -> ast.Module:
        """The module with what stands at its top, and in it, forced."""
        self.names = stored_names(tree.body)
        body = [s for s in tree.body if not _is_future(s)]
        made: Any = ast.Module(
            body=[
                *(s for s in tree.body if _is_future(s)),
                *_bound(self.names, builtins_too=False),
                *self.block(copy.deepcopy(body)),
            ],
            type_ignores=[],
        )
        ast.fix_missing_locations(made)
        return made  # type: ignore[no-any-return]

    def _function(self, node: Any) -> Any:
        arguments = node.args
        node = Privately(self.owner, _first(node)).visit(node) if self.owner else node
        everyone = [*getattr(arguments, "posonlyargs", ()), *arguments.args, *arguments.kwonlyargs]
        parameters = {a.arg for a in (*everyone, arguments.vararg, arguments.kwarg) if a is not None}
        self.names = stored_names(node.body) | parameters
        self.in_function = True
        for a in (*everyone, arguments.vararg, arguments.kwarg):
            if a is not None and a.annotation is not None:
                a.annotation = ast.Constant(value=ast.unparse(a.annotation))
        node.returns = None
        node.decorator_list = []
        heads = [s for s in node.body if isinstance(s, (ast.Global, ast.Nonlocal))]
        rest = [s for s in node.body if not isinstance(s, (ast.Global, ast.Nonlocal))]
        outer = {name for s in heads for name in s.names}
        node.body = [*heads, *_bound(self.names - parameters - outer), *self.block(rest)]
        return ast.fix_missing_locations(node)

    def block(self, body: list[Any]) -> list[Any]:
        """Statements, the one that holds the line entered."""
        at = next((n for n, s in enumerate(body) if holds(s, self.line)), None)
        if at is None:
            return [s for each in body for s in self.beside(each)] or [ast.Pass()]
        out: list[Any] = []
        for statement in body[:at]:
            out += self.beside(statement)
        out += self.into(body[at])
        for statement in body[at + 1 :]:
            out += self.beside(statement, after=True)
        return out

    # Statements that do not hold the line.

    def beside(self, node: Any, *, after: bool = False) -> list[Any]:
        """A statement ahead of the line (its early ends dropped) or, with ``after``, behind it."""
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return [node]
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            return [_survived([node])]
        if isinstance(node, ast.Return):
            if after and self.in_function:
                value = self._soft(node.value) if node.value is not None else None
                return [_survived([ast.copy_location(ast.Return(value=value), node)])]
            return [_survived([_expression(self._soft(node.value), node)])] if node.value else [ast.Pass()]
        if isinstance(node, (ast.Raise, ast.Break, ast.Continue)):
            return [ast.Return(value=None)] if after and self.in_function else [ast.Pass()]
        if isinstance(node, ast.Assert):
            known = [] if after else assume(node.test, True, self.names, self.owner)
            return [_survived([_expression(node.test, node)]), *_each_survived(known)]
        if isinstance(node, ast.If):
            return self._if_beside(node, after)
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            tired = ast.If(test=_tired(node), body=[ast.Break()], orelse=[])
            node.body = [tired, *_no_returns(node.body, in_loop=True)]
            node.orelse = _no_returns(node.orelse)
            return [_survived([node])]
        if isinstance(node, _COMPOUND) or hasattr(node, "cases") or hasattr(node, "handlers"):
            return [_survived(node if after else _no_returns([node]))]
        return self._simple(node)

    def _if_beside(self, node: ast.If, after: bool) -> list[Any]:
        body = [s for each in node.body for s in self.beside(each, after=after)]
        orelse = [s for each in node.orelse for s in self.beside(each, after=after)]
        name = f"_gate_{node.lineno}_{node.col_offset}"
        tested = _tested(name, node.test)
        if self.both and not after:
            return [*tested, *body, *orelse]
        out: list[Any] = [*tested, ast.If(test=_load(name), body=body or [ast.Pass()], orelse=orelse)]
        if not after:
            if node.body and isinstance(node.body[-1], _ENDS):
                out += _each_survived(assume(node.test, False, self.names, self.owner))
            elif node.orelse and isinstance(node.orelse[-1], _ENDS):
                out += _each_survived(assume(node.test, True, self.names, self.owner))
        return out

    def _simple(self, node: Any) -> list[Any]:
        softener = Softener(None, None, both=self.both)
        return [_survived([softener.visit(node)])]

    def _soft(self, node: Any) -> Any:
        return Softener(None, None, both=self.both).visit(node)

    # The statement that holds the line.

    def into(self, node: Any) -> list[Any]:
        """The statement on the way: entered, or, where it is the target itself, made."""
        part = _part(node, self.line)
        if isinstance(node, FUNCTIONS) and part == "body":
            return self._nested(node)
        if isinstance(node, ast.ClassDef) and part == "body":
            return self._class(node)
        if isinstance(node, ast.If) and part:
            value = part == "body"
            name = f"_gate_{node.lineno}_{node.col_offset}"
            known = _each_survived(assume(node.test, value, self.names, self.owner))
            return [*_tested(name, node.test), *known, *self.block(getattr(node, part))]
        if isinstance(node, (ast.For, ast.AsyncFor)) and part == "body":
            return self._for(node)
        if isinstance(node, ast.While) and part == "body":
            known = _each_survived(assume(node.test, True, self.names, self.owner))
            name = f"_gate_{node.lineno}_{node.col_offset}"
            return [*_tested(name, node.test), *known, *self.block(node.body)]
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)) and part == "orelse":
            return self.block(node.orelse)
        if isinstance(node, (ast.With, ast.AsyncWith)) and part == "body":
            return [*self._entered(node), *self.block(node.body)]
        if hasattr(node, "handlers") and part:
            return self._try(node, part)
        if hasattr(node, "cases") and part == "cases":
            return self._match(node)
        return self._target(node)

    def _target(self, node: Any) -> list[Any]:
        """The line itself: what could be skipped in it is cut out or decided."""
        softener = Softener(self.line, self.column, both=self.both)
        if isinstance(node, ast.If):
            test = softener.visit(node.test)
            branches = [s for each in (*node.body, *node.orelse) for s in self.beside(each)]
            return [*self._prepared(softener), _here(), _survived([_expression(test, node)]), *branches]
        if isinstance(node, (ast.For, ast.While, ast.With, ast.AsyncFor, ast.AsyncWith)):
            for name in ("iter", "test"):
                if hasattr(node, name):
                    setattr(node, name, softener.visit(getattr(node, name)))
            for item in getattr(node, "items", ()):
                item.context_expr = softener.visit(item.context_expr)
            if not isinstance(node, (ast.With, ast.AsyncWith)):
                node.body.insert(0, ast.If(test=_tired(node), body=[ast.Break()], orelse=[]))
            return [*self._prepared(softener), _here(), _survived(_no_returns([node]))]
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) or hasattr(node, "cases"):
            return [_here(), _survived([node])]
        if isinstance(node, ast.Raise):
            node = _expression(node.exc, node) if node.exc else ast.copy_location(ast.Pass(), node)
        if isinstance(node, ast.Assert):
            parts = [p for p in (node.test, node.msg) if p is not None]
            node = _expression(ast.Tuple(elts=parts, ctx=ast.Load()), node)
        if isinstance(node, ast.Return) and not self.in_function:
            node = _expression(node.value or ast.Constant(value=None), node)
        made = softener.visit(node)
        return [*self._prepared(softener), _here(), _survived([made])]

    def _prepared(self, softener: Softener) -> list[Any]:
        return [_survived([_expression(part, part)]) for part in softener.prelude]

    def _nested(self, node: Any) -> list[Any]:
        """A function in a function: defined, then called at once."""
        inner = Rewriter(self.line, self.column, owner=self.owner, both=self.both)
        made = inner._function(node)
        call = ast.Expr(value=helper("now", _load(node.name)))
        return [_survived([made]), _survived([call])]

    def _class(self, node: ast.ClassDef) -> list[Any]:
        target = next((s for s in node.body if holds(s, self.line)), None)
        if isinstance(target, FUNCTIONS) and _part(target, self.line) == "body":
            inner = Rewriter(self.line, self.column, owner=node.name, both=self.both)
            kinds = [
                d for d in target.decorator_list
                if isinstance(d, ast.Name) and d.id in ("staticmethod", "classmethod")
            ]  # fmt: skip
            made = inner._function(target)
            made.decorator_list = kinds
            beside = Rewriter(self.line, self.column, both=self.both).beside
            node.body = [each for s in node.body for each in ([made] if s is target else beside(s))]
            call = helper("method", _load(node.name), ast.Constant(value=target.name))
            node.decorator_list = []
            owner = ast.Assign(targets=[_store(OWNER)], value=_load(node.name))
            return [_survived([node]), _survived([owner]), _survived([ast.Expr(value=call)])]
        inner = Rewriter(self.line, self.column, owner="", both=self.both)
        inner.names = stored_names(node.body)
        node.body = inner.block(node.body)
        node.decorator_list = []
        return [_survived([node])]

    def _for(self, node: Any) -> list[Any]:
        """A loop entered with what there is, once at least; it goes on until the line had its turn."""
        values = self._soft(node.iter)
        if isinstance(node, ast.AsyncFor):
            values = ast.List(elts=[helper("stand")], ctx=ast.Load())
        each = f"_gate_each_{node.lineno}_{node.col_offset}"
        taken = ast.Assign(targets=[node.target], value=_load(each))
        tired = ast.If(test=_tired(node), body=[ast.Break()], orelse=[])
        values = helper("some", values, width_of(node.target))
        body = [tired, _survived([taken]), *self.block(node.body)]
        made = ast.For(target=_store(each), iter=values, body=body, orelse=[])
        return [_survived([ast.copy_location(made, node)])]

    def _entered(self, node: Any) -> list[Any]:
        out: list[Any] = []
        for item in node.items:
            manager = self._soft(item.context_expr)
            entered: Any = helper("enter", manager)
            if isinstance(node, ast.AsyncWith):
                entered = ast.Await(value=helper("aenter", manager))
            if item.optional_vars is not None:
                out.append(_survived([ast.Assign(targets=[item.optional_vars], value=entered)]))
            else:
                out.append(_survived([ast.Expr(value=entered)]))
        return out

    def _try(self, node: Any, part: str) -> list[Any]:
        after: list[Any] = []
        if part != "finalbody":
            after = [s for each in node.finalbody for s in self.beside(each, after=True)]
        if part == "body":
            return [*self.block(node.body), *after]
        before = [s for each in node.body for s in self.beside(each)]
        if part == "handlers":
            handler = next(h for h in node.handlers if holds(h, self.line))
            if handler.name:
                kind = [handler.type] if handler.type is not None else []
                failure = ast.Assign(targets=[_store(handler.name)], value=helper("failure", *kind))
                before += _each_survived([failure])
                self.names.add(handler.name)
            return [*before, *self.block(handler.body), *after]
        if part == "orelse":
            return [*before, *self.block(node.orelse), *after]
        return [*before, *self.block(node.finalbody)]

    def _match(self, node: Any) -> list[Any]:
        """A case entered: its pattern is tried for what it binds, an easy one decides the subject."""
        case = next(c for c in node.cases if any(holds(s, self.line) for s in c.body))
        subject = "_gate_subject"
        out: list[Any] = [_survived([ast.Assign(targets=[_store(subject)], value=self._soft(node.subject))])]
        value = getattr(case.pattern, "value", None)
        if isinstance(value, ast.expr):
            wanted = ast.Compare(left=node.subject, ops=[ast.Eq()], comparators=[value])
            out += _each_survived(assume(wanted, True, self.names, self.owner))
        trial: Any = copy.copy(case)
        trial.body, trial.guard = [ast.Pass()], None
        match: Any = type(node)(subject=_load(subject), cases=[trial])
        out.append(_survived([match]))
        if case.guard is not None:
            out += _tested("_gate_guard", case.guard)
        return [*out, *self.block(case.body)]


def _part(node: Any, line: int) -> str:
    """The block of a compound statement that holds the line; empty for its head."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, name, ()) if not isinstance(node, (ast.Lambda, ast.Expr)) else ():
            if name == "cases" or name == "handlers":
                if any(holds(s, line) for s in inner.body):
                    return name
            elif holds(inner, line):
                return name
    return ""


def _survived(body: Any) -> ast.Try:
    """The statements; an exception of theirs ends them and nothing else."""
    body = body if isinstance(body, list) else [body]
    handler = ast.ExceptHandler(
        type=ast.Name(id="BaseException", ctx=ast.Load()), name=None, body=[ast.Expr(value=helper("survive"))]
    )
    return ast.Try(body=body or [ast.Pass()], handlers=[handler], orelse=[], finalbody=[])


def _each_survived(body: list[Any]) -> list[Any]:
    return [_survived([s]) for s in body]


def _tested(name: str, test: ast.expr) -> list[Any]:
    """The condition evaluated as it is, and what came of it kept; an exception counts as no."""
    keep = ast.Assign(targets=[_store(name)], value=ast.UnaryOp(op=ast.Not(), operand=test))
    turn = ast.Assign(targets=[_store(name)], value=ast.UnaryOp(op=ast.Not(), operand=_load(name)))
    no = ast.Assign(targets=[_store(name)], value=ast.Constant(value=False))
    return [no, _survived([keep, turn])]


def _bound(names: set[str], *, builtins_too: bool = True) -> list[Any]:
    """Every name bound to a mark at first, so that one whose statement failed is no further failure."""
    import builtins

    chosen = sorted(n for n in names if builtins_too or not hasattr(builtins, n))
    return [ast.Assign(targets=[_store(n)], value=helper("stand")) for n in chosen if not n.startswith("__")]


class _Returns(ast.NodeTransformer):
    """Ends of the function in statements that stand beside the way."""

    def __init__(self, in_loop: bool) -> None:
        self.in_loop = in_loop

    def visit_Return(self, node: ast.Return) -> Any:
        value = _expression(node.value or ast.Constant(value=None), node)
        return [value, ast.copy_location(ast.Break(), node)] if self.in_loop else value

    def visit_For(self, node: Any) -> Any:
        before, self.in_loop = self.in_loop, True
        self.generic_visit(node)
        self.in_loop = before
        return node

    visit_While = visit_AsyncFor = visit_For

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef


def _no_returns(body: list[Any], in_loop: bool = False) -> list[Any]:
    out: list[Any] = []
    for statement in body:
        made = _Returns(in_loop).visit(statement)
        out += made if isinstance(made, list) else [made]
    return out


def _expression(value: Any, at: Any) -> ast.Expr:
    return ast.copy_location(ast.Expr(value=value), at)


def _tired(node: Any) -> ast.expr:
    return helper("tired", ast.Constant(value=f"{node.lineno}:{node.col_offset}"))


def _here() -> ast.Expr:
    return ast.Expr(value=helper("here"))


def _load(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Load())


def _store(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Store())


def _first(node: Any) -> str:
    found = [*getattr(node.args, "posonlyargs", ()), *node.args.args]
    return found[0].arg if found else ""


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
