"""Quantities that protect in Python: settings, arguments, defaults and bounds, folded to numbers.

Runs in the limited child.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gate.protections.conditions import last_name
from gate.protections.facts import Strength
from gate.protections.python.guards import source
from gate.protections.strengths import (
    FORESEEABLE,
    place_of,
    random_bits,
    random_strength,
    secret_strength,
    strength,
)

_DEPTH: Final = 8
_SPANS: Final = {
    "seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86400.0, "weeks": 604800.0,
    "milliseconds": 0.001,
}  # fmt: skip
_ORDER: Final = ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks")
_DEFAULTS: Final = frozenset(
    {"get", "getenv", "getattr", "env", "config", "Field", "int", "float", "str", "mapped_column"}
)
_TEXTS: Final = ("str", "SecretStr")
_MOST: Final = 1e18
_FORESEEABLE: Final = frozenset({
    "time", "time_ns", "now", "utcnow", "timestamp", "monotonic", "uuid1", "random", "randint", "randrange",
    "choice", "choices", "getrandbits", "getpid", "md5", "sha1", "sha256", "crc32",
})  # fmt: skip
"""Calls whose values somebody else can find out, or try out."""
_HEX: Final = frozenset({"token_hex", "hexdigest"})

Constants = Mapping[str, ast.expr]
"""Names of a file that are assigned once, outside of functions."""
_Value = tuple[float, bool]
"""An amount, and whether it is in seconds for certain."""


def constants_of(tree: ast.Module) -> Constants:
    """Names of the module and of its classes with what they are assigned, where only once."""
    found: dict[str, ast.expr] = {}
    again: set[str] = set()
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    for statement in (one for body in bodies for one in body):
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                again |= {name} & found.keys()
                found[name] = value
    return {name: value for name, value in found.items() if name not in again}


def strengths_in(nodes: Iterable[ast.AST], about: str, known: Constants) -> Iterator[Strength]:
    """The quantities that protect below some nodes. ``about``: what they are part of, as a function."""
    todo: list[tuple[ast.AST, str]] = [(node, about) for node in nodes]
    told: set[ast.AST] = set()
    while todo:
        node, around = todo.pop()
        inside = around
        if node not in told:
            yield from _secret(node)
        if isinstance(node, ast.BoolOp):
            told.update(node.values)
            told.update(one for value in node.values[:-1] for one in ast.walk(value))
        match node:
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=value):
                name = _target(target)
                inside = f"{around} {name}"
                if value is not None:
                    yield from _slot(name, around, value, node, known)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                inside = f"{around} {node.name}"
                yield from _defaults(node, inside, known)
            case ast.Dict():
                yield from _entries(node, around, known)
                todo += [
                    (value, f"{around} {_text(key)}")
                    for key, value in zip(node.keys, node.values, strict=True)
                ]
                continue
            case ast.Subscript(
                value=ast.Call() as call, slice=ast.Slice(lower=None, upper=ast.expr() as upper)
            ):
                cut = _fold(upper, known)
                found = [*_random(call, known)]
                if cut is not None and found:
                    bits = min(found[0].amount, cut[0] * (4 if last_name(call) in _HEX else 6))
                    yield random_strength(bits, source(node), node.lineno)
                    continue
            case ast.Call():
                words = " ".join(_text(arg) for arg in node.args)
                inside = f"{around} {source(node.func)} {words}"
                yield from _random(node, known)
                yield from _arguments(node, inside, known)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                yield from _bound(left, op, right, around, known)
        todo += [(child, inside) for child in ast.iter_child_nodes(node)]


def _secret(node: ast.AST) -> Iterator[Strength]:
    """A secret with what stands in the source for where the environment has none."""
    found: list[tuple[str, ast.expr | None]] = []
    match node:
        case ast.Subscript(value=of, slice=ast.Constant(value=str() as name)) if last_name(of) == "environ":
            found = [(name, None)]
        case ast.Call(args=[ast.Constant(value=str() as name), *rest]) if _asks_environment(node):
            given = [k.value for k in node.keywords if k.arg == "default"]
            found = [(name, (*rest, *given, None)[0])]
        case ast.BoolOp(
            op=ast.Or(), values=[ast.Call(args=[ast.Constant(value=str() as name)]) as call, last]
        ):
            found = [(name, last)] if _asks_environment(call) else []
        case ast.AnnAssign(target=ast.Name(id=name), annotation=kind, value=value) if (
            last_name(kind) in _TEXTS
        ):
            found = [(name, value)]
    for name, default in found:
        known = (
            default.value if isinstance(default, ast.Constant) and isinstance(default.value, str) else None
        )
        made = secret_strength(name, known, source(node), getattr(node, "lineno", 1))
        if made is not None:
            yield made


def _asks_environment(call: ast.Call) -> bool:
    name = last_name(call)
    of = last_name(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    return name in ("getenv", "env", "config") or (name in ("get", "pop", "str") and of in ("environ", "env"))


def _target(target: ast.expr) -> str:
    if isinstance(target, ast.Subscript):
        return _text(target.slice)
    return last_name(target)


def _text(node: ast.AST | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value[:60]
    return last_name(node) if node is not None else ""


def _slot(name: str, about: str, value: ast.expr, node: ast.AST, known: Constants) -> Iterator[Strength]:
    folded = _fold(value, known) if name else None
    if folded is None:
        return
    made = strength(name, about, folded[0], source(node), _line(value, node, known), timed=folded[1])
    if made is not None:
        yield made


def _line(value: ast.expr, node: ast.AST, known: Constants) -> int:
    """Where the number stands: a constant's own line, wherever it is used."""
    while isinstance(value, ast.Name | ast.Attribute) and last_name(value) in known:
        value = known[last_name(value)]
        node = value
    return getattr(node, "lineno", 1)


