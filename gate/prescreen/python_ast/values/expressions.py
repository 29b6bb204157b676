"""What an expression is worth in a state: constants folded, texts put together, containers looked into."""

from __future__ import annotations

import ast
import operator
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gate.dataclass import dataclass
from gate.languages.unparse import unparsed
from gate.prescreen.python_ast.constants import NOT_CONST
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.origins import Origins, origins_of
from gate.prescreen.python_ast.scope import FunctionNode
from gate.prescreen.python_ast.values.domain import (
    CLEAN,
    LOST,
    ClassOf,
    Function,
    Method,
    State,
    Thing,
    Value,
    constant,
    joined,
    known_text,
    merged,
    mixed,
)
from gate.prescreen.python_ast.values.holding import (
    ERRORS,
    LONG,
    constants_of,
    element,
    folded,
    get,
    mixed_or_joined,
    put,
)
from gate.prescreen.python_ast.values.library import EVERY, HOSTS, is_standard

_STEPS: Final = 8_000
"""Expressions that are looked at for one function of a file."""
_SECONDS: Final = 0.8
"""Processor time that all functions of a file may take; what is not read by then is not certain."""
_OPERATORS: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.FloorDiv: operator.floordiv, ast.Div: operator.truediv,
    ast.Mod: operator.mod, ast.BitXor: operator.xor, ast.BitOr: operator.or_, ast.BitAnd: operator.and_,
}  # fmt: skip
_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
    ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip


class GaveUpError(Exception):
    """The function is too large to be read to its end."""


@dataclass(slots=True)
class Frame:
    """One function that is being read. ``outer``: what its free names mean."""

    module: Module
    node: FunctionNode | None
    outer: Mapping[str, Value] | None
    returns: list[tuple[Value, State]]
    breaks: list[State]
    continues: list[State]
    nested: list[Function]


