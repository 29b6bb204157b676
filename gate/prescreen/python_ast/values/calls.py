"""What a call gives back: functions of the tree are read through, others are in a table or unsure."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gate.dataclass import dataclass
from gate.languages.unparse import unparsed
from gate.prescreen.python_ast.constants import NOT_CONST
from gate.prescreen.python_ast.values.domain import (
    CLEAN,
    LOST,
    UNSURE,
    ClassOf,
    Function,
    Method,
    Partial,
    State,
    Thing,
    Value,
    constant,
    joined,
    known_text,
    mixed,
)
from gate.prescreen.python_ast.values.expressions import Expressions, Frame
from gate.prescreen.python_ast.values.holding import element, format_fields, get, put
from gate.prescreen.python_ast.values.library import (
    DIGESTS,
    HARMLESS,
    MAKERS,
    RESOLVED,
    RESOLVING,
    SANITISERS,
    SPLITTERS,
    UNDOING,
    is_standard,
)

_FOLDED: Final = frozenset({
    "lower", "upper", "strip", "lstrip", "rstrip", "replace", "split", "title", "capitalize", "startswith",
    "endswith", "encode", "decode", "isalnum", "isdigit", "find", "count", "index", "removeprefix",
    "removesuffix",
})  # fmt: skip
_PLAIN: Final[dict[str, Callable[[Any], object]]] = {
    "str": str, "int": int, "len": len, "bool": bool, "ord": ord, "chr": chr, "abs": abs, "float": float,
}  # fmt: skip
_SAME: Final = frozenset({"str", "copy.copy", "typing.cast"})
_READERS: Final = frozenset({
    "get", "keys", "values", "items", "copy", "index", "count", "getvalue", "read", "getlist",
    "has_option", "sections",
    "options", "has_section", "add_section", "close", "seek", "sort", "qsize", "empty", "task_done",
})  # fmt: skip
_OF_PATHS: Final = frozenset({"joinpath", "with_name", "with_suffix"})
"""Methods that only paths have."""
_CUTTING: Final = {"split": "any", "rsplit": "any", "rpartition": "three"}
"""Methods that cut a path at its separators, and how many parts there are."""
_ERRORS: Final = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError)


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of one call. ``spread``: some came from a ``*`` or ``**``."""

    values: tuple[Value, ...]
    named: tuple[tuple[str, Value], ...]
    spread: bool = False

    @property
    def every(self) -> tuple[Value, ...]:
        """All of them."""
        return (*self.values, *(value for _, value in self.named))


