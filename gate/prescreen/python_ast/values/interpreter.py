"""Reads functions forwards: every statement in its order, both sides of what is open, calls into the tree.

Nothing is run. A loop is gone through until nothing changes, a condition of constants takes its one way, and
what cannot be followed is unsure. The names of a module may be changed from elsewhere while the program runs,
so they decide no condition.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.scope import FunctionNode
from gate.prescreen.python_ast.sources import PARAMETER
from gate.prescreen.python_ast.values.calls import Given
from gate.prescreen.python_ast.values.domain import (
    CLEAN,
    LOST,
    UNSURE,
    ClassOf,
    Function,
    State,
    Thing,
    Value,
    constant,
    joined,
    merged,
    mixed,
    tainted,
)
from gate.prescreen.python_ast.values.expressions import Frame
from gate.prescreen.python_ast.values.library import NEUTRAL_DECORATORS, is_standard
from gate.prescreen.python_ast.values.statements import Statements
from gate.prescreen.python_ast.values.tree import Sources

Passed = Callable[[ast.arg], frozenset[str]]
"""What calls of a function pass to a parameter of it."""
_DEEPEST: Final = 8

_OWN_NAMES: Final = frozenset({"__file__", "__name__", "__package__", "__doc__"})
"""What every module has: nobody outside decides it."""


class Interpreter(Statements):
    """Reads the functions of one module; ``sources`` has the other files of the tree that it imports."""

    def __init__(self, module: Module, sources: Sources, passed: Passed) -> None:
        super().__init__(module, sources)
        self._passed = passed
        self._globals: dict[Module, State] = {}
        self._stack: list[FunctionNode] = []

    # --- functions -------------------------------------------------------------------------------

    def enter(self, function: Function) -> list[Function]:
        """Read a function as whoever calls it from outside sees it; the functions that it defines."""
        module, node = function.module, function.node
        frame = Frame(module, node, function.outer, [], [], [], [])
        state = State(heap=dict(self.globals(module).heap))
        scope = {arg.arg: arg for arg in arguments(node)}
        defaults = defaults_of(node)
        for name, arg in scope.items():
            kind = self.origins(module).parameter(arg, defaults.get(name))
            more = self._passed(arg) if kind == PARAMETER and module is self.module else frozenset()
            state.env[name] = tainted({kind, *more}) if kind else CLEAN
        for name, arg in scope.items():
            asked = provider_of(module, arg, defaults.get(name))
            made = self.evaluate(asked, state, frame) if asked is not None else CLEAN
            if (
                made.ref is not None and state.heap[made.ref].kind == "object"
            ):  # of a generator, what it yields
                state.env[name] = made
        cls = module.class_of(node)
        if cls is not None and node.args.args and node.args.args[0].arg in ("self", "cls"):
            state.env[node.args.args[0].arg] = state.new(Thing("object", {}, LOST, ClassOf(cls, module)))
        end = self._body(node, state, frame)
        last = merged([end, *(s for _, s in frame.returns)])
        env = {**(function.outer or {}), **(last.env if last is not None else state.env)}
        return [replace(inner, outer=env) for inner in frame.nested]

    def _body(self, node: FunctionNode, state: State, frame: Frame) -> State | None:
        if isinstance(node, ast.Lambda):
            frame.returns.append((self.evaluate(node.body, state, frame), state))
            return None
        return self.block(node.body, state, frame)

    def run(self, function: Function, given: Given, state: State) -> Value:
        """Read a function of the tree with these arguments; the state is changed as it would."""
        node, module = function.node, function.module
        whole = mixed([state.total(v) for v in given.every])
        if node in self._stack or len(self._stack) >= _DEEPEST or given.spread or not self._plain(function):
            for value in given.every:
                if value.ref is not None:
                    thing = state.heap[value.ref]
                    state.heap[value.ref] = replace(thing, rest=mixed([thing.rest, whole, LOST]))
            return replace(whole, taint=whole.taint | {UNSURE})
        frame = Frame(module, node, function.outer, [], [], [], [])
        inner = State({}, state.heap)
        self._bind_arguments(function, given, inner, frame)
        self._stack.append(node)
        try:
            end = self._body(node, inner, frame)
        finally:
            self._stack.pop()
        results = [*frame.returns, *([(constant(None), end)] if end is not None else [])]
        if not results:
            return CLEAN
        after = merged([s for _, s in results])
        if after is not None:
            state.heap.update(after.heap)
        value, of = results[0]
        for other, where in results[1:]:
            value = joined(value, other, of, where)
        is_generator = not isinstance(node, ast.Lambda) and any(
            isinstance(n, ast.Yield | ast.YieldFrom) for n in module.within(node)
        )
        return state.new(Thing("bag", rest=state.total(value))) if is_generator else value

    def _plain(self, function: Function) -> bool:
        decorators = getattr(function.node, "decorator_list", ())
        return all(
            any(name in NEUTRAL_DECORATORS for name in function.module.names_of(d)) for d in decorators
        )

    def _bind_arguments(self, function: Function, given: Given, state: State, frame: Frame) -> None:
        args = function.node.args
        names = [a.arg for a in (*args.posonlyargs, *args.args)]
        values = list(given.values)
        decorators = getattr(function.node, "decorator_list", ())
        static = any("staticmethod" in function.module.names_of(d) for d in decorators)
        if function.bound is not None and not static:
            values.insert(0, function.bound)
        bound = dict(zip(names, values, strict=False))
        extra = values[len(names) :]
        bound |= dict(given.named)
        for name, default in defaults_of(function.node).items():
            if name not in bound:
                bound[name] = self.evaluate(default, self.globals(function.module).copy(), frame)
        known = {*names, *(a.arg for a in args.kwonlyargs)}
        if args.vararg is not None:
            bound[args.vararg.arg] = state.new(Thing("list", dict(enumerate(extra))))
        if args.kwarg is not None:
            own = {*known, args.kwarg.arg}
            rest: dict[object, Value] = {name: value for name, value in bound.items() if name not in own}
            bound[args.kwarg.arg] = state.new(Thing("dict", {**rest}))
        for name in known:
            bound.setdefault(name, LOST)
        state.env.update(bound)

    # --- names of modules ------------------------------------------------------------------------

    def globals(self, module: Module) -> State:
        """What the names of a module mean once it is imported."""
        if module not in self._globals:
            self._globals[module] = State()
            frame = Frame(module, None, None, [], [], [], [])
            end = self.block(module.tree.body, State(), frame)
            self._globals[module] = end or State()
        return self._globals[module]

    def free_name(self, node: ast.Name, frame: Frame) -> Value:
        """What a name means that the function does not bind."""
        if frame.outer is not None and node.id in frame.outer:
            return frame.outer[node.id]
        for dotted in frame.module.names_of(node):
            found = self.from_tree(dotted, frame)
            if found is not None:
                return found
        state = self.globals(frame.module)
        if node.id in state.env:
            value = state.env[node.id]
            if value.ref is not None and node.id in frame.module.changed_names:
                return LOST
            return replace(value, firm=False) if value.is_const else value
        bindings = frame.module.bindings_of(node)
        if not bindings and node.id in _OWN_NAMES:
            return CLEAN
        if not bindings or any(b.kind == "import" for b in bindings):
            names = frame.module.names_of(node)
            return CLEAN if names and all(is_standard(n) for n in names) else LOST
        for binding in bindings:
            if isinstance(binding.node, ast.FunctionDef | ast.AsyncFunctionDef):
                return Value(code=Function(binding.node, frame.module))
            if isinstance(binding.node, ast.ClassDef):
                return Value(code=ClassOf(binding.node, frame.module))
        return LOST

    def from_tree(self, dotted: str, frame: Frame) -> Value | None:
        """A function, class or constant of another file of the tree; None where it is none."""
        found = self.sources.find(dotted, frame.module)
        if found is None:
            return None
        module, node = found
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return Value(code=Function(node, module))
        if isinstance(node, ast.ClassDef):
            return Value(code=ClassOf(node, module))
        if node is None:
            return None
        value = self.globals(module).env.get(node)
        if value is None or value.ref is not None:
            return LOST
        return replace(value, firm=False) if value.is_const else value


def arguments(node: FunctionNode) -> list[ast.arg]:
    """Every parameter."""
    args = node.args
    more = [a for a in (args.vararg, args.kwarg) if a is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *more]


def provider_of(module: Module, arg: ast.arg, default: ast.expr | None) -> ast.Call | None:
    """The call by which FastAPI makes a parameter: ``Depends(make)`` as its default or in ``Annotated``."""
    parts = [default] if default is not None else []
    if isinstance(arg.annotation, ast.Subscript) and isinstance(arg.annotation.slice, ast.Tuple):
        parts += arg.annotation.slice.elts[1:]
    for part in parts:
        named = module.names_of(part.func) if isinstance(part, ast.Call) else ()
        if isinstance(part, ast.Call) and len(part.args) == 1 and any(n.endswith(".Depends") for n in named):
            return ast.copy_location(ast.Call(func=part.args[0], args=[], keywords=[]), part)
    return None


def defaults_of(node: FunctionNode) -> dict[str, ast.expr]:
    """The defaults of parameters that have one."""
    args = node.args
    names = [a.arg for a in (*args.posonlyargs, *args.args)]
    found = dict(zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True))
    more = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    return found | {a.arg: default for a, default in more if default is not None}
