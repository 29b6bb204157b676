"""Statements one after another: what each does to names and things, and where to go on behind it."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.values.calls import Given
from gate.prescreen.python_ast.values.classes import Classes
from gate.prescreen.python_ast.values.domain import (
    CLEAN,
    LOST,
    UNSURE,
    ClassOf,
    Function,
    State,
    Value,
    constant,
    merged,
    mixed,
)
from gate.prescreen.python_ast.values.expressions import Frame
from gate.prescreen.python_ast.values.holding import element
from gate.prescreen.python_ast.values.library import ENDS
from gate.prescreen.python_ast.values.tree import Sources

_ROUNDS: Final = 4
_UNROLLED: Final = 8


class Statements(Classes):
    """Reads bodies of statements; expressions, calls and names are its bases'."""

    def __init__(self, module: Module, sources: Sources) -> None:
        super().__init__(module, sources)
        self._classes: set[ast.ClassDef] = set()

    def block(self, body: list[ast.stmt], state: State, frame: Frame) -> State | None:
        """The state behind these statements; None where nothing gets there."""
        current: State | None = state
        for statement in body:
            if current is None:
                return None
            current = self._statement(statement, current, frame)
        return current

    def _statement(self, node: ast.stmt, state: State, frame: Frame) -> State | None:
        """The state behind a statement that decides where to go on; None where nothing gets behind it."""
        match node:
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                self._leave(node, state, frame)
                return None
            case ast.Expr():
                self.evaluate(node.value, state, frame)
                return None if self._ends(node.value, frame) else state
            case ast.If():
                return self._if(node, state, frame)
            case ast.For() | ast.AsyncFor():
                return self._for(node, state, frame)
            case ast.While():
                return self._while(node, state, frame)
            case ast.Try() | ast.TryStar():
                return self._try(node, state, frame)
            case ast.With() | ast.AsyncWith():
                return self._with(node, state, frame)
            case ast.Match():
                return self._match(node, state, frame)
            case ast.Assert():
                return self.narrowed(node.test, state, frame)[0]
            case _:
                self._binding(node, state, frame)
                return state

    def _leave(
        self, node: ast.Return | ast.Raise | ast.Break | ast.Continue, state: State, frame: Frame
    ) -> None:
        match node:
            case ast.Return():
                value = self.evaluate(node.value, state, frame) if node.value is not None else constant(None)
                frame.returns.append((value, state))
            case ast.Raise():
                if node.exc is not None:
                    self.evaluate(node.exc, state, frame)
            case ast.Break():
                frame.breaks.append(state)
            case ast.Continue():
                frame.continues.append(state)

    @staticmethod
    def _ends(value: ast.expr, frame: Frame) -> bool:
        """Is it a call after which nothing is run, as of ``sys.exit``?"""
        call = value.value if isinstance(value, ast.Await) else value
        return isinstance(call, ast.Call) and any(n in ENDS for n in frame.module.names_of(call.func))

    def _binding(self, node: ast.stmt, state: State, frame: Frame) -> None:
        """A statement that gives names values, or takes them away, and goes on behind itself."""
        match node:
            case ast.Assign():
                value = self.evaluate(node.value, state, frame)
                for target in node.targets:
                    self.bind(target, value, state, frame)
            case ast.AnnAssign():
                if node.value is not None:
                    self.bind(node.target, self.evaluate(node.value, state, frame), state, frame)
            case ast.AugAssign():
                load = ast.copy_location(ast.BinOp(left=node.target, op=node.op, right=node.value), node)
                self.bind(node.target, self.evaluate(load, state, frame), state, frame)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._define(node, state, frame)
            case ast.Global() | ast.Nonlocal():
                state.env.update(dict.fromkeys(node.names, LOST))
            case ast.Delete():
                for owned in (target for target in node.targets if isinstance(target, ast.Subscript)):
                    owner = self.evaluate(owned.value, state, frame)
                    self.method(owner, "remove", Given((), ()), state, frame) if owner.ref else None
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    state.env.pop(alias.asname or alias.name.partition(".")[0], None)

    def _define(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, state: State, frame: Frame
    ) -> None:
        if not isinstance(node, ast.ClassDef):
            for decorator in node.decorator_list:
                self.evaluate(decorator, state, frame)
            function = Function(node, frame.module, state.env if frame.node is not None else None)
            state.env[node.name] = Value(code=function)
            frame.nested.append(function)
            return
        state.env[node.name] = Value(code=ClassOf(node, frame.module))
        if node not in self._classes:
            self._classes.add(node)
            self.block(
                [s for s in node.body if not isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)],
                State(heap=state.heap),
                Frame(frame.module, frame.node, state.env, [], [], [], []),
            )

    def _with(self, node: ast.With | ast.AsyncWith, state: State, frame: Frame) -> State | None:
        for item in node.items:
            value = self.evaluate(item.context_expr, state, frame)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value, state, frame)
        return self.block(node.body, state, frame)

    def _if(self, node: ast.If, state: State, frame: Frame) -> State | None:
        yes, no = self.narrowed(node.test, state, frame)
        ends = [
            self.block(node.body, yes, frame) if yes is not None else None,
            self.block(node.orelse, no, frame) if no is not None else None,
        ]
        return merged(ends)

    def _for(self, node: ast.For | ast.AsyncFor, state: State, frame: Frame) -> State | None:
        source = self.evaluate(node.iter, state, frame)
        items = self._items(node.iter, source, state, frame)
        breaks, frame.breaks = frame.breaks, []
        continues, frame.continues = frame.continues, []
        current: State | None = state
        if items is not None:
            for item in items:
                if current is None:
                    break
                self.bind(node.target, item, current, frame)
                frame.continues = []
                current = merged([self.block(node.body, current, frame), *frame.continues])
        else:
            for _ in range(_ROUNDS):
                if current is None:
                    break
                inner = current.copy()
                self.bind(node.target, element(inner, source), inner, frame)
                frame.continues = []
                after = merged([self.block(node.body, inner, frame), *frame.continues])
                joined_state = merged([current, after])
                if joined_state is not None and same(joined_state, current):
                    break
                current = joined_state
        if current is not None and node.orelse:
            current = self.block(node.orelse, current, frame)
        end = merged([current, *frame.breaks])
        frame.breaks, frame.continues = breaks, continues
        return end

    def _items(self, node: ast.expr, source: Value, state: State, frame: Frame) -> list[Value] | None:
        """The values of a short loop whose rounds are known."""
        if isinstance(node, ast.Call) and "range" in frame.module.names_of(node.func):
            ends = [self.seen[arg].const for arg in node.args if arg in self.seen]
            known = [end for end in ends if isinstance(end, int)]
            if known and len(known) == len(node.args) <= 3 and 0 not in known[2:]:
                numbers = range(*known)
                return [constant(n) for n in numbers] if len(numbers) <= _UNROLLED else None
        if isinstance(source.const, str | bytes) and source.firm and len(source.const) <= _UNROLLED:
            return [constant(part) for part in source.const]
        thing = state.heap.get(source.ref) if source.ref is not None else None
        if (
            thing is not None
            and thing.kind == "list"
            and not thing.rest.taint
            and len(thing.items) <= _UNROLLED
        ):
            return list(thing.items.values())
        return None

    def _while(self, node: ast.While, state: State, frame: Frame) -> State | None:
        breaks, frame.breaks = frame.breaks, []
        continues, frame.continues = frame.continues, []
        current, ends = state, list[State | None]()
        for _ in range(_ROUNDS):
            yes, no = self.narrowed(node.test, current, frame)
            ends.append(no)
            frame.continues = []
            after = merged([self.block(node.body, yes, frame) if yes is not None else None, *frame.continues])
            if after is None:
                break
            whole = merged([current.copy(), after])
            if whole is None or same(whole, current):
                break
            current = whole
        end = merged(ends)
        if end is not None and node.orelse:
            end = self.block(node.orelse, end, frame)
        end = merged([end, *frame.breaks])
        frame.breaks, frame.continues = breaks, continues
        return end

    def _try(self, node: ast.Try | ast.TryStar, state: State, frame: Frame) -> State | None:
        reached: list[State | None] = [state.copy()]
        current: State | None = state
        returned = len(frame.returns)
        for statement in node.body:
            if current is None:
                break
            current = self._statement(statement, current, frame)
            reached.append(current.copy() if current is not None else None)
        before = merged([*reached, *(s.copy() for _, s in frame.returns[returned:])])
        ends: list[State | None] = []
        for handler in node.handlers:
            caught = before.copy() if before is not None else State()
            if handler.name:
                held = mixed([caught.total(v) for v in caught.env.values()])
                if held.taint and not _raises(node.body):
                    held = replace(held, taint=held.taint | {UNSURE})  # what others raise says what they like
                caught.env[handler.name] = held
            ends.append(self.block(handler.body, caught, frame))
        if current is not None and node.orelse:
            current = self.block(node.orelse, current, frame)
        end = merged([current, *ends])
        if node.finalbody:
            if end is None:
                self.block(node.finalbody, before.copy() if before is not None else state, frame)
                return None
            return self.block(node.finalbody, end, frame)
        return end

    def _match(self, node: ast.Match, state: State, frame: Frame) -> State | None:
        subject = self.evaluate(node.subject, state, frame)
        ends: list[State | None] = []
        for case in node.cases:
            fits = self._fits(case, subject, state, frame)
            if fits is False:
                continue
            inner = state.copy()
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    inner.env[name] = subject if part is case.pattern else mixed([inner.total(subject)])
            if _is_literal(case.pattern) and isinstance(node.subject, ast.Name) and not subject.is_const:
                inner.env[node.subject.id] = CLEAN
            if case.guard is not None:
                narrowed = self.narrowed(case.guard, inner, frame)[0]
                if narrowed is None:
                    continue
                inner, fits = narrowed, None
            ends.append(self.block(case.body, inner, frame))
            if fits:
                return merged(ends)
        return merged([*ends, state])

    def _fits(self, case: ast.match_case, subject: Value, state: State, frame: Frame) -> bool | None:
        patterns = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
        out: bool | None = False
        for pattern in patterns:
            if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
                return True
            if not isinstance(pattern, ast.MatchValue) or not (subject.is_const and subject.firm):
                out = None
                continue
            value = self.evaluate(pattern.value, state.copy(), frame)
            if not value.is_const:
                out = None
            elif value.const == subject.const:
                return True
        return out


def same(a: State, b: State) -> bool:
    """True when going round once more changes nothing that counts."""
    return (
        _shape(a.env) == _shape(b.env)
        and a.heap.keys() == b.heap.keys()
        and all(
            thing.kind == b.heap[ref].kind
            and _shape(thing.items) == _shape(b.heap[ref].items)
            and thing.rest.taint == b.heap[ref].rest.taint
            for ref, thing in a.heap.items()
        )
    )


def _shape(items: Mapping[str, Value] | Mapping[object, Value]) -> dict[object, tuple[object, ...]]:
    return {
        key: (v.taint, v.safe if v.taint else None, v.ref, v.is_const, v.code) for key, v in items.items()
    }


def _is_literal(pattern: ast.pattern) -> bool:
    patterns = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
    return all(isinstance(p, ast.MatchValue) for p in patterns)


def _raises(body: Sequence[ast.stmt]) -> bool:
    """True where the statements themselves raise something that they make."""
    return any(
        isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and bool(node.exc.args)
        for statement in body
        for node in ast.walk(statement)
    )
