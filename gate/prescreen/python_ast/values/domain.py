"""Values of the forward reading: constants, texts that somebody else decides, and what holds them.

``taint`` says who decides a value; UNSURE among it means that the reading lost sight of it, and then nothing
is proven. States are copied where ways part and joined where they meet.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from itertools import count
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.prescreen.python_ast.constants import NOT_CONST
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.scope import FunctionNode

UNSURE: Final = "?"
"""Somebody may decide it, as far as this reading can tell."""
_DEEP: Final = 5
_numbers = count(1)
_texts: dict[tuple[int, str], int] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of the tree; ``outer`` is what its free names mean, ``bound`` the object of a method."""

    node: FunctionNode
    module: Module
    outer: Mapping[str, Value] | None = None
    bound: Value | None = None


@dataclass(frozen=True, slots=True)
class ClassOf:
    """A class of the tree."""

    node: ast.ClassDef
    module: Module


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """A call that waits for the rest of its arguments. ``text`` is the receiver of ``"{}".format``."""

    function: Value
    given: tuple[Value, ...]
    named: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a plain value, not called yet."""

    receiver: Value
    name: str


@dataclass(frozen=True, slots=True)
class Value:
    """One value. ``safe``: classes of weakness that it cannot cause although somebody decides it.

    ``firm``: its constant decides conditions. ``ref``: the container it is. ``ident``: values with the same
    one are the same text; ``part``: which part of which text it is (``("host", ident)``).
    """

    taint: frozenset[str] = frozenset()
    safe: frozenset[str] = frozenset()
    const: object = NOT_CONST
    firm: bool = True
    ref: int | None = None
    ident: int = 0
    part: tuple[str, int] | None = None
    code: Function | ClassOf | Partial | Method | None = None

    @property
    def is_const(self) -> bool:
        """A constant, however firm."""
        return self.const is not NOT_CONST


CLEAN: Final = Value()
LOST: Final = Value(taint=frozenset({UNSURE}))


def constant(value: object, *, firm: bool = True) -> Value:
    """A known value."""
    return Value(const=value, firm=firm)


def tainted(kinds: Iterable[str], safe: Iterable[str] = ()) -> Value:
    """A text of its own that somebody decides."""
    found = frozenset(kinds)
    return Value(taint=found, safe=frozenset(safe), ident=next(_numbers)) if found else CLEAN


@dataclass(frozen=True, slots=True)
class Thing:
    """A container or object. ``items`` by key, ``rest`` what stands under keys nobody knows."""

    kind: Literal["list", "dict", "object", "config", "stream", "bag"]
    items: Mapping[object, Value] = field(default_factory=dict)
    rest: Value = CLEAN
    of: ClassOf | None = None
    keys: Value | None = None
    """What a dictionary's own keys may be, where that is known apart from what stands under them."""


@dataclass(slots=True)
class State:
    """What names mean and containers hold at one place of one function."""

    env: dict[str, Value] = field(default_factory=dict)
    heap: dict[int, Thing] = field(default_factory=dict)
    marks: dict[int, frozenset[str]] = field(default_factory=dict)
    """What checks have said of texts, by their ``ident``."""

    def copy(self) -> State:
        """For another way through the function."""
        return State(dict(self.env), dict(self.heap), dict(self.marks))

    def new(self, thing: Thing) -> Value:
        """A value that is this new container."""
        ref = next(_numbers)
        self.heap[ref] = thing
        return Value(ref=ref)

    def total(self, value: Value, depth: int = 0) -> Value:
        """The value with who decides anything of what it holds."""
        thing = self.heap.get(value.ref) if value.ref is not None else None
        if thing is None:
            return value
        if depth >= _DEEP:
            return replace(value, taint=value.taint | {UNSURE})
        inner = [self.total(item, depth + 1) for item in (*thing.items.values(), thing.rest)]
        return mixed([value, *inner])


def known_text(text: str, owner: int = 0) -> int:
    """The ``ident`` of what an expression reads, so that reading it again gives the same text."""
    return _texts.setdefault((owner, text), next(_numbers))


def mixed(values: Iterable[Value]) -> Value:
    """Something made of all of these: harmless only for what each of them is harmless for."""
    parts = [value for value in values if value.taint]
    if not parts:
        return CLEAN
    safe = frozenset.intersection(*(value.safe for value in parts))
    return tainted(frozenset[str]().union(*(value.taint for value in parts)), safe)


def joined(a: Value, b: Value, one: State, two: State) -> Value:
    """One of both, nobody knows which."""
    if a == b:
        return a
    if a.ref == b.ref and a.code == b.code:
        whole = mixed([a, b])
        same = a.ident == b.ident and a.part == b.part
        return replace(
            whole,
            ref=a.ref,
            code=a.code,
            ident=a.ident if same else whole.ident,
            part=a.part if same else None,
        )
    whole = mixed([one.total(a), two.total(b)])
    known = a.ref is None and b.ref is None and a.code is None and b.code is None
    return whole if known else replace(whole, taint=whole.taint | {UNSURE})


def _joined_things(a: Thing, b: Thing, one: State, two: State) -> Thing:
    if a is b or a == b:
        return a
    listed = a.kind == "list" and b.kind == "list"
    if a.kind != b.kind or (listed and len(a.items) != len(b.items)):
        rest = mixed([one.total(v) for v in (*a.items.values(), a.rest)])
        other = mixed([two.total(v) for v in (*b.items.values(), b.rest)])
        return Thing("bag", rest=mixed([rest, other]))
    items = {
        key: joined(a.items[key], b.items[key], one, two)
        if key in a.items and key in b.items
        else (a.items.get(key) or b.items.get(key) or CLEAN)
        for key in (*a.items, *(k for k in b.items if k not in a.items))
    }
    keys = joined(a.keys, b.keys, one, two) if a.keys is not None and b.keys is not None else None
    return Thing(a.kind, items, joined(a.rest, b.rest, one, two), a.of, keys)


def merged(states: Iterable[State | None]) -> State | None:
    """Where several ways meet; None where none of them arrives."""
    there = [state for state in states if state is not None]
    if not there:
        return None
    first, *others = there
    if not others:
        return first
    out = first.copy()
    for other in others:
        env = {
            name: joined(out.env[name], other.env[name], out, other)
            if name in out.env and name in other.env
            else (out.env[name] if name in out.env else other.env[name])
            for name in (*out.env, *(n for n in other.env if n not in out.env))
        }
        heap = {
            ref: _joined_things(out.heap[ref], other.heap[ref], out, other)
            if ref in out.heap and ref in other.heap
            else (out.heap.get(ref) or other.heap[ref])
            for ref in (*out.heap, *(r for r in other.heap if r not in out.heap))
        }
        marks = {n: out.marks[n] & other.marks[n] for n in out.marks.keys() & other.marks.keys()}
        out = State(env, heap, marks)
    return out