class Expressions:
    """The half of the reading that looks at expressions."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.seen: dict[ast.AST, Value] = {}
        self.steps = 0
        self.spent = 0.0
        self.started = 0.0

    @abstractmethod
    def call(self, node: ast.Call, state: State, frame: Frame) -> Value:
        """What a call gives back."""

    @abstractmethod
    def free_name(self, node: ast.Name, frame: Frame) -> Value:
        """What a name means that the function does not bind."""

    @abstractmethod
    def attribute_of(self, owner: Value, thing: Thing, name: str, state: State) -> Value:
        """What an object has under a name."""

    @abstractmethod
    def from_tree(self, dotted: str, frame: Frame) -> Value | None:
        """A function, class or constant of another file of the tree; None where it is none."""

    @abstractmethod
    def narrowed(self, test: ast.expr, state: State, frame: Frame) -> tuple[State | None, State | None]:
        """The states where the condition holds, and where it does not."""

    def origins(self, module: Module) -> Origins:
        """Says of single expressions of a module whether they are sources."""
        return origins_of(module)

    def evaluate(self, node: ast.expr, state: State, frame: Frame) -> Value:
        """The value; noted for whoever asks for it later."""
        self.steps += 1
        late = self.steps % 32 == 0 and self.spent + time.process_time() - self.started > _SECONDS
        if late or self.steps > _STEPS:
            raise GaveUpError
        value = self._evaluate(node, state, frame)
        safe = state.marks.get(value.ident) if value.ident and state.marks else None
        if safe is not None:
            value = CLEAN if safe >= EVERY else replace(value, safe=value.safe | safe)
        whole = state.total(value)
        known = self.seen.get(node)
        if known is None:
            self.seen[node] = whole
        elif known != whole:
            same = known.is_const and whole.is_const and known.const == whole.const
            self.seen[node] = known if same else mixed([known, whole])
        return value

    def all(self, nodes: Sequence[ast.expr], state: State, frame: Frame) -> list[Value]:
        """Each of them; of a starred one what it holds."""
        return [self.evaluate(n.value if isinstance(n, ast.Starred) else n, state, frame) for n in nodes]

    def _evaluate(self, node: ast.expr, state: State, frame: Frame) -> Value:
        """What a node gives that looks something up, calls or decides; what puts together: ``_built``."""
        match node:
            case ast.Constant():
                return constant(node.value)
            case ast.Name():
                return state.env[node.id] if node.id in state.env else self.free_name(node, frame)
            case ast.Attribute():
                return self._attribute(node, state, frame)
            case ast.Subscript():
                return self._item(node, state, frame)
            case ast.Call():
                return self.call(node, state, frame)
            case ast.BinOp():
                return self._binary(node, state, frame)
            case ast.BoolOp():
                return self._either(node, state, frame)
            case ast.UnaryOp():
                return self._unary(node, state, frame)
            case ast.Compare():
                return self._compare(node, state, frame)
            case ast.IfExp():
                return self._choice(node, state, frame)
            case _:
                return self._built(node, state, frame)

    def _either(self, node: ast.BoolOp, state: State, frame: Frame) -> Value:
        values = self.all(node.values, state, frame)
        decided = self.truth(node, state, frame)
        if decided is not None and all(v.is_const for v in values):
            return constant(decided)
        return mixed_or_joined(values, state)

    def _unary(self, node: ast.UnaryOp, state: State, frame: Frame) -> Value:
        inner = self.evaluate(node.operand, state, frame)
        if isinstance(node.op, ast.Not):
            return constant(not inner.const, firm=inner.firm) if inner.is_const else CLEAN
        if isinstance(node.op, ast.USub) and inner.is_const and isinstance(inner.const, int | float):
            return constant(-inner.const, firm=inner.firm)
        return inner

    def _built(self, node: ast.expr, state: State, frame: Frame) -> Value:
        """Texts, containers and functions that the node puts together; what it hands on."""
        match node:
            case ast.JoinedStr():
                return self._put_together([*node.values], state, frame)
            case ast.FormattedValue():
                inner = self.evaluate(node.value, state, frame)
                plain = inner.is_const and node.format_spec is None and node.conversion == -1
                return constant(str(inner.const), firm=inner.firm) if plain else mixed([state.total(inner)])
            case ast.List() | ast.Tuple():
                return self._listed(node.elts, state, frame)
            case ast.Set():
                return state.new(
                    Thing("bag", rest=mixed([state.total(v) for v in self.all(node.elts, state, frame)]))
                )
            case ast.Dict():
                return self._dictionary(node, state, frame)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, state, frame)
            case ast.Lambda():
                return Value(code=Function(node, frame.module, {**(frame.outer or {}), **state.env}))
            case ast.NamedExpr():
                value = self.evaluate(node.value, state, frame)
                state.env[node.target.id] = value
                return value
            case ast.Await() | ast.Starred():
                return self.evaluate(node.value, state, frame)
            case ast.Yield() | ast.YieldFrom():
                if node.value is not None:
                    frame.returns.append((self.evaluate(node.value, state, frame), state.copy()))
                return LOST
        return LOST

    def _attribute(self, node: ast.Attribute, state: State, frame: Frame) -> Value:
        owner = self.evaluate(node.value, state, frame)
        kinds = self.origins(frame.module).source(node)
        if kinds and owner.ref is None:
            return Value(kinds, ident=known_text(unparsed(node)))
        thing = state.heap.get(owner.ref) if owner.ref is not None else None
        if thing is not None:
            if thing.kind == "object":
                return self.attribute_of(owner, thing, node.attr, state)
            return Value(code=Method(owner, node.attr))
        names = frame.module.names_of(node)
        for name in names:
            found = self.from_tree(name, frame)
            if found is not None:
                return found
        if node.attr in ("name", "stem") and any(name.startswith("pathlib.") for name in names):
            return replace(mixed([owner]), safe=owner.safe | {"path"})  # a path's last part has no folders
        if isinstance(owner.code, ClassOf):
            return self.attribute_of(owner, Thing("object", of=owner.code), node.attr, state)
        if owner.part is None and owner.ident and node.attr in HOSTS:
            return replace(mixed([owner]), part=("host", owner.ident))
        if owner.part is not None and owner.part[0] == "split":
            of = owner.part[1]
            return replace(mixed([owner]), part=("host" if node.attr in HOSTS else node.attr, of))
        plain = owner.code is None and (not names or not _from_module(node.value, state))
        if owner.is_const or plain:
            ident = known_text(node.attr, owner.ident) if owner.ident else 0
            return Value(owner.taint, owner.safe, ident=ident, code=Method(owner, node.attr))
        return LOST if not names or not _standard(names) else CLEAN

    def _item(self, node: ast.Subscript, state: State, frame: Frame) -> Value:
        kinds = self.origins(frame.module).source(node)
        owner = self.evaluate(node.value, state, frame)
        if owner.part is not None and owner.part[0].startswith("last of"):
            place = self._index(node.slice, state, frame).const
            last = place == -1 or (place == 2 and owner.part[0] == "last of three")
            return replace(mixed([owner]), safe=owner.safe | ({"path"} if last else set()))
        if kinds and owner.ref is None:
            self._index(node.slice, state, frame)
            return Value(kinds, ident=known_text(unparsed(node)))
        key = self._index(node.slice, state, frame)
        thing = state.heap.get(owner.ref) if owner.ref is not None else None
        if thing is not None:
            if isinstance(node.slice, ast.Slice):
                return self._slice(thing, node.slice, state, frame)
            return get(state, thing, key)
        if owner.is_const and key.is_const:
            try:
                return constant(owner.const[key.const], firm=owner.firm and key.firm)  # type: ignore[index]
            except ERRORS:
                return CLEAN
        if owner.taint and owner.ident and isinstance(key.const, str | int):
            return replace(mixed([owner]), ident=known_text(repr(key.const), owner.ident))
        return mixed([owner]) if owner.taint or owner.is_const else LOST if owner.code else CLEAN

    def _slice(self, thing: Thing, cut: ast.Slice, state: State, frame: Frame) -> Value:
        """A part of a list: exact where both ends are known."""
        whole = Thing("bag", rest=mixed([state.total(v) for v in (*thing.items.values(), thing.rest)]))
        if thing.kind != "list" or thing.rest.taint:
            return state.new(whole)
        ends: list[Any] = []
        for part in (cut.lower, cut.upper, cut.step):
            value = constant(None) if part is None else self.evaluate(part, state, frame)
            if not value.is_const or not value.firm:
                return state.new(whole)
            ends.append(value.const)
        try:
            kept = list(thing.items.values())[slice(*ends)]
        except ERRORS:
            return state.new(whole)
        return state.new(Thing("list", dict(enumerate(kept))))

    def _index(self, node: ast.expr, state: State, frame: Frame) -> Value:
        if not isinstance(node, ast.Slice):
            return self.evaluate(node, state, frame)
        ends: list[Any] = []
        for part in (node.lower, node.upper, node.step):
            value = constant(None) if part is None else self.evaluate(part, state, frame)
            ends.append(value.const)
        return CLEAN if NOT_CONST in ends else constant(slice(*ends))

    def _binary(self, node: ast.BinOp, state: State, frame: Frame) -> Value:
        left, right = self.evaluate(node.left, state, frame), self.evaluate(node.right, state, frame)
        if left.is_const and right.is_const:
            sized = isinstance(left.const, str | bytes | list) or isinstance(right.const, str | bytes | list)
            if isinstance(node.op, ast.Mult) and not sized:
                return folded(operator.mul, left, right)
            action = _OPERATORS.get(type(node.op))
            return folded(action, left, right) if action else CLEAN
        if isinstance(node.op, ast.Mod) and isinstance(left.const, str):
            return self._percent(left.const, right, state)
        lists = [state.heap.get(v.ref) for v in (left, right) if v.ref is not None]
        if len(lists) == 2 and all(t is not None and t.kind == "list" for t in lists):
            values = [v for t in lists if t is not None for v in t.items.values()]
            rest = mixed([t.rest for t in lists if t is not None])
            return state.new(Thing("list", dict(enumerate(values)), rest))
        return mixed([state.total(left), state.total(right)])

    def _percent(self, text: str, right: Value, state: State) -> Value:
        thing = state.heap.get(right.ref) if right.ref is not None else None
        if thing is not None and thing.kind == "dict":
            used = [v for k, v in thing.items.items() if f"%({k})" in text]
            return mixed([state.total(v) for v in (*used, thing.rest)])
        return mixed([state.total(right)])

    def _compare(self, node: ast.Compare, state: State, frame: Frame) -> Value:
        left = self.evaluate(node.left, state, frame)
        others = self.all(node.comparators, state, frame)
        if len(others) == 1:
            right = others[0]
            thing = state.heap.get(right.ref) if right.ref is not None else None
            known = right.const if right.is_const else constants_of(thing, state)
            action = _COMPARISONS.get(type(node.ops[0]))
            if left.is_const and known is not NOT_CONST and action is not None:
                try:
                    return constant(bool(action(left.const, known)), firm=left.firm and right.firm)
                except ERRORS:
                    return CLEAN
        return CLEAN

    def truth(self, node: ast.expr, state: State, frame: Frame) -> bool | None:
        """Whether a condition surely holds, or surely does not."""
        if isinstance(node, ast.BoolOp):
            decides = isinstance(node.op, ast.Or)
            values = [self.truth(value, state, frame) for value in node.values]
            if decides in values:
                return decides
            return None if None in values else not decides
        value = self.evaluate(node, state, frame)
        return bool(value.const) if value.is_const and value.firm else None

    def _choice(self, node: ast.IfExp, state: State, frame: Frame) -> Value:
        decided = self.truth(node.test, state, frame)
        if decided is not None:
            return self.evaluate(node.body if decided else node.orelse, state, frame)
        yes, no = self.narrowed(node.test, state, frame)
        one, two = yes or state.copy(), no or state.copy()
        a, b = self.evaluate(node.body, one, frame), self.evaluate(node.orelse, two, frame)
        whole = merged([one, two])
        if whole is not None:
            state.heap.update(whole.heap)
        return joined(a, b, one, two)

    def _put_together(self, parts: list[ast.expr], state: State, frame: Frame) -> Value:
        values = self.all(parts, state, frame)
        if all(v.is_const for v in values):
            return constant("".join(str(v.const) for v in values)[:LONG], firm=all(v.firm for v in values))
        return mixed([state.total(v) for v in values])

    def _listed(self, nodes: Sequence[ast.expr], state: State, frame: Frame) -> Value:
        values = self.all(nodes, state, frame)
        if any(isinstance(n, ast.Starred) for n in nodes):
            return state.new(Thing("bag", rest=mixed([state.total(v) for v in values])))
        return state.new(Thing("list", dict(enumerate(values))))

    def _dictionary(self, node: ast.Dict, state: State, frame: Frame) -> Value:
        items: dict[object, Value] = {}
        rest: list[Value] = []
        for key, value in zip(node.keys, node.values, strict=True):
            held = self.evaluate(value, state, frame)
            known = self.evaluate(key, state, frame) if key is not None else CLEAN
            if known.is_const and isinstance(known.const, str | int | bytes | float | bool):
                items[known.const] = held
            else:
                rest += [state.total(held), known]
        return state.new(Thing("dict", items, mixed(rest)))

    def _comprehension(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
        state: State,
        frame: Frame,
    ) -> Value:
        inner: State | None = state.copy()
        for loop in node.generators:
            if inner is None:
                break
            source = self.evaluate(loop.iter, inner, frame)
            self.bind(loop.target, element(inner, source), inner, frame)
            for test in loop.ifs:
                if inner is not None:
                    inner = self.narrowed(test, inner, frame)[0]
        if inner is None:
            return state.new(Thing("list"))
        ends = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        values = [inner.total(v) for v in self.all(ends, inner, frame)]
        if isinstance(node, ast.DictComp):
            return state.new(Thing("dict", rest=mixed(values), keys=mixed(values[:1])))
        return state.new(Thing("bag", rest=mixed(values)))

    def bind(self, target: ast.expr, value: Value, state: State, frame: Frame) -> None:
        """Assign a value to what stands left of ``=``."""
        match target:
            case ast.Name():
                state.env[target.id] = value
            case ast.Starred():
                self.bind(target.value, state.new(Thing("bag", rest=state.total(value))), state, frame)
            case ast.Tuple() | ast.List():
                self._unpack(target.elts, value, state, frame)
            case ast.Subscript():
                owner = self.evaluate(target.value, state, frame)
                put(state, owner, self._index(target.slice, state, frame), value)
                self._remember(target.value, owner, value, state)
            case ast.Attribute():
                owner = self.evaluate(target.value, state, frame)
                put(state, owner, constant(target.attr), value)
                self._remember(target.value, owner, value, state)
            case _:
                pass

    def _remember(self, target: ast.expr, owner: Value, value: Value, state: State) -> None:
        """A store into something that is no container of ours: whoever holds it holds the value, too."""
        if owner.ref is None and isinstance(target, ast.Name) and target.id in state.env:
            state.env[target.id] = mixed([owner, state.total(value)])

    def _unpack(self, targets: Sequence[ast.expr], value: Value, state: State, frame: Frame) -> None:
        thing = state.heap.get(value.ref) if value.ref is not None else None
        exact = thing is not None and thing.kind == "list" and not thing.rest.taint
        if thing is not None and exact and len(thing.items) == len(targets):
            for target, item in zip(targets, thing.items.values(), strict=True):
                self.bind(target, item, state, frame)
            return
        part = element(state, value)
        for target in targets:
            self.bind(target, part, state, frame)


def _from_module(node: ast.expr, state: State) -> bool:
    """True for ``os.path``: a name that the function does not bind, or a part of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id not in state.env


def _standard(names: Sequence[str]) -> bool:
    return all(is_standard(name) for name in names)