class Calls(Expressions):
    """The part of the reading that looks at calls."""

    @abstractmethod
    def run(self, function: Function, given: Given, state: State) -> Value:
        """Read a function of the tree with these arguments; the state is changed as it would."""

    @abstractmethod
    def make(self, cls: ClassOf, given: Given, state: State) -> Value:
        """An instance of a class of the tree."""

    def call(self, node: ast.Call, state: State, frame: Frame) -> Value:
        """What a call gives back."""
        kinds = self.origins(frame.module).source(node)
        names = frame.module.names_of(node.func)
        if isinstance(node.func, ast.Attribute):
            receiver = self.evaluate(node.func.value, state, frame)
        else:
            receiver = CLEAN
        given = self._given(node, state, frame)
        if kinds:
            return Value(kinds, ident=known_text(unparsed(node)))
        text = receiver.taint and UNSURE not in receiver.taint and all(is_standard(name) for name in names)
        held = receiver.ref is not None or receiver.is_const or text
        if isinstance(node.func, ast.Attribute) and held and not isinstance(receiver.code, ClassOf):
            return self.method(receiver, node.func.attr, given, state, frame)
        cut = isinstance(node.func, ast.Attribute) and node.func.attr in _CUTTING and receiver.taint
        if isinstance(node.func, ast.Attribute) and cut and given.values and given.values[0].is_const:
            return self._of_text(receiver, node.func.attr, given, state)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _OF_PATHS and not receiver.code:
            return self._of_text(receiver, node.func.attr, given, state)
        callee = self.evaluate(node.func, state, frame)
        if callee.code is not None:
            return self.apply(callee, given, state, frame)
        for name in names:
            found = self.from_tree(name, frame)
            if found is not None:
                return self.apply(found, given, state, frame)
        if len(names) == 1 and (known := self._library(names[0], given, state, frame)) is not None:
            return known
        return self._unknown(node, names, receiver, given, state)

    def _given(self, node: ast.Call, state: State, frame: Frame) -> Given:
        values = self.all(node.args, state, frame)
        named = [(k.arg or "**", self.evaluate(k.value, state, frame)) for k in node.keywords]
        spread = any(isinstance(a, ast.Starred) for a in node.args) or any(n == "**" for n, _ in named)
        return Given(tuple(values), tuple(named), spread)

    def apply(self, callee: Value, given: Given, state: State, frame: Frame) -> Value:
        """Call what is known to be a function, a class, a method or a partial."""
        code = callee.code
        match code:
            case Function():
                return self.run(code, given, state)
            case ClassOf():
                return self.make(code, given, state)
            case Method():
                return self.method(code.receiver, code.name, given, state, frame)
            case Partial():
                more = Given((*code.given, *given.values), (*code.named, *given.named), given.spread)
                return self.apply(code.function, more, state, frame)
        whole = mixed([callee, *(state.total(v) for v in given.every)])
        return replace(whole, taint=whole.taint | {UNSURE})

    def _unknown(
        self, node: ast.Call, names: Sequence[str], receiver: Value, given: Given, state: State
    ) -> Value:
        """Anything may come of the arguments, and into containers that are given."""
        whole = mixed([state.total(receiver), *(state.total(v) for v in given.every)])
        known = bool(names) and all(is_standard(name) for name in names)
        for value in given.every:
            if value.ref is not None and not known and whole.taint:
                put(state, value, CLEAN, whole)
        if isinstance(node.func, ast.Attribute):
            root = node.func.value
            if isinstance(root, ast.Name) and root.id in state.env and receiver.ref is None:
                inside = [state.total(v) for v in given.every]
                if receiver.ident == 0 and any(v.taint for v in inside):
                    state.env[root.id] = replace(mixed([receiver, *inside]), code=receiver.code)
            if receiver.taint and UNSURE not in receiver.taint:
                return mixed([whole])
        else:
            whole = replace(whole, safe=frozenset())
        return whole if known else replace(whole, taint=whole.taint | {UNSURE})

    # --- calls by name ---------------------------------------------------------------------------

    def _library(self, name: str, given: Given, state: State, frame: Frame) -> Value | None:
        values = given.values
        if name in _PLAIN and len(values) == 1 and not given.named:
            known = self._computed(name, values[0], state)
            if known is not None:
                return known
        text = self._text_of(name, given, state)
        return text if text is not None else self._thing_of(name, given, state, frame)

    def _computed(self, name: str, only: Value, state: State) -> Value | None:
        """What a function without side effects makes of a constant, or of a list of known length."""
        if only.is_const:
            try:
                return constant(_PLAIN[name](only.const), firm=only.firm)
            except _ERRORS:
                return CLEAN
        if name == "len" and only.ref is not None:
            thing = state.heap.get(only.ref)
            exact = thing is not None and thing.kind == "list" and not thing.rest.taint
            return constant(len(thing.items)) if thing is not None and exact else CLEAN
        return None

    def _text_of(self, name: str, given: Given, state: State) -> Value | None:
        """What is as harmful as what went in, or less."""
        values = given.values
        if name in HARMLESS or name.startswith(("hashlib.", "hmac.new")):
            return CLEAN
        if name in _SAME and values:
            return values[-1] if values[-1].ident else mixed([state.total(values[-1])])
        if name == "urllib.request.Request" and values:
            return mixed([state.total(values[0])])  # leads where the address leads
        if name in SANITISERS:
            whole = mixed([state.total(v) for v in given.every])
            return replace(whole, safe=whole.safe | SANITISERS[name])
        if name in UNDOING:
            return replace(mixed([state.total(v) for v in given.every]), safe=frozenset())
        if name in RESOLVING:
            whole = mixed([state.total(v) for v in values])
            return replace(whole, safe=whole.safe | {RESOLVED})
        if name in SPLITTERS and values:
            return replace(mixed([state.total(values[0])]), part=("split", values[0].ident))
        return None

    def _thing_of(self, name: str, given: Given, state: State, frame: Frame) -> Value | None:
        """Containers, what is in them, and functions."""
        values = given.values
        if name in MAKERS:
            return self._made(name, given, state)
        if name == "functools.partial" and values:
            return Value(code=Partial(values[0], values[1:], given.named))
        if name in ("map", "filter") and len(values) >= 2:
            inner = element(state, values[1])
            kept = self.apply(values[0], Given((inner,), ()), state, frame) if name == "map" else inner
            return state.new(Thing("bag", rest=state.total(kept)))
        if name in ("sorted", "reversed", "enumerate", "zip", "iter", "itertools.chain"):
            return state.new(Thing("bag", rest=mixed([state.total(v) for v in given.every])))
        if name == "next" and values:
            return element(state, values[0])
        if name == "getattr" and len(values) >= 2 and isinstance(values[1].const, str):
            thing = state.heap.get(values[0].ref) if values[0].ref is not None else None
            return get(state, thing, values[1]) if thing is not None else None
        return None

    def _made(self, name: str, given: Given, state: State) -> Value:
        kind = MAKERS[name]
        whole = mixed([state.total(v) for v in given.values])
        match kind:
            case "dict":
                copied = state.heap.get(given.values[0].ref) if given.values and given.values[0].ref else None
                items: dict[object, Value] = {n: v for n, v in given.named if n != "**"}
                if copied is not None and copied.kind == "dict":
                    items = {**copied.items, **items}
                    whole = copied.rest
                return state.new(Thing("dict", items, whole))
            case "list":
                copied = state.heap.get(given.values[0].ref) if given.values and given.values[0].ref else None
                if copied is not None and copied.kind == "list":
                    return state.new(Thing("list", dict(copied.items), copied.rest))
                return state.new(Thing("bag", rest=whole) if whole.taint else Thing("list"))
            case "object":
                return state.new(Thing("object", dict(given.named), whole))
            case "config" | "stream":
                return state.new(Thing(kind, rest=whole))
        return state.new(Thing("bag", rest=whole))

    # --- methods ---------------------------------------------------------------------------------

    def method(self, owner: Value, name: str, given: Given, state: State, frame: Frame) -> Value:
        """A method of a constant, a text or a container."""
        thing = state.heap.get(owner.ref) if owner.ref is not None else None
        if thing is None or owner.ref is None:
            return self._of_text(owner, name, given, state)
        if thing.kind == "object":
            found = self.attribute_of(owner, thing, name, state)
            return self.apply(found, given, state, frame)
        if thing.kind == "config":
            return self._of_config(owner, thing, name, given, state)
        if thing.kind == "stream":
            if name in ("write", "writelines"):
                rest = mixed([thing.rest, *(state.total(v) for v in given.every)])
                state.heap[owner.ref] = replace(thing, rest=rest)
                return CLEAN
            return mixed([thing.rest])
        if thing.kind == "list":
            return self._of_list(owner, thing, name, given, state)
        return self._of_dictionary(owner, thing, name, given, state)

    def _of_text(self, owner: Value, name: str, given: Given, state: State) -> Value:
        if name in DIGESTS:
            return CLEAN
        constants = [v.const for v in given.values]
        if owner.is_const and not given.named and NOT_CONST not in constants and name in _FOLDED:
            try:
                result = getattr(owner.const, name)(*constants)
            except (*_ERRORS, OSError):
                return CLEAN
            if isinstance(result, list):
                return state.new(Thing("list", {n: constant(v) for n, v in enumerate(result)}))
            return constant(result, firm=owner.firm)
        if name == "format" and isinstance(owner.const, str):
            return mixed([state.total(v) for v in _formatted(owner.const, given)])
        if name == "resolve" and owner.taint:
            return replace(mixed([owner]), safe=owner.safe | {RESOLVED})
        # What stands under a key is not the key's text: of get(key) only the holder counts.
        told = () if name == "get" and len(given.every) == 1 else given.every
        whole = mixed([state.total(owner), *(state.total(v) for v in told)])
        if name == "get" and owner.ident and isinstance(constants[:1], list) and whole.taint == owner.taint:
            whole = replace(whole, ident=known_text(f"get {constants!r}", owner.ident))
        if name in _CUTTING and constants[:1] and constants[0] in ("/", "\\") and whole.taint:
            return replace(whole, part=("last of " + _CUTTING[name], whole.ident))
        if name in ("quote_name", "escape_string") and whole.taint:
            return replace(whole, safe=whole.safe | {"sql"})
        return whole

    def _of_config(self, owner: Value, thing: Thing, name: str, given: Given, state: State) -> Value:
        keys = [v.const for v in given.values[:2]]
        exact = len(keys) == 2 and all(isinstance(k, str) for k in keys)
        if name == "set" and len(given.values) == 3 and owner.ref is not None:
            put(state, owner, constant(tuple(keys)) if exact else CLEAN, given.values[2])
            return CLEAN
        if name in ("get", "getint", "getboolean", "getfloat"):
            if name != "get":
                return CLEAN
            fallback = dict(given.named).get("fallback", CLEAN)
            found = get(state, thing, constant(tuple(keys)) if exact else CLEAN)
            return joined(found, fallback, state, state) if fallback is not CLEAN else found
        if name in _READERS:
            return mixed([state.total(v) for v in (*thing.items.values(), thing.rest)])
        put(state, owner, CLEAN, mixed([*(state.total(v) for v in given.every), LOST]))
        return LOST

    def _of_list(  # noqa: C901 - one case a method
        self, owner: Value, thing: Thing, name: str, given: Given, state: State
    ) -> Value:
        values, exact = list(thing.items.values()), not thing.rest.taint
        first = given.values[0] if given.values else CLEAN
        index = first.const if isinstance(first.const, int) and first.firm else None
        result = CLEAN
        if name in ("append", "put", "put_nowait") and given.values:
            values.append(first)
        elif name == "appendleft":
            values.insert(0, first)
        elif name == "insert" and index is not None and len(given.values) == 2:
            values.insert(index, given.values[1])
        elif name == "extend" and (more := _exact(state, first)) is not None:
            values += more
        elif name in ("pop", "popleft", "get", "get_nowait") and exact and values:
            at = index if index is not None else (-1 if name == "pop" else 0)
            if (given.values and index is None) or not -len(values) <= at < len(values):
                result, exact = element(state, owner), False
            else:
                result = values.pop(at)
        elif name == "clear":
            values = []
        elif name == "reverse":
            values.reverse()
        elif name in ("index", "count", "qsize", "empty"):
            return CLEAN
        elif name == "copy":
            return state.new(thing)
        else:
            exact = False
        if exact and owner.ref is not None:
            state.heap[owner.ref] = Thing("list", dict(enumerate(values)), thing.rest)
            return result
        rest = mixed([thing.rest, *(state.total(v) for v in (*thing.items.values(), *given.every))])
        if owner.ref is not None:
            state.heap[owner.ref] = Thing("bag", rest=rest)
        return result if result is not CLEAN else mixed([rest])

    def _of_dictionary(  # noqa: C901 - one case a method
        self, owner: Value, thing: Thing, name: str, given: Given, state: State
    ) -> Value:
        values = given.values
        if name in ("get", "pop", "setdefault") and values:
            default = values[1] if len(values) > 1 else None
            key = values[0]
            found = get(state, thing, key)
            there = key.is_const and key.firm and key.const in thing.items
            doubted = default is not None and bool(state.total(default).taint)
            if name == "setdefault" and default is not None and (doubted or not there):
                put(state, owner, key, joined(found, default, state, state) if there else default)
            if default is None or (there and not doubted):
                return found
            if key.is_const and key.firm and not thing.rest.taint and not there:
                return default
            return joined(found, default, state, state)
        if thing.keys is not None and name not in _READERS and owner.ref is not None:
            thing = state.heap[owner.ref] = replace(thing, keys=None)
        if name == "update":
            for key_name, value in given.named:
                put(state, owner, constant(key_name), value)
            for value in values:
                other = state.heap.get(value.ref) if value.ref is not None else None
                for key_of, item in other.items.items() if other is not None and other.kind == "dict" else ():
                    put(state, owner, constant(key_of), item)
                put(state, owner, CLEAN, other.rest if other is not None and other.kind == "dict" else value)
            return CLEAN
        if name in ("values", "items"):
            held = [state.total(v) for v in (*thing.items.values(), thing.rest)]
            return state.new(Thing("bag", rest=mixed(held)))
        if name == "keys":
            return state.new(Thing("bag", rest=mixed([thing.rest if thing.keys is None else thing.keys])))
        if name == "copy":
            return state.new(thing)
        if name == "clear" and owner.ref is not None:
            state.heap[owner.ref] = Thing(thing.kind)
            return CLEAN
        whole = mixed([thing.rest, *(state.total(v) for v in (*thing.items.values(), *given.every))])
        if owner.ref is not None and name not in _READERS:
            rest = mixed([thing.rest, *(state.total(v) for v in given.every)])
            state.heap[owner.ref] = replace(thing, rest=rest)
        return whole


def _exact(state: State, value: Value) -> list[Value] | None:
    thing = state.heap.get(value.ref) if value.ref is not None else None
    known = thing is not None and thing.kind == "list" and not thing.rest.taint
    return list(thing.items.values()) if thing is not None and known else None


def _formatted(text: str, given: Given) -> Sequence[Value]:
    """The arguments that a format string uses."""
    fields = format_fields(text)
    if fields is None or given.spread:
        return given.every
    named: Mapping[str, Value] = dict(given.named)
    used: list[Value] = []
    for at, field in enumerate(fields):
        if field in named:
            used.append(named[field])
        place = int(field) if field.isdigit() else at
        if (field.isdigit() or not field) and place < len(given.values):
            used.append(given.values[place])
    return used