def _defaults(
    node: ast.FunctionDef | ast.AsyncFunctionDef, about: str, known: Constants
) -> Iterator[Strength]:
    given = node.args
    named = [*given.posonlyargs, *given.args]
    pairs = [*zip(named[len(named) - len(given.defaults) :], given.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is not None]
    for arg, default in pairs:
        yield from _slot(arg.arg, about, default, default, known)


def _entries(node: ast.Dict, about: str, known: Constants) -> Iterator[Strength]:
    keys = " ".join(_text(key) for key in node.keys)
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            yield from _slot(_text(key), f"{about} {keys}", value, value, known)


def _arguments(call: ast.Call, about: str, known: Constants) -> Iterator[Strength]:
    for keyword in call.keywords:
        if keyword.arg:
            yield from _slot(keyword.arg, about, keyword.value, keyword, known)
    place = place_of(last_name(call))
    if place is not None and len(call.args) > place[0]:
        yield from _slot(place[1], about, call.args[place[0]], call, known)


def _random(call: ast.Call, known: Constants) -> Iterator[Strength]:
    made = random_bits(last_name(call))
    if last_name(call) in _FORESEEABLE:
        yield Strength(what=FORESEEABLE, amount=1, text=source(call), line=call.lineno)
    if made is None:
        return
    each, usual = made
    length = (
        call.args[0]
        if call.args
        else next((k.value for k in call.keywords if k.arg in ("nbytes", "length")), None)
    )
    amount = _fold(length, known) if length is not None else (usual, False)
    if amount is not None and amount[0] > 0:
        line = call.lineno if length is None else _line(length, call, known)
        yield random_strength(amount[0] * each, source(call), line)


def _bound(
    left: ast.expr, op: ast.cmpop, right: ast.expr, about: str, known: Constants
) -> Iterator[Strength]:
    """``len(password) < 12``, ``attempts >= 5``, ``now - issued > 3600``."""
    for side, limit, less in (
        (left, right, isinstance(op, ast.Lt | ast.LtE)),
        (right, left, isinstance(op, ast.Gt | ast.GtE)),
    ):
        if isinstance(side, ast.Constant) or isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
            continue
        if isinstance(side, ast.Call) and last_name(side) == "len":
            names = ["min_length"] if less else []
        elif isinstance(side, ast.BinOp) and isinstance(side.op, ast.Sub):
            names = [] if less else ["max_age"]
        else:
            names = [] if less else [last_name(side)]
        for name in names:
            text = ast.Compare(left=left, ops=[op], comparators=[right])
            yield from _slot(name, f"{about} {source(side)}", limit, ast.copy_location(text, left), known)


def _fold(expr: ast.expr, known: Constants, depth: int = 0) -> _Value | None:
    """The number that an expression is by itself; time spans in seconds."""
    if depth > _DEPTH:
        return None
    match expr:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as number):
            return (float(number), False) if abs(number) < _MOST else None
        case ast.Constant(value=str() as text) if depth and text.isdecimal() and len(text) < 16:
            return float(text), False
        case ast.Name() | ast.Attribute() if last_name(expr) in known:
            return _fold(known[last_name(expr)], known, depth + 1)
        case ast.BinOp():
            return _arithmetic(expr, known, depth)
        case ast.BoolOp(op=ast.Or()):
            return _fold(expr.values[-1], known, depth + 1)
        case ast.Call(func=ast.Attribute(value=inner, attr="total_seconds")):
            return _fold(inner, known, depth + 1)
        case ast.Call():
            return _called(expr, known, depth)
    return None


def _arithmetic(expr: ast.BinOp, known: Constants, depth: int) -> _Value | None:
    left, right = _fold(expr.left, known, depth + 1), _fold(expr.right, known, depth + 1)
    if left is None or right is None:
        one = left or right  # ``now + timedelta(minutes=15)``
        return one if one and one[1] and isinstance(expr.op, ast.Add) else None
    timed = left[1] or right[1]
    (a, _), (b, _) = left, right
    match expr.op:
        case ast.Add():
            value = a + b
        case ast.Sub():
            value = a - b
        case ast.Mult():
            value = a * b
        case ast.Div() | ast.FloorDiv() if b:
            value = a / b
        case ast.Pow() if 0 < a < 1_000 and 0 <= b <= 64:
            value = a**b
        case ast.LShift() if 0 <= b <= 62:
            value = a * 2**b
        case _:
            return None
    return (value, timed) if math.isfinite(value) and abs(value) < _MOST else None


def _called(call: ast.Call, known: Constants, depth: int) -> _Value | None:
    name = last_name(call)
    if name == "timedelta":
        parts = [(_ORDER[i], arg) for i, arg in enumerate(call.args[: len(_ORDER)])]
        parts += [(k.arg, k.value) for k in call.keywords if k.arg]
        folded = [(_SPANS.get(unit, 0.0), _fold(value, known, depth + 1)) for unit, value in parts]
        if not folded or any(value is None for _, value in folded):
            return None
        return sum(unit * value[0] for unit, value in folded if value is not None), True
    default = next((k.value for k in call.keywords if k.arg == "default"), None)
    if default is None and name in _DEFAULTS and call.args:
        default = call.args[-1]
    return _fold(default, known, depth + 1) if default is not None else None
