"""What a local list, dictionary or object holds at one place: followed through its stores and method calls.

A function's statements are gone through in their order. What stands in a branch or loop that the reading
place is not in may or may not have happened: it adds, and takes nothing away. Unknown keys may be any key.
Of a container that is handed to somebody else, or has a second name, nothing is known.
"""

from __future__ import annotations

import ast
from dataclasses import field
from typing import Final

from gate.dataclass import dataclass
from gate.prescreen.python_ast.constants import NOT_CONST
from gate.prescreen.python_ast.dead_code import is_dead
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.scope import Binding, end_of, start_of

Key = str | int | tuple[object, ...] | None
"""A constant key or index, ``(section, key)`` of a configuration, ``(".", name)`` of an attribute; None is
any."""
_SETTERS: Final = frozenset({"set", "__setitem__"})
_READERS: Final = frozenset({
    "join", "len", "print", "str", "repr", "list", "tuple", "dict", "set", "sorted", "sum", "min", "max",
    "any", "all", "isinstance", "enumerate", "zip", "range", "json.dumps", "format", "bool", "iter",
    "reversed",
})  # fmt: skip
"""Calls that change nothing of what they are given and keep nothing of it."""
_HARMLESS: Final = frozenset({
    "get", "keys", "values", "items", "index", "count", "copy", "getvalue", "read", "has_option", "sections",
    "add_section", "options",
})  # fmt: skip
"""Methods that change nothing of what a container holds."""
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
_PERHAPS: Final = (
    ast.Try, ast.Match, ast.ExceptHandler, ast.match_case, ast.BoolOp, ast.IfExp, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
"""What stands in these may or may not run."""
_MOST: Final = 200
"""Stores of one name that are followed; a name with more may hold any of its values under any key."""


@dataclass(slots=True)
class _State:
    """``items`` by key, ``loose`` under a key nobody knows. ``ordered``: ``items`` are a list's, by index.
    ``opaque``: made by a call or handed in, so it may hold more than the stores say.
    """

    items: dict[Key, ast.expr] = field(default_factory=dict)
    loose: list[ast.expr] = field(default_factory=list)
    ordered: bool = False
    opaque: bool = False

    def shake(self) -> None:
        """From here on nobody knows which key or index has which value."""
        self.loose.extend(self.items.values())
        self.items.clear()

    def place(self, key: Key) -> Key:
        """The key as ``items`` has it: an index from the end becomes one from the start."""
        backwards = self.ordered and isinstance(key, int) and key < 0
        return len(self.items) + key if backwards and isinstance(key, int) else key


def held(module: Module, name: ast.Name, key: Key) -> list[ast.expr] | None:
    """The values that ``name`` may hold under ``key`` where it is read.

    None when nothing is known of it: no local binding, handed on, or made elsewhere and without such a key.
    """
    binding = _made(module, name)
    if binding is None or _is_shared(module, name):
        return None
    state = _start(module, binding)
    events = _events(module, name, binding)
    if len(events) > _MOST:
        return None
    around = {name, *module.above(name)}
    for event in events:
        _apply(module, state, event, certain=_is_certain(module, event, around, binding))
    if key is None:
        return [*state.items.values(), *state.loose]
    place = state.place(key)
    if place in state.items:
        return [state.items[place], *state.loose]
    return None if state.opaque else [*state.loose]


def added(module: Module, name: ast.Name) -> list[ast.expr]:
    """What stores and calls may have put into ``name`` before it is read, apart from what it was made of."""
    kept: dict[ast.Name, list[ast.expr]] = module.kept("added", lambda _: {})
    if name not in kept:
        kept[name] = _added(module, name)
    return kept[name]


def _added(module: Module, name: ast.Name) -> list[ast.expr]:
    binding = _made(module, name)
    if binding is None:
        return []
    state = _State(opaque=True)
    for event in _events(module, name, binding)[:_MOST]:
        _apply(module, state, event, certain=False)
    return state.loose


def _made(module: Module, name: ast.Name) -> Binding | None:
    """The one binding of the name that is read, when it is a local's."""
    bindings = module.bindings_of(name)
    if len(bindings) != 1 or bindings[0].kind not in ("assign", "with") or bindings[0].value is None:
        return None
    local = module.function_of(bindings[0].node) is module.function_of(name)
    return bindings[0] if local else None


def _is_shared(module: Module, name: ast.Name) -> bool:
    """True when somebody else may change it: given to a call that may do more than read, or stored."""
    uses: dict[tuple[ast.AST | None, str], list[ast.Name]] = module.kept("names", _names)
    if any(
        function is not None and module.function_of(function) is module.function_of(name)
        for (function, used) in uses
        if used == name.id
    ):
        return True
    for use in uses.get((module.function_of(name), name.id), []):
        parent = module.parents.get(use)
        if isinstance(parent, ast.keyword):
            parent = module.parents.get(parent)
        if isinstance(parent, ast.Call) and use is not parent.func:
            method = parent.func.attr if isinstance(parent.func, ast.Attribute) else ""
            if method not in _READERS and not _READERS & set(module.names_of(parent.func)):
                return True
        elif isinstance(parent, ast.Assign | ast.NamedExpr | ast.List | ast.Tuple | ast.Dict | ast.Starred):
            return True
    return False


def _names(module: Module) -> dict[tuple[ast.AST | None, str], list[ast.Name]]:
    """Every plain name that is read, by function."""
    found: dict[tuple[ast.AST | None, str], list[ast.Name]] = {}
    for name in module.all(ast.Name):
        if isinstance(name.ctx, ast.Load):
            found.setdefault((module.function_of(name), name.id), []).append(name)
    return found


def _start(module: Module, binding: Binding) -> _State:
    value = binding.value
    if isinstance(value, ast.Dict):
        keys = [module.const(k) if k is not None else NOT_CONST for k in value.keys]
        state = _State()
        for key, item in zip(keys, value.values, strict=True):
            if isinstance(key, str | int):
                state.items[key] = item
            else:
                state.loose.append(item)
        return state
    if isinstance(value, ast.List | ast.Tuple) and not any(isinstance(e, ast.Starred) for e in value.elts):
        return _State(items=dict(enumerate(value.elts)), ordered=True)
    if isinstance(value, ast.Call) and not value.args and not value.keywords:
        names = set(module.names_of(value.func))
        if names & {"dict", "list", "set", "collections.OrderedDict", "configparser.ConfigParser"}:
            return _State(ordered="list" in names)
    return _State(opaque=True)


def _events(module: Module, name: ast.Name, binding: Binding) -> list[ast.AST]:
    """Stores and calls on the name between its binding and where it is read, in order, dead ones left out."""
    known: dict[tuple[ast.AST | None, str], list[ast.AST]] = module.kept("stores", _stores)
    until = start_of(name)
    around = {binding.node, *module.above(binding.node)}
    looped = any(isinstance(up, _LOOPS) and up not in around for up in module.above(name))
    found = []
    for event in known.get((module.function_of(name), name.id), []):
        at = end_of(event)
        if at >= binding.at and (at <= until or looped) and not is_dead(module, event):
            found.append(event)
    return found


def _stores(module: Module) -> dict[tuple[ast.AST | None, str], list[ast.AST]]:
    """Every statement or call of the file that may change what a plain name holds, by function and name."""
    found: dict[tuple[ast.AST | None, str], list[ast.AST]] = {}
    for node in module.all(ast.Assign, ast.Delete):
        for target in node.targets:
            owner = target.value if isinstance(target, ast.Subscript | ast.Attribute) else None
            if isinstance(owner, ast.Name):
                found.setdefault((module.function_of(node), owner.id), []).append(node)
    for call in module.all(ast.Call):
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            found.setdefault((module.function_of(call), call.func.value.id), []).append(call)
    for events in found.values():
        events.sort(key=end_of)
    return found


def _is_certain(module: Module, event: ast.AST, around: set[ast.AST], binding: Binding) -> bool:
    """True when the event has surely happened, and once: nothing that may be skipped or repeated holds it."""
    made = {binding.node, *module.above(binding.node)}
    inner: ast.AST = event
    for up in module.above(event):
        if up in made:
            return True
        if isinstance(up, _LOOPS) or (isinstance(up, _PERHAPS) and up not in around):
            return False
        if isinstance(up, ast.If) and inner is not up.test:
            side = up.body if inner in up.body else up.orelse
            if not any(item in around for item in side):
                return False
        inner = up
    return True


def _apply(module: Module, state: _State, event: ast.AST, *, certain: bool) -> None:
    if isinstance(event, ast.Call):
        _call(module, state, event, certain=certain)
    elif isinstance(event, ast.Delete):
        if state.ordered:
            state.shake()
    elif isinstance(event, ast.Assign):
        for target in event.targets:
            if isinstance(target, ast.Subscript):
                _set(state, constant_key(module, [target.slice]), event.value, certain=certain)
            elif isinstance(target, ast.Attribute):
                _set(state, (".", target.attr), event.value, certain=certain)


def _set(state: _State, key: Key, value: ast.expr, *, certain: bool) -> None:
    place = state.place(key)
    if state.ordered and place not in state.items:
        state.shake()  # a slice, or an index nobody knows
    if place is not None and certain and (place in state.items or not state.ordered):
        state.items[place] = value
    else:
        state.loose.append(value)


def _call(module: Module, state: _State, call: ast.Call, *, certain: bool) -> None:
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method in _HARMLESS:
        return
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if state.ordered:
        _list_call(module, state, method, given, certain=certain)
    elif method in _SETTERS and len(call.args) >= 2:
        _set(state, constant_key(module, call.args[:-1]), call.args[-1], certain=certain)
    elif method == "clear" and certain:
        state.items.clear()
        state.loose.clear()
    elif method == "update" and not call.args and all(k.arg for k in call.keywords):
        for keyword in call.keywords:
            _set(state, keyword.arg, keyword.value, certain=certain)
    else:
        state.loose.extend(given)


def _list_call(module: Module, state: _State, method: str, given: list[ast.expr], *, certain: bool) -> None:
    """A method of a list: exact where index and values are known, else any value may stand anywhere."""
    values = list(state.items.values())
    index = module.const(given[0]) if given else -1
    exact = certain and not state.loose
    if method == "append" and exact and len(given) == 1:
        values.append(given[0])
    elif method == "insert" and exact and len(given) == 2 and isinstance(index, int):
        values.insert(index, given[1])
    elif method == "pop" and exact and isinstance(index, int) and -len(values) <= index < len(values):
        values.pop(index)
    elif method == "clear" and certain:
        state.loose.clear()
        values.clear()
    else:
        state.loose.extend([*values, *given])
        values.clear()
    state.items = dict(enumerate(values))


def constant_key(module: Module, parts: list[ast.expr]) -> Key:
    """The constant key of a subscript, or of a setter's first arguments; None where it is not constant."""
    values = [module.const(part) for part in parts]
    if any(not isinstance(value, str | int) for value in values):
        return None
    return values[0] if len(values) == 1 else tuple(values)  # type: ignore[return-value]
